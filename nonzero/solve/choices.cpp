#include "nonzero/solve/choices.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "nonzero/core/text/numbers.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/solve/krylov/krylov.hpp"
#include "nonzero/solve/names.hpp"
#include "nonzero/solve/saddle/split.hpp"

namespace nz {

std::string_view name_of(krylov_method m) { return krylov_method_names[std::size_t(m)]; }
std::string_view name_of(preconditioning p) { return preconditioning_names[std::size_t(p)]; }

namespace {

/// The choices to try, in this order, where nothing was asked for.
std::vector<choice> candidates_for(const matrix_facts& f) {
    using enum krylov_method;
    using enum preconditioning;
    const auto diagonal = f.zero_on_diagonal >= 0 ? none : jacobi;
    std::vector<choice> all;
    if (!f.is_symmetric)
        all = {{bicgstab, diagonal},
               {gmres, ilut},
               {gmres, diagonal},
               {gmres, f.zero_on_diagonal < 0 ? gauss_seidel : matching}};
    else if (!f.why_not_definite.empty())
        all = {{minres, diagonal}, {gmres, ilut}, {gmres, diagonal}, {bicgstab, diagonal}};
    if (f.is_symmetric && !all.empty() && f.zero_on_diagonal >= 0) all.push_back({gmres, matching});
    if (f.is_saddle) all.insert(all.begin() + 1, {gmres, saddle});
    if (!all.empty()) return all;
    all.push_back({cg, amg});
    for (const auto p : {jacobi, gauss_seidel}) all.push_back({cg, p});
    all.push_back({minres, jacobi}), all.push_back({gmres, jacobi});
    return all;
}

/// The choice asked for; where only one of both was, the other suits it. Throws unsuitable.
choice asked_for(const system_options& o, const matrix_facts& f) {
    using enum krylov_method;
    using enum preconditioning;
    const auto p = o.preconditioner;
    if (o.method == direct) {
        if (p && p != none) throw unsuitable("direct: it takes no preconditioner");
        return {direct, none};
    }
    const auto require_definite = [&](std::string_view what) {
        if (!f.why_not_definite.empty())
            throw unsuitable(std::string(what) + ": " + f.why_not_definite);
    };
    if (o.method == cg) require_definite(name_of(cg));
    if (p == amg || p == ic || p == ict || p == fsai) require_definite(name_of(*p));
    if (o.method == minres && !f.is_symmetric) throw unsuitable("minres: A is not symmetric");
    if ((p == jacobi || p == gauss_seidel) && f.zero_on_diagonal >= 0)
        throw unsuitable(std::string(name_of(*p)) + ": the diagonal is zero in row " +
                         std::to_string(f.zero_on_diagonal));
    if (p == saddle && o.method == cg)
        throw unsuitable("saddle: A is indefinite, no matrix for cg");
    if (p == saddle) return {o.method.value_or(gmres), *p};
    if (p == matching || p == ilut || p == spai) {
        if (o.method == cg || o.method == minres)
            throw unsuitable(std::string(name_of(*p)) + ": not symmetric, as " +
                             std::string(name_of(*o.method)) + " wants it: bicgstab or gmres");
        return {o.method.value_or(p == spai ? bicgstab : gmres), *p};
    }
    if (o.method == refine && f.is_complex_valued) throw unsuitable("refine: for real values only");
    const bool with_minres = f.is_symmetric && (p == none || p == jacobi);
    const auto method = o.method                     ? *o.method
                        : f.why_not_definite.empty() ? cg
                        : with_minres                ? minres
                                                     : bicgstab;
    if (p) return {method, *p};
    if (f.zero_on_diagonal >= 0) return {method, none};
    const bool with_amg = method != minres && f.why_not_definite.empty();
    return {method, with_amg ? amg : jacobi};
}

}  // namespace

namespace {

/// Whether block preconditioners are worth an attempt.
template <class V>
bool is_saddle(const ascending<V>& A, std::span<const V> diagonal) {
    const auto& ptr = A.view().row_ptr;
    for (std::size_t i = 0; i < diagonal.size(); ++i)
        if (ptr[i + 1] - ptr[i] > longest_row_of_saddle) return false;
    return std::ssize(find_saddle(A, diagonal).second) >= least_constraints(std::ssize(diagonal));
}

}  // namespace

template <class V>
matrix_facts facts_of(const ascending<V>& A, std::span<const V> diagonal) {
    matrix_facts f;
    f.why_not_definite = why_not_definite(A, &f.is_symmetric);
    const auto zero = std::find(diagonal.begin(), diagonal.end(), V(0));
    if (zero != diagonal.end()) f.zero_on_diagonal = zero - diagonal.begin();
    f.is_complex_valued = is_complex<V>;
    f.is_saddle = !f.why_not_definite.empty() && is_saddle(A, diagonal);
    f.entries = double(A.view().val.size());
    return f;
}

/// As of a matrix beyond the caches, where vectors take as long as a product.
double iteration_seconds(const choice& c, const matrix_facts& f) {
    constexpr double seconds_an_entry = 1.5e-9;
    const int products = c.method == krylov_method::bicgstab ? 2 : 1;
    return (1 + products) * (f.is_complex_valued ? 2 : 1) * seconds_an_entry * f.entries;
}

std::vector<std::string> sentences_of(const matrix_facts& f, std::int64_t rows) {
    std::vector<std::string> all{fmt::format("A has {} rows and {:.0f} entries", rows, f.entries)};
    const std::string_view symmetric = f.is_complex_valued ? "A is hermitian" : "A is symmetric";
    if (f.why_not_definite.empty())
        all.push_back(fmt::format("{}, its diagonal positive: cg first", symmetric));
    else if (f.is_symmetric)
        all.push_back(fmt::format("{}, but {}: minres first", symmetric, f.why_not_definite));
    else
        all.push_back(f.why_not_definite + ": bicgstab first");
    if (f.zero_on_diagonal >= 0)
        all.push_back(fmt::format("the diagonal is zero in row {}: no jacobi", f.zero_on_diagonal));
    return all;
}

std::string place_direct(std::vector<choice>& all, const matrix_facts& f,
                         const factor_forecast& forecast) {
    const choice direct{krylov_method::direct, preconditioning::none};
    constexpr double always_s = 0.02, iterations = 1000;
    const double iterating =
        iterations * iteration_seconds({krylov_method::gmres, preconditioning::none}, f);
    const bool is_cheap = forecast.is_complete && forecast.seconds < iterating + always_s;
    all.insert(is_cheap ? all.begin() : all.end(), direct);
    if (!forecast.is_complete) return "direct has no forecast within its memory: it comes last";
    return fmt::format(
        "direct is predicted to take {} and {}, a thousand iterations {}: it comes {}",
        text_of_time(forecast.seconds), text_of_bytes(forecast.bytes), text_of_time(iterating),
        is_cheap ? "first" : "last");
}

std::vector<choice> choices_for(const matrix_facts& f, const system_options& o) {
    if (o.method || o.preconditioner) return {asked_for(o, f)};
    return candidates_for(f);
}

// Iterations that take about as long as what comes after them: multigrid of a small A, an order of
// elimination and factors.
std::vector<choice> probes_for(const matrix_facts& f, const system_options& o) {
    using enum krylov_method;
    using enum preconditioning;
    if (o.method || o.preconditioner || f.zero_on_diagonal >= 0) return {};
    const auto probe = [](krylov_method m, preconditioning p, std::int64_t most) {
        return choice{.method = m,
                      .preconditioner = p,
                      .most_iterations = most,
                      .is_paced = true,
                      .is_probe = true};
    };
    const bool is_small = f.entries <= small_entries;
    if (f.why_not_definite.empty() && is_small) return {probe(cg, ic, 60)};
    if (f.is_symmetric || f.entries > forecast_entries) return {};
    // Iterations of a tiny A take as long as its factors, ten of the next larger ones as long as
    // theirs.
    constexpr double tiny_entries = 1e4, next_entries = 5e4;
    const choice with_ilu = probe(bicgstab, ilu, is_small ? 75 : 150);
    if (f.entries <= tiny_entries) return {with_ilu};
    return {probe(bicgstab, jacobi, f.entries <= next_entries ? 30 : 75), with_ilu};
}

std::string sentence_of(const std::vector<choice>& probes) {
    std::string each;
    for (const choice& c : probes)
        each += fmt::format("{}{} with {}, {} iterations", each.empty() ? "" : ", then ",
                            name_of(c.method), name_of(c.preconditioner), c.most_iterations);
    return "probes come before, while their residuals fall fast enough: " + each;
}

namespace {

/// The largest magnitude in each row.
template <class V>
std::vector<double> row_sizes(const csr<V, host_view>& A) {
    std::vector<double> sizes(std::size_t(A.shape.rows), 0.0);
    for_each_entry(A, 0, A.shape.rows, [&](index i, index, V v) {
        sizes[std::size_t(i)] = std::max(sizes[std::size_t(i)], double(std::abs(v)));
    });
    return sizes;
}

}  // namespace

template <class V>
std::vector<std::string> obstacles_in(const csr<V, host_view>& A, std::span<const V> diagonal) {
    return obstacles_in<V>(row_sizes(A), diagonal);
}
template <class V>
std::vector<std::string> obstacles_in(std::span<const double> sizes, std::span<const V> diagonal) {
    std::vector<std::string> obstacles;
    const auto zeros = std::ranges::count(diagonal, V(0));
    if (zeros > 0)
        obstacles.push_back(fmt::format(
            "A's diagonal is zero in {} of {} rows, first in row {}, which preconditioners other "
            "than matching and ilut cannot take: permute the rows so that none is",
            zeros, diagonal.size(), std::ranges::find(diagonal, V(0)) - diagonal.begin()));
    if (sizes.empty()) return obstacles;
    const auto [least, most] = std::ranges::minmax_element(sizes);
    constexpr double badly_scaled = 1e6;
    if (*least == 0)
        obstacles.push_back(
            fmt::format("row {} of A is zero: A is singular", least - sizes.begin()));
    else if (*most / *least > badly_scaled)
        obstacles.push_back(
            fmt::format("the largest entries of A's rows differ by a factor of {:.1g}: divide each "
                        "row, and its element of b, by its largest entry",
                        *most / *least));
    return obstacles;
}

std::vector<std::string> advice_for(const system_report& report, const system_options& o) {
    std::vector<std::string> advice;
    const auto ended_by = [&](status s) {
        return std::ranges::any_of(report.attempts,
                                   [&](const auto& a) { return a.report.status == s; });
    };
    if (ended_by(status::limited_by_rounding))
        advice.push_back(fmt::format("rounding errors end at {:.1g}: ask for a larger tol",
                                     report.result().report.relative));
    if (ended_by(status::max_iter))
        advice.push_back(fmt::format("allow more than {} iterations (max_iter)", o.max_iter));
    if (ended_by(status::max_seconds))
        advice.push_back(fmt::format("allow more than {:g} seconds (max_seconds)", o.max_seconds));
    if (o.method || o.preconditioner)
        advice.push_back("ask for no method and no preconditioner: then others are tried as well");
    else if (o.iterative && !ended_by(status::stopped_by_caller))
        advice.push_back("let the direct solver be tried as well: leave out --iterative");
    return advice;
}

#define NZ_INSTANTIATE(V)                                                                         \
    template matrix_facts facts_of(const ascending<V>&, std::span<const V>);                      \
    template std::vector<std::string> obstacles_in(const csr<V, host_view>&, std::span<const V>); \
    template std::vector<std::string> obstacles_in(std::span<const double>, std::span<const V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
