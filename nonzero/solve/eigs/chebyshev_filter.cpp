// Chebyshev polynomials of A, which damp what is not wanted.
#include <algorithm>
#include <cmath>

#include "nonzero/solve/eigs/search.hpp"

namespace nz {
namespace {

constexpr int most_degree = 100;  // of a polynomial
constexpr int least_degree = 8;   // that is worth a vector's place in the basis
constexpr double most_log = 16;   // to the outermost pair: rounding errors grow with it

template <class V, class B>
double width(const eigen_search<V, B>& s, double cut) {
    return std::max({cut - s.far, 1e-6 * s.report.norm, 1e-300});
}

}  // namespace

template <class V, class B>
void set_interval(eigen_search<V, B>& s) {
    if (s.size > s.kept) {
        s.cut = std::max(s.cut, s.theta[std::size_t(s.kept)]);
    } else if (!std::isfinite(s.cut)) {
        s.cut = s.theta[std::size_t(std::min(s.size - 1, (s.wanted + s.size) / 2))];
    }
    s.far = std::min(s.far, s.theta.back());
}

template <class V, class B>
double growth(const eigen_search<V, B>& s, double t, double cut) {
    return std::acosh(1 + 2 * std::max(t - cut, 1e-14 * s.report.norm) / width(s, cut));
}

template <class V, class B>
int degree_for(const eigen_search<V, B>& s, double log, double t) {
    const auto capped = [](double d) { return int(std::min(d, double(most_degree))); };
    const int d = std::max(least_degree, capped(log / growth(s, t, s.cut)));
    return std::max(2, std::min(d, capped(most_log / growth(s, s.theta.front(), s.cut))));
}

template <class V, class B>
void apply_polynomial(eigen_search<V, B>& s, int degree) {
    const double half = width(s, s.cut) / 2, centre = s.cut - half;
    const double first = half / (s.theta.front() - centre);
    double sigma = first;
    out<V, B> before = s.ritz_vector, now = s.basis.column(s.size);
    s.space.axpby(V(s.sign * first / half), s.image, V(0), now);
    s.space.axpy(V(-first / half * centre), before, now);
    for (int i = 1; i < degree; ++i) {
        const double next = 1 / (2 / first - sigma), scale = 2 * next / half;
        s.multiply(now, before, V(s.sign * scale), V(-sigma * next));
        s.space.axpy(V(-scale * centre), now, before);
        std::swap(before, now);
        sigma = next;
    }
    if (degree % 2 == 0) s.space.copy(now, s.basis.column(s.size));
    s.degrees += degree;
}

#define NZ_INSTANTIATE(V, B)                                                  \
    template void set_interval(eigen_search<V, B>&);                          \
    template double growth(const eigen_search<V, B>&, double t, double cut);  \
    template int degree_for(const eigen_search<V, B>&, double log, double t); \
    template void apply_polynomial(eigen_search<V, B>&, int degree);
NZ_INSTANTIATE(float, cpu)
NZ_INSTANTIATE(double, cpu)
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(float, gpu))
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(double, gpu))

}  // namespace nz
