// Eigen's Cholesky factorization, which ends at the first pivot that is not positive.
#include <Eigen/SparseCholesky>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "nonzero/solve/direct/sparse_factors.hpp"

namespace nz {
namespace {

template <class W>
class eigen_llt final : public sparse_factors<W> {
    using matrix = Eigen::SparseMatrix<W, Eigen::ColMajor, int>;
    using rows = Eigen::SparseMatrix<W, Eigen::RowMajor, int>;
    using vector = Eigen::Matrix<W, Eigen::Dynamic, 1>;

  public:
    explicit eigen_llt(const csr<W, host_view>& A) {
        const auto n = std::size_t(A.shape.rows);
        if (n == 0) return;
        std::vector<int> ptr(n + 1);
        for (std::size_t i = 0; i <= n; ++i) ptr[i] = int(A.row_ptr[i]);
        const matrix lower = Eigen::Map<const rows>(A.shape.rows, A.shape.cols, ptr.back(),
                                                    ptr.data(), A.col_ind.data(), A.val.data())
                                 .template triangularView<Eigen::Lower>();
        llt_.compute(lower);
        if (llt_.info() != Eigen::Success) throw not_definite();
        const matrix& L = llt_.matrixL().nestedExpression();
        entries_ = L.nonZeros();
        // Rounding leaves a singular A such a pivot, and a solution of any size.
        const double least = double(n) * std::numeric_limits<double>::epsilon();
        for (int i = 0; i < int(n); ++i)
            if (std::norm(L.coeff(i, i)) <= least * std::abs(lower.coeff(i, i)))
                throw argument_error("the matrix is numerically singular");
    }
    void solve(std::span<W> x) const override {
        if (x.empty()) return;
        Eigen::Map<vector> all(x.data(), Eigen::Index(x.size()));
        const vector solution = llt_.solve(all);
        all = solution;
    }
    [[nodiscard]] std::int64_t entries() const override { return entries_; }

  private:
    Eigen::SimplicialLLT<matrix, Eigen::Lower, Eigen::NaturalOrdering<int>> llt_;
    std::int64_t entries_ = 0;
};

}  // namespace

template <class W>
std::unique_ptr<sparse_factors<W>> sparse_llt(const csr<W, host_view>& A) {
    return std::make_unique<eigen_llt<W>>(A);
}
template std::unique_ptr<sparse_factors<double>> sparse_llt(const csr<double, host_view>&);
template std::unique_ptr<sparse_factors<std::complex<double>>> sparse_llt(
    const csr<std::complex<double>, host_view>&);

}  // namespace nz
