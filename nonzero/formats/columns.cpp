#include "nonzero/formats/columns.hpp"

#include <string>

#include "nonzero/core/error.hpp"

namespace nz {

void check_columns(const char* what, const char* name, const columns_layout& all, index count,
                   std::size_t len) {
    const auto wrong = [&](const std::string& why) {
        throw argument_error(std::string(what) + ": " + name + why);
    };
    if (all.count != count || count < 0)
        wrong(" has " + std::to_string(all.count) + " vectors, expected " + std::to_string(count));
    // `lines` runs of `line` elements: vectors, or rows.
    const std::size_t line = all.by_row ? std::size_t(count) : len;
    const std::size_t lines = all.by_row ? len : std::size_t(count);
    if (lines > 1 && all.stride < line)
        wrong("'s stride is " + std::to_string(all.stride) + ", expected at least " +
              std::to_string(line));
    const auto fits = [&] {
        if (lines == 0 || line == 0) return true;
        if (all.size < line) return false;
        // Divided, as the product with a large stride would wrap around.
        return lines == 1 || (all.size - line) / (lines - 1) >= all.stride;
    };
    if (!fits())
        wrong(" has " + std::to_string(all.size) + " elements, too few for " +
              std::to_string(count) + " vectors of " + std::to_string(len) +
              (all.by_row ? " by rows" : "") + " at a stride of " + std::to_string(all.stride));
}

}  // namespace nz
