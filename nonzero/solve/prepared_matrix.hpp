// Parts that matrices have in common, as `prepared_system` asks for them.
#pragma once

#include <algorithm>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/solve/multigrid/options.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"
#include "nonzero/solve/solve.hpp"
#include "nonzero/vector/copied.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {

template <class V>
void negate(cpu, std::span<V> v) {
    parallel_for(thread_count({}), std::int64_t(v.size()),
                 [&](std::int64_t k) { v[std::size_t(k)] = -v[std::size_t(k)]; });
}
template <class V>
void negate(gpu on, device_out<V> v) {
    vector_space<V, gpu>(alone(on), std::int64_t(v.size())).scale(V(-1), v);
}

/// B's vector, as the CPU reads it: itself, or a copy.
template <class V>
std::span<const V> read_here(cpu, std::span<const V> v) {
    return v;
}
template <class V>
host_vector<V> read_here(gpu on, device_span<V> v) {
    return to_host<V>(on, v);
}
/// to = from, of one length.
template <class V>
void copy_into(cpu, std::span<const V> from, std::span<V> to) {
    std::ranges::copy(from, to.begin());
}
template <class V>
void copy_into(gpu on, device_span<V> from, device_out<V> to) {
    const device_guard guard(on);
    copy_on_device(on, from.data(), to.data(), from.size() * sizeof(V));
}

/// A copy of v where it lies.
template <class V>
host_vector<V> copied(cpu, std::span<const V> v) {
    return copied(v);
}
template <class V>
device_array<V> copied(gpu on, device_span<V> v) {
    const device_guard guard(on);
    device_array<V> to(on, v.size());
    copy_into<V>(on, v, to);
    return to;
}

/// Whether the diagonal, which over ranks is the ranks' own rows', is negative throughout.
template <class V>
bool is_negative_throughout(const communicator* ranks, index rows, std::span<const V> diagonal) {
    const auto is_below_0 = [](V d) { return std::real(d) < 0; };
    return on_all(ranks, std::ranges::all_of(diagonal, is_below_0)) && rows > 0;
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
/// keep: the values of other matrices follow. precision: of the cycle.
inline amg_options multigrid_options(const system_options& o, bool keep, value_storage precision) {
    return {.block = o.block, .precision = precision, .check = false, .keep = keep};
}

}  // namespace nz
