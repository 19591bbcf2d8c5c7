// The search for copies of singular values that have converged.
#include <cmath>
#include <limits>

#include "nonzero/solve/least_squares/bidiagonal_search.hpp"

namespace nz {
namespace {

constexpr double check_factor = 100;  // of a copy over the rest, after a check

}  // namespace

template <class V, class B>
double bidiagonal_search<V, B>::level() const {
    const double last = theta[std::size_t(wanted - 1)];
    for (int k = wanted - 2; k >= 0; --k)
        if (theta[std::size_t(k)] > last + 10 * allowed()) return theta[std::size_t(k)];
    return std::numeric_limits<double>::infinity();
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
    // Each step is a degree more of a polynomial in A^T A, whose growth between its interval, to
    // best^2, and the level is that of Chebyshev's.
    const double ratio = at / best, growth = std::acosh(2 * ratio * ratio - 1);
    return residual_of(wanted) < 0.1 * (at - best) &&
           double(degrees - 1) * growth >=
               std::log(2 * check_factor * std::sqrt(double(dimension)));
}

template <class V, class B>
bool bidiagonal_search<V, B>::has_moved() const {
    for (int k = 0; k < wanted; ++k)
        if (std::abs(theta[std::size_t(k)] - found[std::size_t(k)]) > 2 * allowed()) return true;
    return false;
}

#define NZ_INSTANTIATE(V, B)                                   \
    template double bidiagonal_search<V, B>::level() const;    \
    template void bidiagonal_search<V, B>::start_check();      \
    template bool bidiagonal_search<V, B>::is_checked() const; \
    template bool bidiagonal_search<V, B>::has_moved() const;
NZ_INSTANTIATE(float, cpu)
NZ_INSTANTIATE(double, cpu)
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(float, gpu))
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(double, gpu))

}  // namespace nz
