#include "nonzero/plan/stats.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/formats/bsr/bsr.hpp"
#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/plan/estimate_stats.hpp"

namespace nz {
namespace {

template <class V>
std::int64_t row_length(const csr<V, host_view>& A, std::int64_t i) {
    return A.row_ptr[std::size_t(i) + 1] - A.row_ptr[std::size_t(i)];
}

template <class V>
std::span<const index> columns_of(const csr<V, host_view>& A, std::int64_t i) {
    return {A.col_ind.data() + A.row_ptr[std::size_t(i)], std::size_t(row_length(A, i))};
}

/// A histogram of row lengths: short ones in an array, the few long ones in a map.
class histogram {
  public:
    void add(std::int64_t length, std::int64_t rows = 1) {
        if (length < std::ssize(short_)) {
            short_[std::size_t(length)] += rows;
        } else {
            long_[length] += rows;
        }
    }
    void add(const histogram& other) {
        for (const matrix_stats::length_count& c : other.counts()) add(c.length, c.rows);
    }
    [[nodiscard]] std::vector<matrix_stats::length_count> counts() const {
        std::vector<matrix_stats::length_count> all;
        for (std::size_t n = 0; n < short_.size(); ++n)
            if (short_[n] > 0) all.push_back({std::int64_t(n), short_[n]});
        for (const auto& [length, rows] : long_) all.push_back({length, rows});
        return all;
    }

  private:
    std::vector<std::int64_t> short_ = std::vector<std::int64_t>(1024, 0);
    std::map<std::int64_t, std::int64_t> long_;
};

/// Stats from the lengths of rows.
struct row_counts {
    histogram lengths;
    std::int64_t group_width[std::size(matrix_stats::groups)] = {};
    /// The sum of every 32nd length after sorting, the longest first: the longest of each 32.
    std::int64_t sorted_group_width = 0;

    /// Adds matrix_stats::sort_scope rows, or the last ones; it may sort them.
    void add(std::span<std::int64_t> scope) {
        const std::int64_t longest = add_groups(scope);
        longest > counted ? add_by_sorting(scope) : add_by_counting(scope, longest);
    }
    void add(const row_counts& other) {
        lengths.add(other.lengths);
        for (std::size_t g = 0; g < std::size(matrix_stats::groups); ++g)
            group_width[g] += other.group_width[g];
        sorted_group_width += other.sorted_group_width;
    }

  private:
    static constexpr std::int64_t counted = 4096;  ///< longer rows are few enough to be sorted
    static constexpr std::size_t warp = matrix_stats::groups[0];

