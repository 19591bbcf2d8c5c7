// Solvers watched from Python: Ctrl-C and callbacks, between iterations that run without the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>

namespace nz::python {

namespace nb = nanobind;

/// Asks Python, from a thread without the GIL, whether to go on. What Python raised is kept until
/// the solver has ended, and raised then: solvers are left by a return, not by an exception.
class monitor {
  public:
    explicit monitor(nb::object callback) : callback_(std::move(callback)) {}
    monitor(const monitor&) = delete;
    monitor& operator=(const monitor&) = delete;

    /// Calls callback(arguments...), and looks for Ctrl-C ten times a second; false ends the
    /// solver. A callback that raises StopIteration ends it too, as one that has had enough.
    template <class... Arguments>
    bool goes_on(const Arguments&... arguments) {
        if (raised_ || stopped_) return false;
        const auto now = std::chrono::steady_clock::now();
        const bool due = now - looked_ >= std::chrono::milliseconds(100);
        if (callback_.is_none() && !due) return true;
        looked_ = now;
        const nb::gil_scoped_acquire held;
        try {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            if (!callback_.is_none()) callback_(arguments...);
        } catch (const nb::python_error& e) {
            stopped_ = e.matches(PyExc_StopIteration);
            if (stopped_) return false;
            raised_ = std::current_exception();
        }
        return !raised_;
    }
    /// Raises what Python raised. With the GIL.
    void rethrow() {
        if (raised_) std::rethrow_exception(std::exchange(raised_, {}));
    }

  private:
    nb::object callback_;
    std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
    std::exception_ptr raised_;
    bool stopped_ = false;
};

}  // namespace nz::python
