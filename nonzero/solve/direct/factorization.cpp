#include "nonzero/solve/direct/factorization.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/memory.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/solve/direct/factor_plan.hpp"
#include "nonzero/solve/direct/factor_rates.hpp"
#include "nonzero/solve/direct/forecast.hpp"
#include "nonzero/solve/direct/names.hpp"
#include "nonzero/solve/direct/sparse_factors.hpp"
#include "nonzero/solve/scaling/matching.hpp"

namespace nz {
namespace {

/// Eigen numbers entries in 32 bits; a bit is left for what pivots add.
constexpr std::int64_t most_entries = std::int64_t(1) << 30;

template <class V>
std::int64_t entries_in(double bytes) {
    return std::int64_t(std::min(bytes / bytes_an_entry<V>, double(most_entries)));
}

/// r = b - A x and its norm over |b|. In long double, whose range squares of doubles do not leave.
template <class V>
double residual(const csr<V, host>& A, std::span<const V> b, std::span<const V> x, std::span<V> r) {
    using W = std::conditional_t<is_complex<V>, std::complex<double>, double>;
    long double r2 = 0, b2 = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        W sum = W(b[i]);
        for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k)
            sum -= product(W(A.val[k]), W(x[std::size_t(A.col_ind[k])]));
        r[i] = V(sum);
        const long double rest = std::abs(sum), size = std::abs(b[i]);
        r2 += rest * rest, b2 += size * size;
    }
    return b2 > 0 ? double(std::sqrt(r2 / b2)) : r2 > 0 ? INFINITY : 0;
}

double half_of_memory() {
    const auto all = double(memory_bytes());
    return all > 0 ? all / 2 : std::numeric_limits<double>::infinity();  // where nobody says
}

/// Without it A is not definite, and its symmetry need not be looked at.
template <class V>
bool has_positive_diagonal(const csr<V, host_view>& A) {
    const auto diagonal = diagonal_of(worth(cpu{}, std::ssize(A.val)), A);
    return std::ranges::all_of(diagonal, [](V v) { return std::real(v) > 0; });
}

/// The one that factorizes where `asked` was asked for.
factor_forecast::libraries library_for(factor_forecast::libraries asked, bool is_definite) {
    using enum factor_forecast::libraries;
    if (asked != automatic) return asked;
    if (is_definite && why_no(cholmod).empty()) return cholmod;
    return why_no(pardiso).empty() ? pardiso : why_no(umfpack).empty() ? umfpack : eigen;
}

/// The forecast of LU, of a Cholesky factorization's.
template <class V>
factor_forecast of_both_factors(factor_forecast f, index rows) {
    f.entries = 2 * f.entries - rows, f.operations *= 2, f.is_cholesky = false;
    set_costs<V>(f);
    return f;
}

/// Eigen's Cholesky factorization goes entry by entry, its LU by blocks, so that with many
/// operations an entry the latter is faster. Both as one process: laplace2d of 100^2 has 57 of them
/// (LU takes 1.7 times as long), of 300^2 147 (1.01), laplace3d of 12^3 115 (1.0), of 16^3 218
/// (0.66), of 24^3 500 (0.44), measured once on a busy 2-core EPYC.
template <class V>
factor_forecast faster_of_eigen(const factor_forecast& cholesky, index rows, double most_bytes) {
    constexpr double most_an_entry = 150;
    if (!cholesky.is_complete || cholesky.operations < most_an_entry * double(cholesky.entries))
        return cholesky;
    const auto lu = of_both_factors<V>(cholesky, rows);
    return lu.bytes <= most_bytes && lu.entries <= entries_in<V>(most_bytes) ? lu : cholesky;
}

bool rows_stay(const matching& m) {
    for (std::size_t i = 0; i < m.row_of.size(); ++i)
        if (m.row_of[i] != index(i)) return false;
    return true;
}

/// Whether the rows stay where they are; then both sides are scaled alike, so that a symmetric A
/// stays symmetric.
bool made_symmetric(matching& m) {
    if (!rows_stay(m)) return false;
    m.scaling.cols = m.scaling.rows;
    return true;
}

/// A's pattern with the matches on its diagonal; `moved` holds it where rows move.
template <class V>
csr<V, host_view> pattern_of(const csr<V, host_view>& A, const matching& m, csr<V, host>& moved) {
    if (rows_stay(m)) return A;
    moved = rearranged<V>(A, onto_diagonal(m));
    return view(moved);
}

}  // namespace

std::string_view name_of(factor_forecast::libraries l) {
    return direct_solver_names[std::size_t(l)];
}

std::string why_no(factor_forecast::libraries l) {
    using enum factor_forecast::libraries;
    if (l == cholmod) return why_no_cholmod();
    if (l == umfpack) return why_no_umfpack();
    if (l == klu) return why_no_klu();
    return l == pardiso ? why_no_pardiso() : "";
}

