#include "nonzero/solve/preconditioners/spai.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/matrix/spgemm.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/preconditioners/fill.hpp"
#include "nonzero/solve/preconditioners/first_row.hpp"
#include "nonzero/solve/preconditioners/incomplete.hpp"

namespace nz {
namespace {

/// Rows of A with more entries are taken into the rows of M of their own number only.
constexpr offset longest_taken = 1000;

/// Values in double, of which a float's least squares lose no digits.
template <class V>
using wide = std::conditional_t<is_complex<V>, std::complex<double>, double>;

template <class W>
W conjugate(W v) {
    return conjugated(transposition::conjugate_transpose, v);
}

/// min |b - B m| by Householder's reflections; columns of B one after the other.
template <class W>
class least_squares {
  public:
    /// Room for B, rows x cols, of zeros, and b.
    void start(std::size_t rows, std::size_t cols) {
        rows_ = rows, cols_ = cols;
        B_.assign(rows * cols, W(0)), b_.assign(rows, W(0)), m_.assign(cols, W(0));
        scale_.assign(cols, 1), is_dependent_.assign(cols, 0);
    }
    W& B(std::size_t i, std::size_t k) { return B_[k * rows_ + i]; }
    W& b(std::size_t i) { return b_[i]; }
    /// m, with 0 where a column depends on those before but for rounding.
    const std::vector<W>& solve() {
        scale_columns();
        std::size_t rank = 0;
        pivot_.clear();
        for (std::size_t k = 0; k < cols_; ++k) {
            is_dependent_[k] = !reflect(k, rank);
            if (is_dependent_[k] == 0) pivot_.push_back(k), ++rank;
        }
        for (std::size_t r = rank; r-- > 0;) {
            W sum = b_[r];
            for (std::size_t q = r + 1; q < rank; ++q) sum -= product(B(r, pivot_[q]), m_[q]);
            m_[r] = sum / B(r, pivot_[r]);
        }
        for (std::size_t k = cols_, r = rank; k-- > 0;)
            m_[k] = is_dependent_[k] != 0 ? W(0) : m_[--r] * scale_[k];
        return m_;
    }

  private:
    /// Each to a largest magnitude near one, by powers of two.
    void scale_columns() {
        for (std::size_t k = 0; k < cols_; ++k) {
            double largest = 0;
            for (std::size_t i = 0; i < rows_; ++i) largest = std::max(largest, std::abs(B(i, k)));
            if (largest == 0) continue;
            scale_[k] = std::exp2(-std::ilogb(largest));
            for (std::size_t i = 0; i < rows_; ++i) B(i, k) *= scale_[k];
        }
    }
    /// The norm of a column from row `first` on.
    double norm(std::size_t k, std::size_t first) {
        double sum = 0;
        for (std::size_t i = first; i < rows_; ++i) sum += norm2(B(i, k));
        return std::sqrt(sum);
    }
    /// Puts zeros below row `at` of column k; false where nothing but rounding is there.
    bool reflect(std::size_t k, std::size_t at) {
        if (at >= rows_) return false;
        const double whole = norm(k, 0), size = norm(k, at);
        constexpr double rounding = std::numeric_limits<double>::epsilon();
        if (!(size > double(std::max(rows_, cols_)) * rounding * whole)) return false;
        W& first = B(at, k);
        const double before = std::abs(first);
        const W phase = before == 0 ? W(1) : first / before;
        // v = (first + phase size, rest); H = I - 2 v v^H / v^H v, and 2 / v^H v is `factor`.
        first += phase * size;
        const double factor = 1 / (size * (size + before));
        for (std::size_t q = k + 1; q < cols_; ++q) subtract(k, at, factor, &B(0, q));
        subtract(k, at, factor, b_.data());
        first = -phase * size;
        return true;
    }
    /// Reflects a column by that which stands in column k from row `at` on.
    void subtract(std::size_t k, std::size_t at, double factor, W* column) {
        const W* const v = &B(0, k);
        W sum = 0;
        for (std::size_t i = at; i < rows_; ++i) sum += product(conjugate(v[i]), column[i]);
        sum *= factor;
        for (std::size_t i = at; i < rows_; ++i) column[i] -= product(sum, v[i]);
    }

