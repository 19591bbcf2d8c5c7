#include "nonzero/solve/direct/eigen_lu.hpp"

template std::unique_ptr<nz::sparse_factors<double>> nz::sparse_lu(
    const nz::csr<double, nz::host_view>&);
