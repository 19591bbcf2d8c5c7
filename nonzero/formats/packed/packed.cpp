#include "nonzero/formats/packed/packed.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/packed/simd.hpp"
#include "nonzero/formats/packed/values.hpp"
#include "nonzero/formats/panel.hpp"
#include "nonzero/formats/scatter.hpp"
#include "nonzero/formats/simd/simd.hpp"

namespace nz {
namespace {

constexpr std::size_t code_unit = 16;  // words
constexpr std::size_t val_unit = 32;   // values
constexpr std::uint32_t far_hole = 0xffffffffU;
constexpr std::uint16_t near_hole = 0xffff;
constexpr index most_near = 0xfffe;

constexpr std::size_t words_a_step[] = {4, 2, 16, 32};  // of each kind

/// The entries (i, i + offset) of the rows whose bit is set in `mask`.
template <class V>
struct diagonal {
    index offset;
    std::uint32_t mask;
    V value;  ///< of the first
};

/// One window of rows, cut. Places in the streams count from the window's start.
struct cut_window {
    std::vector<packed_chunk> parts = {};   ///< of long rows; as many as fill GPU blocks
    std::vector<packed_chunk> chunks = {};  ///< of whole rows
    std::vector<index> perm = {};
    std::size_t words = 0, values = 0;
};

template <class V>
class cutter {
  public:
    cutter(const csr<V, host_view>& matrix, const packed_options& options,
           const value_coder<V>& values)
        : A(matrix), o(options), shareable(sizeof(V) <= 8 && !values.table.empty()) {}

    [[nodiscard]] cut_window cut(index first, index last) const {
        cut_window w;
        std::vector<index> rest;
        std::vector<index> long_rows;
        bool whole = true;
        for (std::int64_t g = first; g < last; g += warp_rows) {
            const auto end = index(std::min<std::int64_t>(g + warp_rows, last));
            if (add_by_diagonals(index(g), end, w)) continue;
            for (auto i = index(g); i < end; ++i)
                (length(i) > o.split ? long_rows : rest).push_back(i);
            whole = whole && long_rows.empty();
        }
        add_rows(std::move(rest), whole, w);
        for (const index i : long_rows) add_parts(i, w);
        fill_block(w);
        return w;
    }

    [[nodiscard]] offset begin(index i) const { return A.row_ptr[std::size_t(i)]; }
    [[nodiscard]] offset length(index i) const { return begin(i + 1) - begin(i); }

    /// The diagonals of the rows [first, last), ascending; none where there are too many of them.
    [[nodiscard]] std::vector<diagonal<V>> diagonals(index first, index last, bool& same) const {
        std::array<offset, warp_rows> at{};
        offset entries = 0;
        for (index i = first; i < last; ++i) {
            if (length(i) > o.split) return {};
            at[std::size_t(i - first)] = begin(i);
            entries += length(i);
        }
        const auto most = [&](double fill) {
            return std::min(std::size_t(o.most_diagonals),
                            std::size_t(double(entries) / (double(warp_rows) * fill)));
        };
        std::vector<diagonal<V>> found;
        same = shareable;
        for (offset left = entries; left > 0;) {
            diagonal<V> d = next_diagonal(first, last, at, same);
            left -= std::popcount(d.mask);
            found.push_back(d);
            if (found.size() > most(same ? o.shared_fill : o.diagonal_fill)) return {};
        }
        return found;
    }

  private:
    /// The lowest diagonal of the entries that `at` has not passed yet, which then passes it.
    /// Clears `same` where its values differ.
    diagonal<V> next_diagonal(index first, index last, std::array<offset, warp_rows>& at,
                              bool& same) const {
        const auto column = [&](index i) {
            return A.col_ind[std::size_t(at[std::size_t(i - first)])];
        };
        const auto left = [&](index i) { return at[std::size_t(i - first)] < begin(i + 1); };
        index lowest = std::numeric_limits<index>::max();
        for (index i = first; i < last; ++i)
            if (left(i)) lowest = std::min(lowest, column(i) - i);
        diagonal<V> d{lowest, 0, V(0)};
        for (index i = first; i < last; ++i) {
            if (!left(i) || column(i) - i != lowest) continue;
            const V v = A.val[std::size_t(at[std::size_t(i - first)]++)];
            if (d.mask == 0) d.value = v;
            same = same && value_bits<V>(v) == value_bits<V>(d.value);
            d.mask |= 1U << (i - first);
        }
        return d;
    }

