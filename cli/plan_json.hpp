// A plan as JSON: its choice, why, and every candidate.
#pragma once

#include "nonzero/core/json.hpp"
#include "nonzero/plan/plan.hpp"

namespace nz::cli {

/// Without provenance, and without the matrix' name, which a plan does not know.
nz::json to_json(const plan_report&);

}  // namespace nz::cli
