// Cuts the rows of a matrix into chunks, window by window, on the CPU. windows.cuh does the same on
// a GPU, bit for bit.
#pragma once

#include <array>
#include <bit>
#include <limits>

#include "nonzero/core/threads.hpp"
#include "nonzero/formats/packed/build/lane_width.hpp"
#include "nonzero/formats/packed/values.hpp"

namespace nz {

/// The entries (i, i + offset) of the rows whose bit is set in `mask`.
template <class V>
struct diagonal {
    index offset;
    std::uint32_t mask;
    V value;  ///< the value of all its entries, where they are the same
};

/// One window of rows, cut. Places in the streams count from the window's start.
struct window_partition {
    std::vector<packed_chunk> segments = {};  ///< chunks of long rows; as many as fill GPU blocks
    std::vector<packed_chunk> chunks = {};    ///< chunks of whole rows
    std::vector<index> perm = {};
    std::size_t words = 0, values = 0;
};

/// Cuts rows into lists, tiles and segments, whatever the type of the values.
class row_partitioner {
  public:
    [[nodiscard]] offset begin(index i) const { return row_ptr[std::size_t(i)]; }
    [[nodiscard]] offset length(index i) const { return begin(i + 1) - begin(i); }
    void leave_out_tiles() { may_tile = false; }

  protected:
    template <class V>
    row_partitioner(const csr<V, host_view>& A, const packed_options& options, bool tiles)
        : row_ptr(A.row_ptr),
          col_ind(A.col_ind),
          o(options),
          value_bytes(sizeof(V)),
          may_tile(tiles && options.tile_gain < HUGE_VAL) {}

    [[nodiscard]] unsigned log_lanes(offset n) const {
        return unsigned(log_lanes_for(n, o.lane_width));
    }

    /// Appends the rows sorted by length, those of one length in order.
    void append_longest_first(std::span<const index> rows, std::vector<index>& sorted) const {
        const offset longest = longest_of(rows);
        std::vector<std::size_t> place(std::size_t(longest) + 2, 0);  // of the next of each length
        for (const index i : rows) ++place[std::size_t(longest - length(i)) + 1];
        for (std::size_t k = 1; k < place.size(); ++k) place[k] += place[k - 1];
        const std::size_t before = sorted.size();
        sorted.resize(before + rows.size());
        for (const index i : rows) sorted[before + place[std::size_t(longest - length(i))]++] = i;
    }

    /// The rows at [first, first + rows) of an order, which make one chunk of lists.
    struct list_group {
        std::size_t first, rows;
        unsigned log_lanes;
        std::int64_t width;
    };

    /// Rows in an order, and the chunks that they make.
    struct list_cut {
        std::vector<index> order = {};
        std::vector<list_group> groups = {};
    };

    /// Every `scope` rows sorted.
    [[nodiscard]] list_cut sorted_cut(std::span<const index> rows, std::size_t scope) const {
        list_cut all;
        for (std::size_t k = 0; k < rows.size(); k += scope) {
            const std::size_t here = std::min(scope, rows.size() - k);
            append_longest_first(rows.subspan(k, here), all.order);
            append_groups_of_sorted(all.order, k, all.groups);
        }
        return all;
    }

    /// Whether L1 holds what local_scope of these rows load of x, but not what all of them load. A
    /// chunk of rows from all over a window then finds little in L1 of what its neighbours loaded.
    [[nodiscard]] bool are_local(std::span<const index> rows) const {
        const auto line = index(64 / value_bytes);
        constexpr std::size_t most_lines = 256;  // half an L1 of 32 KB: the matrix takes the rest
        const auto scope = std::size_t(o.local_scope);
        if (scope == 0 || rows.size() <= scope) return false;
        std::array<index, 4 * most_lines> met;  // a hash table, at most a quarter full
        met.fill(-1);
        std::size_t lines = 0;
        for (std::size_t r = 0; r < rows.size();) {
            const std::size_t from = r++;
            while (r < rows.size() && rows[r] == rows[r - 1] + 1) ++r;
            // One loop over neighbouring rows: the ends of short ones are hard to predict.
            for (offset k = begin(rows[from]); k < begin(rows[r - 1] + 1); ++k) {
                const index here = col_ind[std::size_t(k)] / line;
                std::size_t at = std::uint32_t(here) * 0x9e3779b9U >> 22;
                while (met[at] >= 0 && met[at] != here) at = (at + 1) % met.size();
                lines += met[at] < 0;
                met[at] = here;
                if (lines > most_lines) return k >= begin(rows[scope]);
            }
        }
        return false;
    }

