// One machine's speeds for the plans of all ranks.
#pragma once

#include "nonzero/core/communicator.hpp"
#include "nonzero/plan/plan.hpp"

namespace nz {

/// The options with the speeds of rank 0's machine where they name none: ranks that measured at
/// the same time would disturb each other, and choose otherwise in the next run. Called by all
/// ranks. Throws, on all of them, what measuring throws.
template <class B>
plan_options with_same_speeds(B on, const communicator& ranks, const plan_options&);

}  // namespace nz