    bool add_by_diagonals(index first, index last, cut_window& w) const {
        bool same = false;
        packed_chunk c;
        c.steps = std::uint16_t(diagonals(first, last, same).size());
        if (c.steps == 0) return false;
        c.kind = same ? packed_chunk::shared : packed_chunk::diagonals;
        c.first_row = first;
        c.rows = std::uint8_t(last - first);
        add(c, w);
        return true;
    }

    /// Lanes, as a power of two, that a row of n entries gets.
    [[nodiscard]] unsigned log_lanes(offset n) const {
        unsigned log = 0;
        while (log < 5 && (n >> log) > o.steps) ++log;
        return log;
    }

    /// Rows in order by groups of 32, or sorted, whichever takes fewer steps.
    void add_rows(std::vector<index> rows, bool may_keep_order, cut_window& w) const {
        std::vector<packed_chunk> kept, sorted;
        std::vector<index> by_length = rows;
        std::stable_sort(by_length.begin(), by_length.end(),
                         [&](index a, index b) { return length(a) > length(b); });
        const std::int64_t sorted_steps = cut_sorted(by_length, index(w.perm.size()), sorted);
        if (may_keep_order &&
            double(cut_in_order(rows, kept)) <= o.sort_gain * double(sorted_steps)) {
            for (const packed_chunk& c : kept) add(c, w);
            return;
        }
        w.perm.insert(w.perm.end(), by_length.begin(), by_length.end());
        for (const packed_chunk& c : sorted) add(c, w);
    }

    std::int64_t cut_in_order(const std::vector<index>& rows, std::vector<packed_chunk>& to) const {
        std::int64_t steps = 0;
        for (std::size_t g = 0; g < rows.size();) {
            // rows hold whole groups of 32 only, but for the matrix's last
            const std::size_t end = std::min<std::size_t>(rows.size(), g + std::size_t(warp_rows));
            offset longest = 0;
            for (std::size_t k = g; k < end; ++k) longest = std::max(longest, length(rows[k]));
            const unsigned log = log_lanes(longest);
            for (const std::size_t each = 32U >> log; g < end; g = std::min(g + each, end)) {
                const std::size_t last = std::min(g + each, end);
                to.push_back(rows_chunk({rows.data() + g, last - g}, log));
                steps += to.back().steps;
            }
        }
        return steps;
    }

    std::int64_t cut_sorted(const std::vector<index>& rows, index perm_at,
                            std::vector<packed_chunk>& to) const {
        std::int64_t steps = 0;
        for (std::size_t g = 0; g < rows.size();) {
            const unsigned log = log_lanes(length(rows[g]));
            std::size_t end = g;
            while (end < rows.size() && end - g < 32U >> log && log_lanes(length(rows[end])) == log)
                ++end;
            to.push_back(rows_chunk({rows.data() + g, end - g}, log));
            to.back().sorted = true;
            to.back().number = perm_at + index(g);
            steps += to.back().steps;
            g = end;
        }
        return steps;
    }

    [[nodiscard]] packed_chunk rows_chunk(std::span<const index> rows, unsigned log) const {
        offset longest = 0;
        index least = std::numeric_limits<index>::max(), most = 0;
        for (const index i : rows) {
            if (length(i) == 0) continue;
            longest = std::max(longest, length(i));
            least = std::min(least, A.col_ind[std::size_t(begin(i))]);
            most = std::max(most, A.col_ind[std::size_t(begin(i + 1) - 1)]);
        }
        packed_chunk c = list_chunk(longest == 0 ? 0 : least, most, longest, log);
        c.first_row = rows[0];
        c.rows = std::uint8_t(rows.size());
        return c;
    }

    static packed_chunk list_chunk(index least, index most, offset longest, unsigned log) {
        packed_chunk c;
        c.base = least;
        c.kind = most - least <= most_near ? packed_chunk::near : packed_chunk::far;
        c.log_lanes = std::uint8_t(log);
        c.steps = std::uint16_t((longest + (1 << log) - 1) >> log);
        return c;
    }

    /// The parts of row i, in one GPU block if they fit one, else from a block's start.
    void add_parts(index i, cut_window& w) const {
        const auto parts = index((length(i) + o.split - 1) / o.split);
        const auto taken = index(w.parts.size()) % packed_block;
        if (taken > 0 && taken + parts > packed_block) fill_block(w);
        for (index p = 0; p < parts; ++p) {
            const range r = share(length(i), parts, p);
            packed_chunk c =
                list_chunk(A.col_ind[std::size_t(begin(i) + r.first)],
                           A.col_ind[std::size_t(begin(i) + r.last - 1)], r.last - r.first, 5);
            c.first_row = i, c.rows = 1;
            c.number = p, c.parts = parts;
            place(c, w);
            w.parts.push_back(c);
        }
    }
    /// Fills the last GPU block of parts up with chunks of nothing.
    static void fill_block(cut_window& w) {
        while (w.parts.size() % packed_block != 0) w.parts.push_back({});
    }

