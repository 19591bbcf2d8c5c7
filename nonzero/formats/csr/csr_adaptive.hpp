// CSR with its rows cut into blocks of about equal nonzeros, for one block of GPU threads each.
#pragma once

#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/method.hpp"

namespace nz {

/// CSR and a list of row blocks. A block holds whole rows of at most `capacity` entries together,
/// or one of the parts, of `capacity` entries each, of a longer row.
///
///     capacity = 4, rows of 2, 1, 9, 3 entries:
///     block_row  = 0  2  2  2  3  4      first row of each block, and the end
///     block_part = -  0  1  2  -         part of its row; -1 for whole rows
///
/// Moves    CSR's bytes, and 8 a block.
/// Suits    every matrix.
/// Source   Greathouse and Daga, SC'14, doi:10.1109/SC.2014.68, section 4.
template <class V, class S>
struct csr_adaptive {
    using value = V;
    using space = S;
    template <class T>
    using in_space = csr_adaptive<V, T>;

    nz::shape shape;             ///< size of the matrix                        [rows x cols]
    index capacity;              ///< entries to a block                        [entries]
    array<offset, S> row_ptr;    ///< as in csr
    array<index, S> col_ind;     ///< as in csr
    array<V, S> val;             ///< as in csr
    array<index, S> block_row;   ///< blocks + 1
    array<index, S> block_part;  ///< blocks

    static auto scalars(auto& a) { return std::tie(a.shape, a.capacity); }
    static auto arrays(auto& a) {
        return std::tie(a.row_ptr, a.col_ind, a.val, a.block_row, a.block_part);
    }

    static estimate cost(const matrix_stats&);
    static csr_adaptive<V, host> from(const csr<V, host_view>&);
    /// Blocks of the given capacity, from 1 to csr_adaptive_most. Throws argument_error.
    static csr_adaptive<V, host> from(const csr<V, host_view>&, index capacity);
};
static_assert(format<csr_adaptive<double, host>>);

/// From a CSR that lies on the GPU, the same and made there. Waits for the GPU. Throws device_error
/// where the memory does not suffice.
template <class V>
csr_adaptive<V, device> adapt(gpu on, const csr<V, device_view>& A);

inline constexpr index csr_adaptive_most = 2048;  ///< products of a block, kept in shared memory

/// A piece is a row.
template <class V>
csr<V, host_view> as_csr(const csr_adaptive<V, host_view>& A) {
    return {A.shape, A.row_ptr, A.col_ind, A.val};
}
template <class V>
std::int64_t piece_count(const csr_adaptive<V, host_view>& A) {
    return A.shape.rows;
}
template <class V, class F>
void for_each_entry(const csr_adaptive<V, host_view>& A, std::int64_t first, std::int64_t last,
                    F f) {
    for_each_entry(as_csr(A), first, last, f);
}

/// CSR-Adaptive: a block of threads multiplies its entries, coalesced, into shared memory and then
/// sums them row by row with as many lanes a row as there are to spare. The segments of a long row
/// leave their sums in scratch memory, and the last of them to finish adds those in order, so the
/// result is the same in every run. One launch.
struct csr_adaptive_blocks : kernel_of<csr_adaptive> {
    static constexpr std::string_view name = "csr.adaptive";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Greathouse and Daga, SC'14, doi:10.1109/SC.2014.68";
    /// A block counts its rows in 32 bits, up to a block of threads past the last.
    static std::string declined_on_gpu(const matrix_stats&);
    /// Eight warps a block, each with a chain of its own: block, row, entries, x, rows again, sums
    /// and two barriers between them.
    static work work_on_gpu(const matrix_stats&);
    template <class V>
    static csr_adaptive<V, device> build(gpu on, const csr<V, device_view>& A,
                                         const packed_analysis<V>*) {
        return adapt(on, A);
    }
    template <class V>
    static std::size_t scratch_bytes(gpu, const csr_adaptive<V, device_view>& A) {
        return A.block_part.size() * (sizeof(V) + sizeof(unsigned));
    }
    static constexpr kernel_hooks hooks{
        .complex_on_gpu = true, .work_on_gpu = work_on_gpu, .declined_on_gpu = declined_on_gpu};
    template <class V>
    static constexpr layout_hooks<V, csr_adaptive> hooks_over{.build = build<V>,
                                                              .scratch_on_gpu = scratch_bytes<V>};
};
template <class V>
void spmv(gpu, csr_adaptive_blocks, V alpha, const csr_adaptive<V, device_view>& A,
          device_span<V> x, V beta, device_out<V> y);

}  // namespace nz
