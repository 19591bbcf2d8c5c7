// The search for copies of eigenvalues that have converged.
#include <cmath>
#include <limits>

#include "nonzero/gen/noise.hpp"
#include "nonzero/solve/eigs/search.hpp"

namespace nz {
namespace {

constexpr double check_factor = 100;  // of a copy over the rest, after a check

/// The last of the wanted Ritz values that a copy must exceed to matter; the first one has no
/// other above it.
template <class V, class B>
double level(const eigen_search<V, B>& s) {
    const double last = s.theta[std::size_t(s.wanted - 1)];
    for (int k = s.wanted - 2; k >= 0; --k)
        if (s.theta[std::size_t(k)] > last + 10 * s.allowed()) return s.theta[std::size_t(k)];
    return std::numeric_limits<double>::infinity();
}

template <class V, class B>
double check_log(const eigen_search<V, B>& s) {
    return std::log(2 * check_factor * std::sqrt(double(s.dimension)));
}

}  // namespace

template <class V, class B>
bool has_level(const eigen_search<V, B>& s) {
    return std::isfinite(level(s));
}

template <class V, class B>
bool start_check(eigen_search<V, B>& s) {
    set_interval(s);
    const double at = level(s);
    s.rotate(s.wanted);
    s.checks = true;
    s.degrees = 0;
    s.set(s.basis.column(s.size), noise<V>(s.own, s.seed++));
    for (double left = check_log(s);
         left > 0 && s.products < s.options.max_products && !s.stopped;) {
        if (s.orthogonalise() == 0) return false;
        s.space.copy(s.basis.column(s.size), s.ritz_vector);
        s.multiply(s.ritz_vector, s.image);
        const int degree = degree_for(s, left, at);
        apply_polynomial(s, degree);
        left -= degree * growth(s, at, s.cut);
        s.tell(s.wanted);
    }
    if (!s.append()) return false;
    s.ritz();
    return true;
}

template <class V, class B>
bool is_checked(const eigen_search<V, B>& s) {
    const double at = level(s), best = s.theta[std::size_t(s.wanted)];
    return s.residual <= s.allowed() || (s.residual < 0.1 * (at - best) &&
                                         double(s.degrees) * growth(s, at, best) >= check_log(s));
}

#define NZ_INSTANTIATE(V, B)                            \
    template bool has_level(const eigen_search<V, B>&); \
    template bool start_check(eigen_search<V, B>&);     \
    template bool is_checked(const eigen_search<V, B>&);
NZ_INSTANTIATE(float, cpu)
NZ_INSTANTIATE(double, cpu)
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(float, gpu))
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(double, gpu))

}  // namespace nz