    /// Rows in order by groups of 32, or sorted, whichever has the smaller width in all; or as
    /// tiles, where these are all of a window's rows.
    void add_rows(std::vector<index> rows, bool may_keep_order, bool all,
                  window_partition& w) const {
        std::vector<list_group> kept;
        if (may_keep_order) kept = groups_in_order(rows);
        const auto keeps_order = [&](const list_cut& sorted) {
            return may_keep_order &&
                   double(width_of(kept)) <= o.sort_gain * double(width_of(sorted.groups));
        };
        list_cut sorted = sorted_cut(rows, std::max<std::size_t>(rows.size(), 1));
        bool keeps = keeps_order(sorted);
        if (!keeps && are_local(rows)) {
            sorted = sorted_cut(rows, std::size_t(o.local_scope));
            keeps = keeps_order(sorted);
        }
        const std::vector<list_group>& groups = keeps ? kept : sorted.groups;
        if (all &&
            add_tiles(rows, {width_of(groups), std::ssize(groups), keeps ? 0 : std::ssize(rows)},
                      w))
            return;
        const auto perm_at = index(w.perm.size());
        const std::vector<index>& order = keeps ? rows : sorted.order;
        if (!keeps) w.perm.insert(w.perm.end(), order.begin(), order.end());
        for (const list_group& g : groups) {
            packed_chunk c = rows_chunk({order.data() + g.first, g.rows}, g.log_lanes);
            c.sorted = !keeps;
            if (!keeps) c.number = perm_at + index(g.first);
            add(c, w);
        }
    }

    /// Cuts consecutive rows into tiles, with a list for a row that no tile holds; false where that
    /// does not pay.
    bool add_tiles(const std::vector<index>& rows, const list_size& lists,
                   window_partition& w) const {
        if (!may_tile || rows.empty()) return false;
        const offset entries = begin(rows.back() + 1) - begin(rows.front());
        if (entries > most_tiled_entries) return false;
        std::vector<packed_chunk> tiles;
        std::int64_t width = 0;
        for (std::size_t g = 0; g < rows.size(); g += tiles.back().rows) {
            tiles.push_back(length(rows[g]) > most_tile_entries
                                ? rows_chunk({rows.data() + g, 1}, lanes_of_long_row)
                                : tile_from(std::span(rows).subspan(g)));
            width += tiles.back().width;
        }
        if (!lists.takes_more_than(value_bytes, width, std::ssize(tiles), o.tile_gain))
            return false;
        for (const packed_chunk& c : tiles) add(c, w);
        return true;
    }

    /// The tile of as many of these consecutive rows as fit one.
    [[nodiscard]] packed_chunk tile_from(std::span<const index> rows) const {
        const offset start = begin(rows[0]);
        std::size_t count = 1;
        while (count < std::min(rows.size(), std::size_t(most_tile_rows)) &&
               begin(rows[count] + 1) - start <= most_tile_entries)
            ++count;
        packed_chunk c = rows_chunk(rows.first(count), 0);
        c.kind = c.kind == packed_chunk::delta16 ? packed_chunk::tile16 : packed_chunk::tile32;
        c.width = std::uint16_t((begin(rows[count - 1] + 1) - start + warp_rows - 1) / warp_rows);
        return c;
    }

    [[nodiscard]] std::vector<list_group> groups_in_order(const std::vector<index>& rows) const {
        std::vector<list_group> groups;
        for (std::size_t g = 0; g < rows.size();) {
            // rows hold whole groups of 32 only, but for the matrix's last
            const std::size_t end = std::min<std::size_t>(rows.size(), g + std::size_t(warp_rows));
            const unsigned log = log_lanes(longest_of({rows.data() + g, end - g}));
            for (const std::size_t each = 32U >> log; g < end; g = std::min(g + each, end)) {
                const std::size_t here = std::min(each, end - g);
                groups.push_back(
                    {g, here, log, width_at(longest_of({rows.data() + g, here}), log)});
            }
        }
        return groups;
    }

