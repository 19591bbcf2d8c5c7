// What planning and building share.
#pragma once

#include "nonzero/plan/plan.hpp"

namespace nz {

/// Throws argument_error, naming near ones, where neither the list nor the registry has it.
template <class V>
const method<V>& named(std::span<const method<V>> among, std::string_view name) {
    for (const method<V>& m : among)
        if (m.name == name) return m;
    return find_method<V>(name);
}

/// As make_plan without A^T, for values that are as they are to be stored. known: null, or gets
/// what building may use.
template <class V>
plan<V, gpu> plan_on_device(const csr<V, device_view>& A, gpu on, const plan_options&,
                            device_analysis<V>* known);

}  // namespace nz