    void add(packed_chunk c, cut_window& w) const {
        place(c, w);
        w.chunks.push_back(c);
    }
    static void place(packed_chunk& c, cut_window& w) {
        c.code_at = std::uint32_t(w.words / code_unit),
        c.val_at = std::uint32_t(w.values / val_unit);
        const std::size_t words = words_a_step[c.kind] * c.steps;
        w.words += (words + code_unit - 1) / code_unit * code_unit;
        if (c.kind != packed_chunk::shared) w.values += val_unit * c.steps;
    }

    const csr<V, host_view>& A;
    const packed_options& o;
    bool shareable;  ///< a value fits a diagonal's two free words
};

/// Fills the places that a chunk has in the streams.
template <class V>
class filler {
  public:
    filler(const csr<V, host_view>& matrix, const cutter<V>& cutting, const value_coder<V>& coder,
           packed<V, host>& to)
        : A(matrix), cut(cutting), values(coder), P(to) {}

    void fill(const packed_chunk& c) const {
        if (c.kind <= packed_chunk::diagonals) return fill_diagonals(c);
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
            const std::uint32_t r = lane >> c.log_lanes;
            if (r >= c.rows) {
                fill_lane(c, lane, 0, 0);
                continue;
            }
            const index i = c.sorted ? P.perm[std::size_t(c.number) + r] : c.first_row + index(r);
            const range of_row =
                c.parts > 0 ? share(cut.length(i), c.parts, c.number) : range{0, cut.length(i)};
            const std::uint32_t among = lane & ((1U << c.log_lanes) - 1);
            fill_lane(c, lane, cut.begin(i) + of_row.first + among, cut.begin(i) + of_row.last);
        }
    }

  private:
    void fill_diagonals(const packed_chunk& c) const {
        bool same = false;
        const index last = c.first_row + index(c.rows);
        std::uint32_t* word = P.codes.data() + std::size_t(c.code_at) * code_unit;
        std::size_t at = std::size_t(c.val_at) * val_unit;
        std::array<offset, warp_rows> next{};
        for (index i = c.first_row; i < last; ++i)
            next[std::size_t(i - c.first_row)] = cut.begin(i);
        for (const diagonal<V>& d : cut.diagonals(c.first_row, last, same)) {
            *word++ = std::uint32_t(d.offset), *word++ = d.mask;
            if (c.kind == packed_chunk::shared) {
                std::memcpy(word, &d.value, std::min<std::size_t>(sizeof(V), 8));
                word += 2;
                continue;
            }
            for (std::size_t r = 0; r < std::size_t(warp_rows); ++r)
                if ((d.mask >> r & 1) != 0)
                    values.put(A.val[std::size_t(next[r]++)], P.val.data(), at + r);
            at += val_unit;
        }
    }
    /// Every `lanes`-th entry from `first`, in the column of `lane`; then padding.
    void fill_lane(const packed_chunk& c, std::uint32_t lane, offset first, offset last) const {
        auto* const code = P.codes.data() + std::size_t(c.code_at) * code_unit;
        auto* const near = reinterpret_cast<std::uint16_t*>(code);
        for (std::uint32_t s = 0; s < c.steps; ++s) {
            const offset k = first + (offset(s) << c.log_lanes);
            const std::size_t at = std::size_t(s) * 32 + lane;
            const bool hole = k >= last;
            const auto distance =
                hole ? far_hole : std::uint32_t(A.col_ind[std::size_t(k)] - c.base);
            if (c.kind == packed_chunk::near) {
                near[at] = hole ? near_hole : std::uint16_t(distance);
            } else {
                code[at] = distance;
            }
            if (!hole)
                values.put(A.val[std::size_t(k)], P.val.data(),
                           std::size_t(c.val_at) * val_unit + at);
        }
    }

