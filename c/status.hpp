// Statuses: no exception crosses the border.
#pragma once

#include <fmt/format.h>

#include "c/nonzero.h"
#include "nonzero/core/error.hpp"

namespace nz::c {

/// A handle that is null, destroyed, or of another kind.
struct handle_error : error {
    using error::error;
};
/// Values of another type than the handle's.
struct type_error : error {
    using error::error;
};

/// The status of the exception that is being handled; keeps what it says for nz_last_error.
int status_of_exception() noexcept;
/// NZ_NOT_CONVERGED; keeps `why` for nz_last_error.
int not_converged(const std::string& why);

/// f(), a status, or the status of what it throws.
template <class F>
int guarded(F f) noexcept {
    try {
        return f();
    } catch (...) {
        return status_of_exception();
    }
}

}  // namespace nz::c