    std::size_t rows_ = 0, cols_ = 0;
    std::vector<W> B_, b_, m_;
    std::vector<double> scale_;
    std::vector<char> is_dependent_;
    std::vector<std::size_t> pivot_;  ///< the columns that depend on none before
};

/// The same by the normal equations B^H B m = B^H b, which takes a tenth of the time where columns
/// are sparse, as long as half of the digits are left.
template <class W>
class normal_equations {
  public:
    /// Room for cols x cols and the right-hand side, to be set.
    void start(std::size_t cols) { n_ = cols, G_.resize(cols * cols), m_.resize(cols); }
    W& G(std::size_t k, std::size_t l) { return G_[k * n_ + l]; }  ///< l <= k
    W& rhs(std::size_t k) { return m_[k]; }
    /// Null where a column all but depends on those before, or where its square is no normal
    /// number.
    const std::vector<W>* solve() {
        scale_.clear();
        for (std::size_t k = 0; k < n_; ++k) {
            if (!std::isnormal(std::real(G(k, k)))) return nullptr;
            scale_.push_back(1 / std::sqrt(std::real(G(k, k))));
        }
        for (std::size_t k = 0; k < n_; ++k)
            if (!eliminate(k)) return nullptr;
        for (std::size_t k = n_; k-- > 0;) {
            m_[k] /= std::real(G(k, k));
            for (std::size_t l = 0; l < k; ++l) m_[l] -= product(conjugate(G(k, l)), m_[k]);
        }
        for (std::size_t k = 0; k < n_; ++k) m_[k] *= scale_[k];
        return &m_;
    }

  private:
    /// Row k of Cholesky's factor, of the matrix scaled to a diagonal of ones, and of the
    /// right-hand side that it leaves.
    bool eliminate(std::size_t k) {
        W* const row = &G(k, 0);
        double pivot = 1;
        m_[k] *= scale_[k];
        for (std::size_t l = 0; l < k; ++l) {
            const W* const before = &G(l, 0);
            W rest = row[l] * (scale_[k] * scale_[l]);
            for (std::size_t q = 0; q < l; ++q) rest -= product(row[q], conjugate(before[q]));
            row[l] = rest / std::real(before[l]);
            pivot -= norm2(row[l]);
            m_[k] -= product(row[l], m_[l]);
        }
        constexpr double half_of_the_digits = 0x1p-26;
        if (!(pivot > half_of_the_digits)) return false;
        row[k] = std::sqrt(pivot);
        m_[k] /= std::sqrt(pivot);
        return true;
    }

    std::size_t n_ = 0;
    std::vector<W> G_, m_;
    std::vector<double> scale_;
};

/// Computes rows of M, for one thread.
template <class V>
class inverse_row {
    using W = wide<V>;

  public:
    explicit inverse_row(const csr<V, host_view>& A)
        : A_(A), place_(std::size_t(A.shape.cols), -1), spread_(place_.size(), W(0)) {}
    /// The values of row i on these columns, which are the rows of A that it takes.
    void operator()(index i, std::span<const index> columns, std::span<V> m) {
        const auto* found = by_normal_equations(i, columns);
        if (found == nullptr) found = &by_reflections(i, columns);
        for (std::size_t k = 0; k < columns.size(); ++k) m[k] = V((*found)[k]);
    }

