// Task of eigs: which pairs, of a matrix of what scale. The search itself is davidson's.
#include "nonzero/solve/eigs/eigs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/gen/noise.hpp"
#include "nonzero/solve/eigs/davidson.hpp"
#include "nonzero/solve/eigs/dense.hpp"
#include "nonzero/solve/eigs/vector_basis.hpp"
#include "nonzero/solve/krylov/krylov.hpp"
#include "nonzero/solve/krylov/scaled_operator.hpp"

namespace nz {
namespace {

template <class V, class B>
void check_arguments(const linear_operator<V, B>& A, const eigs_options& o,
                     const linear_operator<V, B>* M, std::size_t guess_size) {
    const auto fail = [](const std::string& why) { throw argument_error("eigs: " + why); };
    const nz::shape shape = A.shape();
    const auto n = std::size_t(shape.rows);
    if (shape.rows != shape.cols)
        fail("A is " + std::to_string(shape.rows) + " x " + std::to_string(shape.cols) +
             ", expected a square matrix");
    if (M != nullptr && M->shape() != shape) fail("the preconditioner is not of A's shape");
    if (o.count < 1 || o.count > 50)
        fail(std::to_string(o.count) + " eigenpairs, expected 1 to 50");
    if (!(o.tol.value_or(0) >= 0)) fail("tol is negative or no number");
    if (o.max_products < 0) fail("max_products is negative");
    if (o.basis != 0 && (o.basis < o.count + 2 || o.basis > max_basis))
        fail("a basis of " + std::to_string(o.basis) + " vectors, expected count + 2 to 128");
    if (n == 0 ? guess_size != 0 : guess_size % n != 0)
        fail("a guess of " + std::to_string(guess_size) + " elements, expected a multiple of " +
             std::to_string(n));
}

// -- both ends ------------------------------------------------------------------------------------

/// How many pairs are searched at each end.
struct pairs_at_ends {
    int lowest, highest;
};
/// Of the largest in magnitude any may lie at either end.
pairs_at_ends pairs_of(const eigs_options& o, std::int64_t dimension) {
    const auto wanted = std::min<std::int64_t>(o.count, dimension);
    const bool by_magnitude = o.which == eigs_options::ends::magnitude;
    const auto lowest = by_magnitude ? wanted : wanted / 2;
    const auto highest = by_magnitude ? wanted : wanted - lowest;
    return {int(lowest), int(std::min(highest, dimension - lowest))};
}

/// Which of the ascending values are wanted: all before `lower`, and from `upper` on.
struct wanted_values {
    std::size_t lower, upper;
};
wanted_values wanted_of(const eigs_options& o, std::span<const double> values) {
    const auto wanted = std::min(std::size_t(o.count), values.size());
    if (o.which == eigs_options::ends::both)
        return {wanted / 2, values.size() - (wanted - wanted / 2)};
    std::size_t lower = 0, upper = values.size();
    while (lower + (values.size() - upper) < wanted)
        std::abs(values[lower]) > std::abs(values[upper - 1]) ? ++lower : --upper;
    return {lower, upper};
}

/// The options of one of the searches, whose products come after those of `before`.
eigs_options options_of(const eigs_options& o, eigs_options::ends which, pairs_at_ends pairs,
                        double tol, const eigs_options::report& before) {
    eigs_options one = o;
    const bool is_lowest = which == eigs_options::ends::smallest;
    one.which = which;
    one.count = is_lowest ? pairs.lowest : pairs.highest;
    one.tol = tol;
    if (o.monitor)
        one.monitor = [&o, &before, pairs, is_lowest](eigs_options::progress p) {
            p.products += before.products;
            p.wanted = pairs.lowest + pairs.highest;
            if (!is_lowest) p.converged += pairs.lowest;
            return o.monitor(p);
        };
    return one;
}

void add(const eigs_options::report& r, eigs_options::report& to) {
    to.products += r.products, to.restarts += r.restarts;
    to.norm = std::max(to.norm, r.norm);
    if (to.status <= status::converged) to.end_by(r.status);
}

/// Rayleigh-Ritz on the vectors of both, which are orthonormal: what couples them goes, and what
/// is wanted of them is left. The report has what the searches were.
template <class V, class B>
eigs_options::result<V> joined(B on, const linear_operator<V, B>& A, const eigs_options& o,
                               const eigs_options::result<V>& low,
                               const eigs_options::result<V>& high, eigs_options::report report) {
    const auto n = std::int64_t(A.shape().rows);
    const int m = int(low.values.size() + high.values.size());
    vector_space<V, B> space(on, n);
    vector_basis<V, B> basis(on, n, m);
    auto image = space.make();
    int k = 0;
    for (const auto* part : {&low, &high})
        for (std::size_t j = 0; j < part->values.size(); ++j)
            space.copy(from_host(on, part->vector(j)), basis.column(k++));
    std::vector<double> projected;
    for (k = 0; k < m; ++k) {
        A.apply(V(1), basis.column(k), V(0), image);
        basis.project(m, image);
        for (const double h : basis.coefficients(m)) projected.push_back(h);
    }
    const auto pairs = dense_eigen(m, projected);
    const auto [lower, upper] = wanted_of(o, pairs.values);
    eigs_options::result<V> result;
    std::vector<double> y;
    for (std::size_t j = 0; j < std::size_t(m); ++j) {
        if (j >= lower && j < upper) continue;
        result.values.push_back(pairs.values[j]);
        const auto from = pairs.vectors.begin() + std::ptrdiff_t(j) * m;
        y.insert(y.end(), from, from + m);
    }
    const int count = int(result.values.size());
    basis.rotate(m, count, y);
    for (k = 0; k < count; ++k) {
        A.apply(V(1), basis.column(k), V(0), image);
        const double r =
            basis.residual(image, result.values[std::size_t(k)], basis.column(k), image);
        report.residuals.push_back(report.norm > 0 ? r / report.norm : 0);
        report.converged = report.converged && r <= o.tol_of<V>() * report.norm;
    }
    report.products += m + count;
    result.vectors = basis.to_host(count);
    result.report = std::move(report);
    return result;
}

/// The lowest pairs, and the highest of what is orthogonal to them, so that no pair comes twice.
template <class V, class B>
eigs_options::result<V> search_both_ends(B on, const linear_operator<V, B>& A,
                                         const eigs_options& o, const linear_operator<V, B>* M,
                                         std::span<const V> guess) {
    const auto pairs = pairs_of(o, summed_over(ranks_of(on), std::int64_t(A.shape().rows)));
    eigs_options::report sum;
    eigs_options::result<V> low, high, result;
    // A sum of m orthogonal vectors with residuals of tol / sqrt(m) has one of at most tol.
    for (const double factor : {1.0, 1 / std::sqrt(double(pairs.lowest + pairs.highest))}) {
        sum.status = status::running;
        if (pairs.lowest > 0) {
            const auto own =
                options_of(o, eigs_options::ends::smallest, pairs, factor * o.tol_of<V>(), sum);
            low = davidson<V, B>(on, A, own, M,
                                 factor == 1 ? guess : std::span<const V>(low.vectors));
            add(low.report, sum);
        }
        const bool goes_on =
            sum.status != status::stopped_by_caller &&
            std::ranges::all_of(low.values, [](double w) { return std::isfinite(w); });
        if (pairs.highest > 0 && goes_on) {
            const auto own =
                options_of(o, eigs_options::ends::largest, pairs, factor * o.tol_of<V>(), sum);
            high = davidson<V, B>(on, A, own, nullptr,
                                  factor == 1 ? guess : std::span<const V>(high.vectors),
                                  {low.values, low.vectors});
            add(high.report, sum);
        }
        sum.converged = sum.status == status::converged;
        result = joined(on, A, o, low, high, sum);
        sum.products = result.report.products;
        if (result.report.converged || !sum.converged) return result;
    }
    result.report.end_by(status::limited_by_rounding);
    return result;
}

// -- scale ----------------------------------------------------------------------------------------

/// Norms within 2^safe_exponent and its inverse have squares, those of residuals too. A vector
/// whose norm is 1 can be multiplied by 2^most_scale and its inverse.
template <class V>
inline constexpr int safe_exponent = std::is_same_v<V, float> ? 30 : 300;
template <class V>
inline constexpr int most_scale = std::is_same_v<V, float> ? 100 : 900;

/// The k that brings 2^k A into the range in which norms have squares; 0 where it is there, or A
/// is 0 or not finite. By the products of A with one random vector.
template <class V, class B>
int scale_of(B on, const linear_operator<V, B>& A, std::int64_t& products) {
    const auto n = std::int64_t(A.shape().rows);
    vector_space<V, B> space(on, n);
    const auto x = from_host(on, std::span<const V>(noise<V>(own_elements(ranks_of(on), n), 0)));
    auto y = space.make();
    const auto exponent = [&](int k) -> std::optional<int> {  // of 2^k A's norm
        ++products;
        scaled_operator<V, B>(on, A, k).apply(V(1), x, V(0), y);
        const double norm = double(space.norm(y));
        if (!(norm > 0) || !std::isfinite(norm)) return std::nullopt;
        return std::ilogb(norm);
    };
    const auto as_it_is = exponent(0);
    if (as_it_is && std::abs(*as_it_is) <= safe_exponent<V>) return 0;
    for (const int k : {-most_scale<V> * 3 / 4, most_scale<V> * 3 / 4})
        if (const auto there = exponent(k))
            return std::clamp(k - *there, -most_scale<V>, most_scale<V>);
    return 0;
}

template <class V, class B>
eigs_options::result<V> search_at(B on, const linear_operator<V, B>& A, const eigs_options& o,
                                  const linear_operator<V, B>* M, std::span<const V> guess) {
    if (o.which == eigs_options::ends::smallest || o.which == eigs_options::ends::largest)
        return davidson<V, B>(on, A, o, M, guess);
    return search_both_ends<V, B>(on, A, o, M, guess);
}

/// With 2^k A, and 2^-k M for M.
template <class V, class B>
eigs_options::result<V> search_in_scale(B on, const linear_operator<V, B>& A, const eigs_options& o,
                                        const linear_operator<V, B>* M, std::span<const V> guess,
                                        int k) {
    if (k == 0) return search_at<V, B>(on, A, o, M, guess);
    std::optional<scaled_operator<V, B>> scaled_M;
    if (M != nullptr) scaled_M.emplace(on, *M, -k);
    auto result = search_at<V, B>(on, scaled_operator<V, B>(on, A, k), o,
                                  scaled_M ? &*scaled_M : nullptr, guess);
    result.report.norm = std::ldexp(result.report.norm, -k);
    for (double& value : result.values) {
        value = std::ldexp(value, -k);
        if (std::isfinite(value) || !result.report.converged) continue;
        result.report.converged = false;
        result.report.end_by(status::overflow);
    }
    return result;
}

}  // namespace

void eigs_options::report::end_by(nz::status s) {
    using enum nz::status;
    status = s;
    why = s == converged             ? "converged"
          : s == not_finite          ? "a product of A is not finite"
          : s == stopped_by_caller   ? "stopped by the caller"
          : s == max_products        ? "max_products were spent"
          : s == whole_space         ? "the basis is the whole space: rounding errors allow no more"
          : s == no_direction        ? "no direction is left that is independent of the basis"
          : s == limited_by_rounding ? "the true residuals stay above what rounding errors allow"
                                     : "an eigenvalue is larger than the largest number";
}

template <class V, class B>
eigs_options::result<V> eigs(B on, const linear_operator<V, B>& A, const eigs_options& o,
                             const linear_operator<V, B>* M, std::span<const V> guess) {
    const communicator* const ranks = ranks_of(on);
    agree(ranks, [&] { check_arguments(A, o, M, guess.size()); });
    expect_equal(ranks, "eigs",
                 std::array{double(o.count), double(o.which), o.tol_of<V>(), double(o.max_products),
                            double(o.basis), double(M != nullptr)});
    if (summed_over(ranks, std::int64_t(A.shape().rows)) == 0) {
        eigs_options::result<V> nothing;
        nothing.report.converged = true;
        nothing.report.end_by(status::converged);
        return nothing;
    }
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        std::int64_t products = 0;
        const int k = scale_of<V, B>(on, A, products);
        auto result = search_in_scale<V, B>(on, A, o, M, guess, k);
        result.report.products += products;
        result.report.seconds = seconds_since(start);
        return result;
    }
}

#define NZ_INSTANTIATE(V, B)                                                                    \
    template eigs_options::result<V> eigs(B, const linear_operator<V, B>&, const eigs_options&, \
                                          const linear_operator<V, B>*, std::span<const V>);
NZ_INSTANTIATE(float, cpu)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, cpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
