// Products of several vectors with a CSR on a GPU.
#pragma once

#include "nonzero/formats/csr/kernels.hpp"

namespace nz {

/// Y = alpha A X + beta Y, in on.stream: lanes lie along the vectors, which is fast where those lie
/// by rows. Each vector's sum is taken entry by entry. Same bits in every run.
template <class V>
void multiply_by_csr(gpu on, V alpha, const csr<V, device_view>& A, in_columns<V, gpu> X, V beta,
                     out_columns<V, gpu> Y);

}  // namespace nz
