// The report of a solver, as C programs read it.
#pragma once

#include "c/status.hpp"
#include "nonzero/solve/solve.hpp"

namespace nz::c {

/// Throws argument_error where it is of a size that this version does not know.
void expect_report(const nz_report*);

/// Fields that are empty in the report of a solver without them.
struct told {
    bool converged;
    std::int32_t attempts = 1;
    std::int64_t iterations;
    double residual, residual_norm = 0, setup_s, solve_s;
    std::string_view status, method, preconditioner, product, why;
    std::string advice = {};
};
/// NZ_OK or NZ_NOT_CONVERGED; fills `to` unless it is null.
int report_to(nz_report* to, const told&);
int report_to(nz_report* to, const system_report&);

}  // namespace nz::c
