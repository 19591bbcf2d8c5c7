#include "nonzero/solve/least_squares/dense_svd.hpp"

#include <Eigen/SVD>

namespace nz {

dense_triplets dense_svd(int m, std::span<const double> a) {
    using matrix = Eigen::MatrixXd;
    const Eigen::Map<const matrix> A(a.data(), m, m);
    const Eigen::BDCSVD<matrix> svd(A, Eigen::ComputeFullU | Eigen::ComputeFullV);
    const double* const values = svd.singularValues().data();
    const double *const left = svd.matrixU().data(), *const right = svd.matrixV().data();
    const auto all = std::ptrdiff_t(m) * m;
    return {{values, values + m}, {left, left + all}, {right, right + all}};
}

}  // namespace nz
