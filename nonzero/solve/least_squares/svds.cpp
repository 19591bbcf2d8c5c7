// Search for singular triplets, from the first vector to the true residuals.
#include "nonzero/solve/least_squares/svds.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/solve/eigs/orthonormalise.hpp"
#include "nonzero/solve/least_squares/bidiagonal_search.hpp"
#include "nonzero/solve/least_squares/centred_operator.hpp"

namespace nz {
namespace {

template <class V, class B>
void check_arguments(B on, const linear_operator<V, B>& A, const svds_options& o,
                     std::size_t guess_size) {
    const communicator* const ranks = ranks_of(on);
    const auto rows = summed_over(ranks, std::int64_t(A.shape().rows)),
               cols = summed_over(ranks, std::int64_t(A.shape().cols));
    const auto least = std::min(rows, cols);
    agree(ranks, [&] {
        const auto fail = [](const std::string& why) { throw argument_error("svds: " + why); };
        if (o.count < 1) fail(std::to_string(o.count) + " singular values, expected 1 or more");
        if (!(o.tol.value_or(0) >= 0)) fail("tol is negative or no number");
        if (o.max_products < 0) fail("max_products is negative");
        const auto wanted = std::min<std::int64_t>(o.count, least);
        if (o.basis != 0 && o.basis < std::min(wanted + 2, least))
            fail("a basis of " + std::to_string(o.basis) + " vectors, expected count + 2 or more");
        if (std::is_same_v<B, gpu> && (wanted > 100 || o.basis > max_basis))
            fail(std::to_string(wanted) + " singular values by a basis of " +
                 std::to_string(o.basis) + ", expected at most 100 and 128 on a GPU");
        const auto own = std::size_t(rows < cols ? A.shape().rows : A.shape().cols);
        if (guess_size != 0 && guess_size != own)
            fail("a guess of " + std::to_string(guess_size) + " elements, expected " +
                 std::to_string(own));
    });
    expect_equal(ranks, "svds",
                 std::array{double(o.count), o.tol_of<V>(), double(o.max_products), double(o.basis),
                            double(o.centred)});
}

/// Runs until the wanted triplets have converged and no copies are left, or there is another
/// reason to end.
template <class V, class B>
status search(bidiagonal_search<V, B>& s) {
    int looked = 0;
    if (!s.start()) return status::no_direction;
    s.set_scale();
    while (s.report.products < s.options.max_products) {
        s.extend();
        if (!std::isfinite(s.u_length) || !std::isfinite(s.v_length)) return status::not_finite;
        const bool is_full = s.size == s.capacity;
        if (is_full || s.size - looked >= s.look_after() || s.v_length == 0) {
            looked = s.size;
            s.look();
            if (is_full || s.v_length == 0 || s.is_near_an_end())
                s.decompose(is_full ? std::max(s.kept, s.wanted + 1) : s.wanted + 1);
            const int converged = s.count_converged();
            const bool all = converged == s.wanted && s.size >= s.wanted;
            if (all && s.is_checked()) return status::converged;
            if (all && !s.checks && s.report.restarts == 0) {
                if (s.has_no_copies()) return status::converged;
                if (s.stopped) return status::stopped_by_caller;
            }
            if (!s.tell(converged)) return status::stopped_by_caller;
            if (all && (!s.checks || s.has_moved())) {
                s.start_check();
                looked = s.size;
            } else if (is_full) {
                s.restart();
                looked = s.size;
            }
        }
        if (s.v_length == 0 && !s.set_noise(s.of_short, s.basis, s.own_short, s.size))
            return status::no_direction;
    }
    if (s.size > 0) s.decompose(s.wanted);
    return status::max_products;
}

/// As `orthonormalise`, vector by vector. In the place of one that lies in those before it comes a
/// random one.
template <class V, class B>
std::vector<double> orthonormalise_each(bidiagonal_search<V, B>& s, vector_basis<V, B>& U,
                                        int count) {
    const auto k = std::size_t(count);
    std::vector<double> R(k * k), taken;
    for (int j = 0; j < count; ++j) {
        taken.assign(std::size_t(std::max(j, 1)), 0);
        const double norm = s.orthogonalise(U, j, s.negligible(), &taken);
        std::copy_n(taken.begin(), j, R.begin() + std::ptrdiff_t(std::size_t(j) * k));
        R[std::size_t(j) * (k + 1)] = norm;
        if (norm > 0) {
            s.of_long.scale(V(1 / norm), U.column(j));
        } else {
            s.set_noise(s.of_long, U, s.own_long, j);
        }
    }
    return R;
}

/// Left vectors of the `count` right ones, A V = U R, and then both turned so that R is diagonal.
template <class V, class B>
void make_left(bidiagonal_search<V, B>& s, vector_basis<V, B>& U, int count) {
    s.to_long(s.basis.read(0, count), U.write(0, count));
    auto R = orthonormalise(U, count, s.negligible());
    if (R.empty()) R = orthonormalise_each(s, U, count);
    auto triplets = dense_svd(count, R);
    U.rotate(count, count, triplets.left);
    s.basis.rotate(count, count, triplets.right);
    s.theta = std::move(triplets.values);
    s.report.products += count;
}

/// The true residuals, those of A^T u - s v. The images A^T u take the free vectors of the basis.
template <class V, class B>
void find_residuals(bidiagonal_search<V, B>& s, vector_basis<V, B>& U, int count) {
    const int free = s.capacity + 1 - count;
    for (int first = 0; first < count; first += free) {
        const int some = std::min(free, count - first);
        s.to_short(U.read(first, some), s.basis.write(count, some));
        const std::span theta = std::span(s.theta).subspan(std::size_t(first), std::size_t(some));
        for (const double norm : s.basis.residuals(first, theta, count))
            s.report.residuals.push_back(s.report.norm > 0 ? norm / s.report.norm : norm);
    }
}

/// The wanted triplets, or those that there are, with their true residuals: those of A^T u - s v,
/// as A v - s u are the rounding errors of making U.
template <class V, class B>
svds_options::result<V> finish(bidiagonal_search<V, B>& s, status why) {
    svds_options::result<V> result;
    const int count = why == status::not_finite ? 0 : std::min(s.wanted, s.size);
    if (count > 0) {
        s.rotate(count);
        vector_basis<V, B> U(s.of_long.on(), s.of_long.dimension(), count);
        make_left(s, U, count);
        find_residuals(s, U, count);
        for (const double theta : s.theta) result.values.push_back(std::ldexp(theta, -s.exponent));
        result.left = s.is_wide ? s.basis.to_host(count) : U.to_host(count);
        result.right = s.is_wide ? U.to_host(count) : s.basis.to_host(count);
    }
    const double tol = s.options.template tol_of<V>();
    const bool holds = std::ranges::all_of(s.report.residuals, [&](double r) { return r <= tol; });
    s.report.end_by(why == status::converged && !holds ? status::limited_by_rounding : why);
    s.report.converged = why == status::converged && holds;
    s.report.norm = std::ldexp(s.report.norm, -s.exponent);
    result.report = std::move(s.report);
    return result;
}

template <class V, class B>
svds_options::result<V> triplets_of(B on, const linear_operator<V, B>& A, const svds_options& o,
                                    std::span<const V> guess) {
    bidiagonal_search<V, B> s(on, A, o, guess);
    if (s.wanted == 0) {
        svds_options::result<V> nothing;
        nothing.report.converged = true;
        nothing.report.end_by(status::converged);
        return nothing;
    }
    const status why = search(s);
    return finish(s, why);
}

}  // namespace

template <class V, class B>
svds_options::result<V> svds(B on, const linear_operator<V, B>& A, const svds_options& o,
                             std::span<const V> guess) {
    check_arguments(on, A, o, guess.size());
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        std::optional<centred_operator<V, B>> centred;
        if (o.centred) centred.emplace(on, A);
        auto result = triplets_of<V, B>(on, centred ? *centred : A, o, guess);
        result.report.seconds = seconds_since(start);
        return result;
    }
}

#define NZ_INSTANTIATE(V, B)                                                                    \
    template svds_options::result<V> svds(B, const linear_operator<V, B>&, const svds_options&, \
                                          std::span<const V>);
NZ_INSTANTIATE(float, cpu)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, cpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
