// Packs a CSR that lies on the GPU, on the GPU. The result is what packed::from builds on the CPU,
// bit for bit: the same cuts by the same rules, each window of rows by one block.
#include <optional>
#include <utility>

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/gpu/device_arena.hpp"
#include "nonzero/formats/packed/build/fill.cuh"

namespace nz {
namespace {

/// Each lane walks a row of its own, so its cache lines must stay in L1 from one entry to the next.
/// Few resident blocks see to that; fewer than four are slower on matrices of short rows.
unsigned walk_blocks(std::int64_t threads) {
    constexpr unsigned resident_blocks = 4;
    return std::min(blocks_for(threads, walk_threads), resident_blocks * multiprocessors());
}

template <class V>
void fill(gpu on, const packing<V>& p, output<V> to, value_encoding encoding, unsigned chunks) {
    with_encoding<V>(encoding, [&]<value_encoding C>() {
        fill_chunks<C, V>
            <<<walk_blocks(std::int64_t(chunks) * warp_size), walk_threads, 0, stream_of(on)>>>(
                p, to, chunks);
    });
}

template <class V>
void mark(gpu on, packed<V, device>& P) {
    if (P.chunks_per_warp == 1) return;
    const auto count = unsigned(P.chunks.size());
    mark_identical_offsets<<<blocks_for(count, walk_threads / warp_size * max_identical),
                             walk_threads, 0, stream_of(on)>>>(P.chunks.data(), P.indices.data(),
                                                               count);
}

void refuse(input_error f) {
    if (f == input_error::row_ptr)
        throw argument_error("packed: row_ptr does not ascend from 0 to the number of entries");
    if (f == input_error::column)
        throw argument_error(
            "packed: a column is out of range, or the columns of a row do not ascend");
}

/// Blocks of 256 threads that pass over n elements, four of each at a time.
unsigned streaming_blocks(std::size_t n) {
    constexpr unsigned most_blocks = 1024, elements_per_thread = 4;
    return std::min(most_blocks, blocks_for(std::int64_t(n), 256 * elements_per_thread));
}

/// Values of a large matrix that a first launch enters, so that the launch on all values finds them
/// in L1. A matrix of fewer than worth_a_sample values has no sample: another launch takes longer.
constexpr std::size_t sampled_values = 16384, worth_a_sample = 1 << 17;

/// Clears the table of values, and enters a sample of them.
template <class V>
void start_table(gpu on, packing<V>& p, values_found<V>* at) {
    const cudaStream_t stream = stream_of(on);
    p.found = &at->counters, p.slots = at->slots;
    check(cudaMemsetAsync(at, 0, sizeof(*at), stream), "cudaMemsetAsync");
    const std::size_t nnz = p.A.val.len;
    if (nnz > worth_a_sample)
        find_values_alone<<<sampled_values / 256, 256, 0, stream>>>(
            p.A.val.ptr, sampled_values, nnz / sampled_values, p.slots, p.unsorted, p.found);
}

/// Looks at all entries, and sorts the values among them.
template <class V>
void find_and_sort_values(gpu on, packing<V>& p, values_found<V>* at) {
    const cudaStream_t stream = stream_of(on);
    start_table(on, p, at);
    if (p.A.val.len > 0) look_at_entries<<<streaming_blocks(p.A.val.len), 256, 0, stream>>>(p);
    sort_values<<<sort_blocks<V>, sort_threads, 0, stream>>>(p.slots, p.found, p.unsorted, p.table,
                                                             p.number);
}

/// Takes over the counts of the same values, which another analysis found.
__global__ void take_counts_of_values(const analysis_counters* from, analysis_counters* to) {
    *to = {};
    to->distinct = from->distinct;
    to->has_sentinel = from->has_sentinel, to->not_float32 = from->not_float32;
}

/// Cuts by the diagonals that are known.
template <class V>
void cut_by_known_diagonals(gpu on, const packing<V>& p, unsigned windows) {
    const cudaStream_t stream = stream_of(on);
    check(cudaFuncSetAttribute(cut_windows<V>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               int(sizeof(window))),
          "cudaFuncSetAttribute");
    if (windows > 0) cut_windows<<<windows, window_threads, sizeof(window), stream>>>(p);
    sum_sizes<<<1, sum_threads, 0, stream>>>(p, windows);
    check(cudaGetLastError(), "packed: analysis");
}

/// Waits for sum_sizes.
template <class V>
analysis_result result_of(gpu on, const packing<V>& p) {
    if (p.told == nullptr) return read_back(on, p.result);
    synchronize(on);
    return *p.told;
}

/// The passes that cut, and the result of the analysis.
template <class V>
analysis_result cut(gpu on, const packing<V>& p, unsigned windows,
                    const std::function<void()>& meanwhile) {
    if (windows > 0)
        find_diagonals<<<walk_blocks(p.A.shape.rows), walk_threads, 0, stream_of(on)>>>(p);
    cut_by_known_diagonals(on, p, windows);
    meanwhile();
    return result_of(on, p);
}

matrix_stats::packed_size widths_of(const analysis_counters& found) {
    return {.width = std::int64_t(found.width),
            .diagonal_width = std::int64_t(found.diagonal_width),
            .tile_width = std::int64_t(found.tile_width),
            .max_width = found.max_width};
}

}  // namespace

/// Results of the analysis of A, with all that the other passes reuse.
template <class V>
class packed_analysis {
  public:
    packed_analysis(gpu on, const csr<V, device_view>& A, const packed_options& options,
                    const std::function<void()>& meanwhile, bool in_order,
                    std::shared_ptr<const packed_analysis> of_values)
        : windows(blocks_for(A.shape.rows, packed_window) * (A.shape.rows > 0)),
          of_values_(std::move(of_values)) {
        p.A = A, p.options = options, p.in_order = in_order;
        p.told = memory_for_result<analysis_result>();
        scratch_.want(p.groups, std::size_t(windows) * groups_per_window);
        scratch_.want(p.cuts, windows), scratch_.want(p.sizes, windows);
        scratch_.want(p.result, 1);
        if (of_values_ != nullptr) {
            const packing<V>& of = of_values_->p;
            p.slots = of.slots, p.number = of.number, p.table = of.table;
            scratch_.want(p.found, 1);
            scratch_.allocate(on);
            take_counts_of_values<<<1, 1, 0, stream_of(on)>>>(of.found, p.found);
        } else {
            values_found<V>* values = nullptr;
            scratch_.want(values, 1), scratch_.want(p.number, hash_slots<V>);
            scratch_.want(p.unsorted, most_table_values<V>);
            scratch_.want(p.table, most_table_values<V>);
            scratch_.allocate(on);
            find_and_sort_values(on, p, values);
        }
        first = cut(on, p, windows, meanwhile);
        refuse(first.found.error);
        if (p.options.tiles_are_few(widths_of(first.found))) cut_without_tiles(on);
        if (first.total.words > 0xffffffffU || first.total.values > 0xffffffffU)
            throw argument_error("packed: the matrix is too large for 32-bit places of its chunks");
        encoding = encoding_for<V>(first.found.distinct, first.found.not_float32 == 0);
        chunks = first.total.segments + first.total.chunks;
        table_values = first.found.distinct <= most_table_values<V> ? first.found.distinct : 0;
    }

