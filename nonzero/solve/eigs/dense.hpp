// Eigenpairs and singular triplets of small dense matrices.
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

struct dense_triplets {
    std::vector<double> values;       ///< largest first
    std::vector<double> left, right;  ///< orthonormal, one after the other
};

/// The singular triplets of an m x m matrix; `a` holds its columns, m * m finite numbers.
dense_triplets dense_svd(int m, std::span<const double> a);

}  // namespace nz
