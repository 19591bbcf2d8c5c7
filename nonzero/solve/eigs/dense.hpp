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

/// The `count` largest of them, of an upper triangular matrix. Takes of the order of m count^2
/// operations where it is bidiagonal and the values are not too far apart, else those of dense_svd.
/// Source   Demmel 1997, section 5.3.4: inverse iteration, each vector orthogonal to those before.
dense_triplets dense_svd_largest(int m, int count, std::span<const double> a);

/// Singular values and how far a Lanczos process has come with each, without vectors.
struct dense_ends {
    std::vector<double> values;  ///< singular values, largest first
    std::vector<double> last;    ///< |the last element| of each one's left vector
};
/// The ends for an upper triangular m x m matrix, which Lanczos processes leave with few entries
/// beside its diagonal. Squares of the values have rounding errors of the largest one's square.
/// Takes 4/3 m^3 operations, and of the order of m^2 where the matrix is bidiagonal.
/// Source   Golub and Welsch 1969, doi:10.1090/S0025-5718-69-99647-1: rotations of one row in
///          place of eigenvectors.
dense_ends dense_svd_ends(int m, std::span<const double> a);

}  // namespace nz
