// The steps of a kernel over a small matrix: its trace, told in cells of the drawn arrays, and
// which entries are multiplied when.
#pragma once

#include <array>
#include <map>

#include "cli/explorer/drawing.hpp"
#include "nonzero/formats/traces.hpp"
#include "nonzero/io/json.hpp"

namespace nz::cli {

/// The number of the entry in row i and column j, or no_entry.
class entry_finder {
  public:
    template <class V>
    explicit entry_finder(const csr<V, host_view>& A) {
        int number = 0;
        for_each_entry(A, 0, piece_count(A), [&](index i, index j, V) {
            columns_.push_back(j);
            at_[{i, j}] = number++;
        });
    }
    [[nodiscard]] int at(std::int64_t i, std::int64_t j) const {
        const auto found = at_.find({i, j});
        return found == at_.end() ? no_entry : found->second;
    }
    [[nodiscard]] index column(int entry) const { return columns_[std::size_t(entry)]; }

  private:
    std::map<std::pair<std::int64_t, std::int64_t>, int> at_;
    std::vector<index> columns_;
};

/// The name among the layout's arrays of what launch number `launch` calls so.
template <class F>
std::string array_name(const F&, std::size_t, std::string_view name) {
    return std::string(name);
}
template <class V>
std::string array_name(const hyb<V, host_view>&, std::size_t launch, std::string_view name) {
    const bool own = name == "val" || name == "col_ind" || name == "row_ind";
    return (!own ? "" : launch == 0 ? "ell." : "coo.") + std::string(name);
}

/// Writes down what a warp touches as JSON. A lane multiplies an entry when it loads x of the
/// entry's column, having loaded the entry's value.
template <class F>
class step_writer final : public access_sink {
  public:
    step_writer(const F& A, const std::vector<drawing>& arrays, const entry_finder& entries)
        : A_(A), arrays_(arrays), entries_(entries) {}

    void begin_warp(std::int64_t warp, std::size_t launch) {
        warp_ = warp, launch_ = launch, loaded_ = {};
    }

    void take(const access& a) override {
        const std::string name = array_name(A_, launch_, a.to.name);
        const auto array = std::find_if(arrays_.begin(), arrays_.end(),
                                        [&](const drawing& d) { return d.name == name; });
        const int cell_bytes = array == arrays_.end() ? a.to.bytes : array->element_bytes;
        nz::json step = {{"warp", warp_}, {"array", name}};
        if (a.store) step["store"] = true;
        if (a.to.bytes > cell_bytes) step["cells"] = a.to.bytes / cell_bytes;
        nz::json at = nz::json::array(), multiplied = nz::json::array();
        for (std::size_t lane = 0; lane < warp_lanes; ++lane) {
            if (a.at[lane] == idle) continue;
            const std::int64_t cell = a.at[lane] * a.to.bytes / cell_bytes;
            while (at.size() < lane) at.push_back(idle);
            at.push_back(cell);
            if (a.to.role == array_role::values && array != arrays_.end() &&
                !array->entries.empty())
                note_value(lane, array->entries[std::size_t(cell)]);
            if (a.to.role != array_role::x) continue;
            if (const int e = multiplied_entry(lane, a.at[lane]); e != no_entry)
                multiplied.push_back(nz::json::array({lane, e}));
        }
        step["at"] = std::move(at);
        if (!multiplied.empty()) step["entries"] = std::move(multiplied);
        steps.push_back(std::move(step));
    }

    nz::json steps = nz::json::array();

  private:
    void note_value(std::size_t lane, int entry) {
        if (entry != no_entry) loaded_[lane].push_back(entry);
    }
    int multiplied_entry(std::size_t lane, std::int64_t column) {
        if constexpr (std::is_same_v<F, packed<typename F::value, host_view>>) {
            // Its diagonals of one value load none: the lane's row says which entry it is.
            const packed_chunk& c = A_.chunks[std::size_t(warp_)];
            const std::int64_t row = std::int64_t(lane) >> c.log_lanes;
            return entries_.at(c.sorted ? A_.perm[std::size_t(c.number + row)] : c.first_row + row,
                               column);
        } else {
            auto& waiting = loaded_[lane];
            const auto of_column = std::find_if(waiting.begin(), waiting.end(), [&](int e) {
                return entries_.column(e) == column;
            });
            if (of_column == waiting.end()) return no_entry;
            const int entry = *of_column;
            waiting.erase(of_column);
            return entry;
        }
    }

    const F& A_;
    const std::vector<drawing>& arrays_;
    const entry_finder& entries_;
    std::int64_t warp_ = 0;
    std::size_t launch_ = 0;
    std::array<std::vector<int>, warp_lanes> loaded_;  ///< and not multiplied yet
};

/// The launches of K over A, and the steps of their warps, one warp after the other.
template <class K, class F>
nz::json kernel_json(K kernel, const F& A, const std::vector<drawing>& arrays,
                     const entry_finder& entries) {
    nz::json j = {{"method", K::name}, {"launches", nz::json::array()}};
    step_writer<F> writer(A, arrays, entries);
    const auto grids = A.shape.rows > 0 ? launches(kernel, A) : std::vector<warp_grid>{};
    std::int64_t warp = 0;
    for (std::size_t launch = 0; launch < grids.size(); ++launch) {
        const warp_grid& g = grids[launch];
        j["launches"].push_back(
            {{"kernel", g.kernel}, {"warps", g.warps}, {"block", g.warps_per_block}});
        warp_trace to(writer);
        for (std::int64_t w = 0; w < g.warps; ++w, ++warp) {
            writer.begin_warp(warp, launch);
            trace(kernel, A, warp, to);
        }
    }
    j["steps"] = std::move(writer.steps);
    return j;
}

}  // namespace nz::cli
