// Packs a CSR that lies on the GPU, there. The result is what packed::from builds on the CPU, bit
// for bit: the same cuts by the same rules, each window of rows by one block.
#include <utility>
#include <vector>

#include "nonzero/formats/packed_fill.cuh"

namespace nz {
namespace {

/// Scratch memory that several arrays share, in one allocation.
class arena {
  public:
    template <class T>
    void want(T*& to, std::size_t count) {
        wants_.push_back({reinterpret_cast<void**>(&to), used_});
        used_ += (count * sizeof(T) + 255) / 256 * 256;
    }
    void allocate() {
        memory_ = device_array<std::byte>(used_);
        for (const auto& [to, at] : wants_) *to = memory_.data() + at;
    }

  private:
    std::vector<std::pair<void**, std::size_t>> wants_;
    std::size_t used_ = 0;
    device_array<std::byte> memory_;
};

template <class V>
void fill(gpu on, const packing<V>& p, target<V> to, value_coding coding, unsigned chunks) {
    const auto launch = [&](auto kernel) {
        kernel<<<blocks_for(chunks, 8), 8 * warp_size, 0, stream_of(on)>>>(p, to, chunks);
    };
    switch (coding) {
        case value_coding::constant:
            return launch(fill_chunks<value_coding::constant, V>);
        case value_coding::table8:
            return launch(fill_chunks<value_coding::table8, V>);
        case value_coding::table16:
            return launch(fill_chunks<value_coding::table16, V>);
        case value_coding::narrow:
            return launch(fill_chunks<value_coding::narrow, V>);
        case value_coding::plain:
            return launch(fill_chunks<value_coding::plain, V>);
    }
}

template <class T>
T read_back(gpu on, const T* from) {
    T value;
    check(cudaMemcpyAsync(&value, from, sizeof(T), cudaMemcpyDeviceToHost, stream_of(on)),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_of(on)), "cudaStreamSynchronize");
    return value;
}

void refuse(flaw f) {
    if (f == flaw::row_ptr)
        throw argument_error("packed: row_ptr does not ascend from 0 to the number of entries");
    if (f == flaw::column)
        throw argument_error(
            "packed: a column is out of range, or the columns of a row do not ascend");
}

/// The first pass, and what came of it.
template <class V>
outcome cut(gpu on, const packing<V>& p, unsigned windows) {
    const cudaStream_t stream = stream_of(on);
    check(cudaMemsetAsync(p.found, 0, sizeof(notes), stream), "cudaMemsetAsync");
    check(cudaMemsetAsync(p.slots, 0xff, hash_slots<V> * sizeof(*p.slots), stream),
          "cudaMemsetAsync");
    const std::size_t nnz = p.A.val.len;
    constexpr unsigned most_blocks = 2048, values_per_thread = 4;
    const unsigned blocks =
        std::min(most_blocks, blocks_for(std::int64_t(nnz), 256 * values_per_thread));
    constexpr std::size_t sample = 16384;
    if (nnz > sample)
        find_values<<<16, 256, 0, stream>>>(p.A.val.ptr, sample, nnz / sample, p.slots, p.found);
    if (nnz > 0) find_values<<<blocks, 256, 0, stream>>>(p.A.val.ptr, nnz, 1, p.slots, p.found);
    sort_values<<<1, 1024, 0, stream>>>(p.slots, p.found, p.table, p.number);
    check(cudaFuncSetAttribute(cut_windows<V>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               int(sizeof(window))),
          "cudaFuncSetAttribute");
    if (windows > 0) cut_windows<<<windows, window_threads, sizeof(window), stream>>>(p);
    sum_extents<<<1, sum_threads, 0, stream>>>(p, windows);
    check(cudaGetLastError(), "packed: first pass");
    return read_back(on, p.result);
}

}  // namespace

template <class V>
packed<V, device> pack(gpu on, const csr<V, device_view>& A) {
    const unsigned windows = blocks_for(A.shape.rows, packed_window) * (A.shape.rows > 0);
    packing<V> p{};
    p.A = A, p.options = packed_options::suited_to(std::int64_t(A.val.len));
    arena scratch;
    scratch.want(p.found, 1), scratch.want(p.slots, hash_slots<V>);
    scratch.want(p.number, hash_slots<V>), scratch.want(p.table, most_table_values<V>);
    scratch.want(p.cuts, windows), scratch.want(p.extents, windows), scratch.want(p.result, 1);
    scratch.allocate();
    const outcome o = cut(on, p, windows);
    refuse(o.found.flawed);
    if (o.total.words > 0xffffffffU || o.total.values > 0xffffffffU)
        throw argument_error("packed: the matrix is too large for 32-bit places of its chunks");
    packed<V, device> P;
    P.shape = A.shape, P.coding = coding_for<V>(o.found.distinct, o.found.not_narrow == 0),
    P.part_chunks = index(o.total.parts);
    const unsigned chunks = o.total.parts + o.total.chunks;
    P.chunks = device_array<packed_chunk>(chunks);
    P.perm = device_array<index>(o.total.perm);
    P.codes = device_array<std::uint32_t>(o.total.words * 16);
    P.val = device_array<std::byte>(o.total.values * warp_size * code_bytes<V>(P.coding));
    P.table = device_array<V>(o.found.distinct <= most_table_values<V> ? o.found.distinct : 0);
    const target<V> to{P.chunks.data(), P.perm.data(), P.codes.data(), P.val.data(), o.total.parts};
    if (windows > 0) place_windows<<<windows, window_threads, 0, stream_of(on)>>>(p, to, windows);
    if (chunks > 0) fill(on, p, to, P.coding, chunks);
    if (P.table.size() > 0)
        check(cudaMemcpyAsync(P.table.data(), p.table, P.table.size() * sizeof(V),
                              cudaMemcpyDeviceToDevice, stream_of(on)),
              "cudaMemcpyAsync");
    check(cudaGetLastError(), "packed: second pass");
    refuse(read_back(on, p.found).flawed);
    return P;
}

template packed<float, device> pack(gpu, const csr<float, device_view>&);
template packed<double, device> pack(gpu, const csr<double, device_view>&);

}  // namespace nz
