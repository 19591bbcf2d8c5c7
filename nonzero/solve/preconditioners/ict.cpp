#include "nonzero/solve/preconditioners/ict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/solve/preconditioners/incomplete.hpp"

namespace nz {
namespace {

/// Cholesky's factorisation column by column, of A scaled to a diagonal of ones. Column k of L is
/// row k of L^H, which is how A's upper rows, and the rows kept here, have it.
template <class V>
class threshold_cholesky {
    using entry = std::pair<index, V>;

  public:
    threshold_cholesky(const csr<V, host_view>& A, const host_vector<V>& diagonal,
                       const ilut_options& o)
        : A_(A),
          drop_(o.drop),
          most_(std::size_t(
              std::ceil(o.fill * double(A.val.size()) / double(std::max(A.shape.rows, 1))))),
          column_(diagonal.size()),
          is_in_column_(diagonal.size(), 0),
          next_(diagonal.size()),
          waiting_(diagonal.size()),
          inverse_(diagonal.size()) {
        scale_.reserve(diagonal.size());
        for (const V d : diagonal) scale_.push_back(1 / std::sqrt(double(std::real(d))));
    }
    /// Factors A with that part of its diagonal added; the row seen where there is no such factor,
    /// or -1.
    std::int64_t factor(double shift) {
        ptr_.assign(1, 0), col_.clear(), val_.clear();
        for (auto& list : waiting_) list.clear();
        for (std::size_t k = 0; k < column_.size(); ++k)
            if (!eliminate(index(k), shift)) {
                for (const index i : reached_) is_in_column_[std::size_t(i)] = 0;
                reached_.clear();
                return std::int64_t(k);
            }
        return -1;
    }
    /// L^H beside its diagonal, columns ascending, and 1 over the diagonal, of A as it was given.
    [[nodiscard]] csr<V, host> upper() const {
        csr<V, host> U{A_.shape, offset_vector(ptr_), col_, val_};
        for (std::size_t k = 0; k < U.val.size(); ++k)
            U.val[k] *= real<V>(1 / scale_[std::size_t(U.col_ind[k])]);
        return U;
    }
    [[nodiscard]] host_vector<V> inverse_diagonal() const {
        auto inverse = inverse_;
        for (std::size_t i = 0; i < inverse.size(); ++i) inverse[i] *= real<V>(scale_[i]);
        return inverse;
    }

  private:
    static V conjugate(V v) { return conjugated(transposition::conjugate_transpose, v); }

    /// Computes column k; false where its pivot is not positive.
    bool eliminate(index k, double shift) {
        double pivot = 1 + shift, norm = 0;
        for (auto p = std::size_t(A_.row_ptr[std::size_t(k)]);
             p < std::size_t(A_.row_ptr[std::size_t(k) + 1]); ++p) {
            const index i = A_.col_ind[p];
            if (i == k) continue;
            const V v = A_.val[p] * real<V>(scale_[std::size_t(i)] * scale_[std::size_t(k)]);
            norm += norm2(v);
            if (i > k) add(i, v);
        }
        norm = std::sqrt(1 + norm);
        subtract_columns_before(k, pivot);
        constexpr double rounding = 16 * double(std::numeric_limits<real<V>>::epsilon());
        if (!(pivot > rounding * (1 + shift))) return false;
        const auto over = real<V>(1 / std::sqrt(pivot));
        inverse_[std::size_t(k)] = V(over);
        keep(k, over, drop_ * norm);
        return std::isfinite(over);
    }
    /// u_ki += v, u being L^H
    void add(index i, V v) {
        V& at = column_[std::size_t(i)];
        if (std::exchange(is_in_column_[std::size_t(i)], 1) != 0) {
            at += v;
        } else {
            at = v, reached_.push_back(i);
        }
    }
    /// Takes out what the columns before contribute, each of which then waits for the row of its
    /// next entry.
    void subtract_columns_before(index k, double& pivot) {
        auto& mine = waiting_[std::size_t(k)];
        std::ranges::sort(mine);  // one order of the sums, whatever came before
        for (const index j : mine) {
            const auto end = std::size_t(ptr_[std::size_t(j) + 1]);
            auto at = std::size_t(next_[std::size_t(j)]);
            const V factor = conjugate(val_[at]);
            pivot -= norm2(factor);
            for (std::size_t p = at + 1; p < end; ++p) add(col_[p], -product(factor, val_[p]));
            wait(j, at + 1);
        }
        mine = {};
    }
    void wait(index j, std::size_t at) {
        if (at >= std::size_t(ptr_[std::size_t(j) + 1])) return;
        next_[std::size_t(j)] = offset(at);
        waiting_[std::size_t(col_[at])].push_back(j);
    }
    /// Keeps the largest entries of the column, over its pivot's root.
    void keep(index k, real<V> over, double least) {
        kept_.clear();
        for (const index i : reached_) {
            const V v = column_[std::size_t(i)] * over;
            if (double(std::abs(v)) >= least) kept_.emplace_back(i, v);
            is_in_column_[std::size_t(i)] = 0;
        }
        reached_.clear();
        keep_largest(kept_, most_);
        std::ranges::sort(kept_, std::less(), &entry::first);
        for (const auto& [i, v] : kept_) col_.push_back(i), val_.push_back(v);
        ptr_.push_back(offset(col_.size()));
        wait(k, std::size_t(ptr_[std::size_t(k)]));
    }

