#include "nonzero/solve/preconditioners/ic.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/solve/preconditioners/fill.hpp"
#include "nonzero/solve/preconditioners/first_row.hpp"
#include "nonzero/solve/preconditioners/incomplete.hpp"

namespace nz {
namespace {

/// Cholesky's factorisation within a pattern, row by row.
template <class V>
class cholesky {
  public:
    /// A: its entries before the diagonal, on the factor's pattern.
    cholesky(cpu on, const csr<V, host>& A, const host_vector<V>& diagonal, double least_pivot)
        : A_(A),
          diagonal_(diagonal),
          least_pivot_(std::max(least_pivot, rounding)),
          schedule_(on, triangle_side::lower, view(A)),
          L_(A),
          inverse_(diagonal.size()),
          places_(std::size_t(schedule_.threads()),
                  std::vector<std::int32_t>(diagonal.size(), -1)) {}
    /// Factors A with that part of its diagonal added; the first row seen where there is no such
    /// factor, or -1.
    std::int64_t factor(double shift) {
        first_row_noted failed;
        schedule_.run([&](int thread, level_schedule::chunk c) {
            for (index i = c.first; i < c.last && failed.row() < 0; ++i)
                if (!factor_row(std::size_t(i), shift, places_[std::size_t(thread)].data()))
                    failed.note(i);
        });
        return failed.row();
    }
    [[nodiscard]] csr<V, host> take_factor() { return std::move(L_); }
    [[nodiscard]] host_vector<V> take_inverse() { return std::move(inverse_); }

  private:
    /// place: of each column in the row, -1 for those that it does not have; all -1 before and
    /// after.
    bool factor_row(std::size_t i, double shift, std::int32_t* place) {
        const offset first = A_.row_ptr[i], end = A_.row_ptr[i + 1];
        const index* const col = A_.col_ind.data();
        V* const val = L_.val.data();
        const double a = double(std::real(diagonal_[i])) * (1 + shift);
        double pivot = a;
        for (offset k = first; k < end; ++k) place[col[k]] = std::int32_t(k - first);
        for (offset k = first; k < end; ++k) {
            const auto j = std::size_t(col[k]);
            V rest = A_.val[std::size_t(k)];
            for (offset u = A_.row_ptr[j]; u < A_.row_ptr[j + 1]; ++u)
                if (const std::int32_t at = place[col[u]]; at >= 0)
                    rest -= product(val[first + at],
                                    conjugated(transposition::conjugate_transpose, val[u]));
            val[k] = product(rest, inverse_[j]);
            pivot -= norm2(val[k]);
        }
        for (offset k = first; k < end; ++k) place[col[k]] = -1;
        if (!(pivot > least_pivot_ * a)) return false;
        inverse_[i] = V(real<V>(1 / std::sqrt(pivot)));
        return std::isfinite(std::real(inverse_[i]));
    }

