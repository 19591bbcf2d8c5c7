#include "nonzero/solve/multigrid/chebyshev.hpp"

#include <algorithm>
#include <cmath>

#include "nonzero/core/parallel.hpp"
#include "nonzero/solve/multigrid/aggregate.hpp"

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
        v[std::size_t(i)] = V(real<V>(double(priority(index(first + i), 0) >> 32) * 0x1p-31 - 1));
    });
    return v;
}

template <class V, class B>
double spectral_radius(B on, const linear_operator<V, B>& A, in<real<V>, B> w, int steps,
                       std::int64_t first_row) {
    using R = real<V>;
    const auto n = std::int64_t(A.shape().rows);
    vector_space<V, B> space(on, n);
    scalars_on<one_scalar<R>, B> sum(on, {R(0)});
    vector<V, B> v = from_host(on, std::span<const V>(hashed_vector<V>(n, first_row)));
    vector<V, B> u = space.zero(), q = space.zero();
    const auto orthogonalise = [&](R alpha, R beta, const vector<V, B>& along, vector<V, B>& z) {
        run_fused(space, lanczos_step<V>{alpha, beta, w.data(), q.data(), along.data(), z.data()},
                  sum.data());
        return std::sqrt(double(sum.read().value));
    };
    tridiagonal T;
    // v and u keep their lengths, long and last: v / long and u / last are orthonormal.
    double length = orthogonalise(R(0), R(-1), u, v), last = 1;
    for (int k = 0; k < steps && length > 0 && std::isfinite(length); ++k) {
        A.apply(V(R(1 / length)), v, V(0), q);
        const double alpha = double(std::real(space.dot(v, q))) / length;
        const double before = T.diagonal.empty() ? 0 : T.beside.back();
        T.diagonal.push_back(alpha);
        const double next = orthogonalise(R(alpha / length), R(before / last), v, u);
        last = length, length = next;
        T.beside.push_back(next);
        std::swap(u, v);
    }
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