template <class V>
factor_plan<V>::factor_plan(const csr<V, host_view>& A, double most_bytes, libraries asked,
                            bool may_be_definite)
    : most_bytes_(most_bytes > 0 ? most_bytes : half_of_memory()), asked_(asked) {
    using enum factor_forecast::libraries;
    if (const auto why = why_no(asked); !why.empty()) throw unavailable(why);
    const ascending<V> known(A);
    const csr<V, host_view>& in_order = known.view();
    matching m = match_where_needed(in_order);
    may_be_definite = may_be_definite && (asked == cholmod || has_positive_diagonal<V>(in_order));
    const auto why_not = may_be_definite ? why_not_definite(known) : "";
    const bool is_definite = may_be_definite && why_not.empty() && made_symmetric(m);
    const auto library = library_for(asked, is_definite);
    if (library == cholmod && !is_definite)
        throw argument_error("cholmod: " + (why_not.empty() ? not_definite().what() : why_not));
    if (library == eigen || library == umfpack) {
        csr<V, host> moved;
        const auto pattern = pattern_of(in_order, m, moved);
        const auto order = elimination_order(pattern);
        forecast_ = nz::forecast(pattern, order, entries_in<V>(most_bytes_) + 1,
                                 is_definite && library == eigen);
        if (forecast_.is_cholesky)
            forecast_ = faster_of_eigen<V>(forecast_, in_order.shape.rows, most_bytes_);
        arrangement_ = std::make_shared<const rearrangement>(onto_diagonal(m, order));
        if (library == eigen) return;
    }
    arrangement_ = std::make_shared<const rearrangement>(onto_diagonal(m));
    if (in_order.shape.rows == 0) return;
    const auto matched = rearranged<wide>(in_order, *arrangement_);
    symbolic_ = library == cholmod   ? analysed_by_cholmod<wide>(view(matched))
                : library == umfpack ? analysed_by_umfpack<wide>(view(matched))
                : library == klu     ? analysed_by_klu<wide>(view(matched))
                                     : analysed_by_pardiso<wide>(view(matched), is_definite);
    const auto counted = symbolic_->forecast();
    // Its bound may be far above: 192 million entries for the 5.9 million of laplace2d of 300^2.
    if (library != umfpack || !forecast_.is_complete || counted.bytes < forecast_.bytes)
        forecast_ = counted;
    forecast_.library = library;
}

template <class V>
factorization<V>::factorization(const csr<V, host_view>& A, double most_bytes, libraries by)
    : factorization(A, factor_plan<V>(A, most_bytes, by)) {}

template <class V>
factorization<V>::factorization(const csr<V, host_view>& A, const factor_plan<V>& plan)
    : A_(canonical(A)) {
    const auto start = steady_clock::now();
    try {
        factorize(plan);
    } catch (const not_definite& e) {
        if (plan.asked() == libraries::cholmod)
            throw argument_error(std::string("cholmod: ") + e.what());
        factorize(factor_plan<V>(A, plan.most_bytes(), plan.asked(), false));
    }
    seconds_ = seconds_since(start);
}

/// Throws not_definite where the plan's Cholesky factorization does not exist.
template <class V>
void factorization<V>::factorize(const factor_plan<V>& plan) {
    forecast_ = plan.forecast();
    arrangement_ = std::make_shared<const rearrangement>(plan.arrangement());
    if (!forecast_.is_complete || forecast_.bytes > plan.most_bytes())
        throw unavailable(fmt::format(
            "the factors of A would take {}, more than the {} allowed",
            text_of_bytes(forecast_.bytes),
            text_of_bytes(std::min(plan.most_bytes(), double(most_entries) * bytes_an_entry<V>))));
    const auto matrix = rearranged<wide>(view(A_), *arrangement_);
    factors_ = plan.symbolic() != nullptr ? plan.symbolic()->factorize(view(matrix))
               : forecast_.is_cholesky    ? sparse_llt<wide>(view(matrix))
                                          : sparse_lu<wide>(view(matrix));
}

template <class V>
void factorization<V>::apply(std::span<const V> b, std::span<V> x) const {
    host_vector<wide> y(b.size());
    arrangement_->take_rhs<V, wide>(b, y);
    factors_->solve(y);
    arrangement_->give_solution<wide, V>(y, x);
}

template <class V>
double factorization<V>::solve(std::span<const V> b, std::span<V> x) const {
    for (const std::size_t len : {b.size(), x.size()})
        if (len != std::size_t(rows()))
            throw argument_error(
                fmt::format("factorization: a vector of {} elements, expected {}", len, rows()));
    constexpr int most_steps = 5;
    host_vector<V> r(b.size()), correction(b.size()), better(b.size());
    apply(b, x);
    double left = residual<V>(A_, b, x, r);
    for (int step = 0; step < most_steps && left > 0; ++step) {
        apply(r, correction);
        for (std::size_t i = 0; i < x.size(); ++i) better[i] = x[i] + correction[i];
        const double next = residual<V>(A_, b, better, r);
        if (!(next < left)) break;
        std::ranges::copy(better, x.begin());
        if (next > left / 2) return next;
        left = next;
    }
    return left;
}

template <class V>
double factorization<V>::solve_many(std::span<const V> B, std::span<V> X) const {
    const auto n = std::size_t(rows());
    if (B.size() != X.size() || (n == 0 ? B.size() : B.size() % n) != 0)
        throw argument_error(
            fmt::format("factorization: {} and {} elements, expected as many, a "
                        "multiple of {}",
                        B.size(), X.size(), rows()));
    double worst = 0;
    for (std::size_t at = 0; at < B.size(); at += n)
        worst = std::max(worst, solve(B.subspan(at, n), X.subspan(at, n)));
    return worst;
}

template <class V>
std::int64_t factorization<V>::entries() const {
    return factors_->entries();
}
template <class V>
std::int64_t factorization<V>::perturbed_pivots() const {
    return factors_->perturbed_pivots();
}
template <class V>
std::size_t factorization<V>::bytes() const {
    return std::size_t(entries()) * std::size_t(bytes_an_entry<V>);
}

#define NZ_INSTANTIATE(V)          \
    template class factor_plan<V>; \
    template class factorization<V>;
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
