// Model problems: matrices of a known kind and any size, for tests, benches and examples. `nz help
// generate` lists them all.
#pragma once

#include <span>
#include <string_view>

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

// All of them are canonical CSR, built in parallel, the same bits for the same arguments and seed
// whatever the number of threads. All throw argument_error where an argument is outside its range
// or a number of rows beyond 2^31 - 1, and device_error where the matrix exceeds the memory.

/// -Laplace by 5 points on an nx x ny grid, u = 0 around it: 4 on the diagonal, -1 beside it.
/// x varies fastest. Symmetric positive definite.
template <class V>
csr<V, host> laplace2d(index nx, index ny);

/// -Laplace by 7 points on an nx x ny x nz grid, u = 0 around it: 6 and -1.
template <class V>
csr<V, host> laplace3d(index nx, index ny, index nz);

/// The matrix of the generator of that name, one value for each of its parameters. Also throws:
/// argument_error where there is none, or a value is missing or not whole where it must be.
template <class V>
csr<V, host> generate(std::string_view name, std::span<const double> parameters,
                      std::uint64_t seed = 0);

}  // namespace nz
