// Definition of sparse_lu, which includes Eigen: each type has a file of its own, as it takes long
// to compile.
#pragma once

#include <Eigen/SparseLU>
#include <new>
#include <vector>

#include "nonzero/solve/direct/sparse_factors.hpp"

namespace nz {

/// Columns stay in their order, which is the caller's choice.
struct columns_as_they_are {
    using PermutationType = Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int>;
    template <class M>
    void operator()(const M& A, PermutationType& order) const {
        order.setIdentity(A.cols());
    }
};

template <class W>
class eigen_lu final : public sparse_factors<W> {
    using matrix = Eigen::SparseMatrix<W, Eigen::ColMajor, int>;
    using rows = Eigen::SparseMatrix<W, Eigen::RowMajor, int>;
    using vector = Eigen::Matrix<W, Eigen::Dynamic, 1>;

  public:
    explicit eigen_lu(const csr<W, host_view>& A) {
        const auto n = std::size_t(A.shape.rows);
        if (n == 0) return;
        std::vector<int> ptr(n + 1);
        for (std::size_t i = 0; i <= n; ++i) ptr[i] = int(A.row_ptr[i]);
        const matrix by_columns = Eigen::Map<const rows>(
            A.shape.rows, A.shape.cols, ptr.back(), ptr.data(), A.col_ind.data(), A.val.data());
        lu_.setPivotThreshold(0.1);
        lu_.analyzePattern(by_columns);
        lu_.factorize(by_columns);
        if (lu_.info() == Eigen::Success) {
            entries_ = std::int64_t(lu_.nnzL()) + std::int64_t(lu_.nnzU());
            return;
        }
        // Only where it is told apart: a pivot that is zero, or no memory.
        if (lu_.lastErrorMessage().find("MEMORY") != std::string::npos) throw std::bad_alloc();
        throw argument_error("A is numerically singular: a pivot of its factorization is zero");
    }
    void solve(std::span<W> x) const override {
        if (x.empty()) return;
        Eigen::Map<vector> all(x.data(), Eigen::Index(x.size()));
        const vector solution = lu_.solve(all);
        all = solution;
    }
    [[nodiscard]] std::int64_t entries() const override { return entries_; }

  private:
    Eigen::SparseLU<matrix, columns_as_they_are> lu_;
    std::int64_t entries_ = 0;
};

template <class W>
std::unique_ptr<sparse_factors<W>> sparse_lu(const csr<W, host_view>& A) {
    return std::make_unique<eigen_lu<W>>(A);
}

}  // namespace nz
