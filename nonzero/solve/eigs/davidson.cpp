// A block Davidson method.
#include "nonzero/solve/eigs/davidson.hpp"

#include <algorithm>
#include <cmath>

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/solve/eigs/search.hpp"

namespace nz {
namespace {

constexpr double factor_log = 4;  // of what a polynomial does to its target; acosh of 27
constexpr int nothing = -1;

template <class V, class B>
void start_with_noise(eigen_search<V, B>& s) {
    s.append_guesses(std::max(s.kept, 1));
    while (s.size < std::max(s.kept, 1) && s.append_noise()) continue;
    s.ritz();
}

/// Whether the guesses are what is wanted, which then is not checked for copies. A few of
/// Lanczos's vectors tell how large A is.
template <class V, class B>
bool guesses_suffice(eigen_search<V, B>& s) {
    s.append_guesses(std::max(s.kept, 1));
    if (s.size < s.wanted) return false;
    s.append_noise();
    for (int step = 0; step < 4 && s.size < s.capacity && next_of_lanczos(s) > 0; ++step) s.take();
    s.ritz();
    for (; s.done < s.wanted && s.look_at(s.done) && s.residual <= s.allowed(); ++s.done)
        s.found[std::size_t(s.done)] = s.theta[std::size_t(s.done)];
    return s.trusts_guess = s.done == s.wanted;
}

/// Whether the wanted pairs are what they were as they converged. A Ritz value of the check that
/// equals one of theirs may have mixed its vector, which has not converged, into theirs.
template <class V, class B>
bool hold_after_check(eigen_search<V, B>& s) {
    const auto last = std::size_t(s.wanted - 1);
    if (s.theta[last] > s.theta[last + 1] + 10 * s.allowed()) return true;
    for (int k = 0; k < s.wanted; ++k) {
        if (s.look_at(k) && s.residual <= s.allowed()) continue;
        s.done = k;
        return false;
    }
    return true;
}

/// The pair that the next vector shall make better, ritz_vector and image its own (with M: its
/// residual); `nothing` where all have converged.
template <class V, class B>
int target(eigen_search<V, B>& s) {
    while (true) {
        for (; s.done < std::min(s.wanted, s.size); ++s.done) {
            if (!s.look_at(s.done) || !(s.residual <= s.allowed())) return s.done;
            s.found[std::size_t(s.done)] = s.theta[std::size_t(s.done)];
        }
        if (s.done < s.wanted) return s.done;
        if (s.M != nullptr || s.trusts_guess || s.size == s.dimension || !has_level(s))
            return nothing;
        if (!s.checks) {
            if (s.products >= s.options.max_products) return s.wanted;
            if (!start_check(s)) return nothing;
            continue;
        }
        if (!s.look_at(s.wanted) || !is_checked(s)) return s.wanted;
        return hold_after_check(s) ? nothing : s.done;
    }
}

template <class V, class B>
bool expand(eigen_search<V, B>& s, int k) {
    set_interval(s);
    if (s.size == s.capacity) {
        s.rotate(s.kept);
        ++s.report.restarts;
    }
    if (k >= s.size) return s.append_noise();
    if (s.M != nullptr) {
        s.M->apply(V(1), s.image, V(0), s.basis.column(s.size));
    } else {
        apply_polynomial(s, degree_for(s, factor_log, s.theta[std::size_t(k)]));
    }
    return s.append() || s.append_noise();
}

template <class V, class B>
void expand_until_done(eigen_search<V, B>& s) {
    while (true) {
        if (!std::isfinite(s.theta.front())) return s.report.end_by(status::not_finite);
        const int k = s.stopped ? nothing : target(s);
        if (s.stopped) return s.report.end_by(status::stopped_by_caller);
        if (k == nothing) return s.report.end_by(status::converged);
        if (s.size == s.dimension) return s.report.end_by(status::whole_space);
        if (s.products >= s.options.max_products) return s.report.end_by(status::max_products);
        if (!expand(s, k)) return s.report.end_by(status::no_direction);
        s.ritz();
    }
}

/// The wanted pairs with their true residuals. False where they are worse than the search had
/// it, and it goes on.
template <class V, class B>
bool finish(eigen_search<V, B>& s) {
    const int count = std::min(s.wanted, s.size);
    s.rotate(count);
    s.report.residuals.clear();
    s.report.converged = count == s.wanted;
    for (int k = 0; k < count; ++k) {
        s.multiply(s.basis.column(k), s.image);
        s.deflate(s.image);
        const double norm = s.basis.residual(s.image, s.sign * s.theta[std::size_t(k)],
                                             s.basis.column(k), out<V, B>(s.image));
        s.report.residuals.push_back(s.report.norm > 0 ? norm / s.report.norm : 0);
        s.report.converged = s.report.converged && norm <= s.allowed();
    }
    if (!s.report.converged && s.report.status == status::converged) {
        if (s.retries++ < 3 && s.wanted < s.capacity) {
            s.done = 0;
            s.checks = false;
            s.ritz();
            return false;
        }
        s.report.end_by(status::limited_by_rounding);
    }
    s.values.assign(s.theta.begin(), s.theta.begin() + count);
    for (double& value : s.values) value *= s.sign;
    s.vectors = s.basis.to_host(count);
    return true;
}

}  // namespace

template <class V, class B>
eigs_options::result<V> davidson(B on, const linear_operator<V, B>& A, const eigs_options& o,
                                 const linear_operator<V, B>* M, std::span<const V> guess,
                                 const known_pairs<V>& known) {
    eigen_search<V, B> s(on, A, o, M, guess, known);
    const auto start = steady_clock::now();
    if (M != nullptr) {
        start_with_noise(s);
    } else if (!guesses_suffice(s)) {
        start_as_lanczos(s);
    }
    do expand_until_done(s);
    while (!finish(s));
    s.report.products = s.products;
    s.report.seconds = seconds_since(start);
    return {std::move(s.values), std::move(s.vectors), std::move(s.report)};
}

#define NZ_INSTANTIATE_ON(V, B)                                                                  \
    template eigs_options::result<V> davidson(B, const linear_operator<V, B>&,                   \
                                              const eigs_options&, const linear_operator<V, B>*, \
                                              std::span<const V>, const known_pairs<V>&);
#define NZ_INSTANTIATE(V)     \
    NZ_INSTANTIATE_ON(V, cpu) \
    NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE_ON(V, gpu))
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
