// Problems of the benches of preconditioners, by name.
#pragma once

#include <string>

#include "nonzero/gen/generate.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/io/io.hpp"

namespace nz {

/// Entries along the wind weigh as much again, and so does the diagonal for them.
inline csr<double, host> with_wind(csr<double, host> A) {
    for (nz::index i = 0; i < A.shape.rows; ++i)
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            A.val[k] += A.col_ind[k] < i ? -1 : A.col_ind[k] == i ? 3 : 0;
    return A;
}

/// Of "laplace3d:40", a cube of 40 cells an edge, or as is said for the others; or a file's matrix.
/// convection3d: -Laplace with a wind along the diagonal of the grid, by upwind differences, as
/// strong as diffusion at the cells' size.
inline csr<double, host> make_problem(const std::string& name) {
    const auto colon = name.find(':');
    if (colon == std::string::npos) return read<double>(name);
    const auto n = nz::index(std::stoi(name.substr(colon + 1)));
    if (name.starts_with("laplace2d:")) return laplace2d<double>(n, n);
    if (name.starts_with("laplace27:")) return laplace27<double>(n, n, n);
    if (name.starts_with("elasticity3d:")) return elasticity3d<double>(n, n, n, 0.3);
    if (name.starts_with("circuit:")) return circuit<double>(n, 3, 4, 1);
    if (name.starts_with("laplace3d:")) return laplace3d<double>(n, n, n);
    if (name.starts_with("convection3d:")) return with_wind(laplace3d<double>(n, n, n));
    throw argument_error("no problem " + name);
}

}  // namespace nz
