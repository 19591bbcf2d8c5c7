#include "nonzero/solve/eigs/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nonzero/core/agreement.hpp"
#include "nonzero/gen/noise.hpp"
#include "nonzero/solve/eigs/dense.hpp"

namespace nz {
namespace {

/// How many vectors a guess has; a rank without elements learns it of the others.
int count_vectors(const communicator* ranks, std::size_t elements, std::int64_t n) {
    const int here = n == 0 ? 0 : int(elements / std::size_t(n));
    if (ranks == nullptr) return here;
    const auto all = gathered(*ranks, here);
    return *std::max_element(all.begin(), all.end());
}

}  // namespace

template <class V, class B>
eigen_search<V, B>::eigen_search(B on, const linear_operator<V, B>& matrix, const eigs_options& o,
                                 const linear_operator<V, B>* inverse, std::span<const V> start,
                                 const known_pairs<V>& pairs)
    : A(matrix),
      M(inverse),
      options(o),
      guess(start),
      ranks(ranks_of(on)),
      elements(A.shape().rows),
      own(own_elements(ranks, elements)),
      known_count(int(pairs.values.size())),
      dimension(summed_over(ranks, elements) - known_count),
      guesses(count_vectors(ranks, guess.size(), elements)),
      matrix_bytes(summed_over(ranks, double(A.bytes()))),
      monitored(!on_all(ranks, !o.monitor)),
      wanted(int(std::min<std::int64_t>(o.count, dimension))),
      capacity(int(std::min<std::int64_t>(o.basis > 0 ? o.basis : std::max(24, 2 * o.count + 12),
                                          dimension))),
      kept(std::min(wanted + std::max(1, (capacity - wanted) / 3), capacity - 1)),
      sign(o.which == eigs_options::ends::smallest ? -1 : 1),
      space(on, elements),
      basis(on, elements, capacity + 1),
      known(on, elements, known_count),
      ritz_vector(space.make()),
      image(space.make()),
      projections(std::size_t(capacity) * std::size_t(capacity)),
      found(std::size_t(wanted)) {
    for (int k = 0; k < known_count; ++k) {
        const double value = pairs.values[std::size_t(k)];
        far = std::min(far, sign * value);
        report.norm = std::max(report.norm, std::abs(value));
        const auto n = std::size_t(elements);
        set(known.column(k), pairs.vectors.subspan(std::size_t(k) * n, n));
    }
    // The noise that the known vectors came from may lie in their space.
    if (known_count > 0) seed = std::uint64_t(1) << 24;
}

template <class V, class B>
double eigen_search<V, B>::deflate(out<V, B> v) {
    if (known_count == 0) return 0;
    known.project(known_count, v);
    return known.subtract(known_count, v).taken();
}

template <class V, class B>
double eigen_search<V, B>::orthogonalise_projected() {
    const out<V, B> v = basis.column(size);
    constexpr double epsilon = std::numeric_limits<V>::epsilon();
    // In single precision 100 units of rounding would be above the residuals that are wanted.
    constexpr double orthogonal = (std::is_same_v<V, float> ? 10 : 100) * epsilon;
    double taken = std::hypot(length_of_coefficients(), deflate(v));
    double norm = size > 0 ? basis.subtract_and_project(size, v) : double(space.norm(v));
    const double least = 100 * epsilon * std::hypot(taken, norm);
    // The rest of the basis in it decides whether that must be subtracted as well.
    for (int pass = 0; pass < 2 && size + known_count > 0 && norm > least; ++pass) {
        taken = std::hypot(length_of_coefficients(), deflate(v));
        if (!(taken > orthogonal * norm)) break;
        norm = taken > 0.1 * norm ? basis.subtract_and_project(size, v)
                                  : basis.subtract(size, v).left();
        if (!(taken > 0.1 * norm)) break;
    }
    if (!(norm > least) || !std::isfinite(norm)) return 0;
    space.scale(V(1 / norm), v);
    return norm;
}

template <class V, class B>
void eigen_search<V, B>::take() {
    multiply(basis.column(size), image);
    basis.project(++size, image);
    const auto h = basis.coefficients(size);
    for (int k = 0; k < size; ++k)
        projected(k, size - 1) = projected(size - 1, k) = h[std::size_t(k)];
}

template <class V, class B>
bool eigen_search<V, B>::append() {
    if (orthogonalise() == 0) return false;
    take();
    return true;
}

template <class V, class B>
bool eigen_search<V, B>::append_noise() {
    for (int attempt = 0; attempt < 5; ++attempt) {
        set(basis.column(size), noise<V>(own, seed++));
        if (append()) return true;
    }
    return false;
}

template <class V, class B>
void eigen_search<V, B>::append_guesses(int at_most) {
    const auto n = std::size_t(elements);
    for (std::size_t k = 0; k < std::size_t(guesses) && size < at_most; ++k) {
        set(basis.column(size), guess.subspan(k * n, n));
        append();
    }
}

template <class V, class B>
void eigen_search<V, B>::ritz() {
    const auto m = std::size_t(size);
    std::vector<double> H(m * m);
    for (int j = 0; j < size; ++j)
        for (int i = 0; i < size; ++i)
            H[std::size_t(j) * m + std::size_t(i)] = sign * projected(i, j);
    const auto pairs = dense_eigen(size, H);
    theta.assign(pairs.values.rbegin(), pairs.values.rend());
    in_basis.resize(m * m);
    for (std::size_t k = 0; k < m; ++k)
        std::copy_n(pairs.vectors.begin() + std::ptrdiff_t((m - 1 - k) * m), m,
                    in_basis.begin() + std::ptrdiff_t(k * m));
    for (const double t : theta) report.norm = std::max(report.norm, std::abs(t));
    forget_what_moved();
}

template <class V, class B>
void eigen_search<V, B>::forget_what_moved() {
    for (int k = 0; k < done; ++k)
        if (k >= size || std::abs(theta[std::size_t(k)] - found[std::size_t(k)]) > allowed()) {
            done = k;
            checks = false;
        }
}

template <class V, class B>
void eigen_search<V, B>::rotate(int to) {
    basis.rotate(size, to, std::span(in_basis).first(std::size_t(to) * std::size_t(size)));
    size = to;
    theta.resize(std::size_t(to));
    in_basis.assign(std::size_t(to) * std::size_t(to), 0);
    for (int j = 0; j < to; ++j) {
        in_basis[std::size_t(j) * std::size_t(to + 1)] = 1;
        for (int i = 0; i < to; ++i) projected(i, j) = i == j ? sign * theta[std::size_t(i)] : 0;
    }
}

template <class V, class B>
bool eigen_search<V, B>::look_at(int k) {
    const auto m = std::size_t(size);
    basis.combine(std::span(in_basis).subspan(std::size_t(k) * m, m), ritz_vector);
    multiply(ritz_vector, image);
    deflate(image);
    const out<V, B> r = M != nullptr ? out<V, B>(image) : basis.column(size);
    residual = basis.residual(image, sign * theta[std::size_t(k)], ritz_vector, r);
    return tell(done);
}

template <class V, class B>
bool eigen_search<V, B>::tell(int converged) {
    if (!monitored) return true;
    const double relative = report.norm > 0 ? residual / report.norm : 0;
    const bool goes_on =
        !options.monitor || options.monitor({products, converged, wanted, checks, relative});
    stopped = !on_all(ranks, goes_on);
    return !stopped;
}

#define NZ_INSTANTIATE(V, B) template struct eigen_search<V, B>;
NZ_INSTANTIATE(float, cpu)
NZ_INSTANTIATE(double, cpu)
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(float, gpu))
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(double, gpu))

}  // namespace nz
