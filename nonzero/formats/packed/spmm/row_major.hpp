// packed.warp with several vectors by rows, on either backend.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/formats/packed/packed.hpp"

namespace nz {

/// Y = alpha A X + beta Y by loops along the vectors: fast where X is row-major, right in any order
/// of either. On a GPU for real values, with packed.warp's own scratch memory in on.scratch.
template <class V>
void spmm_row_major(cpu on, V alpha, const packed<V, host_view>& A, in_columns<V, cpu> X, V beta,
                    out_columns<V, cpu> Y);
template <class V>
void spmm_row_major(gpu on, V alpha, const packed<V, device_view>& A, in_columns<V, gpu> X, V beta,
                    out_columns<V, gpu> Y);

/// The same where rows of X and Y are aligned to 16 bytes and as long as whole pieces of 16: for
/// many vectors. For a matrix without tiles.
template <class V>
void spmm_row_major_staged(gpu on, V alpha, const packed<V, device_view>& A, in_columns<V, gpu> X,
                           V beta, out_columns<V, gpu> Y);

/// Y = keep X - momentum Y + step W (b - A X) by the same kernel, of a matrix without segments.
template <class V>
void relax_row_major_staged(gpu on, const typename linear_operator<V, gpu>::relaxation& how,
                            const packed<V, device_view>& A, in_columns<V, gpu> X,
                            out_columns<V, gpu> Y);

/// As spmm_row_major for the chunks behind the segments of a matrix with tiles.
template <class V>
void spmm_row_major_tiles(gpu on, V alpha, const packed<V, device_view>& A, in_columns<V, gpu> X,
                          V beta, out_columns<V, gpu> Y);

}  // namespace nz
