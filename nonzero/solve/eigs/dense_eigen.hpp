// Eigenpairs of small dense symmetric matrices.
#pragma once

#include <span>
#include <vector>

namespace nz {

struct dense_eigenpairs {
    std::vector<double> values;   ///< ascending
    std::vector<double> vectors;  ///< orthonormal, one after the other
};

/// The eigenpairs of a symmetric m x m matrix; `a` holds its columns (or rows), m * m. Only a
/// triangle is read.
dense_eigenpairs dense_eigen(int m, std::span<const double> a);

}  // namespace nz
