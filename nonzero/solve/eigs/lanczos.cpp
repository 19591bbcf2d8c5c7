// Lanczos's vectors as the first of a basis.
#include <cmath>

#include "nonzero/solve/eigs/search.hpp"

namespace nz {
namespace {

/// v_size goes with the basis that is kept, and comes next.
template <class V, class B>
void restart_lanczos(eigen_search<V, B>& s) {
    s.rotate(s.kept);
    ++s.report.restarts;
    s.space.copy(s.basis.column(s.capacity), s.basis.column(s.size));
}

/// A product reads more than a step of Lanczos's does of the basis: then polynomials, which
/// take some twice as many products, cost more than they spare.
template <class V, class B>
bool products_dominate(const eigen_search<V, B>& s) {
    return s.matrix_bytes > 0.5 * double(s.capacity + s.kept) * double(s.dimension) * sizeof(V);
}

/// Whether all wanted pairs have, in a basis of Lanczos's; or the caller wants no more.
template <class V, class B>
bool has_converged(eigen_search<V, B>& s, double left) {
    if (s.size < s.wanted) return false;
    int converged = 0;
    for (; converged < s.wanted; ++converged) {
        s.residual = left * std::abs(s.last_of(converged));
        if (!(s.residual <= s.allowed())) break;
    }
    return !s.tell(converged) || (converged == s.wanted && s.guesses == 0);
}

}  // namespace

template <class V, class B>
double next_of_lanczos(eigen_search<V, B>& s) {
    s.space.copy(s.image, s.basis.column(s.size));
    return s.orthogonalise_projected();
}

template <class V, class B>
void start_as_lanczos(eigen_search<V, B>& s) {
    constexpr int looked_every = 6;  // dense eigenvalues take as long as a few products
    s.append_noise();
    while (s.products < s.options.max_products) {
        const double left = next_of_lanczos(s);
        if (s.size % looked_every == 0 || s.size == s.capacity) {
            s.ritz();
            if (!std::isfinite(s.theta.front())) return;
            set_interval(s);
            s.far = std::min(s.far, s.theta.back() - left * std::abs(s.last_of(s.size - 1)));
            if (s.size == s.dimension || has_converged(s, left)) return;
        }
        if (s.size == s.capacity) {
            if (!products_dominate(s)) return;
            restart_lanczos(s);
        }
        if (left > 0) {
            s.take();
        } else if (!s.append_noise()) {
            break;
        }
    }
    s.ritz();
}

#define NZ_INSTANTIATE(V, B)                             \
    template void start_as_lanczos(eigen_search<V, B>&); \
    template double next_of_lanczos(eigen_search<V, B>&);
NZ_INSTANTIATE(float, cpu)
NZ_INSTANTIATE(double, cpu)
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(float, gpu))
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(double, gpu))

}  // namespace nz