    const csr<V, host_view>& A;
    const cutter<V>& cut;
    const value_coder<V>& values;
    packed<V, host>& P;
};

void check(const packed_options& o) {
    const auto in = [](const char* name, double v, double least, double most) {
        if (!(v >= least && v <= most))
            throw argument_error(std::string("packed: ") + name + " is " + std::to_string(v) +
                                 ", expected from " + std::to_string(least) + " to " +
                                 std::to_string(most));
    };
    in("steps", o.steps, 1, 1024);
    in("split", o.split, 32, 32 * 1024);
    in("most_diagonals", o.most_diagonals, 0, 1024);
    in("diagonal_fill", o.diagonal_fill, 1.0 / 32, 2);
    in("shared_fill", o.shared_fill, 1.0 / 32, 2);
    in("sort_gain", o.sort_gain, 0, HUGE_VAL);
    in("twos", double(o.twos), 1, HUGE_VAL);
    in("fours", double(o.fours), 1, HUGE_VAL);
}

void count(const packed_chunk& c, packed_size& size) {
    ++size.chunks;
    size.steps += c.steps;
    if (c.kind <= packed_chunk::diagonals) size.diagonal_steps += c.steps;
    size.longest = std::max<std::int64_t>(size.longest, c.steps);
}

void count(const cut_window& w, std::size_t bytes_a_value, packed_size& size) {
    size.bytes += std::int64_t((w.parts.size() + w.chunks.size()) * sizeof(packed_chunk) +
                               w.perm.size() * sizeof(index) + w.words * sizeof(std::uint32_t) +
                               w.values * bytes_a_value);
    for (const auto* const chunks : {&w.parts, &w.chunks})
        for (const packed_chunk& c : *chunks) count(c, size);
}

void add(const packed_size& part, packed_size& all) {
    all.bytes += part.bytes, all.steps += part.steps, all.chunks += part.chunks;
    all.diagonal_steps += part.diagonal_steps;
    all.longest = std::max(all.longest, part.longest);
}

/// Whether b, the chunk behind a, has the next rows and diagonals of the same offsets, or with
/// `values`, which are the same but for their masks.
bool alike(const packed_chunk& a, const packed_chunk& b, const std::uint32_t* codes, bool values) {
    if (a.kind > packed_chunk::diagonals || b.kind != a.kind || b.steps != a.steps) return false;
    if (a.rows != warp_rows || b.rows != warp_rows || b.first_row != a.first_row + warp_rows)
        return false;
    const std::size_t words = words_a_step[a.kind];
    const std::uint32_t* const of_a = codes + std::size_t(a.code_at) * code_unit;
    const std::uint32_t* const of_b = codes + std::size_t(b.code_at) * code_unit;
    for (std::size_t k = 0; k < words * a.steps; ++k)
        if (of_a[k] != of_b[k] && (k % words == 0 || (values && k % words > 1))) return false;
    return true;
}

/// As chunks_per_warp wants them.
std::int64_t count_pairs(std::span<const packed_chunk> chunks, const std::uint32_t* codes,
                         bool by_table) {
    const auto kind = by_table ? packed_chunk::shared : packed_chunk::diagonals;
    const auto is_pair = [&](std::int64_t k) -> std::int64_t {
        const packed_chunk &a = chunks[std::size_t(k)], &b = chunks[std::size_t(k) + 1];
        return a.kind == kind && a.first_row / packed_window == b.first_row / packed_window &&
               alike(a, b, codes, false);
    };
    return parallel_reduce(thread_count({}), std::ssize(chunks) - 1, std::int64_t(0), std::plus<>(),
                           is_pair);
}

/// Marks the first of every four, or else two, chunks that are alike.
void mark_alike(std::span<packed_chunk> chunks, const std::uint32_t* codes) {
    const auto are_alike = [&](std::size_t k) {
        return k + 1 < chunks.size() && alike(chunks[k], chunks[k + 1], codes, true);
    };
    parallel_for(thread_count({}), (std::ssize(chunks) + 3) / 4, [&](std::int64_t four) {
        const auto k = std::size_t(4 * four);
        const bool first = are_alike(k), second = are_alike(k + 2);
        if (first) chunks[k].alike = second && are_alike(k + 1) ? 4 : 2;
        if (second) chunks[k + 2].alike = 2;
    });
}

std::int64_t window_count(std::int64_t rows) { return (rows + packed_window - 1) / packed_window; }

template <class V>
cut_window cut_one(const csr<V, host_view>& A, const cutter<V>& cut, std::int64_t w) {
    return cut.cut(index(w * packed_window),
                   index(std::min<std::int64_t>(A.shape.rows, (w + 1) * packed_window)));
}

constexpr std::int64_t windows_at_once = 4;  ///< that a thread takes

template <class V>
std::vector<cut_window> cut_all(const csr<V, host_view>& A, const cutter<V>& cut) {
    const std::int64_t count = window_count(A.shape.rows);
    std::vector<cut_window> windows(std::size_t(count), cut_window{});
    parallel_for(thread_count({}), count, windows_at_once,
                 [&](std::int64_t w) { windows[std::size_t(w)] = cut_one(A, cut, w); });
    return windows;
}

struct stream_sizes {
    std::size_t words = 0, values = 0;
};

/// Moves the places of every window behind those of the windows before it.
stream_sizes set_end_to_end(std::vector<cut_window>& windows) {
    stream_sizes all;
    std::size_t rows = 0;
    for (cut_window& w : windows) {
        for (std::vector<packed_chunk>* const chunks : {&w.parts, &w.chunks})
            for (packed_chunk& c : *chunks) {
                if (c.rows == 0) continue;
                c.code_at += std::uint32_t(all.words / code_unit);
                c.val_at += std::uint32_t(all.values / val_unit);
                if (c.sorted) c.number += index(rows);
            }
        rows += w.perm.size(), all.words += w.words, all.values += w.values;
    }
    return all;
}

/// So many, by all threads.
template <class T>
host_vector<T> zeros(std::size_t count) {
    host_vector<T> all(count);
    const int threads = thread_count({});
    parallel(threads, [&](int t) {
        const range mine = share(std::int64_t(count), threads, t);
        std::fill(all.begin() + mine.first, all.begin() + mine.last, T(0));
    });
    return all;
}

/// Places are counted in 32 bits, and chunks in 31.
void check_reach(std::size_t words, std::size_t values, std::size_t chunks) {
    const std::size_t most = std::size_t(far_hole);
    if (words / code_unit > most || values / val_unit > most || chunks > most / 2)
        throw argument_error("packed: the matrix is too large for 32-bit places of its chunks");
}

}  // namespace

