// Measured acceptance: before a choice that was only predicted serves products without end, it is
// timed once beside plain CSR, and the faster is taken.
#pragma once

#include <functional>

#include "nonzero/plan/plan.hpp"

namespace nz {

/// Outcome of timing a choice beside plain CSR.
enum class verdict {
    accepted,   ///< plain CSR is in no take clearly faster
    refused,    ///< plain CSR is so in every take
    undecided,  ///< takes disagree: the machine was busy
};

/// Times two products of the choice and then six of plain CSR, of which the last two count: a
/// last-level cache takes in a matrix only when it has been walked several times. The functions
/// make one product and return the seconds that it took.
[[nodiscard]] verdict judge_beside(const std::function<double()>& multiply_by_choice,
                                   const std::function<double()>& multiply_plainly);

/// Last step of planning. Where `build` is to time the choice beside plain CSR, the plan says so
/// afterwards; where that has been done for such a matrix on this machine, the plan puts first
/// what was faster then.
template <class V>
void prepare_acceptance(plan<V, cpu>&, const csr<V, host_view>& A, const plan_options&);

/// The operator to keep: `built`, or plain CSR where the plan asks for the timing and that is
/// faster. The outcome is kept, so that the same matrix is not timed again.
template <class V>
std::unique_ptr<linear_operator<V, cpu>> accepted(const plan<V, cpu>&, const ascending<V>& A,
                                                  std::unique_ptr<linear_operator<V, cpu>> built);

}  // namespace nz
