#include "nonzero/solve/least_squares/bidiagonal_search.hpp"

#include <algorithm>

#include "nonzero/core/agreement.hpp"
#include "nonzero/gen/noise.hpp"
#include "nonzero/solve/least_squares/svds_steps.hpp"

namespace nz {
namespace {

/// The size of the basis where the caller gives none. With six vectors for each triplet most
/// searches end before the first restart. After a restart the check for copies takes many more
/// products, because it is orthogonal to the kept vectors alone.
std::int64_t basis_for(std::int64_t wanted) {
    return wanted <= 40 ? std::max<std::int64_t>(32, 6 * wanted + 8)
                        : wanted + std::max<std::int64_t>(wanted / 2, 208);
}

}  // namespace

template <class V, class B>
bidiagonal_search<V, B>::bidiagonal_search(B on, const linear_operator<V, B>& matrix,
                                           const svds_options& o, std::span<const V> start)
    : A(matrix),
      options(o),
      guess(start),
      ranks(ranks_of(on)),
      is_wide(summed_over(ranks, std::int64_t(A.shape().rows)) <
              summed_over(ranks, std::int64_t(A.shape().cols))),
      of_short(on, is_wide ? A.shape().rows : A.shape().cols),
      of_long(on, is_wide ? A.shape().cols : A.shape().rows),
      own_short(own_elements(ranks, of_short.dimension())),
      own_long(own_elements(ranks, of_long.dimension())),
      dimension(summed_over(ranks, of_short.dimension())),
      wanted(int(std::min<std::int64_t>(o.count, dimension))),
      capacity(int(std::min<std::int64_t>(
          o.basis > 0 ? o.basis : std::min(basis_for(wanted), most_basis<B>), dimension))),
      kept(std::min(wanted + std::max(1, (capacity - wanted) / 3), capacity - 1)),
      basis(on, of_short.dimension(), capacity + 1),
      u(of_long.make()),
      shifted(of_short.make()),
      sum(on, {}),
      monitored(!on_all(ranks, !o.monitor)),
      projections(std::size_t(capacity) * std::size_t(capacity)) {}

template <class V, class B>
double bidiagonal_search<V, B>::length_of(vector_space<V, B>& space, in<V, B> x) {
    run_fused(space, square_step<V>{x.data()}, sum.data());
    return std::sqrt(sum.read().value);
}

template <class V, class B>
void bidiagonal_search<V, B>::set_scale() {
    // Norms to 2^safe and its inverse, and products with a vector of that length, are numbers.
    constexpr bool is_single = std::is_same_v<V, float>;
    constexpr int safe = is_single ? 30 : 300, most = is_single ? 100 : 900;
    scalars_on<square_sums, B> squares(of_long.on(), {});
    to_long(V(1), basis.column(0), V(0), u);
    run_fused(of_long, scaled_squares<V>{u.data()}, squares.data());
    ++report.products;
    const square_sums all = squares.read();
    double norm = all.plain;
    int power = 0;
    if (std::isfinite(all.small) && all.small < 1) {
        norm = all.small, power = -600;
    } else if (!std::isfinite(all.plain)) {
        norm = all.large, power = 600;
    }
    if (!(norm > 0) || !std::isfinite(norm)) return;
    power += std::ilogb(std::sqrt(norm));
    if (std::abs(power) <= safe) return;
    exponent = std::clamp(-power, -most, most);
    scale = V(std::ldexp(1.0, exponent));
}

template <class V, class B>
double bidiagonal_search<V, B>::orthogonalise(vector_basis<V, B>& vectors, int count, out<V, B> w,
                                              double least, std::vector<double>* taken) {
    auto& space = &vectors == &basis ? of_short : of_long;
    if (count == 0) {
        const double norm = length_of(space, w);
        return norm > least ? norm : 0;
    }
    for (int pass = 0; pass < 4; ++pass) {
        vectors.project(count, w);
        if (taken != nullptr) {
            const auto c = vectors.coefficients(count);
            for (std::size_t k = 0; k < c.size(); ++k) (*taken)[k] += c[k];
        }
        const basis_subtraction done = vectors.subtract(count, w);
        const double norm = done.left();
        if (!(norm > least)) return norm <= least ? 0 : norm;
        // A remainder of a much longer vector has the rounding errors of that one.
        if (done.taken() <= norm || !std::isfinite(done.taken())) return norm;
    }
    return 0;
}

template <class V, class B>
bool bidiagonal_search<V, B>::set_noise(vector_space<V, B>& space, vector_basis<V, B>& vectors,
                                        range own, int count) {
    for (int attempt = 0; attempt < 5; ++attempt) {
        const out<V, B> v = vectors.column(count);
        space.copy(from_host(space.on(), std::span<const V>(noise<V>(own, seed++))), v);
        const double before = length_of(space, v);
        const double norm = orthogonalise(vectors, count, 100 * epsilon * before);
        if (!(norm > 0)) continue;
        space.scale(V(1 / norm), v);
        return true;
    }
    return false;
}

template <class V, class B>
bool bidiagonal_search<V, B>::start() {
    if (on_all(ranks, guess.empty())) return set_noise(of_short, basis, own_short, 0);
    const out<V, B> v = basis.column(0);
    of_short.copy(from_host(of_short.on(), guess), v);
    const double norm = length_of(of_short, v);
    if (!(norm > 0) || !std::isfinite(norm)) return set_noise(of_short, basis, own_short, 0);
    of_short.scale(V(1 / norm), v);
    return true;
}

template <class V, class B>
void bidiagonal_search<V, B>::extend() {
    const out<V, B> v = basis.column(size), next = basis.column(size + 1);
    for (int i = 0; i < capacity; ++i) projected(i, size) = 0;
    if (!coupling.empty()) {
        // The kept left vectors are A times the right ones over their values.
        std::vector<double> c(coupling.size());
        for (std::size_t k = 0; k < c.size(); ++k) {
            projected(int(k), size) = coupling[k];
            c[k] = coupling[k] == 0 ? 0 : coupling[k] / theta[k];
        }
        basis.combine(c, shifted);
        of_short.axpby(V(1), v, V(-1), shifted);
        to_long(V(1), shifted, V(0), u);
        coupling.clear();
    } else {
        const double before = size > 0 && u_length > 0 ? v_length / u_length : 0;
        if (size > 0) projected(size - 1, size) = u_length > 0 ? v_length : 0;
        to_long(V(1), v, V(-before), u);
    }
    u_length = length_of(of_long, u);
    ++report.products, ++degrees;
    report.norm = std::max(report.norm, std::isfinite(u_length) ? u_length : 0);
    if (u_length <= negligible()) {
        u_length = v_length = 0;
        ++size;
        return;
    }
    projected(size, size) = u_length;
    of_short.copy(v, next);
    to_short(V(1 / u_length), u, V(-u_length), next);
    ++size;
    v_length = orthogonalise(basis, size, negligible());
    if (size == dimension) v_length = 0;
    if (v_length > 0) of_short.scale(V(1 / v_length), next);
}

template <class V, class B>
int bidiagonal_search<V, B>::look_after() const {
    // A look takes of the order of size^2 operations on one thread. A step takes 4 size n
    // operations beside its products. The fewer looks there are, the more steps are taken in vain
    // after the last that was needed.
    const double most = std::max(8.0, double(size) / 8);
    const double steps = 40 * double(size) * double(size) / double(dimension);
    return int(size <= wanted ? most : std::clamp(steps, 1.0, most));
}

template <class V, class B>
std::vector<double> bidiagonal_search<V, B>::small_matrix() const {
    std::vector<double> small;
    small.reserve(std::size_t(size) * std::size_t(size));
    for (int j = 0; j < size; ++j) {
        const auto column = projections.begin() + std::ptrdiff_t(j) * capacity;
        small.insert(small.end(), column, column + size);
    }
    return small;
}

template <class V, class B>
void bidiagonal_search<V, B>::look() {
    auto found_so_far = dense_svd_ends(size, small_matrix());
    theta = std::move(found_so_far.values), ends = std::move(found_so_far.last);
    left.clear(), right.clear();
    report.norm = std::max(report.norm, theta.front());
}

template <class V, class B>
void bidiagonal_search<V, B>::decompose(int count) {
    count = std::min(count, size);
    auto triplets = dense_svd_largest(size, count, small_matrix());
    theta = std::move(triplets.values);
    left = std::move(triplets.left), right = std::move(triplets.right);
    ends.clear();
    for (int k = 1; k <= count; ++k)
        ends.push_back(std::abs(left[std::size_t(k) * std::size_t(size) - 1]));
    report.norm = std::max(report.norm, theta.front());
}

template <class V, class B>
int bidiagonal_search<V, B>::count_converged() const {
    int converged = 0;
    while (converged < std::min(wanted, size) && residual_of(converged) <= allowed()) ++converged;
    return converged;
}

template <class V, class B>
void bidiagonal_search<V, B>::rotate(int to) {
    if (right.empty()) decompose(to);
    basis.rotate(size, to, std::span(right).first(std::size_t(to) * std::size_t(size)));
    for (int j = 0; j < to; ++j)
        for (int i = 0; i < capacity; ++i) projected(i, j) = i == j ? theta[std::size_t(i)] : 0;
    size = to;
}

template <class V, class B>
void bidiagonal_search<V, B>::restart() {
    const int to = std::min(kept, size - 1), last = size;
    coupling.assign(std::size_t(to), 0);
    for (int k = 0; k < to; ++k)
        if (theta[std::size_t(k)] > negligible())
            coupling[std::size_t(k)] = v_length * left[std::size_t(k + 1) * std::size_t(size) - 1];
    rotate(to);
    of_short.copy(basis.column(last), basis.column(size));
    ++report.restarts;
    if (v_length == 0) coupling.clear();
    u_length = 0;
}

template <class V, class B>
bool bidiagonal_search<V, B>::tell(int converged) {
    if (!monitored) return true;
    residual = converged < size ? residual_of(std::min(converged, wanted - 1)) : 0;
    const double relative = report.norm > 0 ? residual / report.norm : 0;
    const bool goes_on =
        !options.monitor || options.monitor({report.products, converged, wanted, checks, relative});
    stopped = !on_all(ranks, goes_on);
    return !stopped;
}

#define NZ_INSTANTIATE(V, B) template struct bidiagonal_search<V, B>;
NZ_INSTANTIATE(float, cpu)
NZ_INSTANTIATE(double, cpu)
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(float, gpu))
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(double, gpu))

}  // namespace nz