packed_options packed_options::suited_to(std::int64_t nnz) {
    packed_options o;
    o.steps = nnz < 1'000'000 ? 8 : nnz < 6'000'000 ? 16 : 32;
    o.split = index(std::clamp<std::int64_t>(nnz / 4752 / 32 * 32, 256, 2048));
    o.most_diagonals = 2 * o.steps;
    return o;
}

index packed_options::chunks_per_warp(value_coding coding, const packed_size& s,
                                      std::int64_t pairs) const {
    // nlpkkt80, where half of the chunks are alike, takes 1.02 of the time in twos. Diagonals of
    // values of their own stream from memory as fast one by one where they are many.
    constexpr double least_pairs = 0.8;
    constexpr std::int64_t most_in_twos = 5, most_in_fours = 3;
    if (double(pairs) < least_pairs * double(s.chunks)) return 1;
    const bool by_table = coding < value_coding::narrow;
    if (s.chunks >= fours && (by_table || s.steps <= most_in_fours * s.chunks)) return 4;
    return s.chunks >= twos && (by_table || s.steps <= most_in_twos * s.chunks) ? 2 : 1;
}

template <class V, class S>
packed<V, host> packed<V, S>::from(const csr<V, host_view>& A) {
    return from(A, packed_options::suited_to(std::int64_t(A.val.size())));
}

template <class V, class S>
packed<V, host> packed<V, S>::from(const csr<V, host_view>& A, const packed_options& o) {
    check(o);
    const auto values = value_coder<V>::of(A.val);
    const cutter<V> cut(A, o, values);
    std::vector<cut_window> windows = cut_all(A, cut);
    packed<V, host> P{A.shape, values.coding, 0, 1, {}, {}, {}, {}, {}};
    P.table.assign(values.table.begin(), values.table.end());
    const auto [words, stored] = set_end_to_end(windows);
    std::size_t chunks = 0;
    for (const cut_window& w : windows) chunks += w.parts.size() + w.chunks.size();
    check_reach(words, stored, chunks);
    P.chunks.reserve(chunks);
    const auto append = [](auto& to, const auto& more) {
        to.insert(to.end(), more.begin(), more.end());
    };
    for (const cut_window& w : windows) append(P.chunks, w.parts);
    P.part_chunks = index(P.chunks.size());
    for (const cut_window& w : windows) append(P.chunks, w.chunks), append(P.perm, w.perm);
    P.codes = zeros<std::uint32_t>(words);
    P.val = zeros<std::byte>(stored * values.bytes());
    const filler<V> fill(A, cut, values, P);
    parallel_for(thread_count({}), std::ssize(P.chunks), 64,
                 [&](std::int64_t c) { fill.fill(P.chunks[std::size_t(c)]); });
    if (P.part_chunks > 0) return P;
    packed_size size;
    for (const packed_chunk& c : P.chunks) count(c, size);
    const std::int64_t pairs = count_pairs(P.chunks, P.codes.data(), !P.table.empty());
    P.chunks_per_warp = o.chunks_per_warp(P.coding, size, pairs);
    if (P.chunks_per_warp > 1) mark_alike(P.chunks, P.codes.data());
    return P;
}