    /// The chunks of the rows from `first` on, which are sorted.
    void append_groups_of_sorted(const std::vector<index>& rows, std::size_t first,
                                 std::vector<list_group>& groups) const {
        for (std::size_t g = first; g < rows.size();) {
            const unsigned log = log_lanes(length(rows[g]));
            std::size_t end = g;
            while (end < rows.size() && end - g < 32U >> log && log_lanes(length(rows[end])) == log)
                ++end;
            groups.push_back({g, end - g, log, width_at(length(rows[g]), log)});
            g = end;
        }
    }

    static std::int64_t width_of(const std::vector<list_group>& groups) {
        std::int64_t width = 0;
        for (const list_group& g : groups) width += g.width;
        return width;
    }
    /// The width of a chunk that gives a row of n entries that many lanes.
    static std::int64_t width_at(offset n, unsigned log) { return (n + (1 << log) - 1) >> log; }
    [[nodiscard]] offset longest_of(std::span<const index> rows) const {
        offset longest = 0;
        for (const index i : rows) longest = std::max(longest, length(i));
        return longest;
    }

    [[nodiscard]] packed_chunk rows_chunk(std::span<const index> rows, unsigned log) const {
        const offset longest = longest_of(rows);
        index least = std::numeric_limits<index>::max(), most = 0;
        for (const index i : rows) {
            if (length(i) == 0) continue;
            least = std::min(least, col_ind[std::size_t(begin(i))]);
            most = std::max(most, col_ind[std::size_t(begin(i + 1) - 1)]);
        }
        packed_chunk c = list_chunk(longest == 0 ? 0 : least, most, longest, log);
        c.first_row = rows[0];
        c.rows = std::uint8_t(rows.size());
        return c;
    }

    static packed_chunk list_chunk(index least, index most, offset longest, unsigned log) {
        packed_chunk c;
        c.base = least;
        c.kind = most - least <= index(max_delta16) ? packed_chunk::delta16 : packed_chunk::delta32;
        c.log_lanes = std::uint8_t(log);
        c.width = std::uint16_t(width_at(longest, log));
        return c;
    }

    /// The segments of row i, in one GPU block if they fit one, else from a block's start.
    void add_segments(index i, window_partition& w) const {
        const auto segments = index((length(i) + o.split - 1) / o.split);
        const auto taken = index(w.segments.size()) % packed_block;
        if (taken > 0 && taken + segments > packed_block) fill_block(w);
        for (index p = 0; p < segments; ++p) {
            const range r = share(length(i), segments, p);
            packed_chunk c =
                list_chunk(col_ind[std::size_t(begin(i) + r.first)],
                           col_ind[std::size_t(begin(i) + r.last - 1)], r.last - r.first, 5);
            c.first_row = i, c.rows = 1;
            c.number = p, c.segments = segments;
            place(c, w);
            w.segments.push_back(c);
        }
    }
    /// Fills the last GPU block of segments up with chunks of nothing.
    static void fill_block(window_partition& w) {
        while (w.segments.size() % packed_block != 0) w.segments.push_back({});
    }

    void add(packed_chunk c, window_partition& w) const {
        place(c, w);
        w.chunks.push_back(c);
    }
    static void place(packed_chunk& c, window_partition& w) {
        c.index_at = std::uint32_t(w.words / packed_index_unit),
        c.val_at = std::uint32_t(w.values / packed_value_unit);
        w.words += words_of(c.kind, c.width);
        if (c.kind != packed_chunk::constant_diagonals) w.values += packed_value_unit * c.width;
    }

    array<offset, host_view> row_ptr;
    std::span<const index> col_ind;
    const packed_options& o;
    std::int64_t value_bytes;
    bool may_tile;
};

/// Cuts windows of rows: by diagonals, which may share a value, where these take them.
template <class V>
class chunk_partitioner : public row_partitioner {
  public:
    chunk_partitioner(const csr<V, host_view>& matrix, const packed_options& options,
                      const value_encoder<V>& values)
        : row_partitioner(matrix, options, values.table.empty()),
          A(matrix),
          shareable(sizeof(V) <= 8 && !values.table.empty()) {}

