#include "nonzero/solve/multigrid/chebyshev.hpp"

#include <algorithm>

#include "nonzero/core/parallel.hpp"

namespace nz {

std::vector<smoother_step> chebyshev_steps(int degree, double low, double high) {
    if (degree < 1 || !(low > 0) || !(high > low))
        throw argument_error("chebyshev_steps: expected degree >= 1 and 0 < low < high");
    const double theta = (high + low) / 2, delta = (high - low) / 2, sigma = theta / delta;
    std::vector<smoother_step> steps{{0, 1 / theta}};
    for (double rho = 1 / sigma; int(steps.size()) < degree;) {
        const double next = 1 / (2 * sigma - rho);
        steps.push_back({next * rho, 2 * next / delta});
        rho = next;
    }
    return steps;
}

namespace {

/// A symmetric tridiagonal matrix.
struct tridiagonal {
    std::vector<double> diagonal, beside;

    /// How many eigenvalues lie below x: the negative pivots of T - x I (Golub and Van Loan 2013,
    /// section 8.4.1).
    [[nodiscard]] int below(double x) const {
        int count = 0;
        double pivot = 1;
        for (std::size_t i = 0; i < diagonal.size(); ++i) {
            pivot = diagonal[i] - x - (i == 0 ? 0 : beside[i - 1] * beside[i - 1] / pivot);
            if (pivot == 0) pivot = -1e-300;
            count += pivot < 0;
        }
        return count;
    }
    [[nodiscard]] double largest_eigenvalue() const {
        double high = 0;
        for (std::size_t i = 0; i < diagonal.size(); ++i)
            high = std::max(high, std::abs(diagonal[i]) + (i == 0 ? 0 : beside[i - 1]) +
                                      (i + 1 < diagonal.size() ? beside[i] : 0));
        double low = -high;
        for (int halvings = 0; halvings < 60; ++halvings) {
            const double middle = (low + high) / 2;
            (below(middle) == int(diagonal.size()) ? high : low) = middle;
        }
        return high;
    }
};

}  // namespace

template <class V>
host_vector<V> hashed_vector(std::int64_t n, std::int64_t first) {
    host_vector<V> v(static_cast<std::size_t>(n));
    parallel_for(thread_count({}), n, [&](std::int64_t i) {
        v[std::size_t(i)] = V(hashed_element<real<V>>(first + i));
    });
    return v;
}

template <class V, class B>
double spectral_radius(B on, const linear_operator<V, B>& A, in<real<V>, B> w, int steps,
                       std::int64_t first_row) {
    const auto all = std::size_t(std::max(steps, 0));
    vector_space<V, B> space(on, std::int64_t(A.shape().rows));
    scalars_on<lanczos_scalars, B> s(on, {});
    auto diagonal = make_vector<double>(on, all), beside = make_vector<double>(on, all);
    vector<V, B> v = space.make(), u = space.zero(), q = space.zero();
    run_fused(space, lanczos_start<V>{first_row, w.data(), v.data()}, s.data());
    for (int k = 0; k < steps; ++k) {
        A.apply(V(1), v, V(0), q);
        run_fused(space, lanczos_diagonal<V>{v.data(), q.data(), diagonal.data()}, s.data());
        run_fused(space, lanczos_step<V>{w.data(), q.data(), v.data(), u.data(), beside.data()},
                  s.data());
        std::swap(u, v);
    }
    const auto first_of = [&](const vector<double, B>& of_steps) {
        const auto on_host = to_host(on, in<double, B>(of_steps));
        return std::vector<double>(on_host.begin(), on_host.begin() + s.read().steps);
    };
    const tridiagonal T{first_of(diagonal), first_of(beside)};
    return T.diagonal.empty() ? 0 : T.largest_eigenvalue();
}

#define NZ_INSTANTIATE_ON(V, B)                                                           \
    template double spectral_radius(B, const linear_operator<V, B>&, in<real<V>, B>, int, \
                                    std::int64_t);
#define NZ_INSTANTIATE(V)                                              \
    template host_vector<V> hashed_vector(std::int64_t, std::int64_t); \
    NZ_INSTANTIATE_ON(V, cpu)                                          \
    NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE_ON(V, gpu))
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
