#include "nonzero/formats/cost.hpp"

#include <fmt/core.h>

#include "nonzero/core/text/numbers.hpp"

namespace nz {

std::string declined_padding(double stored, double nnz) {
    if (stored <= max_stored_per_nonzero * nnz) return {};
    return fmt::format("it would store {} entries for {} nonzeros, more than {} for each",
                       text_of_number(stored), text_of_number(nnz), max_stored_per_nonzero);
}

estimate with_work(estimate e, const work& w) {
    e.sector_requests = w.sector_requests, e.work_units = w.work_units,
    e.critical_units = w.critical_units;
    e.launches = w.launches, e.imbalance = w.imbalance, e.bypasses_l1 = w.bypasses_l1;
    return e;
}

work thread_a_row_work(const matrix_stats& s, double widths, double widest, double units_an_entry) {
    const double warps = double(round_up_to_warp(s.rows) / warp_rows);
    return {.sector_requests = double(s.column_sectors),
            .work_units = warps * units_of_a_warp + widths * units_an_entry,
            .critical_units = units_of_a_warp + widest * units_an_entry};
}

work work_of_warp_a_row(const matrix_stats& s) {
    const auto units = [](std::int64_t length) {
        return units_of_a_warp + 2 * double((length + 127) / 128);
    };
    work w{.sector_requests = double(s.row_sectors), .critical_units = units(s.max_row_nnz())};
    for (const auto& [length, rows] : s.row_lengths) w.work_units += double(rows) * units(length);
    return w;
}

}  // namespace nz