    static constexpr double rounding = 16 * double(std::numeric_limits<real<V>>::epsilon());
    const csr<V, host>& A_;
    const host_vector<V>& diagonal_;
    double least_pivot_;  ///< over the diagonal entry
    level_schedule schedule_;
    csr<V, host> L_;
    host_vector<V> inverse_;
    std::vector<std::vector<std::int32_t>> places_;  ///< of each thread
};

template <class V>
void check_ic(const ascending<V>& A, const incomplete_options& o) {
    if (std::string why = why_not_definite(A); !why.empty()) throw argument_error("ic: " + why);
    if (o.level < 0 || o.level > 100)
        throw argument_error(fmt::format("ic: level is {}, expected 0 to 100", o.level));
    if (!(o.least_pivot >= 0 && o.least_pivot <= 1))
        throw argument_error(
            fmt::format("ic: least_pivot is {:g}, expected 0 to 1", o.least_pivot));
}

}  // namespace

template <class V>
triangle<V> mirrored(cpu on, const triangle<V>& L) {
    triangle<V> U{triangle_side::upper, adjoint(on, L.beside), L.inverse};
    const int threads = thread_count(on, std::ssize(U.beside.val));
    parallel_for(threads, U.beside.shape.rows, [&](std::int64_t i) {
        const auto first = U.beside.row_ptr[std::size_t(i)];
        const auto last = U.beside.row_ptr[std::size_t(i) + 1];
        std::reverse(U.beside.col_ind.begin() + first, U.beside.col_ind.begin() + last);
        std::reverse(U.beside.val.begin() + first, U.beside.val.begin() + last);
    });
    return U;
}

template <class V>
triangle<V> ic_factor(cpu on, const ascending<V>& A, const incomplete_options& o, index first_row,
                      factor_report& report) {
    check_ic(A, o);
    const auto whole = in_whole_nodes(on, A, o.block, first_row);
    const auto below = before_diagonal(on, filled(on, whole, o.level));
    const auto diagonal = diagonal_of(worth(on, std::ssize(A.view().val)), A.view());
    report.entries = 2 * std::ssize(below.val) + std::ssize(diagonal);
    report.fill = double(report.entries) / double(std::max<std::size_t>(1, A.view().val.size()));
    cholesky<V> of(on, below, diagonal, o.least_pivot);
    report.shift = least_shift("ic", first_row, [&](double shift) { return of.factor(shift); });
    return {triangle_side::lower, of.take_factor(), of.take_inverse()};
}

namespace {

/// L L^H, the factor of A with that part of its diagonal added, as two triangles, the first with
/// ones on its diagonal: pivots divide, not their roots, which round. So a diagonal A is solved as
/// if by hand.
template <class V>
std::pair<triangle<V>, triangle<V>> without_roots(cpu on, triangle<V> L, const csr<V, host_view>& A,
                                                  double shift) {
    const auto diagonal = diagonal_of(worth(on, std::ssize(A.val)), A);
    auto U = mirrored(on, L);
    auto& inverse_root = L.inverse;
    parallel_for(thread_count(on, std::ssize(A.val)), A.shape.rows, [&](std::int64_t row) {
        const auto i = std::size_t(row);
        double pivot = double(std::real(diagonal[i])) * (1 + shift);
        for (auto k = L.beside.row_ptr[i]; k < L.beside.row_ptr[i + 1]; ++k) {
            V& l = L.beside.val[std::size_t(k)];
            pivot -= norm2(l);
            l = product(l, inverse_root[std::size_t(L.beside.col_ind[std::size_t(k)])]);
        }
        const V root = V(real<V>(std::sqrt(pivot)));
        for (auto k = U.beside.row_ptr[i]; k < U.beside.row_ptr[i + 1]; ++k)
            U.beside.val[std::size_t(k)] = product(root, U.beside.val[std::size_t(k)]);
        U.inverse[i] = V(real<V>(1 / pivot));
    });
    inverse_root.clear();
    return {std::move(L), std::move(U)};
}

}  // namespace

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> ic(B on, const ascending<V>& A, const incomplete_options& o,
                                          index first_row, factor_report* report) {
    const auto start = steady_clock::now();
    factor_report told;
    auto factor = ic_factor(helpers(on), A, o, first_row, told);
    auto [L, U] = without_roots(helpers(on), std::move(factor), A.view(), told.shift);
    auto M = solving_operator<V, B>(on, std::move(L), std::move(U), o.solves);
    told.setup_s = seconds_since(start);
    if (report != nullptr) *report = told;
    return M;
}

#define NZ_INSTANTIATE_ON(V, B)                         \
    template std::unique_ptr<linear_operator<V, B>> ic( \
        B, const ascending<V>&, const incomplete_options&, index, factor_report*);
#define NZ_INSTANTIATE(V)                                                                      \
    template triangle<V> ic_factor(cpu, const ascending<V>&, const incomplete_options&, index, \
                                   factor_report&);                                            \
    template triangle<V> mirrored(cpu, const triangle<V>&);                                    \
    NZ_INSTANTIATE_ON(V, cpu) NZ_INSTANTIATE_ON(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