    [[nodiscard]] window_partition cut(index first, index last) const {
        window_partition w;
        std::vector<index> rest;
        std::vector<index> long_rows;
        bool whole = true;  ///< whether the rest holds whole groups of rows
        for (std::int64_t g = first; g < last; g += warp_rows) {
            const auto end = index(std::min<std::int64_t>(g + warp_rows, last));
            if (add_by_diagonals(index(g), end, w)) continue;
            for (auto i = index(g); i < end; ++i)
                (length(i) > o.split ? long_rows : rest).push_back(i);
            whole = whole && long_rows.empty();
        }
        const bool all = index(rest.size()) == last - first;
        add_rows(std::move(rest), whole, all, w);
        for (const index i : long_rows) add_segments(i, w);
        fill_block(w);
        return w;
    }

    /// The diagonals of the rows [first, last), ascending; none where there are too many of them.
    [[nodiscard]] std::vector<diagonal<V>> diagonals(index first, index last, bool& same) const {
        const offset entries = begin(last) - begin(first);
        const auto most = [&](double fill) {
            return std::min(std::size_t(o.most_diagonals),
                            std::size_t(double(entries) / (double(warp_rows) * fill)));
        };
        const double least_fill = std::min(shareable ? o.constant_fill : HUGE_VAL, o.diagonal_fill);
        std::vector<diagonal<V>> found;
        same = shareable;
        diagonal_walk walk(*this, first, last);
        if (walk.longest() > o.split) return {};
        for (offset left = entries; left > 0;) {
            found.push_back(walk.next(same));
            left -= std::popcount(found.back().mask);
            if (found.size() > most(same ? o.constant_fill : o.diagonal_fill)) return {};
            // A diagonal holds at most warp_rows of those that are left.
            const auto least = found.size() + std::size_t((left + warp_rows - 1) / warp_rows);
            if (least > most(least_fill)) return {};
        }
        return found;
    }

  private:
    /// Goes over the diagonals of at most warp_rows rows, from the lowest on.
    class diagonal_walk {
      public:
        diagonal_walk(const chunk_partitioner& of, index first, index last)
            : A(of.A), first_(first), rows_(std::size_t(last - first)) {
            ahead_.fill(none);
            for (std::size_t r = 0; r < rows_; ++r) {
                const index i = first_ + index(r);
                at_[r] = of.begin(i), end_[r] = of.begin(i + 1);
                longest_ = std::max(longest_, end_[r] - at_[r]);
                look_ahead(r);
            }
        }
        [[nodiscard]] offset longest() const { return longest_; }  ///< entries of the longest row

        /// The lowest diagonal of the entries that are left, which it passes. Clears `same` where
        /// its values differ; its value is known where `same` stays.
        diagonal<V> next(bool& same) {
            diagonal<V> d{*std::min_element(ahead_.begin(), ahead_.end()), 0, V(0)};
            for (std::size_t r = 0; r < rows_; ++r) {
                if (ahead_[r] != d.offset) continue;
                if (same) {  // else their cache lines are spared
                    const V v = A.val[std::size_t(at_[r])];
                    if (d.mask == 0) d.value = v;
                    same = value_bits<V>(v) == value_bits<V>(d.value);
                }
                d.mask |= 1U << r;
                ++at_[r];
                look_ahead(r);
            }
            return d;
        }

      private:
        static constexpr index none = std::numeric_limits<index>::max();
        void look_ahead(std::size_t r) {
            ahead_[r] =
                at_[r] < end_[r] ? A.col_ind[std::size_t(at_[r])] - first_ - index(r) : none;
        }

        const csr<V, host_view>& A;
        index first_;
        std::size_t rows_;
        offset longest_ = 0;
        std::array<offset, warp_rows> at_, end_;
        std::array<index, warp_rows> ahead_;  ///< column - row of the next entry of each row
    };

    bool add_by_diagonals(index first, index last, window_partition& w) const {
        bool same = false;
        packed_chunk c;
        c.width = std::uint16_t(diagonals(first, last, same).size());
        if (c.width == 0) return false;
        c.kind = same ? packed_chunk::constant_diagonals : packed_chunk::diagonals;
        c.first_row = first;
        c.rows = std::uint8_t(last - first);
        add(c, w);
        return true;
    }

    const csr<V, host_view>& A;
    bool shareable;  ///< a value fits a diagonal's two free words
};

}  // namespace nz