    /// The longest of all.
    std::int64_t add_groups(std::span<const std::int64_t> scope) {
        std::int64_t longest = 0;
        for (std::size_t g = 0; g < std::size(matrix_stats::groups); ++g) {
            const auto rows = std::size_t(matrix_stats::groups[g]);
            for (std::size_t k = 0; k < scope.size(); k += rows) {
                std::int64_t width = 0;
                for (const std::int64_t n : scope.subspan(k, std::min(rows, scope.size() - k)))
                    width = std::max(width, n);
                group_width[g] += width;
                longest = std::max(longest, width);
            }
        }
        return longest;
    }
    void add_by_sorting(std::span<std::int64_t> scope) {
        for (const std::int64_t n : scope) lengths.add(n);
        std::sort(scope.begin(), scope.end(), std::greater<>());
        for (std::size_t k = 0; k < scope.size(); k += warp) sorted_group_width += scope[k];
    }
    void add_by_counting(std::span<const std::int64_t> scope, std::int64_t longest) {
        std::array<std::uint16_t, counted + 1> rows;
        static_assert(matrix_stats::sort_scope <= std::numeric_limits<std::uint16_t>::max());
        std::fill_n(rows.begin(), longest + 1, std::uint16_t(0));
        for (const std::int64_t n : scope) ++rows[std::size_t(n)];
        std::size_t before = 0;
        for (std::int64_t n = longest; n >= 0; --n) {
            if (rows[std::size_t(n)] == 0) continue;
            lengths.add(n, rows[std::size_t(n)]);
            const std::size_t up_to = before + rows[std::size_t(n)];
            sorted_group_width +=
                n * std::int64_t((up_to + warp - 1) / warp - (before + warp - 1) / warp);
            before = up_to;
        }
    }
};
static_assert(matrix_stats::sort_scope % matrix_stats::groups[0] == 0 &&
              matrix_stats::sort_scope % matrix_stats::groups[1] == 0);

/// The lengths of the rows [first, last), in `room`.
template <class V>
std::span<std::int64_t> lengths_of(const csr<V, host_view>& A, std::int64_t first,
                                   std::int64_t last, std::span<std::int64_t> room) {
    A.row_ptr.visit([&](const auto* ptr) {
        for (std::int64_t i = first; i < last; ++i)
            room[std::size_t(i - first)] = ptr[i + 1] - ptr[i];
    });
    return room.first(std::size_t(last - first));
}

template <class V>
void count_rows(const csr<V, host_view>& A, matrix_stats& s) {
    constexpr std::int64_t scope = matrix_stats::sort_scope;
    row_counts all;
    std::mutex one_at_a_time;
    shared_range scopes((s.rows + scope - 1) / scope, 16);
    parallel(thread_count({}), [&](int) {
        row_counts mine;
        std::array<std::int64_t, scope> room;
        scopes.take([&](std::int64_t k) {
            mine.add(lengths_of(A, k * scope, std::min(s.rows, (k + 1) * scope), room));
        });
        const std::lock_guard lock(one_at_a_time);
        all.add(mine);
    });
    s.row_lengths = all.lengths.counts();
    s.sorted_group_width = all.sorted_group_width;
    for (std::size_t g = 0; g < std::size(matrix_stats::groups); ++g) {
        s.group_width[g] = all.group_width[g];
        const std::int64_t last =
            s.rows - (s.rows + matrix_stats::groups[g] - 1) % matrix_stats::groups[g] - 1;
        for (std::int64_t i = std::max<std::int64_t>(last, 0); i < s.rows; ++i)
            s.last_group_width[g] = std::max(s.last_group_width[g], row_length(A, i));
    }
}

/// How many threads may have `bytes` of scratch each, in `room` bytes.
int threads_with(double room, double bytes) {
    return int(std::clamp(room / bytes, 0.0, double(thread_count({}))));
}
/// Bytes that the analysis of A holds at most, but for a constant: the columns may be many more
/// than the entries.
template <class V>
double room_for(const csr<V, host_view>& A) {
    return 8 * (double(A.val.size()) + double(A.shape.rows));
}

/// Occupied side x side blocks of the rows [first, last), aligned at multiples of side. Scratch: of
/// a number for each column of blocks, the row of blocks in which it was last met.
template <index side, class V>
std::int64_t blocks_of(const csr<V, host_view>& A, std::int64_t first, std::int64_t last,
                       std::vector<index>& last_row) {
    std::fill_n(last_row.begin(), std::size_t(A.shape.cols / side) + 1, -1);
    std::int64_t blocks = 0;
    for (std::int64_t i = first; i < last; ++i) {
        const auto row = index(i / side);
        for (const index j : columns_of(A, i)) {
            index& seen = last_row[std::size_t(j / side)];
            blocks += seen != row;
            seen = row;
        }
    }
    return blocks;
}

/// The largest |column - row| of the rows [first, last); sets seen[column - row] of each.
template <class V>
std::int64_t find_diagonals(const csr<V, host_view>& A, std::int64_t first, std::int64_t last,
                            std::uint8_t* seen) {
    std::int64_t bandwidth = 0;
    for (std::int64_t i = first; i < last; ++i) {
        for (const index j : columns_of(A, i)) {
            const std::int64_t d = std::int64_t(j) - i;
            bandwidth = std::max(bandwidth, std::abs(d));
            std::atomic_ref<std::uint8_t> here(seen[d]);
            if (here.load(std::memory_order_relaxed) == 0) here.store(1, std::memory_order_relaxed);
        }
    }
    return bandwidth;
}

constexpr std::int64_t whole_blocks = 24;  ///< rows, of whole blocks of every side
constexpr index least_side =
    *std::min_element(std::begin(matrix_stats::block_sides), std::end(matrix_stats::block_sides));

/// Blocks, by one array over the columns for each of `parts` parts of the rows.
template <class V, std::size_t... b>
void count_blocks_in_arrays(const csr<V, host_view>& A, int parts, matrix_stats& s,
                            std::index_sequence<b...>) {
    // The first row of a part: equal nonzeros, and no block lies in two parts.
    static_assert(((whole_blocks % matrix_stats::block_sides[b] == 0) && ...));
    const auto first_row = [&](std::int64_t part) -> std::int64_t {
        if (part == parts) return s.rows;
        const offset target = share(s.nnz, parts, part).first;
        return A.row_ptr.visit([&](const auto* ptr) {
            return (std::lower_bound(ptr, ptr + s.rows, target) - ptr) / whole_blocks *
                   whole_blocks;
        });
    };
    std::mutex one_at_a_time;
    parallel(thread_count({}), [&](int part) {
        if (part >= parts) return;
        std::vector<index> scratch(std::size_t(A.shape.cols / least_side) + 1);
        const std::int64_t first = first_row(part), last = first_row(part + 1);
        const std::int64_t blocks[] = {
            blocks_of<matrix_stats::block_sides[b]>(A, first, last, scratch)...};
        const std::lock_guard lock(one_at_a_time);
        ((s.blocks[b] += blocks[b]), ...);
    });
}

/// Blocks of all sides, in at most `room` bytes of scratch or by merging rows.
template <class V>
void count_all_blocks(const csr<V, host_view>& A, double room, matrix_stats& s) {
    constexpr std::size_t sides = std::size(matrix_stats::block_sides);
    const double columns = sizeof(index) * (double(s.cols) / least_side + 1);
    if (const int parts = threads_with(room, columns); parts > 0)
        return count_blocks_in_arrays(A, parts, s, std::make_index_sequence<sides>());
    for (std::size_t b = 0; b < sides; ++b)
        s.blocks[b] = count_blocks(A, matrix_stats::block_sides[b], matrix_stats::block_sides[b]);
}

/// A sample of the rows. They are divided into runs of `rows` neighbours, and one run of every
/// `every` is taken.
struct sampled_runs {
    std::int64_t every, rows;

