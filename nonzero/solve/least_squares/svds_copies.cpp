// The search for copies of singular values that have converged.
#include <cmath>
#include <limits>
#include <utility>

#include "nonzero/gen/noise.hpp"
#include "nonzero/solve/least_squares/bidiagonal_search.hpp"

namespace nz {
namespace {

constexpr double check_factor = 100;  // of a copy over the rest, after a check

/// Degrees of polynomials in A^T A that make a copy at the level outgrow values up to `best`, if a
/// random vector of that dimension has its share of it: each step is a degree more, and the growth
/// of a degree is that of Chebyshev's polynomials on the interval to best^2.
double degrees_for(double level, double best, std::int64_t dimension) {
    if (best >= level) return std::numeric_limits<double>::infinity();
    const double ratio = level / best, growth = std::acosh(2 * ratio * ratio - 1);
    return std::log(2 * check_factor * std::sqrt(double(dimension))) / growth;
}

/// Largest singular value of an upper bidiagonal matrix, and the last element of its left vector.
std::pair<double, double> largest_of(std::span<const double> diagonal,
                                     std::span<const double> above) {
    const std::size_t m = diagonal.size();
    std::vector<double> small(m * m);
    for (std::size_t j = 0; j < m; ++j) {
        small[j * (m + 1)] = diagonal[j];
        if (j > 0) small[j * (m + 1) - 1] = above[j - 1];
    }
    const auto ends = dense_svd_ends(int(m), small);
    return {ends.values.front(), ends.last.front()};
}

}  // namespace

template <class V, class B>
double bidiagonal_search<V, B>::level() const {
    const double last = theta[std::size_t(wanted - 1)];
    for (int k = wanted - 2; k >= 0; --k)
        if (theta[std::size_t(k)] > last + 10 * allowed()) return theta[std::size_t(k)];
    return std::numeric_limits<double>::infinity();
}

template <class V, class B>
bool bidiagonal_search<V, B>::has_no_copies() {
    constexpr int most_steps = 40, looked_every = 2;
    const double at = level();
    const int held = v_length > 0 && size < capacity ? size + 1 : size;
    auto v = from_host(of_short.on(), std::span<const V>(noise<V>(own_short, seed++)));
    auto next = of_short.make();
    std::vector<double> alphas, betas;
    double alpha = 0, beta = orthogonalise(basis, held, v, negligible());
    for (int step = 1; step <= most_steps && beta > 0; ++step) {
        if (report.products >= options.max_products) return false;
        of_short.scale(V(1 / beta), v);
        to_long(V(1), v, V(step > 1 ? -beta / alpha : 0), u);
        if (step > 1) betas.push_back(beta);
        ++report.products;
        alpha = length_of(of_long, u);
        if (!(alpha > negligible()) || !std::isfinite(alpha)) return false;
        alphas.push_back(alpha);
        of_short.copy(v, next);
        to_short(V(1 / alpha), u, V(-alpha), next);
        beta = orthogonalise(basis, held, next, negligible());
        std::swap(v, next);
        if (step % looked_every != 0) continue;
        if (!tell(wanted)) return false;
        const auto [best, last] = largest_of(alphas, betas);
        const double degrees_wanted = degrees_for(at, best, dimension);
        if (degrees_wanted > most_steps - 1) return false;
        if (beta * last < 0.1 * (at - best) && step - 1 >= degrees_wanted) return true;
    }
    return false;
}

template <class V, class B>
void bidiagonal_search<V, B>::start_check() {
    found.assign(theta.begin(), theta.begin() + wanted);
    rotate(wanted);
    coupling.clear();
    u_length = v_length = 0;
    checks = true;
    degrees = 0;
}

template <class V, class B>
bool bidiagonal_search<V, B>::is_checked() const {
    const double at = level();
    if (size == dimension || !std::isfinite(at)) return true;
    if (!checks || has_moved() || size <= wanted) return false;
    if (residual_of(wanted) <= allowed()) return true;
    const double best = theta[std::size_t(wanted)];
    if (best == 0) return false;
    return residual_of(wanted) < 0.1 * (at - best) &&
           double(degrees - 1) >= degrees_for(at, best, dimension);
}

template <class V, class B>
bool bidiagonal_search<V, B>::has_moved() const {
    for (int k = 0; k < wanted; ++k)
        if (std::abs(theta[std::size_t(k)] - found[std::size_t(k)]) > 2 * allowed()) return true;
    return false;
}

#define NZ_INSTANTIATE(V, B)                                   \
    template double bidiagonal_search<V, B>::level() const;    \
    template bool bidiagonal_search<V, B>::has_no_copies();    \
    template void bidiagonal_search<V, B>::start_check();      \
    template bool bidiagonal_search<V, B>::is_checked() const; \
    template bool bidiagonal_search<V, B>::has_moved() const;
NZ_INSTANTIATE(float, cpu)
NZ_INSTANTIATE(double, cpu)
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(float, gpu))
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(double, gpu))

}  // namespace nz
