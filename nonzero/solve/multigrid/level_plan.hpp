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

}  // namespace nz