    /// The number of the first run that is taken. It is not run 0: the first rows of a matrix often
    /// differ from the rest.
    [[nodiscard]] std::int64_t first() const { return every / 2 / 3 * 3; }
    /// f(rows) for the rows of each run, of `all` rows.
    template <class F>
    void for_each(std::int64_t all, F f) const {
        for (std::int64_t k = first(); k * rows < all; k += every)
            f(range{k * rows, std::min(all, (k + 1) * rows)});
    }
};

constexpr sampled_runs all_runs{1, packed_window};

/// The diagonals and the bandwidth of the sample, by an array over all diagonals.
template <class V>
void count_diagonals_in_array(const csr<V, host_view>& A, sampled_runs sample, matrix_stats& s) {
    // Bytes, not bits: threads set neighbouring ones at the same time.
    std::vector<std::uint8_t> seen(std::size_t(s.rows + s.cols), 0);
    std::vector<range> runs;
    sample.for_each(s.rows, [&](range rows) { runs.push_back(rows); });
    s.bandwidth = parallel_reduce(thread_count({}), std::ssize(runs), std::int64_t(0), larger_of(),
                                  [&](std::int64_t k) {
                                      const auto [first, last] = runs[std::size_t(k)];
                                      return find_diagonals(A, first, last, seen.data() + s.rows);
                                  });
    s.diagonals = std::count(seen.begin(), seen.end(), 1);
}

/// The same of all rows where such an array would take more than the entries do.
template <class V>
void count_diagonals_by_sorting(const csr<V, host_view>& A, matrix_stats& s) {
    host_vector<std::uint32_t> diagonal(A.val.size());  // column - row + rows, below 2^32
    const auto put_row = [&](std::int64_t i) {
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            diagonal[k] = std::uint32_t(A.col_ind[k] - i + s.rows);
    };
    parallel_for(thread_count({}), s.rows, put_row);
    std::sort(diagonal.begin(), diagonal.end());
    s.diagonals = std::unique(diagonal.begin(), diagonal.end()) - diagonal.begin();
    if (s.diagonals == 0) return;
    const std::int64_t least = std::int64_t(diagonal.front()) - s.rows;
    const std::int64_t most = std::int64_t(diagonal[std::size_t(s.diagonals) - 1]) - s.rows;
    s.bandwidth = std::max(std::abs(least), std::abs(most));
}

/// Whether there is room for an array over the diagonals.
template <class V>
bool few_columns(const csr<V, host_view>& A) {
    return double(A.shape.rows) + double(A.shape.cols) <= room_for(A);
}

/// Counts the different sectors of a group of rows, by when each was last met.
class sectors_by_array {
  public:
    explicit sectors_by_array(std::int64_t sectors) : last_met_(std::size_t(sectors), -1) {}
    void start(std::int64_t group, std::int64_t) { group_ = index(group), count_ = 0; }
    void add(index sector) {
        index& at = last_met_[std::size_t(sector)];
        count_ += at != group_;
        at = group_;
    }
    [[nodiscard]] std::int64_t count() const { return count_; }

