// The options of multigrid, and what its setup made as numbers and as text.
#include <fmt/core.h>

#include <algorithm>
#include <ostream>

#include "nonzero/core/error.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/solve/multigrid/options.hpp"

namespace nz {

void amg_options::validate() const {
    const amg_options& o = *this;
    const auto require = [](bool holds, const char* what) {
        if (!holds) throw argument_error(std::string("amg: ") + what);
    };
    require(o.degree >= 1, "degree is below 1");
    require(o.sweeps >= 1, "sweeps is below 1");
    require(o.eigenvalue_ratio == 0 || o.eigenvalue_ratio > 1,
            "eigenvalue_ratio is neither 0 nor above 1");
    require(o.aggregation_distance >= 0 && o.aggregation_distance <= 2,
            "aggregation_distance is not in [0, 2]");
    require(o.strength >= 0 && o.strength < 1, "strength is not in [0, 1)");
    require(o.omega >= 0 && o.omega < 2, "omega is not in [0, 2)");
    require(o.block >= 0, "block is below 0");
    require(o.adaptive_candidates >= 0 && o.adaptive_candidates <= 50,
            "adaptive_candidates is not in [0, 50]");
    require(o.relaxations >= 1, "relaxations is below 1");
    require(o.coarse_rows >= 1 && o.coarse_rows <= 5000, "coarse_rows is not in [1, 5000]");
    require(o.max_levels >= 1, "max_levels is below 1");
    require(o.lanczos_iterations >= 1, "lanczos_iterations is below 1");
    require(o.rows_worth_a_gpu >= 0, "rows_worth_a_gpu is negative");
}

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
    double all = 0;
    for (const auto& level : r.levels) all += double(level.nnz);
    std::string text = fmt::format("{:>5}  {:>10}  {:>12}  {:>6}  {:>8}  {:>6}  {}\n", "level",
                                   "rows", "nonzeros", "share", "per row", "radius", "product");
    for (std::size_t l = 0; l < r.levels.size(); ++l) {
        const auto& level = r.levels[l];
        const bool direct = r.direct && l + 1 == r.levels.size();
        text += fmt::format("{:>5}  {:>10}  {:>12}  {:>5.1f}%  {:>8.1f}  {:>6}  {}\n", l,
                            level.rows, level.nnz, 100 * double(level.nnz) / std::max(all, 1.0),
                            double(level.nnz) / std::max(level.rows, 1),
                            direct ? "-" : fmt::format("{:.2f}", level.spectral_radius),
                            direct ? "solved directly" : level.method);
    }
    return text + fmt::format("\noperator complexity {:.2f}, grid complexity {:.2f}, setup {}\n",
                              r.operator_complexity(), r.grid_complexity(),
                              text_of_time(r.setup_s));
}

std::ostream& operator<<(std::ostream& to, const amg_report& r) { return to << to_text(r); }

}  // namespace nz
