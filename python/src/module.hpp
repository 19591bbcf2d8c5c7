// Parts of the extension module, one for each file.
#pragma once

#include <nanobind/nanobind.h>

namespace nz::python {

namespace nb = nanobind;

void bind_operators(nb::module_&);
void bind_solvers(nb::module_&);
void bind_least_squares(nb::module_&);
void bind_functions(nb::module_&);
void bind_graphs(nb::module_&);
void bind_matrices(nb::module_&);
void bind_dist(nb::module_&);

}  // namespace nz::python
