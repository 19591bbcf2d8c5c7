#include "nonzero/solve/eigs/dense_eigen.hpp"

#include <Eigen/Eigenvalues>

namespace nz {

dense_eigenpairs dense_eigen(int m, std::span<const double> a) {
    using matrix = Eigen::MatrixXd;
    const Eigen::Map<const matrix> A(a.data(), m, m);
    const Eigen::SelfAdjointEigenSolver<matrix> pairs(A);
    const double *const values = pairs.eigenvalues().data(), *const vectors =
                                                                 pairs.eigenvectors().data();
    return {{values, values + m}, {vectors, vectors + std::ptrdiff_t(m) * m}};
}

}  // namespace nz
