#include "nonzero/formats/cost.hpp"

#include <fmt/format.h>

namespace nz {

std::string declined_padding(double stored, double nnz) {
    if (stored <= max_stored_per_nonzero * nnz) return {};
    return fmt::format("it would store {:.3g} entries for {:.3g} nonzeros, more than {} for each",
                       stored, nnz, max_stored_per_nonzero);
}

work thread_a_row_work(const matrix_stats& s, double widths, double widest, double steps_an_entry) {
    const double warps = double(whole_warps(s.rows) / warp_rows);
    return {.gathers = double(s.column_sectors),
            .steps = warps * steps_of_a_warp + widths * steps_an_entry,
            .critical_steps = steps_of_a_warp + widest * steps_an_entry};
}

work warp_a_row::work_on_gpu(const matrix_stats& s) {
    const auto steps = [](std::int64_t length) {
        return steps_of_a_warp + 2 * double((length + 127) / 128);
    };
    work w{.gathers = double(s.row_sectors), .critical_steps = steps(s.max_row_nnz())};
    for (const auto& [length, rows] : s.row_lengths) w.steps += double(rows) * steps(length);
    return w;
}

}  // namespace nz
