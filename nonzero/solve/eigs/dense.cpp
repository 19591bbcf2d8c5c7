#include "nonzero/solve/eigs/dense.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <functional>
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

/// T - shift I of a symmetric tridiagonal T as two triangular factors, with row pivots.
class shifted_tridiagonal {
  public:
    shifted_tridiagonal(const Eigen::VectorXd& diagonal, const Eigen::VectorXd& beside,
                        double shift, double least_pivot)
        : u0_(diagonal.array() - shift),
          u1_(beside),
          u2_(Eigen::VectorXd::Zero(diagonal.size())),
          l_(beside),
          swaps_(std::size_t(diagonal.size())) {
        const Eigen::Index m = diagonal.size();
        for (Eigen::Index i = 0; i + 1 < m; ++i) {
            const double below = beside[i];
            swaps_[std::size_t(i)] = std::abs(below) > std::abs(u0_[i]);
            if (swaps_[std::size_t(i)]) {
                l_[i] = u0_[i] / below;
                u0_[i] = below;
                const double right = u1_[i];
                u1_[i] = u0_[i + 1];
                u0_[i + 1] = right - l_[i] * u1_[i];
                if (i + 2 < m) u2_[i] = beside[i + 1], u1_[i + 1] = -l_[i] * u2_[i];
            } else {
                lift(u0_[i], least_pivot);
                l_[i] = below / u0_[i];
                u0_[i + 1] -= l_[i] * u1_[i];
            }
        }
        lift(u0_[m - 1], least_pivot);
    }
    void solve(Eigen::Ref<Eigen::VectorXd> x) const {
        const Eigen::Index m = x.size();
        for (Eigen::Index i = 0; i + 1 < m; ++i) {
            if (swaps_[std::size_t(i)]) std::swap(x[i], x[i + 1]);
            x[i + 1] -= l_[i] * x[i];
        }
        for (Eigen::Index i = m - 1; i >= 0; --i) {
            if (i + 1 < m) x[i] -= u1_[i] * x[i + 1];
            if (i + 2 < m) x[i] -= u2_[i] * x[i + 2];
            x[i] /= u0_[i];
        }
    }

  private:
    static void lift(double& pivot, double least) {
        if (std::abs(pivot) < least) pivot = std::copysign(least, pivot);
    }
    Eigen::VectorXd u0_, u1_, u2_, l_;
    std::vector<char> swaps_;
};

/// Orthonormal eigenvectors of a symmetric tridiagonal matrix for its `largest` eigenvalues.
matrix inverse_iteration(const Eigen::VectorXd& diagonal, const Eigen::VectorXd& beside,
                         std::span<const double> largest) {
    constexpr int steps = 3;
    const Eigen::Index m = diagonal.size(), count = Eigen::Index(largest.size());
    const double size = std::numeric_limits<double>::epsilon() * largest.front();
    matrix X(m, count);
    for (Eigen::Index k = 0; k < count; ++k) {
        const shifted_tridiagonal shifted(diagonal, beside, largest[std::size_t(k)], size);
        for (Eigen::Index i = 0; i < m; ++i) X(i, k) = 1 + double((i * 37 + k * 11) % 64) / 64;
        const auto before = X.leftCols(k);
        for (int step = 0; step < steps; ++step) {
            shifted.solve(X.col(k));
            X.col(k) /= X.col(k).cwiseAbs().maxCoeff();
            for (int pass = 0; pass < 2; ++pass)
                X.col(k) -= before * (before.transpose() * X.col(k)).eval();
            X.col(k).normalize();
        }
    }
    return X;
}

/// Triplets of A whose left vectors span X; A^T X takes what is left to do.
dense_triplets triplets_within(const Eigen::Ref<const matrix>& A, const matrix& X) {
    const Eigen::Index m = X.rows(), count = X.cols();
    const Eigen::HouseholderQR<matrix> qr(A.transpose() * X);
    const matrix R = qr.matrixQR().topRows(count).triangularView<Eigen::Upper>();
    const Eigen::JacobiSVD<matrix, Eigen::NoQRPreconditioner> svd(
        R, Eigen::ComputeFullU | Eigen::ComputeFullV);
    const matrix Q = qr.householderQ() * matrix::Identity(m, count);
    return {elements(svd.singularValues()), elements(X * svd.matrixV()),
            elements(Q * svd.matrixU())};
}

/// Whether they are the largest singular triplets of A, whose squared values are `squares`, up to
/// rounding errors.
bool are_triplets(const Eigen::Ref<const matrix>& A, const dense_triplets& t,
                  std::span<const double> squares) {
    constexpr double allowed = 100 * std::numeric_limits<double>::epsilon();
    const Eigen::Index m = A.rows(), count = Eigen::Index(t.values.size());
    const Eigen::Map<const matrix> U(t.left.data(), m, count), V(t.right.data(), m, count);
    const Eigen::Map<const Eigen::VectorXd> S(t.values.data(), count);
    const double largest = std::sqrt(squares.front());
    if (!((A * V - U * S.asDiagonal()).cwiseAbs().maxCoeff() <= allowed * largest)) return false;
    for (Eigen::Index k = 0; k < count; ++k)
        if (!(std::abs(S[k] * S[k] - squares[std::size_t(k)]) <= allowed * squares.front()))
            return false;
    return (U.transpose() * U - matrix::Identity(count, count)).cwiseAbs().maxCoeff() <= allowed;
}

/// The first `count` of them.
dense_triplets cut(dense_triplets t, int m, int count) {
    t.values.resize(std::size_t(count));
    t.left.resize(std::size_t(m) * std::size_t(count));
    t.right.resize(std::size_t(m) * std::size_t(count));
    return t;
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

dense_triplets dense_svd_largest(int m, int count, std::span<const double> a) {
    const Eigen::Map<const matrix> A(a.data(), m, m);
    const double unit = m > 0 ? A.cwiseAbs().maxCoeff() : 0;
    const matrix square = unit > 0 ? square_of(A, unit) : matrix();
    if (square.size() == 0 || count == 0 || 2 * count > m || !is_tridiagonal(square))
        return cut(dense_svd(m, a), m, count);
    auto turned = tridiagonal_row::of(square);
    turned.diagonalise();
    std::ranges::sort(turned.diagonal, std::greater());
    const std::span squares(turned.diagonal.data(), std::size_t(count));
    const matrix scaled = A / unit;
    auto t =
        triplets_within(scaled, inverse_iteration(square.diagonal(), square.diagonal(-1), squares));
    if (!are_triplets(scaled, t, squares)) return cut(dense_svd(m, a), m, count);
    for (double& s : t.values) s *= unit;
    return t;
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
