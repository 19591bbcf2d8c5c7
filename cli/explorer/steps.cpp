#include "cli/explorer/steps.hpp"

#include <iterator>
#include <set>

namespace nz::cli {

namespace {

/// Bytes of the different elements that the lanes touch.
std::int64_t used_bytes(const access& a) {
    std::set<std::int64_t> elements(std::begin(a.at), std::end(a.at));
    elements.erase(idle);
    return std::int64_t(elements.size()) * a.to.bytes;
}

}  // namespace

void step_writer::take(const access& a) {
    const std::string name = name_of(launch_, a.to.name);
    const auto array = std::find_if(arrays_.begin(), arrays_.end(),
                                    [&](const drawing& d) { return d.name == name; });
    const int cell_bytes = array == arrays_.end() ? a.to.bytes : array->element_bytes;
    nz::json step = {{"warp", warp_}, {"array", name}};
    if (array == arrays_.end()) step["bytes"] = a.to.bytes;
    if (a.to.bytes < cell_bytes) step["used"] = used_bytes(a);  // its lanes touch parts of cells
    if (a.store) step["store"] = true;
    if (a.to.bytes > cell_bytes) step["cells"] = a.to.bytes / cell_bytes;
    nz::json at = nz::json::array(), multiplied = nz::json::array();
    for (std::size_t lane = 0; lane < warp_lanes; ++lane) {
        if (a.at[lane] == idle) continue;
        const std::int64_t cell = a.at[lane] * a.to.bytes / cell_bytes;
        while (at.size() < lane) at.push_back(idle);
        at.push_back(cell);
        if (a.to.role == array_role::values && array != arrays_.end() && !array->entries.empty())
            if (const int e = array->entries[std::size_t(cell)]; e != no_entry)
                loaded_[lane].push_back(e);
        if (a.to.role != array_role::x) continue;
        if (const int e = multiplied_entry(lane, a.at[lane]); e != no_entry)
            multiplied.push_back(nz::json::array({lane, e}));
    }
    step["at"] = std::move(at);
    if (!multiplied.empty()) step["entries"] = std::move(multiplied);
    steps.push_back(std::move(step));
}

int step_writer::multiplied_entry(std::size_t lane, std::int64_t column) {
    if (const std::int64_t row = row_of(warp_, lane); row >= 0) return entries_.at(row, column);
    auto& waiting = loaded_[lane];
    const auto of_column = std::find_if(waiting.begin(), waiting.end(),
                                        [&](int e) { return entries_.column(e) == column; });
    if (of_column == waiting.end()) return no_entry;
    const int entry = *of_column;
    waiting.erase(of_column);
    return entry;
}

nz::json steps_of(std::string_view method, const std::vector<warp_grid>& launches,
                  step_writer& writer,
                  const std::function<void(std::int64_t warp, warp_trace& to)>& trace_one) {
    nz::json j = {{"method", method}, {"launches", nz::json::array()}};
    std::int64_t warp = 0;
    for (std::size_t launch = 0; launch < launches.size(); ++launch) {
        const warp_grid& g = launches[launch];
        j["launches"].push_back(
            {{"kernel", g.kernel}, {"warps", g.warps}, {"block", g.warps_per_block}});
        warp_trace to(writer);
        for (std::int64_t w = 0; w < g.warps; ++w, ++warp) {
            writer.begin_warp(warp, launch);
            trace_one(warp, to);
        }
    }
    j["steps"] = std::move(writer.steps);
    return j;
}

}  // namespace nz::cli
