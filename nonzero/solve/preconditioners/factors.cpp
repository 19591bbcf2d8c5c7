#include "nonzero/solve/preconditioners/factors.hpp"

#include <fmt/core.h>

#include "nonzero/core/text/numbers.hpp"

namespace nz {

std::string to_text(const factor_report& r) {
    std::string text = fmt::format("{} entries, {} of A's", r.entries, text_of_number(r.fill));
    if (r.shifted_pivots > 0) text += fmt::format(", {} pivots shifted", r.shifted_pivots);
    if (r.first_shifted >= 0) text += fmt::format(", first in row {}", r.first_shifted);
    if (r.shift > 0)
        text += fmt::format(", of A with {} of its diagonal added", text_of_number(r.shift));
    return text + fmt::format(", made in {}", text_of_time(r.setup_s));
}

}  // namespace nz
