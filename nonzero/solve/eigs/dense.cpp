#include "nonzero/solve/eigs/dense.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

namespace nz {
namespace {

using matrix = Eigen::MatrixXd;

std::vector<double> elements(const Eigen::Ref<const matrix>& A) {
    return {A.data(), A.data() + A.size()};
}

}  // namespace

dense_eigenpairs dense_eigen(int m, std::span<const double> a) {
    const Eigen::SelfAdjointEigenSolver<matrix> pairs(Eigen::Map<const matrix>(a.data(), m, m));
    return {elements(pairs.eigenvalues()), elements(pairs.eigenvectors())};
}

// A times the eigenvectors of A^T A has nearly orthogonal columns, so that Jacobi's rotations of
// its triangle end after a sweep or two; they restore what the square has lost.
dense_triplets dense_svd(int m, std::span<const double> a) {
    if (m == 0) return {};
    const Eigen::Map<const matrix> A(a.data(), m, m);
    const double largest = A.cwiseAbs().maxCoeff(), unit = largest > 0 ? largest : 1;
    const matrix scaled = A / unit;
    const matrix square = scaled.transpose() * scaled;
    const matrix right =
        Eigen::SelfAdjointEigenSolver<matrix>(square).eigenvectors().rowwise().reverse();
    const Eigen::HouseholderQR<matrix> qr(scaled * right);
    const matrix R = qr.matrixQR().triangularView<Eigen::Upper>();
    const Eigen::JacobiSVD<matrix, Eigen::NoQRPreconditioner> svd(
        R, Eigen::ComputeFullU | Eigen::ComputeFullV);
    return {elements(unit * svd.singularValues()), elements(qr.householderQ() * svd.matrixU()),
            elements(right * svd.matrixV())};
}

}  // namespace nz
