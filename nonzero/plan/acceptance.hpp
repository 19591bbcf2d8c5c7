// Measured acceptance: before a choice that was only predicted serves products without end, it is
// timed once beside another method, mostly plain CSR, and the faster is taken.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "nonzero/plan/plan.hpp"

namespace nz {

/// Outcome of timing a choice beside another method.
enum class verdict {
    accepted,   ///< the other is not clearly faster
    refused,    ///< its fastest take is, and its slowest take is the faster one too
    undecided,  ///< the slowest takes say otherwise: the machine was busy
};

/// Seconds of two products of one method, each a take.
using two_takes = std::array<double, 2>;
/// clear: the other is clearly faster where it takes less than this share of the choice's time.
inline constexpr double clearly_faster = 0.95;
[[nodiscard]] verdict judge_takes(const two_takes& choice, const two_takes& other,
                                  double clear = clearly_faster);

/// Times three products of the choice, three of plain CSR, one of the choice and one of plain CSR,
/// of which the last of each turn counts. The functions make one product and return the seconds
/// that it took.
[[nodiscard]] verdict judge_beside(const std::function<double()>& multiply_by_choice,
                                   const std::function<double()>& multiply_plainly,
                                   double clear = clearly_faster);

/// Last step of planning. Where `build` is to time the choice beside another method, the plan says
/// so afterwards; where that has been done for such a matrix on this machine, the plan puts first
/// what was faster then. A lies where S says. pattern: its hash, where it is known.
template <class V, class B, class S>
void prepare_acceptance(plan<V, B>&, const csr<V, S>& A, const plan_options&,
                        std::optional<std::uint64_t> pattern = {});

/// The operator to keep: `built`, or the other where the plan asks for the timing and that is
/// faster. The outcome is kept, so that the same matrix is not timed again. A: where B multiplies.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> accepted(const plan<V, B>&, const ascending<V, B>& A,
                                                std::unique_ptr<linear_operator<V, B>> built);

}  // namespace nz
