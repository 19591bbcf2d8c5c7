// Several right-hand sides that one Krylov method solves in step, and how they get where it runs.
#pragma once

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/columns.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/columns/block_cg.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/krylov/minres.hpp"
#include "nonzero/solve/solve.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {

/// Methods that solve several systems in step.
inline bool goes_in_step(krylov_method method) {
    using enum krylov_method;
    return method == cg || method == minres || method == bicgstab || method == gmres;
}
template <class V, class B>
std::vector<solve_report> solve_in_step(krylov_method method, B on, const linear_operator<V, B>& A,
                                        const linear_operator<V, B>* M, in_columns<V, B> b,
                                        out_columns<V, B> x, const system_options& o) {
    if constexpr (std::is_same_v<B, cpu>)
        if (method == krylov_method::cg && o.block_cg && b.count > 1)
            return block_cg<V>(on, A, M, b, x, o);
    const auto run = [&](auto solver) {
        return M == nullptr ? solver(on, A, b, x, o) : solver(on, A, *M, b, x, o);
    };
    switch (method) {
        case krylov_method::minres:
            return run([](auto&&... a) { return minres<V, B>(a...); });
        case krylov_method::bicgstab:
            return run([](auto&&... a) { return bicgstab<V, B>(a...); });
        case krylov_method::gmres:
            return run([](auto&&... a) { return gmres<V, B>(a...); });
        default:
            return run([](auto&&... a) { return cg<V, B>(a...); });
    }
}

/// Vectors by rows without gaps, as solvers take them in step; one is a vector like any other.
template <class Array, class All>
columns<Array> as_rows(All&& all, index count) {
    return {all, std::size_t(count), count, storage_order::row_major};
}

/// from.count vectors of `len` elements by rows, copied to where B computes from where they lie.
template <class V>
host_vector<V> rows_of(cpu, const in_columns<V, cpu>& from, std::size_t len) {
    const auto count = std::size_t(from.count);
    host_vector<V> to(len * count);
    parallel_for(thread_count({}, std::ssize(to)), std::int64_t(len), 1024, [&](std::int64_t row) {
        const auto i = std::size_t(row);
        for (std::size_t c = 0; c < count; ++c)
            to[i * count + c] = from.values[i * from.row_stride() + c * from.vector_stride()];
    });
    return to;
}
template <class V>
device_array<V> rows_of(gpu on, const in_columns<V, cpu>& from, std::size_t len) {
    return from_host(on, std::span<const V>(rows_of(cpu{}, from, len)));
}
template <class V>
device_array<V> rows_of(gpu on, const in_columns<V, gpu>& from, std::size_t len) {
    const device_guard guard(on);
    device_array<V> to(on, len * std::size_t(from.count));
    copy_vectors<V>(on, from, as_rows<device_out<V>>(to, from.count), len);
    return to;
}

/// The way back.
template <class V>
void put_rows(cpu, std::span<const V> from, const out_columns<V, cpu>& to, std::size_t len) {
    const auto count = std::size_t(to.count);
    parallel_for(
        thread_count({}, std::ssize(from)), std::int64_t(len), 1024, [&](std::int64_t row) {
            const auto i = std::size_t(row);
            for (std::size_t c = 0; c < count; ++c)
                to.values[i * to.row_stride() + c * to.vector_stride()] = from[i * count + c];
        });
}
template <class V>
void put_rows(gpu on, device_span<V> from, const out_columns<V, cpu>& to, std::size_t len) {
    put_rows<V>(cpu{}, to_host<V>(on, from), to, len);
}
template <class V>
void put_rows(gpu on, device_span<V> from, const out_columns<V, gpu>& to, std::size_t len) {
    const device_guard guard(on);
    copy_vectors<V>(on, as_rows<device_span<V>>(from, to.count), to, len);
}

/// f(b, x) of the host's vectors where B computes: themselves, or copies, of which x comes back.
template <class V, class F>
auto with_vectors(cpu, std::span<const V> b, std::span<V> x, F f) {
    return f(b, x);
}
template <class V, class F>
auto with_vectors(gpu on, std::span<const V> b, std::span<V> x, F f) {
    device_array<V> b_on_gpu, x_on_gpu;
    agree(ranks_of(on), [&] {
        b_on_gpu = from_host(on, b);
        x_on_gpu = from_host(on, std::span<const V>(x));
    });
    auto result = f(in<V, gpu>(b_on_gpu), out<V, gpu>(x_on_gpu));
    agree(ranks_of(on), [&] {
        const device_guard guard(on);
        copy_to_host(on, x_on_gpu.data(), x.data(), x.size_bytes());
    });
    return result;
}

}  // namespace nz
