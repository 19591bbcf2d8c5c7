// Failures as AmgX's codes, and the text that goes to the print callback.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>

#include "amgx/amgx_c.h"
#include "nonzero/core/error.hpp"

namespace nz::amgx {

/// A call fails with that code.
struct failure : error {
    failure(AMGX_RC with, const std::string& why) : error(why), code(with) {}
    AMGX_RC code;
};

/// Throws failure with BAD_PARAMETERS unless it holds.
inline void require(bool holds, const char* why) {
    if (!holds) throw failure(AMGX_RC_BAD_PARAMETERS, why);
}
inline void expect_pointer(const void* p, const char* name) {
    if (p == nullptr) throw failure(AMGX_RC_BAD_PARAMETERS, fmt::format("{} is null", name));
}
template <class T>
T& not_null(T* p, const char* name) {
    expect_pointer(p, name);
    return *p;
}

/// Gives the text and a line's end to the print callback; without one, to standard output.
void tell(std::string_view text);
void set_print_callback(AMGX_print_callback);

/// f(), with what it throws as a code: the border that no exception crosses. `function` begins the
/// text that is told.
AMGX_RC guarded(const char* function, const std::function<void()>& f) noexcept;

}  // namespace nz::amgx
