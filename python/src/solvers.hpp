// Options and reports of nz::solve, as Python has them.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "nonzero/solve/solve.hpp"

namespace nz::python {

namespace nb = nanobind;

/// near: vectors of `rows` elements, one after the other by rows, or None. Throws ValueError for
/// names that are none.
system_options options_of(std::int64_t rows, double tol, std::int64_t maxiter, double max_seconds,
                          int restart, const std::optional<std::string>& method,
                          const std::optional<std::string>& preconditioner, index block,
                          nb::handle near, int fill_level, bool iterative,
                          const std::string& direct_solver);
nb::dict dict_of(const system_report&);

}  // namespace nz::python