std::optional<packed<float, host>> rounded(const packed<double, host_view>& P) {
    if (P.coding == value_coding::table16) return {};
    const bool by_table = P.coding < value_coding::narrow;
    packed<float, host> R{P.shape,
                          by_table ? P.coding : value_coding::plain,
                          P.part_chunks,
                          P.chunks_per_warp,
                          {P.chunks.begin(), P.chunks.end()},
                          {P.perm.begin(), P.perm.end()},
                          host_vector<std::uint32_t>(P.codes.size()),
                          {},
                          host_vector<float>(P.table.size())};
    std::transform(P.table.begin(), P.table.end(), R.table.begin(),
                   [](double v) { return float(v); });
    const int threads = thread_count({});
    parallel_for(threads, std::ssize(P.codes),
                 [from = P.codes.data(), to = R.codes.data()](std::int64_t k) { to[k] = from[k]; });
    parallel_for(threads, std::ssize(R.chunks), [&](std::int64_t k) {
        const packed_chunk& c = R.chunks[std::size_t(k)];
        if (c.kind != packed_chunk::shared) return;
        std::uint32_t* word = R.codes.data() + std::size_t(c.code_at) * code_unit + 2;
        for (std::uint32_t s = 0; s < c.steps; ++s, word += 4) {
            double v = 0;
            std::memcpy(&v, word, sizeof v);
            const auto narrow = std::bit_cast<std::uint32_t>(float(v));
            word[0] = narrow, word[1] = 0;
        }
    });
    if (by_table || P.coding == value_coding::narrow) {  // the same codes, or floats already
        R.val.assign(P.val.begin(), P.val.end());
        return R;
    }
    const auto* const from = reinterpret_cast<const double*>(P.val.data());
    R.val = host_vector<std::byte>(P.val.size() / sizeof(double) * sizeof(float));
    auto* const to = reinterpret_cast<float*>(R.val.data());
    parallel_for(threads, std::ssize(P.val) / std::int64_t(sizeof(double)),
                 [from, to](std::int64_t k) { to[k] = float(from[k]); });
    return R;
}

template <class V>
packed_size size_of_packed(const csr<V, host_view>& A) {
    const auto o = packed_options::suited_to(std::int64_t(A.val.size()));
    const auto values = value_coder<V>::of(A.val);
    const cutter<V> cut(A, o, values);
    packed_size all{.bytes = std::int64_t(values.table.size() * sizeof(V))};
    shared_range windows(window_count(A.shape.rows), windows_at_once);
    std::mutex one_at_a_time;
    parallel(thread_count({}), [&](int) {
        packed_size mine;
        windows.take([&](std::int64_t k) { count(cut_one(A, cut, k), values.bytes(), mine); });
        const std::lock_guard lock(one_at_a_time);
        add(mine, all);
    });
    return all;
}

namespace {

/// The first of these chunks that thread t takes.
template <class V>
std::int64_t first_chunk(std::span<const packed_chunk> chunks, int t, int threads) {
    if (t == 0 || t == threads || chunks.empty()) return t == 0 ? 0 : std::int64_t(chunks.size());
    const auto bytes_before = [&](const packed_chunk* c) {
        while (c->rows == 0 && c != chunks.data()) --c;  // fills up a block: it has no place
        return 64.0 * double(c->code_at) + double(val_unit * sizeof(V)) * double(c->val_at) +
               double(sizeof *c) * double(c - chunks.data());
    };
    const double begin = bytes_before(&chunks.front());
    const double all = bytes_before(&chunks.back()) - begin;
    auto at = std::partition_point(chunks.begin(), chunks.end(), [&](const packed_chunk& c) {
        return bytes_before(&c) - begin < all * t / threads;
    });
    while (at < chunks.end() && at->parts > 0 && at->number > 0) ++at;
    return at - chunks.begin();
}

}  // namespace

template <class V>
std::span<const packed_chunk> share_of(std::span<const packed_chunk> chunks, int t, int threads) {
    const auto first = std::size_t(first_chunk<V>(chunks, t, threads));
    return chunks.subspan(first, std::size_t(first_chunk<V>(chunks, t + 1, threads)) - first);
}

