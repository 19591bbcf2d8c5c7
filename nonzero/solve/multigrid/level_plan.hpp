// How the products of multigrid's levels are planned.
#pragma once

#include <type_traits>

#include "nonzero/plan/plan.hpp"

namespace nz {

/// From this many nonzeros on a GPU packs a coarser level's matrix, or plans its product.
inline constexpr std::size_t worth_packing = 200000;

/// How the finest level's product is planned, and on a GPU every large level's: no method that
/// waits.
template <class V, class B>
plan_options product_options(B) {
    plan_options o{.expected_products = 100};
    if constexpr (std::is_same_v<B, gpu>)
        for (const method<V>& m : methods<V>())
            if (!m.synchronises && m.on_gpu != nullptr) o.methods.emplace_back(m.name);
    return o;
}

/// Methods of the products that are hardly planned: planning takes longer than it gains over those
/// of a solve. On a GPU the second takes rows that are too long for the first.
inline std::vector<std::string> plain_methods(cpu) { return {"csr.balanced"}; }
inline std::vector<std::string> plain_methods(gpu) { return {"csr.subwarp", "csr.adaptive"}; }

/// How the product of a rank's part of a coarser level, of so many entries, is planned.
template <class V, class B>
plan_options coarser_options(B on, std::size_t entries) {
    plan_options o{.methods = plain_methods(on)};
    if (std::is_same_v<B, gpu> && entries >= worth_packing) o = product_options<V>(on);
    o.vouched = true;
    return o;
}
template <class V, class B>
plan_options both_ways(B on, std::size_t entries) {
    plan_options o = coarser_options<V>(on, entries);
    o.transposed = true;
    return o;
}

}  // namespace nz
