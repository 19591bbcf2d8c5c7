// Parts that matrices have in common, as `prepared_system` asks for them.
#pragma once

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/solve/multigrid/options.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"
#include "nonzero/solve/solve.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {

template <class V>
void negate(std::span<V> v) {
    parallel_for(thread_count({}), std::int64_t(v.size()),
                 [&](std::int64_t k) { v[std::size_t(k)] = -v[std::size_t(k)]; });
}

/// The operator of f, which takes and sets vectors on the host.
template <class V, class B, class F>
std::unique_ptr<linear_operator<V, B>> on_host(B on, nz::shape shape, F f) {
    const auto apply = [f, on](in<V, B> b, out<V, B> x) {
        const auto rhs = to_host<V>(on, b);
        host_vector<V> solution(rhs.size());
        f(std::span<const V>(rhs), std::span<V>(solution));
        vector_space<V, B>(on, std::int64_t(rhs.size()))
            .copy(from_host(on, std::span<const V>(solution)), x);
    };
    auto made = make_operator<V>(on, shape, apply);
    return std::make_unique<decltype(made)>(std::move(made));
}

/// Of a direct solver. of_A: entries of A.
inline factor_report report_of(std::int64_t entries, double of_A, std::int64_t perturbed_pivots,
                               double seconds) {
    return {.entries = entries,
            .fill = double(entries) / std::max(of_A, 1.0),
            .shifted_pivots = perturbed_pivots,
            .setup_s = seconds};
}

/// The candidates given, in the values of A.
template <class V>
candidates<V> near_of(const system_options& o) {
    candidates<V> near{o.near.count, host_vector<V>(o.near.val.size())};
    std::ranges::transform(o.near.val, near.val.begin(), [](double v) { return V(real<V>(v)); });
    return near;
}
/// keep: the values of other matrices follow.
inline amg_options multigrid_options(const system_options& o, bool keep) {
    return {.block = o.block, .check = false, .keep = keep};
}

}  // namespace nz
