// Several right-hand sides that one Krylov method solves in step.
#pragma once

#include "nonzero/formats/columns.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/krylov/minres.hpp"
#include "nonzero/solve/solve.hpp"

namespace nz {

/// Methods that solve several systems in step.
inline bool goes_in_step(krylov_method method) {
    using enum krylov_method;
    return method == cg || method == minres || method == bicgstab || method == gmres;
}
template <class V, class B>
std::vector<solve_report> solve_in_step(krylov_method method, B on, const linear_operator<V, B>& A,
                                        const linear_operator<V, B>* M, in_columns<V, B> b,
                                        out_columns<V, B> x, const gmres_options& o) {
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

/// Vector c of several, of `len` elements.
template <class V, class Array>
host_vector<V> taken(const columns<Array>& all, index c, std::size_t len) {
    host_vector<V> v(len);
    for (std::size_t i = 0; i < len; ++i)
        v[i] = all.values[i * all.row_stride() + std::size_t(c) * all.vector_stride()];
    return v;
}
template <class V>
void put(std::span<const V> v, index c, const out_columns<V, cpu>& all) {
    for (std::size_t i = 0; i < v.size(); ++i)
        all.values[i * all.row_stride() + std::size_t(c) * all.vector_stride()] = v[i];
}

}  // namespace nz
