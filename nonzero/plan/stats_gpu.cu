// The stats of a CSR that lies on the GPU, computed there: every number as stats.cpp has it.
#include <algorithm>
#include <climits>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>

#include "nonzero/core/cuda.cuh"
#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/packed.hpp"
#include "nonzero/plan/stats.hpp"

namespace nz {
namespace {

constexpr int short_lengths = 1024;  ///< lengths below have a place each in the histogram
constexpr int sides = int(std::size(stats_block_sides));
using count = unsigned long long;

/// What stops the counting.
enum class flaw : int { none, row_ptr, column };

/// What the kernels count, in GPU memory.
struct survey {
    unsigned rows_of_length[short_lengths];
    unsigned long_rows;  ///< of short_lengths entries or more; their lengths are listed
    flaw flawed;
    int bandwidth;
    count group_width[2], last_group_width[2], sorted_group_width;
    count diagonals, row_sectors, column_sectors, near_sectors, blocks[sides];
    offset share_start[stats_shares + 1];  ///< of the rows, among the entries
};

__device__ inline int warp_max(int v) {
    for (int step = warp_size / 2; step > 0; step /= 2)
        v = max(v, __shfl_xor_sync(full_warp, v, step));
    return v;
}
__device__ inline count warp_sum(count v) {
    for (int step = warp_size / 2; step > 0; step /= 2) v += __shfl_xor_sync(full_warp, v, step);
    return v;
}

/// 0 where row_ptr does not ascend from 0 to nnz, which is noted.
template <class V>
__device__ index length_of(const csr<V, device_view>& A, std::int64_t i, survey* s) {
    if (i >= A.shape.rows) return 0;
    const offset nnz = offset(A.val.len);
    const offset first = A.row_ptr[std::size_t(i)], last = A.row_ptr[std::size_t(i) + 1];
    const bool at_ends = (i > 0 || first == 0) && (i + 1 < A.shape.rows || last == nnz);
    if (at_ends && first >= 0 && first <= last && last <= nnz && last - first < INT_MAX)
        return index(last - first);
    s->flawed = flaw::row_ptr;
    return 0;
}

constexpr int row_threads = int(stats_sort_scope);
constexpr int row_warps = row_threads / warp_size;

/// The widths of this block's groups of rows, whose longest rows by warps are `longest`.
__device__ inline void add_widths(const int* longest, std::int64_t rows_left, survey* s) {
    constexpr int each = int(stats_groups[1]) / warp_size;
    count sum[2] = {}, last[2] = {};
    for (int w = 0; w * warp_size < rows_left && w < row_warps; ++w) {
        last[0] = unsigned(longest[w]);
        last[1] = w % each == 0 ? last[0] : max(last[1], last[0]);
        sum[0] += last[0];
        const bool ends = w % each == each - 1 || (w + 1) * warp_size >= rows_left;
        if (ends) sum[1] += last[1];
    }
    for (int g = 0; g < 2; ++g) {
        atomicAdd(s->group_width + g, sum[g]);
        if (rows_left <= row_threads) s->last_group_width[g] = last[g];
    }
}

/// What depends on the rows' lengths alone. A block takes as many rows as a sort may mix.
template <class V>
__global__ void __launch_bounds__(row_threads)
    survey_rows(csr<V, device_view> A, survey* s, index* long_lengths) {
    using sort = cub::BlockRadixSort<int, row_threads, 1>;
    __shared__ typename sort::TempStorage storage;
    __shared__ unsigned histogram[short_lengths];
    __shared__ int longest[row_warps];
    const int t = int(threadIdx.x), lane = t % warp_size;
    const std::int64_t first = std::int64_t(blockIdx.x) * row_threads, left = A.shape.rows - first;
    const index len = length_of(A, first + t, s);
    histogram[t] = 0;
    const int of_warp = warp_max(len);
    if (lane == 0) longest[t / warp_size] = of_warp;
    __syncthreads();
    const bool is_short = t < left && len < short_lengths;
    const unsigned alike = __match_any_sync(full_warp, is_short ? len : -1);
    if (is_short && __ffs(int(alike)) - 1 == lane)
        atomicAdd(histogram + len, unsigned(__popc(int(alike))));
    if (t < left && !is_short) long_lengths[atomicAdd(&s->long_rows, 1U)] = len;
    if (t == 0) add_widths(longest, left, s);
    static_assert(row_warps == warp_size);
    const int most = warp_max(longest[lane]);
    int key[1] = {len};
    sort(storage).SortDescending(key, 0, most > 0 ? 32 - __clz(most) : 1);
    if (lane == 0 && key[0] > 0) atomicAdd(&s->sorted_group_width, count(key[0]));
    if (histogram[t] > 0) atomicAdd(s->rows_of_length + t, histogram[t]);
    if (blockIdx.x == 0 && t <= stats_shares) {
        const std::int64_t each = A.shape.rows / stats_shares, rest = A.shape.rows % stats_shares;
        s->share_start[t] = A.row_ptr[std::size_t(t * each + min(std::int64_t(t), rest))];
    }
}

constexpr int group_rows = int(stats_groups[1]);
constexpr int entry_threads = 2 * group_rows;
constexpr int rows_above = stats_block_sides[sides - 1];  ///< one more than a block reaches back
constexpr std::int64_t most_sectors = std::int64_t(32) << 13;  ///< of a range: 32 KB of bits

/// The columns that a block looks at: `sectors` of x from `first` on.
struct column_range {
    std::int64_t first, sectors;
};

/// The rows of a block, and which of their entries lie in its columns.
struct group {
    offset begin[group_rows + rows_above];  ///< of whole rows, from `rows_above` before the first
    offset end[group_rows + rows_above];
    offset from[group_rows];    ///< the first entry within the columns
    offset before[group_rows];  ///< entries within the columns, of the rows before
    offset total;
};

/// The first of [first, last) that is not below `key`, looked for around `guess`.
__device__ inline offset lower_bound(const index* c, offset first, offset last, offset guess,
                                     std::int64_t key) {
    offset low = first, high = min(max(guess, first), last);
    if (high < last && c[high] < key) {
        low = high + 1;
        offset step = 1;
        for (; low + step < last && c[low + step] < key; step *= 2) low += step + 1;
        high = min(low + step, last);
    } else {
        offset step = 1;
        for (; high - step >= first && c[high - step] >= key; step *= 2) high -= step;
        low = max(high - step, first);
    }
    while (low < high) {
        const offset middle = (low + high) / 2;
        if (c[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/// Sets up the group of this block, all of whose threads take part.
template <class V>
__device__ void enter_rows(const csr<V, device_view>& A, std::int64_t first_row, column_range r,
                           group& g) {
    using scan = cub::BlockScan<offset, entry_threads>;
    __shared__ typename scan::TempStorage storage;
    constexpr index elements = index(sector_bytes / sizeof(V));
    const int t = int(threadIdx.x);
    if (t < group_rows + rows_above) {
        const std::int64_t i = first_row - rows_above + t;
        const bool some = i >= 0 && i < A.shape.rows;
        g.begin[t] = some ? A.row_ptr[std::size_t(i)] : 0;
        g.end[t] = some ? A.row_ptr[std::size_t(i) + 1] : 0;
    }
    __syncthreads();
    offset mine = 0;
    if (t < group_rows) {
        offset from = g.begin[t + rows_above], to = g.end[t + rows_above];
        const std::int64_t least = r.first * elements, most = (r.first + r.sectors) * elements;
        if (least > 0) from = lower_bound(A.col_ind.ptr, from, to, from, least);
        if (most < A.shape.cols) to = lower_bound(A.col_ind.ptr, from, to, to, most);
        g.from[t] = from;
        mine = to - from;
    }
    offset before = 0, total = 0;
    scan(storage).ExclusiveSum(mine, before, total);
    if (t < group_rows) g.before[t] = before;
    if (t == 0) g.total = total;
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

struct counts {
    count row_sectors = 0, column_sectors = 0, near_sectors = 0, blocks[sides] = {};
    int bandwidth = 0;
};

/// f(side's number, side) for every side of stats_block_sides, known to the compiler.
template <class F>
__device__ void for_each_side(F f) {
#pragma unroll
    for (int b = 0; b < sides; ++b) f(b, b == 0 ? 2 : b == 1 ? 3 : b == 2 ? 4 : b == 3 ? 6 : 8);
}
static_assert(sides == 5 && stats_block_sides[0] == 2 && stats_block_sides[1] == 3 &&
              stats_block_sides[2] == 4 && stats_block_sides[3] == 6 && stats_block_sides[4] == 8);

/// Counts the blocks whose first entry this is: none before it in its row, none in the rows of the
/// block above. `at`: the row's place among g.begin; k: the entry's within the row.
__device__ inline void count_blocks(const index* c, const group& g, std::int64_t i, int at,
                                    offset k, index j, index before, counts& n) {
    constexpr int reach = rows_above - 1;
    unsigned open = 0;
    for_each_side([&](int b, int side) {
        if (k == 0 || before / side != j / side) open |= 1U << b;
    });
    for (int d = 1; d <= reach; ++d) {
        unsigned ends = 0;
        for_each_side([&](int b, int side) {
            if ((open >> b & 1) != 0 && i % side < d) ends |= 1U << b, ++n.blocks[b];
        });
        open &= ~ends;
        if (open == 0) return;
        const offset first = g.begin[at - d], last = g.end[at - d];
        for (offset p = lower_bound(c, first, last, first + k, std::int64_t(j) - reach);
             p < last && std::int64_t(c[p]) - j <= reach; ++p)
            for_each_side([&](int b, int side) {
                if (c[p] / side == j / side) open &= ~(1U << b);
            });
    }
    for_each_side([&](int b, int) { n.blocks[b] += open >> b & 1; });
}

/// Adds what the threads of a block counted.
__device__ inline void add_counts(const counts& n, survey* s) {
    const auto add = [](count* to, count mine) {
        const count sum = warp_sum(mine);
        if (threadIdx.x % warp_size == 0 && sum > 0) atomicAdd(to, sum);
    };
    add(&s->row_sectors, n.row_sectors);
    add(&s->column_sectors, n.column_sectors);
    add(&s->near_sectors, n.near_sectors);
    for (int b = 0; b < sides; ++b) add(s->blocks + b, n.blocks[b]);
    const int bandwidth = warp_max(n.bandwidth);
    if (threadIdx.x % warp_size == 0) atomicMax(&s->bandwidth, bandwidth);
}

/// Blocks of entries are looked for in every so many groups of rows first.
constexpr unsigned sampled_groups = 16;
/// Of so few groups all are taken.
constexpr unsigned few_groups = 4 * sampled_groups;

/// What depends on the columns. A block takes the rows of a group and a range of columns, and
/// counts blocks of entries in one of `each` groups. seen: a byte a diagonal, from that of the
/// lower left corner on.
template <class V>
__global__ void __launch_bounds__(entry_threads)
    survey_entries(csr<V, device_view> A, survey* s, std::uint8_t* seen, std::int64_t sectors,
                   unsigned each) {
    extern __shared__ unsigned near[];  // a bit a sector of the range
    __shared__ group g;
    constexpr index elements = index(sector_bytes / sizeof(V));
    if (s->flawed == flaw::row_ptr) return;  // which would lead anywhere
    const std::int64_t first_row = std::int64_t(blockIdx.x) * group_rows;
    const column_range r{std::int64_t(blockIdx.y) * sectors, sectors};
    for (std::int64_t w = threadIdx.x; w < sectors / 32; w += entry_threads) near[w] = 0;
    enter_rows(A, first_row, r, g);
    const index* const c = A.col_ind.ptr;
    counts n;
    for (offset e = threadIdx.x; e < g.total; e += entry_threads) {
        const int row = row_of(g, e), at = row + rows_above;
        const offset p = g.from[row] + (e - g.before[row]), k = p - g.begin[at];
        const index j = c[p], before = k > 0 ? c[p - 1] : -1, sector = j / elements;
        if (j <= before || j >= A.shape.cols) {
            s->flawed = flaw::column;
            continue;
        }
        const std::int64_t i = first_row + row;
        const bool leads = k == 0 || before / elements != sector;
        n.row_sectors += leads;
        const bool has_above = i % stats_groups[0] != 0 && k < g.end[at - 1] - g.begin[at - 1];
        n.column_sectors += !has_above || c[g.begin[at - 1] + k] / elements != sector;
        if (const auto bit = std::uint64_t(sector - r.first); leads && bit < std::uint64_t(sectors))
            n.near_sectors += (near[bit / 32] >> (bit % 32) & 1) == 0 &&
                              (atomicOr(near + bit / 32, 1U << (bit % 32)) >> (bit % 32) & 1) == 0;
        const std::int64_t d = j - i;
        n.bandwidth = max(n.bandwidth, int(d < 0 ? -d : d));
        if (std::uint8_t& met = seen[d + A.shape.rows]; met == 0) met = 1;
        if (blockIdx.x % each == 0) count_blocks(c, g, i, at, k, j, before, n);
    }
    add_counts(n, s);
}

/// The blocks of entries in all groups, where a sample says that they may pay.
template <class V>
__global__ void __launch_bounds__(entry_threads)
    survey_blocks(csr<V, device_view> A, survey* s, std::int64_t sectors) {
    __shared__ group g;
    const std::int64_t first_row = std::int64_t(blockIdx.x) * group_rows;
    enter_rows(A, first_row, {std::int64_t(blockIdx.y) * sectors, sectors}, g);
    counts n;
    for (offset e = threadIdx.x; e < g.total; e += entry_threads) {
        const int row = row_of(g, e), at = row + rows_above;
        const offset p = g.from[row] + (e - g.before[row]), k = p - g.begin[at];
        count_blocks(A.col_ind.ptr, g, first_row + row, at, k, A.col_ind[std::size_t(p)],
                     k > 0 ? A.col_ind[std::size_t(p - 1)] : -1, n);
    }
    add_counts(n, s);
}

/// Diagonals met. seen: whole 16 bytes, zero behind the last diagonal.
__global__ void count_diagonals(const uint4* seen, std::size_t words, survey* s) {
    count n = 0;
    for (std::size_t k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; k < words;
         k += std::size_t(gridDim.x) * blockDim.x) {
        const uint4 w = seen[k];
        n += unsigned(__popc(int(w.x)) + __popc(int(w.y)) + __popc(int(w.z)) + __popc(int(w.w)));
    }
    n = warp_sum(n);
    if (threadIdx.x % warp_size == 0 && n > 0) atomicAdd(&s->diagonals, n);
}

/// The scratch memory of one survey, zero from the start.
class scratch {
  public:
    scratch(gpu on, nz::shape shape, std::int64_t nnz)
        : seen_words(std::size_t(std::int64_t(shape.rows) + shape.cols) / 16 + 1),
          memory_(lengths_at(seen_words) + std::size_t(nnz / short_lengths + 1) * sizeof(index)) {
        zero_on_device(on, {memory_.data(), lengths_at(seen_words)});
    }
    [[nodiscard]] survey* found() const { return reinterpret_cast<survey*>(memory_.data()); }
    [[nodiscard]] std::uint8_t* seen() const {
        return reinterpret_cast<std::uint8_t*>(memory_.data() + seen_at);
    }
    [[nodiscard]] index* long_lengths() const {
        return reinterpret_cast<index*>(memory_.data() + lengths_at(seen_words));
    }
    std::size_t seen_words;  ///< of 16 bytes

  private:
    static constexpr std::size_t seen_at = (sizeof(survey) + 255) / 256 * 256;
    static std::size_t lengths_at(std::size_t words) { return seen_at + 16 * words; }
    device_array<std::byte> memory_;
};

/// So many ranges of columns that a range's sectors fit a block's bits, and few groups of long rows
/// keep the GPU busy.
template <class V>
std::int64_t sectors_of_range(const csr<V, device_view>& A, std::int64_t groups) {
    constexpr std::int64_t entries_of_a_block = 8192, most_ranges = 64;
    const std::int64_t sectors = A.shape.cols / std::int64_t(sector_bytes / sizeof(V)) + 1;
    const std::int64_t ranges = std::clamp<std::int64_t>(
        std::int64_t(A.val.len) / groups / entries_of_a_block, 1, most_ranges);
    return std::min(most_sectors, (sectors / ranges / 32 + 1) * 32);
}

template <class V>
struct entry_grid {
    explicit entry_grid(const csr<V, device_view>& A)
        : groups(blocks_for(A.shape.rows, group_rows)),
          sectors(sectors_of_range(A, groups)),
          ranges(blocks_for(A.shape.cols / std::int64_t(sector_bytes / sizeof(V)) + 1, sectors)) {}
    [[nodiscard]] unsigned each() const { return groups <= few_groups ? 1 : sampled_groups; }
    unsigned groups;
    std::int64_t sectors;
    unsigned ranges;
};

template <class V>
void launch(gpu on, const csr<V, device_view>& A, const scratch& at) {
    const cudaStream_t stream = stream_of(on);
    survey_rows<<<blocks_for(A.shape.rows, row_threads), row_threads, 0, stream>>>(
        A, at.found(), at.long_lengths());
    const entry_grid grid(A);
    survey_entries<<<dim3(grid.groups, grid.ranges), entry_threads, std::size_t(grid.sectors) / 8,
                     stream>>>(A, at.found(), at.seen(), grid.sectors, grid.each());
    count_diagonals<<<std::min(1024U, blocks_for(std::int64_t(at.seen_words), 256)), 256, 0,
                      stream>>>(reinterpret_cast<const uint4*>(at.seen()), at.seen_words,
                                at.found());
    check(cudaGetLastError(), "stats");
}

void refuse(flaw f) {
    if (f == flaw::row_ptr)
        throw argument_error("stats: row_ptr does not ascend from 0 to the number of entries");
    if (f == flaw::column)
        throw argument_error(
            "stats: a column is out of range, or the columns of a row do not ascend");
}

std::vector<length_count> lengths_of(gpu on, const survey& s, const index* long_lengths) {
    std::vector<length_count> all;
    for (int n = 0; n < short_lengths; ++n)
        if (s.rows_of_length[n] > 0) all.push_back({n, s.rows_of_length[n]});
    host_vector<index> listed(s.long_rows);
    copy_to_host(on, long_lengths, listed.data(), listed.size() * sizeof(index));
    std::sort(listed.begin(), listed.end());
    for (const index n : listed) {
        if (all.empty() || all.back().length != n) all.push_back({n, 0});
        ++all.back().rows;
    }
    return all;
}

/// Whether a sample's blocks of some side come near the bytes of CSR; with a margin of two over
/// what bsr takes at most.
template <class V>
bool blocks_may_pay(const survey& s, double each, std::int64_t rows, std::int64_t nnz) {
    constexpr double most_bytes_of_csr = 3;
    const double csr_bytes = double(nnz) * (sizeof(V) + sizeof(index)) + double(rows) * 4;
    for (int b = 0; b < sides; ++b) {
        const double values = double(stats_block_sides[b] * stats_block_sides[b]);
        if (each * double(s.blocks[b]) * values * sizeof(V) < most_bytes_of_csr * csr_bytes)
            return true;
    }
    return false;
}

/// All blocks, or nnz of them, the most there can be, where a sample says that they never pay.
template <class V>
void settle_blocks(gpu on, const csr<V, device_view>& A, const scratch& at, survey& s) {
    const entry_grid grid(A);
    const auto nnz = std::int64_t(A.val.len);
    if (grid.each() == 1) return;
    if (!blocks_may_pay<V>(s, grid.each(), A.shape.rows, nnz)) {
        std::fill_n(s.blocks, sides, count(nnz));
        return;
    }
    check(cudaMemsetAsync(at.found()->blocks, 0, sizeof s.blocks, stream_of(on)),
          "cudaMemsetAsync");
    survey_blocks<<<dim3(grid.groups, grid.ranges), entry_threads, 0, stream_of(on)>>>(
        A, at.found(), grid.sectors);
    check(cudaGetLastError(), "stats");
    copy_to_host(on, at.found()->blocks, s.blocks, sizeof s.blocks);
}

matrix_stats stats_of(const survey& s) {
    matrix_stats m;
    m.diagonals = std::int64_t(s.diagonals), m.bandwidth = s.bandwidth;
    for (int g = 0; g < 2; ++g) {
        m.group_width[g] = std::int64_t(s.group_width[g]);
        m.last_group_width[g] = std::int64_t(s.last_group_width[g]);
    }
    m.sorted_group_width = std::int64_t(s.sorted_group_width);
    for (int b = 0; b < sides; ++b) m.blocks[b] = std::int64_t(s.blocks[b]);
    m.row_sectors = std::int64_t(s.row_sectors);
    m.column_sectors = std::int64_t(s.column_sectors);
    m.near_sectors = std::int64_t(s.near_sectors);
    return m;
}

double imbalance_of(const survey& s, std::int64_t nnz) {
    offset heaviest = 0;
    for (int p = 0; p < stats_shares; ++p)
        heaviest = std::max(heaviest, s.share_start[p + 1] - s.share_start[p]);
    return nnz == 0 ? 1 : double(heaviest) * double(stats_shares) / double(nnz);
}

}  // namespace

template <class V>
matrix_stats compute_stats(gpu on, const csr<V, device_view>& A, device_analysis<V>* known) {
    const device_guard guard(on);
    const auto nnz = std::int64_t(A.val.len);
    const scratch at(on, A.shape, nnz);
    launch(on, A, at);
    const auto packing = analyse_for_packing(on, A);  // which waits: the survey is done as well
    survey s;
    copy_to_host(on, at.found(), &s, sizeof s);
    refuse(s.flawed);
    settle_blocks(on, A, at, s);
    matrix_stats m = stats_of(s);
    m.rows = A.shape.rows, m.cols = A.shape.cols, m.nnz = nnz;
    if (m.rows > 0) m.row_lengths = lengths_of(on, s, at.long_lengths());
    m.row_imbalance = imbalance_of(s, nnz);
    const packed_size packed = size_of_packed(*packing);
    if (known != nullptr) known->packing = packing;
    m.packed_bytes = packed.bytes;
    m.packed_steps = packed.steps;
    m.packed_diagonal_steps = packed.diagonal_steps;
    m.packed_chunks = packed.chunks;
    m.packed_longest = packed.longest;
    return m;
}

template matrix_stats compute_stats(gpu, const csr<float, device_view>&, device_analysis<float>*);
template matrix_stats compute_stats(gpu, const csr<double, device_view>&, device_analysis<double>*);

}  // namespace nz