    unsigned windows;
    packing<V> p{};
    analysis_result first;
    value_encoding encoding;
    unsigned chunks, table_values;
    mutable std::optional<packed<V, device>> ahead;  ///< from pack_ahead, until `pack` takes it

  private:
    void cut_without_tiles(gpu on) {
        p.options.tile_gain = HUGE_VAL;
        forget_widths<<<1, 1, 0, stream_of(on)>>>(p.found);
        cut_by_known_diagonals(on, p, windows);
        first = result_of(on, p);
    }

    device_arena scratch_;
    std::shared_ptr<const packed_analysis> of_values_;  ///< whose arrays of values serve here
};

template <class V>
std::shared_ptr<const packed_analysis<V>> analyse_for_packing(
    gpu on, const csr<V, device_view>& A, const std::function<void()>& meanwhile,
    std::shared_ptr<const packed_analysis<V>> of_transpose) {
    const device_guard guard(on);
    const auto options = packed_options::suited_to(on, std::int64_t(A.val.len));
    const bool in_order = of_transpose != nullptr;
    return std::make_shared<const packed_analysis<V>>(on, A, options, meanwhile, in_order,
                                                      std::move(of_transpose));
}

template <class V>
std::shared_ptr<const packed_analysis<V>> analyse_part(gpu on, const csr<V, device_view>& part,
                                                       const packed_options& options,
                                                       const packed_analysis<V>& whole) {
    const device_guard guard(on);
    // The part may have fewer values, and so shorter numbers of them, unless there is one.
    const bool same_values = whole.encoding == value_encoding::constant && part.val.len > 0;
    const std::shared_ptr<const packed_analysis<V>> not_owned(std::shared_ptr<void>(), &whole);
    return std::make_shared<const packed_analysis<V>>(
        on, part, options, [] {}, true, same_values ? not_owned : nullptr);
}

template <class V>
matrix_stats::packed_size size_of_packed(const packed_analysis<V>& a) {
    const auto& [total, found] = a.first;
    const auto bytes = a.chunks * sizeof(packed_chunk) + total.perm * sizeof(index) +
                       total.words * packed_index_unit * sizeof(std::uint32_t) +
                       total.values * warp_size * encoded_bytes<V>(a.encoding) +
                       a.table_values * sizeof(V);
    matrix_stats::packed_size size = widths_of(found);
    size.bytes = std::int64_t(bytes), size.chunks = a.chunks;
    return size;
}

template <class V>
packed<V, device> pack(gpu on, const packed_analysis<V>& a) {
    if (a.ahead) return *std::exchange(a.ahead, std::nullopt);
    const device_guard guard(on);
    const stream_extent& total = a.first.total;
    packed<V, device> P;
    P.shape = a.p.A.shape, P.encoding = a.encoding, P.segment_chunks = index(total.segments);
    P.chunks_per_warp = 1, P.tiles = index(a.first.found.tiles);
    if (total.segments == 0 && P.tiles == 0)
        P.chunks_per_warp =
            a.p.options.chunks_per_warp(P.encoding, size_of_packed(a), a.first.found.pairs);
    P.chunks = device_array<packed_chunk>(on, a.chunks);
    P.perm = device_array<index>(on, total.perm);
    P.indices = device_array<std::uint32_t>(on, total.words * packed_index_unit);
    P.val = device_array<std::byte>(on, total.values * warp_size * encoded_bytes<V>(P.encoding));
    P.table = device_array<V>(on, a.table_values);
    const output<V> to{P.chunks.data(), P.perm.data(),  P.indices.data(), P.val.data(),
                       P.table.data(),  a.table_values, total.segments};
    if (a.windows > 0)
        place_windows<<<a.windows, window_threads, 0, stream_of(on)>>>(a.p, to, a.windows);
    if (a.chunks > 0) fill(on, a.p, to, P.encoding, a.chunks);
    mark(on, P);
    check(cudaGetLastError(), "packed: filling");
    return P;
}

template <class V>
void pack_ahead(gpu on, const packed_analysis<V>& a) try {
    a.ahead = pack(on, a);
} catch (const out_of_memory&) {  // a smaller layout may fit
}

template <class V>
packed<V, device> pack(gpu on, const csr<V, device_view>& A, const packed_options& options) {
    const device_guard guard(on);
    return pack(on, packed_analysis<V>(
                        on, A, options, [] {}, false, nullptr));
}

template <class V>
bool refill(gpu on, const csr<V, device_view>& A, packed<V, device>& P) {
    if (P.encoding != value_encoding::none && P.encoding != value_encoding::float32) return false;
    packing<V> p{};
    p.A = A;
    device_arena scratch;
    values_found<V>* values = nullptr;
    scratch.want(values, 1), scratch.want(p.unsorted, most_table_values<V>);
    scratch.allocate(on);
    start_table(on, p, values);
    if (A.val.len > 0)
        find_values_alone<<<streaming_blocks(A.val.len), 256, 0, stream_of(on)>>>(
            A.val.ptr, A.val.len, 1, p.slots, p.unsorted, p.found);
    const analysis_counters found = read_back(on, p.found);
    if (encoding_for<V>(found.distinct, found.not_float32 == 0) != P.encoding) return false;
    const output<V> to{
        P.chunks.data(),           P.perm.data(), P.indices.data(), P.val.data(), nullptr, 0,
        unsigned(P.segment_chunks)};
    if (P.chunks.size() > 0) fill(on, p, to, P.encoding, unsigned(P.chunks.size()));
    mark(on, P);  // anew: were the pattern another, no chunk may use another chunk's diagonals
    check(cudaGetLastError(), "packed: refill");
    refuse(read_back(on, p.found).error);
    return true;
}

#define NZ_INSTANTIATE(V)                                                                    \
    template std::shared_ptr<const packed_analysis<V>> analyse_for_packing(                  \
        gpu, const csr<V, device_view>&, const std::function<void()>&,                       \
        std::shared_ptr<const packed_analysis<V>>);                                          \
    template std::shared_ptr<const packed_analysis<V>> analyse_part(                         \
        gpu, const csr<V, device_view>&, const packed_options&, const packed_analysis<V>&);  \
    template matrix_stats::packed_size size_of_packed(const packed_analysis<V>&);            \
    template packed<V, device> pack(gpu, const packed_analysis<V>&);                         \
    template void pack_ahead(gpu, const packed_analysis<V>&);                                \
    template packed<V, device> pack(gpu, const csr<V, device_view>&, const packed_options&); \
    template bool refill(gpu, const csr<V, device_view>&, packed<V, device>&);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
