// Products with A and A^H for solvers and searches that take some hundred of them.
#pragma once

#include "nonzero/core/format.hpp"
#include "nonzero/plan/plan.hpp"

namespace nz {

/// On a GPU all of it is made from A's copy there, A^T too, where it has the memory.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> planned_pair(B on, const csr<V, host_view>& A) {
    const plan_options o{.expected_products = 200, .transposed = true};
    if constexpr (std::is_same_v<B, gpu> && has_cuda && !is_complex<V>) try {
            return plan_and_build(view(upload(on, A)), on, o).op;
        } catch (const device_error&) {  // the layouts may fit where A does not as well
        }
    return plan_and_build(A, on, o).op;
}

}  // namespace nz
