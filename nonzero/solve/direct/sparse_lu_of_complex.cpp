#include "nonzero/solve/direct/eigen_lu.hpp"

template std::unique_ptr<nz::sparse_factors<std::complex<double>>> nz::sparse_lu(
    const nz::csr<std::complex<double>, nz::host_view>&);