    const csr<V, host_view>& A_;
    double drop_;
    std::size_t most_;
    std::vector<double> scale_;  ///< 1 over the roots of A's diagonal
    std::vector<V> column_;      ///< of the column under way, by rows
    std::vector<char> is_in_column_;
    std::vector<index> reached_;
    std::vector<entry> kept_;
    host_vector<offset> ptr_;
    host_vector<index> col_;
    host_vector<V> val_;
    std::vector<offset> next_;  ///< of a column, the entry in the row that it waits for
    std::vector<std::vector<index>> waiting_;  ///< of a row, the columns whose next entry is there
    host_vector<V> inverse_;                   ///< 1 over the diagonal of L
};

template <class V>
void check_ict(const ascending<V>& A, const ilut_options& o) {
    if (std::string why = why_not_definite(A); !why.empty()) throw argument_error("ict: " + why);
    if (!(o.drop >= 0 && o.drop < 1 && o.fill >= 0))
        throw argument_error("ict: drop is not from 0 to 1, or fill is negative");
}

}  // namespace

template <class V>
triangle<V> ict_factor(const ascending<V>& A, const ilut_options& o, index first_row,
                       factor_report& report) {
    check_ict(A, o);
    const auto diagonal = diagonal_of(cpu{1}, A.view());
    threshold_cholesky<V> of(A.view(), diagonal, o);
    report.shift = least_shift("ict", first_row, [&](double shift) { return of.factor(shift); });
    const auto U = of.upper();
    report.entries = 2 * std::ssize(U.val) + std::ssize(diagonal);
    report.fill = double(report.entries) / double(std::max<std::size_t>(1, A.view().val.size()));
    return {triangle_side::lower, adjoint(cpu{1}, U), of.inverse_diagonal()};
}

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> ict(B on, const ascending<V>& A, const ilut_options& o,
                                           index first_row, factor_report* report) {
    const auto start = steady_clock::now();
    factor_report told;
    auto L = ict_factor(A, o, first_row, told);
    auto U = mirrored(helpers(on), L);
    auto M = solving_operator<V, B>(on, std::move(L), std::move(U),
                                    incomplete_options::triangular_solves::automatic);
    told.setup_s = seconds_since(start);
    if (report != nullptr) *report = told;
    return M;
}

#define NZ_INSTANTIATE_ON(V, B)                          \
    template std::unique_ptr<linear_operator<V, B>> ict( \
        B, const ascending<V>&, const ilut_options&, index, factor_report*);
#define NZ_INSTANTIATE(V)                                                            \
    template triangle<V> ict_factor(const ascending<V>&, const ilut_options&, index, \
                                    factor_report&);                                 \
    NZ_INSTANTIATE_ON(V, cpu) NZ_INSTANTIATE_ON(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
