// The candidates of the finest level where none are given.
#pragma once

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/slice.hpp"
#include "nonzero/solve/multigrid/options.hpp"
#include "nonzero/solve/multigrid/prolongation.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {

/// Whether every level finds a candidate of its own (`phases`): where none is given, of single
/// unknowns, and of values some of which are not real. ranks: null where there is one process.
template <class V, class C>
bool has_phases(C here, const communicator* ranks, in<V, C> values, const amg_options& o,
                const candidates<V>& near) {
    if constexpr (!is_complex<V>) {
        return false;
    } else {
        return near.count == 0 && o.block == 1 && !on_all(ranks, are_real<V>(here, values));
    }
}

/// The given candidates where the setup runs, or the constant, which a GPU makes itself. rows: the
/// rank's.
template <class V>
candidates<V> first_candidates(cpu, const candidates<V>& given, range rows, index block) {
    if (given.count > 0) return given;
    return candidates<V>::constant(index(rows.last - rows.first), block, index(rows.first));
}
template <class V>
candidates<V, device> first_candidates(gpu on, const candidates<V>& given, range rows,
                                       index block) {
    if (given.count == 0 && block == 1) {
        const std::int64_t n = rows.last - rows.first;
        candidates<V, device> ones{1, device_array<V>(on, std::size_t(n))};
        vector_space<V, gpu>(on, n).fill(V(1), ones.val);
        return ones;
    }
    const auto near = first_candidates(cpu{}, given, rows, block);
    return {near.count, from_host(on, std::span<const V>(near.val))};
}

}  // namespace nz
