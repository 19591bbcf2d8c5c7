#include "nonzero/solve/eigs/dense.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace nz {
namespace {

using matrix = Eigen::MatrixXd;

std::vector<double> elements(const Eigen::Ref<const matrix>& A) {
    return {A.data(), A.data() + A.size()};
}

/// A A^T, column by column of A, most of whose entries are zero.
matrix square_of(const Eigen::Map<const matrix>& A, double unit) {
    const Eigen::Index m = A.rows();
    matrix square = matrix::Zero(m, m);
    std::vector<Eigen::Index> rows;
    for (Eigen::Index j = 0; j < m; ++j) {
        rows.clear();
        for (Eigen::Index i = 0; i <= j; ++i)
            if (A(i, j) != 0) rows.push_back(i);
        for (const Eigen::Index c : rows)
            for (const Eigen::Index r : rows) square(r, c) += A(r, j) / unit * (A(c, j) / unit);
    }
    return square;
}

bool is_tridiagonal(const matrix& A) {
    for (Eigen::Index j = 0; j < A.cols(); ++j)
        for (Eigen::Index i = j + 2; i < A.rows(); ++i)
            if (A(i, j) != 0) return false;
    return true;
}

/// A symmetric tridiagonal matrix, of elements up to m, and a row that is turned as its
/// eigenvectors are.
struct tridiagonal_row {
    Eigen::VectorXd diagonal, beside, row;

    static tridiagonal_row of(const matrix& A) {
        const Eigen::Index m = A.rows();
        if (is_tridiagonal(A))
            return {A.diagonal(), A.diagonal(-1), matrix::Identity(m, m).col(m - 1)};
        const Eigen::Tridiagonalization<matrix> turned(A);
        const Eigen::VectorXd last = matrix::Identity(m, m).col(m - 1);
        return {turned.diagonal(), turned.subDiagonal(), turned.matrixQ().adjoint() * last};
    }

    /// Eigenvalues by implicit QL steps.
    void diagonalise() {
        constexpr int most_steps = 60;  // for a value, which takes two or three
        beside.conservativeResize(diagonal.size());
        beside[diagonal.size() - 1] = 0;
        for (Eigen::Index l = 0; l < diagonal.size(); ++l)
            for (int step = 0; step < most_steps; ++step) {
                const Eigen::Index end = end_of_block(l);
                if (end == l) break;
                turn_block(l, end);
            }
    }

  private:
    /// The last row of the block that begins at l and that no zero divides.
    [[nodiscard]] Eigen::Index end_of_block(Eigen::Index l) const {
        constexpr double epsilon = std::numeric_limits<double>::epsilon();
        while (std::abs(beside[l]) >
               epsilon * (std::abs(diagonal[l]) +
                          std::abs(diagonal[std::min(l + 1, diagonal.size() - 1)])))
            ++l;
        return l;
    }
    void turn_block(Eigen::Index l, Eigen::Index end) {
        const double half = (diagonal[l + 1] - diagonal[l]) / (2 * beside[l]);
        double g = diagonal[end] - diagonal[l] +
                   beside[l] / (half + std::copysign(std::hypot(half, 1.0), half));
        double s = 1, c = 1, moved = 0;
        for (Eigen::Index i = end - 1; i >= l; --i) {
            const double f = s * beside[i], b = c * beside[i];
            const double r = std::sqrt(f * f + g * g);
            beside[i + 1] = r;
            if (r == 0) {  // divided on the way
                diagonal[i + 1] -= moved, beside[end] = 0;
                return;
            }
            s = f / r, c = g / r;
            g = diagonal[i + 1] - moved;
            const double turned = (diagonal[i] - g) * s + 2 * c * b;
            moved = s * turned;
            diagonal[i + 1] = g + moved;
            g = c * turned - b;
            const double below = row[i + 1];
            row[i + 1] = s * row[i] + c * below;
            row[i] = c * row[i] - s * below;
        }
        diagonal[l] -= moved, beside[l] = g, beside[end] = 0;
    }
};

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

dense_ends dense_svd_ends(int m, std::span<const double> a) {
    if (m == 0) return {};
    const Eigen::Map<const matrix> A(a.data(), m, m);
    const double largest = A.cwiseAbs().maxCoeff(), unit = largest > 0 ? largest : 1;
    auto all = tridiagonal_row::of(square_of(A, unit));
    all.diagonalise();
    std::vector<Eigen::Index> order(static_cast<std::size_t>(m));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](auto i, auto j) { return all.diagonal[i] > all.diagonal[j]; });
    dense_ends ends;
    for (const Eigen::Index k : order) {
        ends.values.push_back(unit * std::sqrt(std::max(all.diagonal[k], 0.0)));
        ends.last.push_back(std::abs(all.row[k]));
    }
    return ends;
}

}  // namespace nz
