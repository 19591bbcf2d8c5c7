#include "nonzero/formats/packed/spmv/striped_segments.hpp"

#include <bit>
#include <cmath>
#include <cub/device/device_radix_sort.cuh>

#include "nonzero/core/gpu/device_arena.hpp"
#include "nonzero/formats/packed/spmv/lanes.cuh"
#include "nonzero/formats/packed/spmv/some_entries.cuh"

namespace nz {
namespace {

/// The rule by which rows are cut into segments.
struct cutter {
    device_offset_span row_ptr;
    const index* column;
    std::int64_t rows, cols;
    segment_options o;

    __device__ offset begin(std::int64_t i) const { return row_ptr[std::size_t(i)]; }
    __device__ index stripe(offset k) const { return column[k] / o.columns; }
    /// Whether row i may be cut, by its length and its ends.
    __device__ bool is_long(std::int64_t i) const {
        if (i >= rows) return false;
        const offset first = begin(i), last = begin(i + 1), len = last - first;
        if (len < o.least_row || len * o.least_gap > cols) return false;
        const offset stripes = stripe(last - 1) - stripe(first) + 1;
        return stripes > 1 && len >= stripes * o.least_mean;
    }
    /// Segments of the entries [k, end) of a stripe, in a row that begins at `first`.
    __device__ unsigned segments(offset first, offset k, offset end) const {
        if (k == end) return 0;
        return 1 + unsigned((end - 1 - first) / o.longest - (k - first) / o.longest);
    }
    /// The end of the segment that begins at k.
    __device__ offset end_of(offset first, offset k, offset end) const {
        return min(end, first + ((k - first) / o.longest + 1) * o.longest);
    }
    /// f(k, end) with row i's entries [k, end) of each stripe, in order, a stripe a lane; lanes
    /// without one get an empty range. By a whole warp. Every lane searches for the end of its
    /// stripe: a walk along the row would wait for memory once for 32 entries.
    template <class F>
    __device__ void for_each_stripe(std::int64_t i, F f) const {
        const offset last = begin(i + 1);
        offset first = begin(i);
        const index most = stripe(last - 1);
        for (std::int64_t s = stripe(first); s <= most; s += warp_size) {
            const std::int64_t mine = s + lane_id();
            const offset end = mine >= most ? last
                                            : first + first_at_least(column + first, last - first,
                                                                     (mine + 1) * o.columns);
            const offset before = __shfl_up_sync(full_warp, end, 1);
            f(lane_id() > 0 ? before : first, end);
            first = __shfl_sync(full_warp, end, warp_size - 1);
        }
    }
};

/// Counts of cut rows: of one row, or of all before it.
struct cut_count {
    unsigned segments = 0, rows = 0;
    unsigned long long entries = 0;
};
struct add_counts {
    __device__ cut_count operator()(const cut_count& a, const cut_count& b) const {
        return {a.segments + b.segments, a.rows + b.rows, a.entries + b.entries};
    }
};

/// The count of each row, nothing where it stays whole. A warp takes up to 32 rows, far apart: long
/// rows often lie side by side.
__global__ void __launch_bounds__(threads_per_block)
    count_segments(cutter cut, std::int64_t warps, cut_count* count) {
    const std::int64_t w = (std::int64_t(blockIdx.x) * threads_per_block + threadIdx.x) / warp_size;
    if (w >= warps) return;
    const std::int64_t own = lane_id() * warps + w;
    const bool may_be_cut = cut.is_long(own);
    cut_count mine;
    for (unsigned left = __ballot_sync(full_warp, may_be_cut); left != 0; left &= left - 1) {
        const int lane = __ffs(int(left)) - 1;
        const std::int64_t i = lane * warps + w;
        const offset first = cut.begin(i), len = cut.begin(i + 1) - first;
        unsigned n = 0;
        cut.for_each_stripe(i, [&](offset k, offset end) { n += cut.segments(first, k, end); });
        n = warp_sum(n);
        if (lane == lane_id() && len >= offset(n) * cut.o.least_mean)
            mine = {n, 1, static_cast<unsigned long long>(len)};
    }
    if (own < cut.rows) count[own] = mine;
}

/// From the counts before each row: its number of segments before it, and the list of cut rows.
struct numbered_row {
    const cut_count* before;
    std::int64_t rows;
    unsigned* numbers;
    index* cut_rows;
    __device__ void operator()(std::int64_t i) const {
        numbers[i] = before[i].segments;
        if (i < rows && before[i + 1].rows != before[i].rows) cut_rows[before[i].rows] = index(i);
    }
};

/// The stripe, the number and the entries [start, end) of every segment, row after row; then the
/// same by stripes, and row after row within a stripe.
struct segment_list {
    unsigned *stripe, *number;
    offset *start, *end;
    unsigned *sorted_stripe, *sorted_number;
    offset* sorted_start;
};
/// A warp takes a row that is cut.
__global__ void __launch_bounds__(threads_per_block)
    list_segments(cutter cut, const index* rows, std::int64_t count, const unsigned* numbers,
                  segment_list to) {
    const std::int64_t w = (std::int64_t(blockIdx.x) * threads_per_block + threadIdx.x) / warp_size;
    if (w >= count) return;
    const offset first = cut.begin(rows[w]);
    unsigned before = numbers[rows[w]];
    cut.for_each_stripe(rows[w], [&](offset k, offset end) {
        const auto mine = int(cut.segments(first, k, end));
        const int others = sum_before(mine);
        for (unsigned number = before + unsigned(others); k < end; ++number) {
            to.stripe[number] = unsigned(cut.stripe(k)), to.number[number] = number;
            to.start[number] = k;
            to.end[number] = k = cut.end_of(first, k, end);
        }
        before += unsigned(__shfl_sync(full_warp, others + mine, warp_size - 1));
    });
}

/// The p-th segment by stripes.
struct placed_segment {
    segment_list list;
    offset* length;
    unsigned* places;
    __device__ void operator()(std::int64_t p) const {
        const unsigned number = list.sorted_number[p];
        list.sorted_start[p] = list.start[number];
        length[p] = list.end[number] - list.start[number];
        places[number] = unsigned(p);
    }
};
struct whole_row {
    device_offset_span row_ptr;
    const unsigned* numbers;
    offset *start, *length;
    __device__ void operator()(std::int64_t i) const {
        start[i] = row_ptr[std::size_t(i)];
        const bool is_cut = numbers[i] != numbers[i + 1];
        length[i] = is_cut ? 0 : row_ptr[std::size_t(i) + 1] - start[i];
    }
};
/// shares[j] = the first chunk of the j-th of `count` parts of equal bytes.
struct equal_share {
    const packed_chunk* chunk;
    std::int64_t chunks;
    unsigned count;
    unsigned* shares;
    __device__ void operator()(std::int64_t j) const {
        const double all = chunks > 0 ? double(chunk[chunks - 1].index_at) + 1 : 0;
        const double least = all * double(j) / double(count);
        std::int64_t low = 0, high = chunks;
        while (low < high) {
            const std::int64_t mid = (low + high) / 2;
            if (double(chunk[mid].index_at) < least) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        shares[j] = unsigned(low);
    }
};

template <class V>
cutter cutter_of(const csr<V, device_view>& A, const segment_options& o) {
    return {A.row_ptr, A.col_ind.ptr, A.shape.rows, A.shape.cols, o};
}
unsigned blocks_of_warps(std::int64_t warps) {
    return blocks_for(warps * warp_size, threads_per_block);
}

/// The counts before each row, and in the end of all.
device_array<cut_count> counts_of_segments(gpu on, const cutter& cut) {
    constexpr std::int64_t warps_at_once = 8192;  // about as many as an H200 takes
    const std::int64_t warps =
        std::max((cut.rows + warp_size - 1) / warp_size, std::min(cut.rows, warps_at_once));
    device_array<cut_count> count(on, std::size_t(cut.rows) + 1);
    fill_bytes(on, count, 0);
    if (warps > 0)
        count_segments<<<blocks_of_warps(warps), threads_per_block, 0, stream_of(on)>>>(
            cut, warps, count.data());
    with_scratch(on, [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveScan(scratch, bytes, count.data(), count.data(),
                                              add_counts{}, cut_count{}, cut.rows + 1,
                                              stream_of(on));
    });
    return count;
}

/// The segments as a matrix of rows, by stripes; places: as row_segments has them. n: how many.
template <class V>
csr<V, device> listed_segments(gpu on, const csr<V, device_view>& A, const cutter& cut,
                               const row_segments<V>& of, std::size_t n, unsigned* places) {
    device_arena scratch;
    segment_list list{};
    scratch.want(list.stripe, n), scratch.want(list.number, n);
    scratch.want(list.start, n), scratch.want(list.end, n);
    scratch.want(list.sorted_stripe, n), scratch.want(list.sorted_number, n);
    scratch.want(list.sorted_start, n);
    scratch.allocate(on);
    const auto rows = std::int64_t(of.rows.size());
    if (n > 0)
        list_segments<<<blocks_of_warps(rows), threads_per_block, 0, stream_of(on)>>>(
            cut, of.rows.data(), rows, of.numbers.data(), list);
    const auto stripes = unsigned(cut.cols / cut.o.columns + 1);
    with_scratch(on, [&](void* memory, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, list.stripe, list.sorted_stripe,
                                               list.number, list.sorted_number, std::int64_t(n), 0,
                                               int(std::bit_width(stripes)), stream_of(on));
    });
    device_array<offset> length(on, n + 1);
    fill_bytes(on, length, 0);
    launch_each(on, std::int64_t(n), placed_segment{list, length.data(), places});
    return some_entries(on, A, list.sorted_start, length, of.entries, cut.o.longest);
}

/// Packs segments as lists, which the kernel below takes.
template <class V>
packed<V, device> packed_lists(gpu on, const csr<V, device_view>& segments,
                               const packed_analysis<V>* known) {
    packed_options o = packed_options::suited_to(on, std::int64_t(segments.val.len));
    o.most_diagonals = 0, o.tile_gain = HUGE_VAL;
    return known == nullptr ? pack(on, segments, o)
                            : pack(on, *analyse_part(on, segments, o, *known));
}

}  // namespace

template <class V>
row_segments<V> cut_by_stripes(gpu on, const csr<V, device_view>& A, const segment_options& o,
                               const packed_analysis<V>* known) {
    const device_guard guard(on);
    if (A.val.len / std::size_t(o.least_mean) > 0xffffffffU)
        throw argument_error("packed.stripes: the matrix may have too many segments");
    const cutter cut = cutter_of(A, o);
    const std::int64_t rows = A.shape.rows;
    const auto before = counts_of_segments(on, cut);
    const cut_count all = read_back(on, before.data() + rows);
    const auto n = std::size_t(all.segments);
    row_segments<V> to;
    to.entries = std::int64_t(all.entries);
    to.numbers = device_array<unsigned>(on, std::size_t(rows) + 1);
    to.rows = device_array<index>(on, all.rows);
    launch_each(on, rows + 1, numbered_row{before.data(), rows, to.numbers.data(), to.rows.data()});
    to.places = device_array<unsigned>(on, n);
    const auto segments = listed_segments(on, A, cut, to, n, to.places.data());
    to.matrix = packed_lists(on, view(segments), known);
    const unsigned parts = multiprocessors();
    to.shares = device_array<unsigned>(on, parts + 1);
    launch_each(on, parts + 1,
                equal_share{to.matrix.chunks.data(), std::int64_t(to.matrix.chunks.size()), parts,
                            to.shares.data()});
    return to;
}

template <class V>
csr<V, device> whole_rows(gpu on, const csr<V, device_view>& A, const row_segments<V>& cut) {
    const device_guard guard(on);
    const auto rows = std::size_t(A.shape.rows);
    device_array<offset> start(on, rows), length(on, rows + 1);
    fill_bytes(on, length, 0);
    launch_each(on, A.shape.rows,
                whole_row{A.row_ptr, cut.numbers.data(), start.data(), length.data()});
    return some_entries(on, A, start.data(), length, std::int64_t(A.val.len) - cut.entries);
}

namespace {

constexpr int threads_of_share = 1024;
/// Loads of one kind that a lane issues before it uses the first: as many as the 64 registers hold
/// that a thread may take.
template <class V>
constexpr int loads_of_share = 64 / sizeof(V);

/// One block for each multiprocessor, whose warps take chunks side by side: L1 then holds the part
/// of x that the block gathers from. A thread takes more than 32 registers, so that two blocks
/// never share a multiprocessor while others have none.
template <value_encoding C, class V>
__global__ void __launch_bounds__(threads_of_share, 1)
    segments_kernel(packed<V, device_view> S, const unsigned* __restrict__ shares, const V* x,
                    V* __restrict__ sums) {
    const device_decoder<C, true, V> value(S);
    scaled_row<V> end{V(1), V(0)};
    const int lane = lane_id();
    const unsigned last = shares[blockIdx.x + 1];
    for (unsigned k = shares[blockIdx.x] + threadIdx.x / warp_size; k < last;
         k += threads_of_share / warp_size) {
        const packed_chunk c = load_chunk(S.chunks.ptr + k);
        const index row = row_of_lane(S, c, lane);
        store_rows(c, sum_columns<loads_of_share<V>>(S, c, value, x, lane), row, end, sums);
    }
}

/// So many lanes add the segments of a row.
template <int lanes, class V>
__global__ void __launch_bounds__(threads_per_block)
    add_segments_of_rows(const index* __restrict__ rows, std::int64_t count,
                         const unsigned* __restrict__ numbers, const unsigned* __restrict__ places,
                         const V* sums, V alpha, V beta, V* y) {
    const std::int64_t thread = std::int64_t(blockIdx.x) * threads_per_block + threadIdx.x;
    const bool is_row = thread / lanes < count;
    const index i = is_row ? rows[thread / lanes] : 0;
    const unsigned first = is_row ? numbers[i] : 0, last = is_row ? numbers[i + 1] : 0;
    sums = wait_for_previous(sums);
    V sum = 0;
    for (unsigned k = first + unsigned(thread % lanes); k < last; k += lanes)
        sum += sums[places[k]];
    sum = sum_lanes<lanes>(sum);
    if (is_row && thread % lanes == 0) store_scaled(y + i, alpha, sum, beta);
}

template <int lanes, class V>
void add_segments(gpu on, V alpha, const row_segments<V>& S, const V* sums, V beta, V* y) {
    const auto count = std::int64_t(S.rows.size());
    launch<add_segments_of_rows<lanes, V>>(
        on, blocks_for(count * lanes, threads_per_block), threads_per_block,
        static_cast<const index*>(S.rows.data()), count,
        static_cast<const unsigned*>(S.numbers.data()),
        static_cast<const unsigned*>(S.places.data()), sums, alpha, beta, y);
}

}  // namespace

template <class V>
void multiply_segments(gpu on, V alpha, const row_segments<V>& S, device_span<V> x, V beta,
                       device_out<V> y) {
    const auto count = std::int64_t(S.rows.size());
    if (count == 0) return;
    V* const sums = reinterpret_cast<V*>(on.scratch.data());
    const auto blocks = unsigned(S.shares.size()) - 1;
    with_encoding<V>(S.matrix.encoding, [&]<value_encoding C>() {
        launch<segments_kernel<C, V>>(on, blocks, threads_of_share, view(S.matrix),
                                      static_cast<const unsigned*>(S.shares.data()), x.data(),
                                      sums);
    });
    constexpr std::int64_t many = 32;
    if (S.matrix.shape.rows < many * count)
        return add_segments<4>(on, alpha, S, sums, beta, y.data());
    add_segments<32>(on, alpha, S, sums, beta, y.data());
}

#define NZ_INSTANTIATE(V)                                                                        \
    template row_segments<V> cut_by_stripes(gpu, const csr<V, device_view>&,                     \
                                            const segment_options&, const packed_analysis<V>*);  \
    template csr<V, device> whole_rows(gpu, const csr<V, device_view>&, const row_segments<V>&); \
    template void multiply_segments(gpu, V, const row_segments<V>&, device_span<V>, V,           \
                                    device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
