#include "nonzero/solve/preconditioners/factors.hpp"

#include <fmt/core.h>

namespace nz {

std::string to_text(const factor_report& r) {
    std::string text = fmt::format("{} entries, {:.3g} of A's", r.entries, r.fill);
    if (r.shifted_pivots > 0) text += fmt::format(", {} pivots shifted", r.shifted_pivots);
    if (r.first_shifted >= 0) text += fmt::format(", first in row {}", r.first_shifted);
    if (r.shift > 0) text += fmt::format(", of A with {:.3g} of its diagonal added", r.shift);
    return text + fmt::format(", made in {:.3g} ms", r.setup_s * 1e3);
}

}  // namespace nz
