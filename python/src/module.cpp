// The extension module nonzero._nonzero: the C++ library behind the Python package.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "nonzero/core/backend.hpp"
#include "nonzero/core/error.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/plan/speeds.hpp"
#include "nonzero/solve/solve.hpp"
#include "python/src/module.hpp"

namespace nz::python {
namespace {

using namespace nb::literals;

/// Turns the library's errors into ValueError, MemoryError, or nonzero's own errors.
void translate_errors(nb::module_& m) {
    // The latest that is registered is asked first.
    nb::exception<device_error>(m, "DeviceError", PyExc_RuntimeError);
    nb::exception<unavailable>(m, "Unavailable", PyExc_RuntimeError);
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const out_of_memory& e) {
            PyErr_SetString(PyExc_MemoryError, e.what());
        } catch (const argument_error& e) {
            PyErr_SetString(PyExc_ValueError, e.what());
        } catch (const parse_error& e) {
            PyErr_SetString(PyExc_ValueError, e.what());
        } catch (const unsuitable& e) {
            PyErr_SetString(PyExc_ValueError, e.what());
        }
    });
}

}  // namespace

// nanobind keeps what it knows of Python once in a process: in a second interpreter it would
// replace that of the first. So the function by which Python begins is ours, and asks which
// interpreter it is.
#define PyInit__nonzero init_in_main_interpreter
NB_MODULE(_nonzero, m) {
    // Caches of other packages, such as PyTorch's compiler, may hold operators until the end.
    nb::set_leak_warnings(false);
    m.attr("version") = NZ_VERSION;
    translate_errors(m);
    bind_operators(m);
    bind_solvers(m);
    bind_least_squares(m);
    bind_functions(m);
    bind_graphs(m);
    bind_matrices(m);
    m.def("text_of_number", &text_of_number, "x"_a);
    m.def("text_of_time", &text_of_time, "s"_a);
    m.def("text_of_bytes", &text_of_bytes, "bytes"_a);
    bind_dist(m);
    m.def("gpu_count", &gpu_count);
    m.def(
        "why_no_gpu", [](int device) { return why_no_gpu({.device = device}); }, "device"_a);
    m.def(
        "synchronize", [](int device) { synchronize({.device = device}); }, "device"_a);
    m.def("has_cuda", [] { return has_cuda; });
    m.def(
        "thread_count", [](int threads) { return thread_count({.threads = threads}); },
        "threads"_a);
}
#undef PyInit__nonzero

}  // namespace nz::python

extern "C" NB_EXPORT PyObject* PyInit__nonzero() {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0)
        return nz::python::init_in_main_interpreter();
    PyErr_SetString(PyExc_ImportError,
                    "nonzero: imported in a subinterpreter, expected in the main interpreter");
    return nullptr;
}