namespace {

template <class V>
std::span<const packed_chunk> parts_of(const packed<V, host_view>& A) {
    return A.chunks.first(std::size_t(A.part_chunks));
}
template <class V>
std::span<const packed_chunk> whole_rows_of(const packed<V, host_view>& A) {
    return A.chunks.subspan(std::size_t(A.part_chunks));
}

/// 32 sums, of whatever rows the lanes of a chunk belong to.
template <class V>
using lane_sums = std::array<V, 32>;

template <class V>
void add_shared(const std::uint32_t* word, std::uint32_t steps, const V* x, lane_sums<V>& sums) {
    for (std::uint32_t s = 0; s < steps; ++s, word += 4) {
        const V* const xs = x + std::int32_t(word[0]);
        V v{};
        std::memcpy(static_cast<void*>(&v), word + 2, std::min<std::size_t>(sizeof(V), 8));
        if (word[1] == far_hole) {
            for (std::size_t r = 0; r < 32; ++r) sums[r] += product(v, xs[r]);
            continue;
        }
        for (std::uint32_t left = word[1]; left != 0; left &= left - 1) {
            const auto r = std::size_t(std::countr_zero(left));
            sums[r] += product(v, xs[r]);
        }
    }
}

template <class D, class V>
void add_diagonals(const std::uint32_t* word, std::uint32_t steps, const V* x, lane_sums<V>& sums,
                   D value, std::size_t at) {
    for (std::uint32_t s = 0; s < steps; ++s, word += 2, at += 32) {
        const V* const xs = x + std::int32_t(word[0]);
        if (word[1] == far_hole) {
            for (std::size_t r = 0; r < 32; ++r) sums[r] += product(value[at + r], xs[r]);
            continue;
        }
        for (std::uint32_t left = word[1]; left != 0; left &= left - 1) {
            const auto r = std::size_t(std::countr_zero(left));
            sums[r] += product(value[at + r], xs[r]);
        }
    }
}

/// Decoded into a panel, a few steps at a time, so that the panel's SIMD does the rest.
template <class Column, value_coding C, class V>
void add_list(const Column* column, std::size_t steps, const V* x, lane_sums<V>& sums,
              decoder<C, V> value, std::size_t at) {
    constexpr std::size_t at_once = 16;  // steps: 6 KB of the first-level cache
    std::array<index, 32 * at_once> col_ind;
    std::array<V, 32 * at_once> val;
    if constexpr (C == value_coding::constant) val.fill(value[0]);
    for (std::size_t s = 0; s < steps; s += at_once, column += 32 * at_once, at += 32 * at_once) {
        const std::size_t width = std::min(at_once, steps - s);
        for (std::size_t k = 0; k < width; ++k)
            for (std::size_t r = 32 * k; r < 32 * k + 32; ++r)
                col_ind[r] = column[r] == Column(-1) ? index(-1) : index(column[r]);
        const V* values = val.data();
        if constexpr (C == value_coding::plain) {
            values = reinterpret_cast<const V*>(value.val) + at;
        } else if constexpr (C != value_coding::constant) {
            for (std::size_t k = 0; k < width; ++k)
                for (std::size_t r = 32 * k; r < 32 * k + 32; ++r) val[r] = value[at + r];
        }
        multiply_panel(panel<V>{col_ind.data(), values, 32, 32, std::int64_t(width)}, x,
                       sums.data());
    }
}

/// Whether it streams from beyond the caches.
template <class V>
bool is_far(const packed<V, host_view>& A) {
    return A.val.size() + A.codes.size() * sizeof(std::uint32_t) >= far_bytes;
}

/// The sums of a chunk's lanes; by `loop` where there is one.
template <value_coding C, class V>
void multiply_chunk(const packed<V, host_view>& A, const packed_chunk& c, decoder<C, V> value,
                    const V* x, chunk_loop<C, V> loop, lane_sums<V>& sums) {
    const std::uint32_t* const code = A.codes.data() + std::size_t(c.code_at) * code_unit;
    const std::size_t at = std::size_t(c.val_at) * val_unit;
    if (loop != nullptr) return loop(c, code, value, at, x, sums.data());
    sums.fill(V(0));
    switch (c.kind) {
        case packed_chunk::shared:
            return add_shared(code, c.steps, x + c.first_row, sums);
        case packed_chunk::diagonals:
            return add_diagonals(code, c.steps, x + c.first_row, sums, value, at);
        case packed_chunk::near:
            return add_list(reinterpret_cast<const std::uint16_t*>(code), c.steps, x + c.base, sums,
                            value, at);
        case packed_chunk::far:
            return add_list(code, c.steps, x + c.base, sums, value, at);
    }
}

/// The sum of so many lanes, neighbours first.
template <int lanes, class V>
V sum_of(const V* sums) {
    if constexpr (lanes == 1)
        return sums[0];
    else
        return sum_of<lanes / 2>(sums) + sum_of<lanes / 2>(sums + lanes / 2);
}
template <int lanes, class V>
void add_lanes(lane_sums<V>& sums) {
    for (std::size_t r = 0; r < 32 / lanes; ++r) sums[r] = sum_of<lanes>(&sums[r * lanes]);
}

/// The sums of the chunk's rows, which share its lanes.
template <class V>
void add_lanes(const packed_chunk& c, lane_sums<V>& sums) {
    switch (c.log_lanes) {
        case 1:
            return add_lanes<2>(sums);
        case 2:
            return add_lanes<4>(sums);
        case 3:
            return add_lanes<8>(sums);
        case 4:
            return add_lanes<16>(sums);
        case 5:
            return add_lanes<32>(sums);
        default:
            return;
    }
}

/// Writes the chunk's rows, of which each has its sum.
template <class V>
void put_rows(V alpha, const packed<V, host_view>& A, const packed_chunk& c,
              const lane_sums<V>& sums, V beta, V* y) {
    const std::size_t rows = c.rows;
    if (c.sorted) {
        const index* const row = A.perm.data() + c.number;
        for (std::size_t r = 0; r < rows; ++r) y[row[r]] = scaled(alpha, sums[r], beta, y[row[r]]);
        return;
    }
    V* const to = y + c.first_row;
    if (beta == V(0)) {  // loops that a compiler makes vectors of
        for (std::size_t r = 0; r < rows; ++r) to[r] = product(alpha, sums[r]);
    } else {
        for (std::size_t r = 0; r < rows; ++r)
            to[r] = product(alpha, sums[r]) + product(beta, to[r]);
    }
}

template <value_coding C, class V>
chunk_loop<C, V> fastest_loop(const packed<V, host_view>& A) {
    if constexpr (std::floating_point<V>)
        if (const auto loops = simd_chunk_loops<C, V>(is_far(A)); !loops.empty())
            return loops.front();
    return nullptr;
}

template <value_coding C, class V>
void multiply_chunks(V alpha, const packed<V, host_view>& A, std::span<const packed_chunk> chunks,
                     std::span<const V> x, V beta, std::span<V> y, decoder<C, V> value) {
    const chunk_loop<C, V> loop = fastest_loop<C>(A);
    V of_parts(0);
    for (const packed_chunk& c : chunks) {
        if (c.rows == 0) continue;  // fills up a block
        lane_sums<V> sums;
        multiply_chunk(A, c, value, x.data(), loop, sums);
        add_lanes(c, sums);
        if (c.parts > 0) {
            of_parts = sums[0] = c.number == 0 ? sums[0] : of_parts + sums[0];
            if (c.number + 1 < c.parts) continue;
        }
        put_rows(alpha, A, c, sums, beta, y.data());
    }
}

}  // namespace

