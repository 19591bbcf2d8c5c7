// Conjugate gradients as one writes them with NVIDIA's libraries: what ours are compared with.
#pragma once

#include "nonzero/formats/csr/csr.hpp"

namespace nz::peers {

struct peer_cg_report {
    std::int64_t iterations = 0;
    double iterations_s = 0;   ///< of the iterations alone                         [s]
    double residual_norm = 0;  ///< |r|, carried along
};

/// cuSPARSE's default algorithm over CSR and cuBLAS's dot, axpy and scal, scalars on the CPU, as in
/// NVIDIA's own example "conjugateGradient". b and x lie on the GPU, A on the CPU. Throws
/// device_error.
peer_cg_report cusparse_cg(gpu on, const csr<double, host_view>& A, device_span<double> b,
                           device_out<double> x, double tol, std::int64_t max_iter);

}  // namespace nz::peers
