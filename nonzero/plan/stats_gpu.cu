// The stats of a CSR on the GPU, computed on the GPU: those from which the methods that are built
// on a GPU compute their costs.
#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstring>
#include <cub/block/block_scan.cuh>
#include <optional>
#include <utility>

#include "nonzero/core/cuda.cuh"
#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/matrix/pattern.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/plan/subject.hpp"

namespace nz {
namespace {

constexpr int short_lengths = 1024;  ///< lengths below have a place each in the histogram
using count = unsigned long long;

/// Rows of short_lengths entries or more, at most.
__host__ __device__ constexpr offset most_long_rows(offset nnz) { return nnz / short_lengths + 1; }

/// Counts by the kernels, in GPU memory.
struct survey {
    unsigned rows_of_length[short_lengths];
    unsigned long_rows;  ///< rows of short_lengths entries or more; their lengths are listed
    unsigned broken;     ///< row_ptr does not ascend from 0 to nnz
    count group_width, entries, row_sectors, column_sectors, group_sectors;
    count far_columns, compared_columns;
    count pattern_hash;
};

/// 0 where row_ptr does not ascend from 0 to nnz, which is noted.
template <class V>
__device__ index length_of(const csr<V, device_view>& A, std::int64_t i, survey* s) {
    if (i >= A.shape.rows) return 0;
    const offset nnz = offset(A.val.len);
    const offset first = A.row_ptr[std::size_t(i)], last = A.row_ptr[std::size_t(i) + 1];
    const bool at_ends = (i > 0 || first == 0) && (i + 1 < A.shape.rows || last == nnz);
    if (at_ends && first >= 0 && first <= last && last <= nnz && last - first < INT_MAX)
        return index(last - first);
    s->broken = 1;
    return 0;
}

constexpr int row_threads = 1024;
static_assert(matrix_stats::groups[0] == warp_size && row_threads == short_lengths);

/// Counts what depends on the rows' lengths alone.
template <class V>
__global__ void __launch_bounds__(row_threads)
    survey_rows(csr<V, device_view> A, survey* s, index* long_lengths) {
    __shared__ unsigned histogram[short_lengths], widths;
    const int t = int(threadIdx.x);
    const std::int64_t i = std::int64_t(blockIdx.x) * row_threads + t;
    const index len = length_of(A, i, s);
    histogram[t] = 0;
    if (t == 0) widths = 0;
    __syncthreads();
    const int longest = warp_max(len);
    if (lane_id() == 0 && longest > 0) atomicAdd(&widths, unsigned(longest));
    const bool is_short = i < A.shape.rows && len < short_lengths;
    const unsigned alike = __match_any_sync(full_warp, is_short ? len : -1);
    if (is_short && (alike & lanes_before()) == 0) atomicAdd(histogram + len, __popc(alike));
    if (i < A.shape.rows && !is_short) {
        // Rows that overlap, in a row_ptr that is refused later, may be more than there is room
        // for.
        const unsigned at = atomicAdd(&s->long_rows, 1U);
        if (at < most_long_rows(offset(A.val.len))) long_lengths[at] = len;
    }
    __syncthreads();
    if (histogram[t] > 0) atomicAdd(s->rows_of_length + t, histogram[t]);
    if (t == 0) atomicAdd(&s->group_width, count(widths));
}

constexpr int group_rows = int(matrix_stats::groups[1]);
constexpr int entry_threads = 2 * group_rows;
constexpr std::int64_t most_sectors = std::int64_t(32) << 13;  ///< in a range: 32 KB of bits

/// The rows of a block, and which of their entries lie in its columns.
struct group {
    offset begin[group_rows + 1];   ///< where the rows begin, and the end of the last
    offset from[group_rows];        ///< the first entry within the columns
    offset before[group_rows + 1];  ///< entries within the columns, of the rows before
};

/// The first of [first, last) that is not below `key`.
__device__ inline offset lower_bound(const index* c, offset first, offset last, std::int64_t key) {
    while (first < last) {
        const offset middle = first + (last - first) / 2;
        if (c[middle] < key) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    return first;
}

/// A part of the matrix that one block looks at: the rows of a group, and `sectors` of x.
struct cell {
    std::int64_t first_row, first_sector, sectors;
};

/// Sets up the group of this cell, by all threads of the block.
template <class V>
__device__ void enter_rows(const csr<V, device_view>& A, const cell& at, group& g) {
    using scan = cub::BlockScan<offset, entry_threads>;
    __shared__ typename scan::TempStorage storage;
    constexpr index elements = index(matrix_stats::sector_bytes / sizeof(V));
    const int t = int(threadIdx.x);
    if (t <= group_rows)
        g.begin[t] = A.row_ptr[std::size_t(min(at.first_row + t, std::int64_t(A.shape.rows)))];
    __syncthreads();
    offset mine = 0;
    if (t < group_rows) {
        offset from = g.begin[t], to = g.begin[t + 1];
        const std::int64_t least = at.first_sector * elements, most = least + at.sectors * elements;
        if (least > 0) from = lower_bound(A.col_ind.ptr, from, to, least);
        if (most < A.shape.cols) to = lower_bound(A.col_ind.ptr, from, to, most);
        g.from[t] = from;
        mine = to - from;
    }
    offset before = 0, total = 0;
    scan(storage).ExclusiveSum(mine, before, total);
    if (t < group_rows) g.before[t] = before;
    if (t == 0) g.before[group_rows] = total;
    __syncthreads();
}

/// The row, counted from the group's first, of its k-th entry.
__device__ inline int row_of(const group& g, offset k) {
    int row = 0;
#pragma unroll
    for (int step = group_rows / 2; step > 0; step /= 2)
        if (g.before[row + step] <= k) row += step;
    return row;
}

/// Which cells are looked at: groups of rows times ranges of columns, one of every `each`.
struct cells {
    std::int64_t groups, ranges, sectors;  ///< groups, ranges, and the sectors of a range
    std::int64_t each;
    [[nodiscard]] std::int64_t all() const { return groups * ranges; }
};

/// The cell of this block: one of `each` neighbouring ones, not always the same, so that what the
/// matrix repeats is not always met or missed.
__device__ inline cell cell_of_block(const cells& of) {
    const std::uint64_t mixed = blockIdx.x * 0x9e3779b97f4a7c15ULL >> 33;
    const std::int64_t n = min(std::int64_t(blockIdx.x) * of.each + std::int64_t(mixed) % of.each,
                               of.groups * of.ranges - 1);
    return {n / of.ranges * group_rows, n % of.ranges * of.sectors, of.sectors};
}

/// A cell of more entries has long rows among others: a part of its columns stands for all of it.
/// One block would else be at work when all others are done: 256 rows of 7,000 entries, in front of
/// 600,000 of ten, keep it for 3,500 steps, the others for five.
constexpr offset most_entries_of_a_cell = 1 << 13;

/// Of as many parts of a cell's columns as leave few enough entries, that of the middle entry: the
/// entries of a matrix that is tiled lie in a few of the parts.
template <class V>
__device__ cell part_of(const cell& whole, const group& g, const csr<V, device_view>& A) {
    constexpr std::int64_t elements = std::int64_t(matrix_stats::sector_bytes / sizeof(V));
    const offset entries = g.before[group_rows], middle = entries / 2;
    const int row = row_of(g, middle);
    const index column = A.col_ind.ptr[g.from[row] + (middle - g.before[row])];
    const std::int64_t parts = (entries - 1) / most_entries_of_a_cell + 1;
    const std::int64_t sectors =
        min(whole.sectors, A.shape.cols / elements + 1 - whole.first_sector);
    const std::int64_t of_part = max(sectors / parts, std::int64_t(1));
    const std::int64_t part = (column / elements - whole.first_sector) / of_part;
    return {whole.first_row, whole.first_sector + part * of_part, of_part};
}

/// The sectors of x that a cell's entries load. As compute_stats on the CPU counts them.
template <class V>
__global__ void __launch_bounds__(entry_threads)
    survey_entries(csr<V, device_view> A, survey* s, cells of) {
    extern __shared__ unsigned near[];  // a bit a sector of the range
    __shared__ group g;
    constexpr index elements = index(matrix_stats::sector_bytes / sizeof(V));
    if (s->broken != 0) return;  // row_ptr would lead anywhere
    cell here = cell_of_block(of);
    for (std::int64_t w = threadIdx.x; w < here.sectors / 32; w += entry_threads) near[w] = 0;
    enter_rows(A, here, g);
    const index* const c = A.col_ind.ptr;
    const offset all = g.before[group_rows];
    if (all > most_entries_of_a_cell) {
        here = part_of(here, g, A);
        __syncthreads();  // every thread has read the group
        enter_rows(A, here, g);
    }
    const offset total = g.before[group_rows];
    if (total == 0) return;
    count row_sectors = 0, column_sectors = 0, group_sectors = 0;
    count far_columns = 0, compared_columns = 0;
    for (offset e = threadIdx.x; e < total; e += entry_threads) {
        const int row = row_of(g, e);
        const offset p = g.from[row] + (e - g.before[row]), k = p - g.begin[row];
        const index sector = c[p] / elements;
        const bool leads = k == 0 || c[p - 1] / elements != sector;
        row_sectors += leads;
        const bool has_above =
            row % matrix_stats::groups[0] != 0 && k < g.begin[row] - g.begin[row - 1];
        const index above = has_above ? c[g.begin[row - 1] + k] : c[p];
        column_sectors += !has_above || above / elements != sector;
        far_columns += abs(c[p] - above) > matrix_stats::far;
        compared_columns += has_above;
        const auto bit = std::uint64_t(sector - here.first_sector);
        if (!leads || bit >= std::uint64_t(here.sectors)) continue;
        const unsigned mask = 1U << (bit % 32);
        group_sectors +=
            (near[bit / 32] & mask) == 0 && (atomicOr(near + bit / 32, mask) & mask) == 0;
    }
    const auto of_all = [&](count n) { return total == all ? n : n * count(all) / count(total); };
    add_of_block(&s->row_sectors, of_all(row_sectors));
    add_of_block(&s->column_sectors, of_all(column_sectors));
    add_of_block(&s->group_sectors, of_all(group_sectors));
    add_of_block(&s->far_columns, of_all(far_columns));
    add_of_block(&s->compared_columns, of_all(compared_columns));
    if (threadIdx.x == 0) atomicAdd(&s->entries, count(all));
}

/// Enough ranges of columns for a range's sectors to fit a block's bits, and for few groups of long
/// rows to keep the GPU busy.
template <class V>
cells cells_of(const csr<V, device_view>& A) {
    constexpr std::int64_t entries_of_a_cell = 2048, most_ranges = 4096;
    constexpr std::int64_t most_cells = 256;  // about as many as an H200 takes at once
    const std::int64_t groups = blocks_for(A.shape.rows, group_rows);
    const std::int64_t sectors =
        A.shape.cols / std::int64_t(matrix_stats::sector_bytes / sizeof(V)) + 1;
    const std::int64_t ranges = std::clamp<std::int64_t>(
        std::int64_t(A.val.len) / groups / entries_of_a_cell, 1, most_ranges);
    const std::int64_t of_range = std::min(most_sectors, (sectors / ranges / 32 + 1) * 32);
    cells c{groups, blocks_for(sectors, of_range), of_range, 1};
    c.each = (c.all() + most_cells - 1) / most_cells;
    return c;
}

/// As much of a survey as one copy brings: small matrices have no more lengths.
struct first_counts {
    survey counts;
    index lengths[900];
};

/// The scratch memory of one survey, zero from the start: the lengths lie behind the counts.
class scratch {
  public:
    scratch(gpu on, std::int64_t nnz)
        : on_(on), memory_(on, sizeof(survey) + std::size_t(most_long_rows(nnz)) * sizeof(index)) {
        zero_on_device(on, memory_);
    }
    [[nodiscard]] survey* found() const { return reinterpret_cast<survey*>(memory_.data()); }
    [[nodiscard]] index* long_lengths() const {
        return reinterpret_cast<index*>(memory_.data() + sizeof(survey));
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    /// Leaves no copy on its way: the next has the same place.
    ~scratch() {
        if (copied_ != nullptr) try {
                synchronize(on_);
            } catch (const error&) {  // of whatever was launched: others meet it as well
            }
    }
    /// Behind the kernels, so that the CPU need not be back by then.
    void start_copy() { copied_ = start_copy_to_host(on_, found(), bytes_of_first()); }
    /// Waits for the stream.
    [[nodiscard]] first_counts first() {
        first_counts first;
        const void* const there = std::exchange(copied_, nullptr);
        if (there == nullptr) {
            copy_to_host(on_, found(), &first, bytes_of_first());
        } else {
            synchronize(on_);
            std::memcpy(&first, there, bytes_of_first());
        }
        return first;
    }

  private:
    [[nodiscard]] std::size_t bytes_of_first() const {
        return std::min(sizeof(first_counts), memory_.size());
    }
    gpu on_;
    device_array<std::byte> memory_;
    const void* copied_ = nullptr;
};

template <class V>
void launch(gpu on, const csr<V, device_view>& A, bool hash, scratch& at) {
    const cudaStream_t stream = stream_of(on);
    survey_rows<<<blocks_for(A.shape.rows, row_threads), row_threads, 0, stream>>>(
        A, at.found(), at.long_lengths());
    const cells of = cells_of(A);
    survey_entries<<<blocks_for(of.all(), of.each), entry_threads, std::size_t(of.sectors) / 8,
                     stream>>>(A, at.found(), of);
    if (hash) add_pattern_hash(on, A.row_ptr, A.col_ind, &at.found()->pattern_hash);
    check(cudaGetLastError(), "stats");
    at.start_copy();
}

/// On the CPU.
struct surveyed {
    survey counts;
    host_vector<index> long_lengths;
};

/// The counts of the kernels that were launched. Waits for on.stream. A may be no CSR; the numbers
/// then mean nothing.
surveyed read_back(gpu on, scratch& at, offset nnz) {
    surveyed s;
    const first_counts first = at.first();
    s.counts = first.counts;
    s.long_lengths.resize(
        std::min(std::size_t(s.counts.long_rows), std::size_t(most_long_rows(nnz))));
    if (s.long_lengths.size() <= std::size(first.lengths)) {
        std::copy_n(first.lengths, s.long_lengths.size(), s.long_lengths.begin());
    } else {
        copy_to_host(on, at.long_lengths(), s.long_lengths.data(),
                     s.long_lengths.size() * sizeof(index));
    }
    return s;
}

/// More lengths than this become fewer: the cost of every method walks over all of them, which
/// took as long as six products where there were 1,200.
constexpr std::size_t many_lengths = 256;

/// Lengths with each one's rows, ascending. Those from 64 on count as one where they differ by less
/// than a sixteenth, by their mean; but the longest by itself.
class similar_lengths {
  public:
    void add(std::int64_t length, std::int64_t rows) {
        if (length > longest_) longest_ = length, of_longest_ = 0;
        if (length == longest_) of_longest_ += rows;
        kind& k = kinds_[place_of(length)];
        k.rows += rows, k.entries += rows * length;
    }
    [[nodiscard]] std::vector<matrix_stats::length_count> counts() {
        kind& last = kinds_[place_of(longest_)];
        last.rows -= of_longest_, last.entries -= of_longest_ * longest_;
        std::vector<matrix_stats::length_count> all;
        for (const kind& k : kinds_)
            if (k.rows > 0) all.push_back({(k.entries + k.rows / 2) / k.rows, k.rows});
        if (of_longest_ > 0) all.push_back({longest_, of_longest_});
        return all;
    }

  private:
    static constexpr int exact_bits = 6, more_bits = 4;
    static std::size_t place_of(std::int64_t length) {
        const int above = int(std::bit_width(std::uint64_t(length))) - 1 - exact_bits;
        if (above < 0) return std::size_t(length);
        const std::int64_t sixteenth = length >> (above + exact_bits - more_bits);
        return std::size_t((1 << exact_bits) + (above << more_bits) +
                           (sixteenth & ((1 << more_bits) - 1)));
    }
    struct kind {
        std::int64_t rows = 0, entries = 0;
    };
    std::int64_t longest_ = -1, of_longest_ = 0;
    std::array<kind, (1 << exact_bits) + ((31 - exact_bits) << more_bits)> kinds_{};
};

std::vector<matrix_stats::length_count> lengths_of(surveyed& s) {
    const auto& short_ones = s.counts.rows_of_length;
    const auto some = std::ranges::count_if(short_ones, [](unsigned rows) { return rows > 0; });
    if (std::size_t(some) + s.long_lengths.size() > many_lengths) {
        similar_lengths all;
        for (int n = 0; n < short_lengths; ++n)
            if (short_ones[n] > 0) all.add(n, short_ones[n]);
        for (const index n : s.long_lengths) all.add(n, 1);
        return all.counts();
    }
    std::vector<matrix_stats::length_count> all;
    for (int n = 0; n < short_lengths; ++n)
        if (short_ones[n] > 0) all.push_back({n, short_ones[n]});
    std::sort(s.long_lengths.begin(), s.long_lengths.end());
    for (const index n : s.long_lengths) {
        if (all.empty() || all.back().length != n) all.push_back({n, 0});
        ++all.back().rows;
    }
    return all;
}

/// Smaller matrices are as likely multiplied by CSR, whose setup a layout made in vain delays.
constexpr offset least_entries_packed = 1 << 18;
/// Larger matrices have setups that are work and no longer calls, and a layout in vain would take
/// more of their time and memory. Products of smaller ones are too short to be timed.
constexpr offset most_entries_packed = 1 << 20;

}  // namespace

template <class V>
subject<V, gpu> looked_at(gpu on, const ascending<V, gpu>& in_order, work_ahead ahead,
                          std::shared_ptr<const packed_analysis<V>> of_transpose) {
    const csr<V, device_view>& A = in_order.view();
    const device_guard guard(on);
    const auto nnz = std::int64_t(A.val.len);
    const gpu aside = beside(on);
    start_after(aside, on);
    std::optional<scratch> at;
    const bool hash = ahead.hash && nnz > most_entries_packed && in_order.given_in_order();
    const auto survey_aside = [&] {
        at.emplace(aside, nnz);
        launch(aside, A, hash, *at);
    };
    const auto packing =  // which refuses what is no CSR
        analyse_for_packing(on, A, survey_aside, std::move(of_transpose));
    if (ahead.pack && nnz >= least_entries_packed && nnz <= most_entries_packed)
        pack_ahead(on, *packing);
    surveyed found = read_back(aside, *at, nnz);
    const survey& s = found.counts;
    matrix_stats m;
    m.rows = A.shape.rows, m.cols = A.shape.cols, m.nnz = nnz;
    if (m.rows > 0) m.row_lengths = lengths_of(found);
    m.group_width[0] = std::int64_t(s.group_width);
    const double share = s.entries > 0 ? double(nnz) / double(s.entries) : 1;
    const auto of_all = [&](count sampled) { return std::int64_t(double(sampled) * share); };
    m.row_sectors = of_all(s.row_sectors);
    m.column_sectors = of_all(s.column_sectors);
    m.group_sectors = of_all(s.group_sectors);
    m.far_columns = of_all(s.far_columns);
    m.compared_columns = of_all(s.compared_columns);
    m.packed = size_of_packed(*packing);
    return {in_order, packing, std::move(m),
            hash ? std::optional<std::uint64_t>(s.pattern_hash) : std::nullopt};
}

template <class V>
subject<V, gpu> looked_at(gpu on, const csr<V, device_view>& A, work_ahead ahead) {
    check_sizes(A);
    const device_guard guard(on);
    try {
        return looked_at(on, ascending<V, gpu>::known(A, on), ahead);
    } catch (const argument_error&) {  // no CSR, or one of another order: looked at once more
    }
    return looked_at(on, ascending<V, gpu>(A, on), ahead);
}

template <class V>
matrix_stats compute_stats(gpu on, const csr<V, device_view>& A) {
    return *looked_at(on, A, {}).stats;
}

#define NZ_INSTANTIATE(V)                                                            \
    template subject<V, gpu> looked_at(gpu, const ascending<V, gpu>&, work_ahead,    \
                                       std::shared_ptr<const packed_analysis<V>>);   \
    template subject<V, gpu> looked_at(gpu, const csr<V, device_view>&, work_ahead); \
    template matrix_stats compute_stats(gpu, const csr<V, device_view>&);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
