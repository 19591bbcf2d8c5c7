// What multigrid's setup made, as numbers and as text.
#include <fmt/format.h>

#include <ostream>

#include "nonzero/solve/multigrid/amg.hpp"

namespace nz {

double amg_report::operator_complexity() const {
    double sum = 0;
    for (const auto& l : levels) sum += double(l.nnz);
    return levels.empty() || levels[0].nnz == 0 ? 1 : sum / double(levels[0].nnz);
}

double amg_report::grid_complexity() const {
    double sum = 0;
    for (const auto& l : levels) sum += double(l.rows);
    return levels.empty() || levels[0].rows == 0 ? 1 : sum / double(levels[0].rows);
}

std::string to_text(const amg_report& r) {
    std::string text = fmt::format("{:>5}  {:>10}  {:>12}  {:>8}  {:>6}  {}\n", "level", "rows",
                                   "nonzeros", "per row", "radius", "product");
    for (std::size_t l = 0; l < r.levels.size(); ++l) {
        const auto& level = r.levels[l];
        const bool direct = r.direct && l + 1 == r.levels.size();
        text += fmt::format("{:>5}  {:>10}  {:>12}  {:>8.1f}  {:>6}  {}\n", l, level.rows,
                            level.nnz, double(level.nnz) / std::max(level.rows, 1),
                            direct ? "-" : fmt::format("{:.2f}", level.spectral_radius),
                            direct ? "solved directly" : level.method);
    }
    return text +
           fmt::format("\noperator complexity {:.2f}, grid complexity {:.2f}, setup {:.3g} s\n",
                       r.operator_complexity(), r.grid_complexity(), r.setup_s);
}

std::ostream& operator<<(std::ostream& to, const amg_report& r) { return to << to_text(r); }

}  // namespace nz
