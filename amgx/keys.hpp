// The keys of AmgX's configurations, and what becomes of each.
#pragma once

#include <span>
#include <string_view>

namespace nz::amgx {

/// Values that a key takes. solver: the name of a solver, which may have a scope of its own.
enum class key_type { whole, real, text, solver };

struct key {
    std::string_view name;
    key_type type;
    std::string_view fate;  ///< what becomes of it, as docs/amgx.md has it
    /// Values that it takes, each between two bars; empty: any.
    std::string_view values = {};
};

/// All of them, by name.
std::span<const key> keys();
/// Null where there is none of that name.
const key* find_key(std::string_view name);

}  // namespace nz::amgx
