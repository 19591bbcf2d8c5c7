// The steps of a kernel over a small matrix: its trace, told in cells of the drawn arrays, and
// which entries are multiplied when.
#pragma once

#include <array>
#include <functional>
#include <map>

#include "cli/explorer/drawing.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/formats/kernel_trace.hpp"

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

/// The row of that lane's entries where the layout alone tells it, -1 where it does not.
template <class F>
std::int64_t row_of_lane(const F&, std::int64_t, std::size_t) {
    return -1;
}
/// Diagonals of one value load none: the lane's row says which entry it is.
template <class V>
std::int64_t row_of_lane(const packed<V, host_view>& A, std::int64_t warp, std::size_t lane) {
    const packed_chunk& c = A.chunks[std::size_t(warp)];
    const std::int64_t row = std::int64_t(lane) >> c.log_lanes;
    return c.sorted ? A.perm[std::size_t(c.number + row)] : c.first_row + row;
}

/// Writes down what a warp touches as JSON. A lane multiplies an entry when it loads x of the
/// entry's column, having loaded the entry's value.
class step_writer : public access_sink {
  public:
    step_writer(const std::vector<drawing>& arrays, const entry_finder& entries)
        : arrays_(arrays), entries_(entries) {}
    void begin_warp(std::int64_t warp, std::size_t launch) {
        warp_ = warp, launch_ = launch, loaded_ = {};
    }
    void take(const access& a) override;

    nz::json steps = nz::json::array();

  private:
    [[nodiscard]] virtual std::string name_of(std::size_t launch, std::string_view name) const = 0;
    [[nodiscard]] virtual std::int64_t row_of(std::int64_t warp, std::size_t lane) const = 0;
    int multiplied_entry(std::size_t lane, std::int64_t column);

    const std::vector<drawing>& arrays_;
    const entry_finder& entries_;
    std::int64_t warp_ = 0;
    std::size_t launch_ = 0;
    std::array<std::vector<int>, warp_lanes> loaded_;  ///< and not multiplied yet
};

template <class F>
class step_writer_of final : public step_writer {
  public:
    step_writer_of(const F& A, const std::vector<drawing>& arrays, const entry_finder& entries)
        : step_writer(arrays, entries), A_(A) {}

  private:
    [[nodiscard]] std::string name_of(std::size_t launch, std::string_view name) const override {
        return array_name(A_, launch, name);
    }
    [[nodiscard]] std::int64_t row_of(std::int64_t warp, std::size_t lane) const override {
        return row_of_lane(A_, warp, lane);
    }

    const F& A_;
};

/// The launches of a kernel, and the steps of their warps, one warp after the other.
nz::json steps_of(std::string_view method, const std::vector<warp_grid>& launches,
                  step_writer& writer,
                  const std::function<void(std::int64_t warp, warp_trace& to)>& trace_one);

/// A: of the layout that the method's kernel reads.
template <class F>
nz::json kernel_json(std::string_view method, const F& A, const std::vector<drawing>& arrays,
                     const entry_finder& entries) {
    step_writer_of<F> writer(A, arrays, entries);
    const auto kernel = trace_functions_of<typename F::value>(method);
    const auto grids = A.shape.rows > 0 ? kernel.launches(&A) : std::vector<warp_grid>{};
    return steps_of(method, grids, writer,
                    [&](std::int64_t warp, warp_trace& to) { kernel.trace(&A, warp, to); });
}

}  // namespace nz::cli