  private:
    const std::vector<W>* by_normal_equations(index i, std::span<const index> columns) {
        normal_.start(columns.size());
        for (std::size_t k = 0; k < columns.size(); ++k) {
            for_each(columns[k], [&](index j, V v) { spread_[std::size_t(j)] = conjugate(W(v)); });
            for (std::size_t l = 0; l <= k; ++l) {
                W sum = 0;
                for_each(columns[l],
                         [&](index j, V v) { sum += product(spread_[std::size_t(j)], W(v)); });
                normal_.G(k, l) = sum;
            }
            normal_.rhs(k) = spread_[std::size_t(i)];
            for_each(columns[k], [&](index j, V) { spread_[std::size_t(j)] = W(0); });
        }
        return normal_.solve();
    }
    const std::vector<W>& by_reflections(index i, std::span<const index> columns) {
        met_.clear();
        for (const index r : columns) for_each(r, [&](index j, V) { meet(j); });
        system_.start(met_.size(), columns.size());
        for (std::size_t k = 0; k < columns.size(); ++k)
            for_each(columns[k], [&](index j, V v) {
                system_.B(std::size_t(place_[std::size_t(j)]), k) = W(v);
            });
        if (const auto at = place_[std::size_t(i)]; at >= 0) system_.b(std::size_t(at)) = W(1);
        for (const index j : met_) place_[std::size_t(j)] = -1;
        return system_.solve();
    }
    template <class F>
    void for_each(index r, const F& f) const {
        for (auto k = std::size_t(A_.row_ptr[std::size_t(r)]);
             k < std::size_t(A_.row_ptr[std::size_t(r) + 1]); ++k)
            f(A_.col_ind[k], A_.val[k]);
    }
    void meet(index j) {
        if (place_[std::size_t(j)] >= 0) return;
        place_[std::size_t(j)] = index(met_.size());
        met_.push_back(j);
    }

    const csr<V, host_view>& A_;
    std::vector<index> place_, met_;  ///< where a column is among those met; -1 for others
    std::vector<W> spread_;           ///< the row under way in its columns, conjugate; else 0
    normal_equations<W> normal_;
    least_squares<W> system_;
};

template <class V>
void check_spai(const ascending<V>& A, const incomplete_options& o, index first_row) {
    const auto [rows, cols] = A.view().shape;
    if (rows != cols)
        throw argument_error(
            fmt::format("spai: A is {} x {}, expected a square matrix", rows, cols));
    if (o.level < 0 || o.level > 1)
        throw argument_error(fmt::format("spai: level is {}, expected 0 or 1", o.level));
    if (o.longest_row < 1 || o.longest_row > 1000)
        throw argument_error(
            fmt::format("spai: longest_row is {}, expected 1 to 1000", o.longest_row));
    const auto found = first_not_finite(A);
    refuse_row("spai", found ? found->row : -1, first_row, "A is not finite");
}

/// The magnitudes of A, or of a product with itself: where M may have entries.
template <class V>
csr<real<V>, host> possible_entries(cpu on, const csr<V, host_view>& A, int level) {
    host_vector<offset> ptr(A.row_ptr.size());
    for (std::size_t i = 0; i < ptr.size(); ++i) ptr[i] = A.row_ptr[i];
    csr<real<V>, host> M{A.shape,
                         offset_vector(ptr),
                         {A.col_ind.begin(), A.col_ind.end()},
                         host_vector<real<V>>(A.val.size())};
    parallel_for(on.threads, std::ssize(A.val),
                 [&](std::int64_t k) { M.val[std::size_t(k)] = std::abs(A.val[std::size_t(k)]); });
    return level == 0 ? std::move(M) : spgemm(on, view(M), view(M));
}

/// The columns of M's row i, ascending: the diagonal, and the largest others.
template <class V>
void choose_columns(const csr<V, host_view>& A, const csr<real<V>, host>& possible, std::size_t i,
                    std::size_t longest, std::vector<std::pair<real<V>, index>>& by_size,
                    std::vector<index>& chosen) {
    by_size.clear(), chosen.assign(1, index(i));
    for (auto k = std::size_t(possible.row_ptr[i]); k < std::size_t(possible.row_ptr[i + 1]); ++k) {
        const auto j = std::size_t(possible.col_ind[k]);
        if (j != i && A.row_ptr[j + 1] - A.row_ptr[j] <= longest_taken)
            by_size.emplace_back(-possible.val[k], index(j));
    }
    const std::size_t kept = std::min(longest - 1, by_size.size());
    std::nth_element(by_size.begin(), by_size.begin() + std::ptrdiff_t(kept), by_size.end());
    for (std::size_t k = 0; k < kept; ++k) chosen.push_back(by_size[k].second);
    std::ranges::sort(chosen);
}

/// Chooses the columns of all rows, then computes them.
template <class V>
class inverse {
  public:
    inverse(cpu on, const csr<V, host_view>& A, const incomplete_options& o)
        : A_(A), possible_(possible_entries(on, A, o.level)), longest_(std::size_t(o.longest_row)) {
        const auto rows = std::size_t(A.shape.rows);
        host_vector<offset> ptr(rows + 1, 0);
        each_row(on,
                 [&](std::size_t i, scratch& mine) { ptr[i + 1] = offset(mine.columns.size()); });
        for (std::size_t i = 0; i < rows; ++i) ptr[i + 1] += ptr[i];
        M_ = {A.shape, offset_vector(ptr), host_vector<index>(std::size_t(ptr.back())),
              host_vector<V>(std::size_t(ptr.back()))};
        each_row(on, [&](std::size_t i, scratch& mine) {
            const std::span<V> m(M_.val.data() + ptr[i], mine.columns.size());
            std::ranges::copy(mine.columns, M_.col_ind.begin() + ptr[i]);
            mine.compute(index(i), mine.columns, m);
            if (std::ranges::all_of(m, [](V v) { return v == V(0); })) zero_.note(offset(i));
            if (!std::ranges::all_of(m, [](V v) { return std::isfinite(std::abs(v)); }))
                overflowing_.note(offset(i));
        });
    }
    [[nodiscard]] csr<V, host> take() { return std::move(M_); }
    [[nodiscard]] std::int64_t zero_row() const { return zero_.row(); }
    [[nodiscard]] std::int64_t overflowing_row() const { return overflowing_.row(); }

