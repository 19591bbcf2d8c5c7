// Memory accesses of the warps of csr_merge.cu.
#pragma once

#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/formats/trace.hpp"

namespace nz {

/// A block's share of the path between the ends of rows and the nonzeros.
template <class V>
class merge_tile {
  public:
    static constexpr int threads = 128, steps_a_thread = 8, size = threads * steps_a_thread;
    static constexpr int warps = threads / warp_lanes;

    merge_tile(const csr<V, host_view>& A, std::int64_t block)
        : A_(A),
          start_(block * size),
          stop_(std::min(start_ + size, A.shape.rows + std::int64_t(A.val.size()))),
          row(search(start_, [](std::int64_t) {})),
          first_nz(start_ - row),
          rows(search(stop_, [](std::int64_t) {}) - row),
          nnz(stop_ - start_ - rows) {}

    /// The first two lanes of a block look for its ends at the same time.
    void trace_search(warp_trace& to) const {
        std::vector<std::int64_t> looked_at[2];
        search(start_, [&](std::int64_t i) { looked_at[0].push_back(i + 1); });
        search(stop_, [&](std::int64_t i) { looked_at[1].push_back(i + 1); });
        for (std::size_t step = 0; step < std::max(looked_at[0].size(), looked_at[1].size());
             ++step)
            to.load(structure_of("row_ptr", A_.row_ptr), each_lane([&](int l) {
                        return l < 2 && step < looked_at[l].size() ? looked_at[l][step] : idle;
                    }));
    }
    /// Where row `r` of the tile ends among its nonzeros: beyond all where it is not the tile's.
    [[nodiscard]] std::int64_t row_end(std::int64_t r) const {
        if (row + r >= A_.shape.rows) return size + 1;
        return std::min<std::int64_t>(A_.row_ptr[std::size_t(row + r) + 1] - first_nz, size + 1);
    }
    /// How many of the tile's rows end among its first `d` steps.
    [[nodiscard]] std::int64_t rows_before(std::int64_t d) const {
        std::int64_t low = std::max(d - nnz, std::int64_t(0)), high = std::min(d, rows);
        while (low < high) {
            const std::int64_t mid = (low + high) / 2;
            if (row_end(mid) <= d - mid - 1) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        return low;
    }

  private:
    /// rows_before of csr_merge.cu on the whole matrix; f(i) for every row that it looks at.
    template <class F>
    std::int64_t search(std::int64_t d, F f) const {
        std::int64_t low = std::max(d - std::int64_t(A_.val.size()), std::int64_t(0));
        std::int64_t high = std::min<std::int64_t>(d, A_.shape.rows);
        while (low < high) {
            const std::int64_t mid = (low + high) / 2;
            f(mid);
            if (A_.row_ptr[std::size_t(mid) + 1] <= d - mid - 1) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        return low;
    }
    const csr<V, host_view>& A_;
    std::int64_t start_, stop_;

  public:
    std::int64_t row, first_nz, rows, nnz;  ///< the tile's first row and nonzero, and how many
};

/// The kernel that adds the carries, behind this one, reads no matrix.
template <class V>
std::vector<warp_grid> launches(csr_merge, const csr<V, host_view>& A) {
    using tile = merge_tile<V>;
    const std::int64_t steps = A.shape.rows + std::int64_t(A.val.size());
    return {grid_of_warps("merge_kernel", (steps + tile::size - 1) / tile::size * tile::warps,
                          tile::warps)};
}

/// y of the rows that a warp's threads end: each walks eight steps, and stores its first row last.
template <class V>
void trace_walk(const merge_tile<V>& tile, std::int64_t first_thread, warp_trace& to) {
    constexpr int steps = merge_tile<V>::steps_a_thread;
    const std::int64_t all = tile.rows + tile.nnz;
    const auto first_step = [&](int l) { return std::min((first_thread + l) * steps, all); };
    const per_lane first = each_lane([&](int l) { return tile.rows_before(first_step(l)); });
    per_lane r = first;
    for (int step = 0; step < steps; ++step)
        to.store(y_of<V>(), each_lane([&](int lane) {
                     const auto l = std::size_t(lane);
                     const std::int64_t d = first_step(lane) + step;
                     if (d >= std::min(first_step(lane) + steps, all)) return idle;
                     if (d - r[l] < tile.row_end(r[l])) return idle;
                     const std::int64_t ended = r[l]++;
                     return ended == first[l] ? idle : tile.row + ended;
                 }));
    to.store(y_of<V>(), each_lane([&](int lane) {
                 const auto l = std::size_t(lane);
                 return r[l] > first[l] ? tile.row + first[l] : idle;
             }));
}

/// A block has 1024 steps of the path: row ends and products go to shared memory.
template <class V>
void trace(csr_merge, const csr<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    const merge_tile<V> tile(A, warp / merge_tile<V>::warps);
    const std::int64_t first_thread = warp % tile.warps * warp_lanes;
    if (first_thread == 0) tile.trace_search(to);
    for (std::int64_t i = first_thread; i <= tile.rows; i += tile.threads)
        to.load(structure_of("row_ptr", A.row_ptr), each_lane([&](int l) {
                    const std::int64_t r = tile.row + i + l;
                    return i + l <= tile.rows && r < A.shape.rows ? r + 1 : idle;
                }));
    for (int u = 0; u < tile.steps_a_thread; ++u) {
        const std::int64_t k = first_thread + u * tile.threads;
        const per_lane at =
            each_lane([&](int l) { return k + l < tile.nnz ? tile.first_nz + k + l : idle; });
        to.load(values_of<V>("val"), at);
        to.load(columns_of("col_ind"), at);
        to.load(x_of<V>(), take_each(A.col_ind, at));
    }
    trace_walk(tile, first_thread, to);
    if (first_thread == 0) to.store({"carries", array_role::y, 16}, first_lane(warp / tile.warps));
}

}  // namespace nz
