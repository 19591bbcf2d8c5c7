#include "nonzero/formats/packed/spmv/striped_segments.hpp"

#include <thrust/iterator/counting_iterator.h>

#include <bit>
#include <cmath>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include "nonzero/formats/packed/spmv/lanes.cuh"
#include "nonzero/formats/packed/spmv/some_entries.cuh"

namespace nz {
namespace {

/// The rule by which rows are cut into segments.
struct cutter {
    device_offset_span row_ptr;
    const index* column;
    segment_options o;

    __device__ offset begin(std::int64_t i) const { return row_ptr[std::size_t(i)]; }
    __device__ index stripe(offset k) const { return column[k] / o.columns; }
    /// Whether a segment begins with entry k, of a row that begins at `first`.
    __device__ bool cuts(offset k, offset first) const {
        return (k - first) % o.longest == 0 || stripe(k) != stripe(k - 1);
    }
};

/// The segments of each row, 0 for a row that stays whole. A warp takes a row.
__global__ void __launch_bounds__(threads_per_block)
    count_segments(cutter cut, std::int64_t rows, std::int64_t cols, unsigned* count) {
    const std::int64_t i = (std::int64_t(blockIdx.x) * threads_per_block + threadIdx.x) / warp_size;
    if (i >= rows) return;
    const offset first = cut.begin(i), last = cut.begin(i + 1), len = last - first;
    unsigned n = 0;
    const bool is_long = len >= cut.o.least_row && len * cut.o.least_gap <= cols &&
                         cut.stripe(first) != cut.stripe(last - 1);
    if (is_long)
        for (offset k = first + lane_id(); k < last; k += warp_size) n += cut.cuts(k, first);
    n = warp_sum(n);
    if (lane_id() == 0) count[i] = len >= offset(n) * cut.o.least_mean ? n : 0;
}

/// The stripe and the entries [start, end) of every segment, row after row.
struct segment_list {
    unsigned* stripe;
    offset *start, *end;
};
__global__ void __launch_bounds__(threads_per_block)
    list_segments(cutter cut, std::int64_t rows, const unsigned* numbers, segment_list to) {
    const std::int64_t i = (std::int64_t(blockIdx.x) * threads_per_block + threadIdx.x) / warp_size;
    if (i >= rows || numbers[i] == numbers[i + 1]) return;
    const offset first = cut.begin(i), last = cut.begin(i + 1);
    unsigned before = numbers[i];
    for (offset at = first; at < last; at += warp_size) {
        const offset k = at + lane_id();
        const bool begins = k < last && cut.cuts(k, first);
        const unsigned all = __ballot_sync(full_warp, begins);
        const unsigned mine = before + __popc(all & (lanes_before() | 1U << lane_id())) - 1;
        if (begins) to.stripe[mine] = unsigned(cut.stripe(k)), to.start[mine] = k;
        if (k < last && (k + 1 == last || cut.cuts(k + 1, first))) to.end[mine] = k + 1;
        before += __popc(all);
    }
}

struct own_number {
    unsigned* to;
    __device__ void operator()(std::int64_t k) const { to[k] = unsigned(k); }
};
/// The p-th segment by stripes is number order[p].
struct placed_segment {
    const unsigned* order;
    segment_list from;
    offset *start, *length;
    unsigned* places;
    __device__ void operator()(std::int64_t p) const {
        const unsigned number = order[p];
        start[p] = from.start[number], length[p] = from.end[number] - from.start[number];
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
struct is_cut {
    const unsigned* numbers;
    __device__ bool operator()(index i) const { return numbers[i] != numbers[i + 1]; }
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
    return {A.row_ptr, A.col_ind.ptr, o};
}
unsigned blocks_of_warps(std::int64_t warps) {
    return blocks_for(warps * warp_size, threads_per_block);
}

/// The segments before each row of A, and in the end of all.
template <class V>
device_array<unsigned> numbers_of_segments(gpu on, const csr<V, device_view>& A,
                                           const segment_options& o) {
    const std::int64_t rows = A.shape.rows;
    device_array<unsigned> numbers(on, std::size_t(rows) + 1);
    fill_bytes(on, numbers, 0);
    if (rows > 0)
        count_segments<<<blocks_of_warps(rows), threads_per_block, 0, stream_of(on)>>>(
            cutter_of(A, o), rows, A.shape.cols, numbers.data());
    sum_before(on, numbers.data(), numbers.data(), rows + 1);
    return numbers;
}

device_array<index> cut_rows(gpu on, const device_array<unsigned>& numbers) {
    const auto rows = index(numbers.size()) - 1;
    device_array<index> all(on, std::size_t(rows)), count(on, 1);
    fill_bytes(on, count, 0);
    with_scratch(on, [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<index>(0),
                                     all.data(), count.data(), rows, is_cut{numbers.data()},
                                     stream_of(on));
    });
    const auto n = std::size_t(read_back(on, count.data()));
    device_array<index> some(on, n);
    if (n > 0)
        check(cudaMemcpyAsync(some.data(), all.data(), n * sizeof(index), cudaMemcpyDeviceToDevice,
                              stream_of(on)),
              "cudaMemcpyAsync");
    return some;
}

/// The numbers of the segments by stripes, and row after row within a stripe.
device_array<unsigned> sorted_by_stripe(gpu on, const device_array<unsigned>& stripe,
                                        index stripes) {
    const auto n = std::int64_t(stripe.size());
    device_array<unsigned> number(on, stripe.size()), sorted(on, stripe.size()),
        order(on, stripe.size());
    launch_each(on, n, own_number{number.data()});
    with_scratch(on, [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(
            scratch, bytes, stripe.data(), sorted.data(), number.data(), order.data(), n, 0,
            int(std::bit_width(unsigned(stripes))), stream_of(on));
    });
    return order;
}

/// Packs segments as lists, which the kernel below takes.
template <class V>
packed<V, device> packed_lists(gpu on, const csr<V, device_view>& segments) {
    packed_options o = packed_options::suited_to(on, std::int64_t(segments.val.len));
    o.most_diagonals = 0, o.tile_gain = HUGE_VAL;
    return pack(on, segments, o);
}

}  // namespace

template <class V>
row_segments<V> cut_by_stripes(gpu on, const csr<V, device_view>& A, const segment_options& o) {
    const device_guard guard(on);
    if (A.val.len / std::size_t(o.least_mean) > 0xffffffffU)
        throw argument_error("packed.stripes: the matrix may have too many segments");
    row_segments<V> to;
    to.numbers = numbers_of_segments(on, A, o);
    to.rows = cut_rows(on, to.numbers);
    const auto n = std::size_t(read_back(on, to.numbers.data() + A.shape.rows));
    device_array<unsigned> stripe(on, n);
    device_array<offset> start(on, n), end(on, n), length(on, n + 1), first(on, n);
    fill_bytes(on, length, 0);
    const segment_list list{stripe.data(), start.data(), end.data()};
    if (n > 0)
        list_segments<<<blocks_of_warps(A.shape.rows), threads_per_block, 0, stream_of(on)>>>(
            cutter_of(A, o), A.shape.rows, to.numbers.data(), list);
    const auto order = sorted_by_stripe(on, stripe, A.shape.cols / o.columns + 1);
    to.places = device_array<unsigned>(on, n);
    launch_each(on, std::int64_t(n),
                placed_segment{order.data(), list, first.data(), length.data(), to.places.data()});
    const csr<V, device> segments = some_entries(on, A, first, length);
    to.entries = std::int64_t(segments.val.size());
    to.matrix = packed_lists(on, view(segments));
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
    return some_entries(on, A, start, length);
}

namespace {

constexpr int threads_of_share = 1024;

/// One block for each multiprocessor, whose warps take chunks side by side: L1 then holds the part
/// of x that the block gathers from.
template <value_encoding C, class V>
__global__ void __launch_bounds__(threads_of_share)
    segments_kernel(packed<V, device_view> S, const unsigned* __restrict__ shares, const V* x,
                    V* __restrict__ sums) {
    const device_decoder<C, true, V> value(S);
    scaled_row<V> end{V(1), V(0)};
    constexpr bool lists_only = true;
    const unsigned last = shares[blockIdx.x + 1];
    for (unsigned k = shares[blockIdx.x] + threadIdx.x / warp_size; k < last;
         k += threads_of_share / warp_size)
        multiply_chunk<lists_only>(S, load_chunk(S.chunks.ptr + k), value, x, end, sums, lane_id());
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
        // Not before the previous kernel is done: where its last blocks left room, two of these
        // would share a multiprocessor and its L1, and others would have none.
        segments_kernel<C><<<blocks, threads_of_share, 0, stream_of(on)>>>(
            view(S.matrix), S.shares.data(), x.data(), sums);
    });
    constexpr std::int64_t many = 32;
    if (S.matrix.shape.rows < many * count)
        return add_segments<4>(on, alpha, S, sums, beta, y.data());
    add_segments<32>(on, alpha, S, sums, beta, y.data());
}

#define NZ_INSTANTIATE(V)                                                                        \
    template row_segments<V> cut_by_stripes(gpu, const csr<V, device_view>&,                     \
                                            const segment_options&);                             \
    template csr<V, device> whole_rows(gpu, const csr<V, device_view>&, const row_segments<V>&); \
    template void multiply_segments(gpu, V, const row_segments<V>&, device_span<V>, V,           \
                                    device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