  private:
    std::vector<index> last_met_;
    index group_ = -1;
    std::int64_t count_ = 0;
};

/// The same by sorting them, for a matrix of many more columns than entries.
class sectors_by_sorting {
  public:
    explicit sectors_by_sorting(std::int64_t) {}
    void start(std::int64_t, std::int64_t entries) {
        met_.clear();
        met_.reserve(std::size_t(entries));
    }
    void add(index sector) { met_.push_back(sector); }
    [[nodiscard]] std::int64_t count() {
        std::sort(met_.begin(), met_.end());
        return std::unique(met_.begin(), met_.end()) - met_.begin();
    }

  private:
    std::vector<index> met_;
};

struct sector_counts {
    std::int64_t row = 0, column = 0, near = 0, far = 0, compared = 0;
};

/// Adds what the rows [first, last) meet; `near` counts the different sectors of all of them.
template <index elements, class V, class Near>
void count_sectors(const csr<V, host_view>& A, std::int64_t first, std::int64_t last, Near& near,
                   sector_counts& all) {
    constexpr std::int64_t warp = matrix_stats::groups[0];
    const auto sector_at = [&](offset k) { return A.col_ind[std::size_t(k)] / elements; };
    const auto distance = [&](offset a, offset b) {
        return std::abs(A.col_ind[std::size_t(a)] - A.col_ind[std::size_t(b)]);
    };
    near.start(first / matrix_stats::groups[1],
               A.row_ptr[std::size_t(last)] - A.row_ptr[std::size_t(first)]);
    offset above = 0, above_len = 0;
    for (std::int64_t i = first; i < last; ++i) {
        const offset begin = A.row_ptr[std::size_t(i)], len = row_length(A, i);
        if (i % warp == 0) above_len = 0;
        index before = -1;
        for (offset k = 0; k < len; ++k) {
            const index sector = sector_at(begin + k);
            all.row += sector != before;
            all.column += k >= above_len || sector_at(above + k) != sector;
            all.far += k < above_len && distance(above + k, begin + k) > matrix_stats::far;
            all.compared += k < above_len;
            near.add(sector);
            before = sector;
        }
        above = begin, above_len = len;
    }
    all.near += near.count();
}

/// Counts the sectors of `elements` that loads of x meet, by `workers` of the threads.
template <class Near, class V>
void count_sectors_by(const csr<V, host_view>& A, int workers, matrix_stats& s) {
    constexpr index elements = index(matrix_stats::sector_bytes / sizeof(V));
    constexpr std::int64_t rows = matrix_stats::groups[1];
    shared_range groups((s.rows + rows - 1) / rows, 16);
    std::mutex one_at_a_time;
    parallel(thread_count({}), [&](int t) {
        if (t >= workers) return;
        Near near(s.cols / elements + 1);
        sector_counts mine;
        groups.take([&](std::int64_t g) {
            count_sectors<elements>(A, g * rows, std::min((g + 1) * rows, s.rows), near, mine);
        });
        const std::lock_guard lock(one_at_a_time);
        s.row_sectors += mine.row, s.column_sectors += mine.column, s.group_sectors += mine.near;
        s.far_columns += mine.far, s.compared_columns += mine.compared;
    });
}

/// In at most `room` bytes of scratch, or by sorting.
template <class V>
void count_sectors(const csr<V, host_view>& A, double room, matrix_stats& s) {
    const double sectors = double(s.cols) * sizeof(V) / matrix_stats::sector_bytes + 1;
    if (const int workers = threads_with(room, sectors * sizeof(index)); workers > 0)
        count_sectors_by<sectors_by_array>(A, workers, s);
    else
        count_sectors_by<sectors_by_sorting>(A, thread_count({}), s);
}

template <class V>
double imbalance_of_rows(const csr<V, host_view>& A, std::int64_t shares) {
    offset heaviest = 0;
    for (std::int64_t p = 0; p < shares; ++p) {
        const range rows = share(A.shape.rows, shares, p);
        heaviest = std::max(heaviest,
                            A.row_ptr[std::size_t(rows.last)] - A.row_ptr[std::size_t(rows.first)]);
    }
    return A.val.empty() ? 1 : double(heaviest) * double(shares) / double(A.val.size());
}

/// Stats from the entries, but for diagonals: of A, which is a matrix or a sample of it. In at most
/// `room` bytes of scratch an array.
template <class V>
matrix_stats stats_of_entries(const csr<V, host_view>& A, double room,
                              const packed_options& packing) {
    matrix_stats s;
    s.rows = A.shape.rows, s.cols = A.shape.cols, s.nnz = std::ssize(A.val);
    count_all_blocks(A, room, s);
    count_sectors(A, room, s);
    s.packed = size_of_packed(A, packing);
    return s;
}

/// How a CPU packs. A plan for a GPU, whose matrix lies on the CPU, counts lists in place of tiles.
packed_options packing_for(cpu on, std::int64_t nnz) { return packed_options::suited_to(on, nnz); }
packed_options packing_for(gpu on, std::int64_t nnz) {
    packed_options o = packed_options::suited_to(on, nnz);
    o.tile_gain = HUGE_VAL;
    return o;
}

/// Stats from the shape and the lengths of the rows.
template <class V>
void add_stats_of_rows(const csr<V, host_view>& A, matrix_stats& s) {
    s.rows = A.shape.rows, s.cols = A.shape.cols, s.nnz = std::ssize(A.val);
    count_rows(A, s);
    s.row_imbalance = imbalance_of_rows(A, matrix_stats::shares);
}

template <class V>
matrix_stats stats_of_all(const csr<V, host_view>& A, const packed_options& packing) {
    matrix_stats s = stats_of_entries(A, room_for(A), packing);
    few_columns(A) ? count_diagonals_in_array(A, all_runs, s) : count_diagonals_by_sorting(A, s);
    add_stats_of_rows(A, s);
    return s;
}

/// Entries of a sample, at least. A product on a CPU may take no longer than the stats of so many;
/// of a small matrix an eighth does.
std::int64_t sample_entries(gpu, std::int64_t) { return 1 << 16; }
std::int64_t sample_entries(cpu, std::int64_t entries) {
    return std::clamp<std::int64_t>(entries / 8, 1 << 14, 1 << 16);
}

/// The sample to take, which has at least one run. A run is a window of packed. Where rows are
/// long, a window alone would have more entries than the sample needs, and a run is a group
/// instead. Runs are set end to end: each must begin as far from a multiple of 24 rows as it does
/// in the matrix, or its blocks of 3 x 3 would change. So `every` is 1 more than a multiple of 3.
/// It is odd as well, because matrices repeat after powers of two.
template <class B>
sampled_runs sample_for(B on, std::int64_t rows, std::int64_t entries) {
    constexpr std::int64_t group = matrix_stats::groups[1];
    static_assert(whole_blocks == 24 && group % 8 == 0 && packed_window % group == 0);
    const std::int64_t wanted = sample_entries(on, entries);
    const double of_window =
        double(entries) / double(std::max<std::int64_t>(rows, 1)) * double(packed_window);
    sampled_runs sample{std::max<std::int64_t>(entries / wanted - 1, 0) / 6 * 6 + 1,
                        of_window > double(wanted) ? group : packed_window};
    while (sample.every > 1 && sample.first() * sample.rows >= rows) sample.every -= 6;
    return sample;
}

/// The rows of the sample, one run behind the other.
template <class V>
csr<V, host> sample_of(const csr<V, host_view>& A, sampled_runs sample) {
    host_vector<offset> row_ptr{0};
    csr<V, host> some{{0, A.shape.cols}, {}, {}, {}};
    offset entries = 0;
    sample.for_each(A.shape.rows, [&](range rows) {
        entries += A.row_ptr[std::size_t(rows.last)] - A.row_ptr[std::size_t(rows.first)];
    });
    some.col_ind.reserve(std::size_t(entries)), some.val.reserve(std::size_t(entries));
    sample.for_each(A.shape.rows, [&](range rows) {
        const offset begin = A.row_ptr[std::size_t(rows.first)];
        const offset end = A.row_ptr[std::size_t(rows.last)];
        const offset moved = row_ptr.back() - begin;
        for (std::int64_t i = rows.first; i < rows.last; ++i)
            row_ptr.push_back(moved + A.row_ptr[std::size_t(i) + 1]);
        some.col_ind.insert(some.col_ind.end(), A.col_ind.begin() + begin, A.col_ind.begin() + end);
        some.val.insert(some.val.end(), A.val.begin() + begin, A.val.begin() + end);
    });
    some.shape.rows = index(row_ptr.size() - 1);
    some.row_ptr = offset_vector(row_ptr);
    return some;
}

/// Multiplies the sums over a sample.
void scale(matrix_stats& s, double times) {
    const auto scaled = [times](auto&... all) { ((all = std::int64_t(double(all) * times)), ...); };
    scaled(s.row_sectors, s.column_sectors, s.group_sectors);
    scaled(s.far_columns, s.compared_columns);
    scaled(s.packed.bytes, s.packed.width, s.packed.diagonal_width, s.packed.wide_width);
    scaled(s.packed.chunks);
    for (std::int64_t& blocks : s.blocks) scaled(blocks);
}

/// In the run in the middle, then in the sample, then in all rows, until they are too many.
template <class V>
void estimate_diagonals(const csr<V, host_view>& A, sampled_runs sample, matrix_stats& s) {
    const sampled_runs one{(s.rows + sample.rows - 1) / sample.rows, sample.rows};
    for (const sampled_runs& some : {one, sample, all_runs}) {
        count_diagonals_in_array(A, some, s);
        if (double(s.diagonals) * double(s.rows) > max_stored_per_nonzero * double(s.nnz)) return;
    }
}

template <class V, class B>
matrix_stats estimated(const csr<V, host_view>& A, B on) {
    const packed_options packing = packing_for(on, std::ssize(A.val));
    const sampled_runs sample = sample_for(on, A.shape.rows, std::ssize(A.val));
    const std::int64_t columns = A.shape.cols;
    const thread_limit limit(worth(cpu{}, A.shape.rows + columns + std::ssize(A.val)));
    if (sample.every == 1) return stats_of_all(A, packing);
    packed_options of_sample = packing;
    of_sample.few_chunks = 0;  // a sample has few, whatever the matrix has
    const csr<V, host> some = sample_of(A, sample);
    if (some.val.empty()) return stats_of_all(A, packing);
    // Arrays over the columns take about 1 ns a column to fill, rows 90 ns an entry to merge
    // (EPYC).
    constexpr double filled_sooner = 8;
    const double room = std::min(room_for(A), filled_sooner * room_for(view(some)));
    matrix_stats s = stats_of_entries(view(some), room, of_sample);
    scale(s, double(A.val.size()) / double(some.val.size()));
    if (!few_columns(A)) count_diagonals_by_sorting(view(some), s);
    add_stats_of_rows(A, s);
    if (few_columns(A)) estimate_diagonals(A, sample, s);
    return s;
}

}  // namespace

template <class V, class B>
matrix_stats compute_stats(const ascending<V>& A, B of) {
    return stats_of_all(A.view(), packing_for(of, std::ssize(A.view().val)));
}

template <class V, class B>
matrix_stats estimate_stats(const ascending<V>& in_order, B on) {
    const csr<V, host_view>& A = in_order.view();
    matrix_stats s = estimated(A, on);
    if constexpr (std::is_same_v<B, cpu>) s.row_imbalance = imbalance_of_rows(A, thread_count(on));
    return s;
}

#define NZ_INSTANTIATE(V)                                           \
    template matrix_stats compute_stats(const ascending<V>&, cpu);  \
    template matrix_stats compute_stats(const ascending<V>&, gpu);  \
    template matrix_stats estimate_stats(const ascending<V>&, cpu); \
    template matrix_stats estimate_stats(const ascending<V>&, gpu);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