  private:
    struct scratch {
        inverse_row<V> compute;
        std::vector<std::pair<real<V>, index>> by_size = {};
        std::vector<index> columns = {};
    };
    /// f(i, mine), once the columns of row i are chosen.
    template <class F>
    void each_row(cpu on, const F& f) const {
        parallel_for(
            on.threads, A_.shape.rows, 64, [&] { return scratch{inverse_row<V>(A_)}; },
            [&](std::int64_t row, scratch& mine) {
                const auto i = std::size_t(row);
                choose_columns(A_, possible_, i, longest_, mine.by_size, mine.columns);
                f(i, mine);
            });
    }

    const csr<V, host_view>& A_;
    csr<real<V>, host> possible_;
    std::size_t longest_;
    csr<V, host> M_;
    first_row_noted zero_, overflowing_;
};

}  // namespace

template <class V>
csr<V, host> spai_inverse(cpu on, const ascending<V>& A, const incomplete_options& o,
                          index first_row, factor_report& report) {
    check_spai(A, o, first_row);
    const auto whole = in_whole_nodes(on, A, o.block, first_row);
    const csr<V, host_view>& rows = whole.view();
    inverse<V> made(worth(on, std::ssize(rows.val)), rows, o);
    refuse_row("spai", made.zero_row(), first_row, "A is singular, or the pattern too small,");
    refuse_row("spai", made.overflowing_row(), first_row, "the inverse overflows");
    auto M = made.take();
    report.entries = std::ssize(M.val);
    report.fill = double(report.entries) / double(std::max<std::size_t>(1, A.view().val.size()));
    return M;
}

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> spai(B on, const ascending<V>& A,
                                            const incomplete_options& o, index first_row,
                                            factor_report* report) {
    const auto start = steady_clock::now();
    factor_report told;
    auto M = spai_inverse(helpers(on), A, o, first_row, told);
    auto op = plan_and_build(ascending<V>::known(std::move(M)), on).op;
    told.setup_s = seconds_since(start);
    if (report != nullptr) *report = told;
    return op;
}

#define NZ_INSTANTIATE_ON(V, B)                           \
    template std::unique_ptr<linear_operator<V, B>> spai( \
        B, const ascending<V>&, const incomplete_options&, index, factor_report*);
#define NZ_INSTANTIATE(V)                                                                          \
    template csr<V, host> spai_inverse(cpu, const ascending<V>&, const incomplete_options&, index, \
                                       factor_report&);                                            \
    NZ_INSTANTIATE_ON(V, cpu) NZ_INSTANTIATE_ON(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