template <class V>
void spmv(cpu on, packed_warp, V alpha, const packed<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    const int threads = thread_count(on);
    with_decoder(A, [&](auto value) {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int t = 0; t < threads; ++t)
            for (const auto of : {parts_of(A), whole_rows_of(A)})
                multiply_chunks(alpha, A, share_of<V>(of, t, threads), x, beta, y, value);
    });
}

template <class V, class S>
estimate packed<V, S>::cost(const matrix_stats& s) {
    return {.matrix_bytes = double(s.packed.bytes), .vector_bytes = vector_bytes<V>(s)};
}

work packed_warp::work_on_gpu(const matrix_stats& s) {
    // A warp's loads wait for each other: the chunk, then at every four places the columns and x;
    // neighbouring lanes take neighbouring rows, or where rows are long, neighbouring entries.
    const double waits = 2.0 / 4;
    return {.gathers = double(std::min(s.row_sectors, s.column_sectors)),
            .steps = waits * double(s.packed.steps) + steps_of_a_warp * double(s.packed.chunks),
            .critical_steps = waits * double(s.packed.longest) + steps_of_a_warp,
            .passes_by = true};
}

#define NZ_INSTANTIATE(V)                                                                        \
    template estimate packed<V, host>::cost(const matrix_stats&);                                \
    template packed<V, host> packed<V, host>::from(const csr<V, host_view>&);                    \
    template packed<V, host> packed<V, host>::from(const csr<V, host_view>&,                     \
                                                   const packed_options&);                       \
    template packed_size size_of_packed(const csr<V, host_view>&);                               \
    template std::span<const packed_chunk> share_of<V>(std::span<const packed_chunk>, int, int); \
    template void spmv(cpu, packed_warp, V, const packed<V, host_view>&, std::span<const V>, V,  \
                       std::span<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
