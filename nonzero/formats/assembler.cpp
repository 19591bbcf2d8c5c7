#include "nonzero/formats/assembler.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "nonzero/core/parallel.hpp"

namespace nz {

template <class V>
assembler<V>::assembler(nz::shape shape, std::int64_t expected) : shape_(shape) {
    constexpr std::int64_t band_entries = 1 << 16;  // 800 KB of doubles and columns
    constexpr int most_shift = 16;                  // a row's number within its band takes 16 bits
    const std::int64_t wanted = std::clamp<std::int64_t>(expected / band_entries, 1, 1024);
    const std::int64_t last = std::max<std::int64_t>(shape.rows, 1) - 1;
    while (shift_ < most_shift && (last >> shift_) >= wanted) ++shift_;
    bands_ = std::size_t(last >> shift_) + 1;
}

template <class V>
void assembler<V>::add(std::int64_t number, std::span<const index> row, std::span<const index> col,
                       std::span<const V> val) {
    const std::size_t n = row.size();
    piece p{{}, host_vector<std::uint16_t>(n), host_vector<index>(n), host_vector<V>(val.size())};
    p.start.assign(bands_ + 1, 0);
    for (const index i : row) ++p.start[std::size_t(i >> shift_)];
    std::exclusive_scan(p.start.begin(), p.start.end(), p.start.begin(), 0U);
    const index within = (index(1) << shift_) - 1;
    for (std::size_t k = 0; k < n; ++k) {
        const std::size_t at = p.start[std::size_t(row[k] >> shift_)]++;
        p.row[at] = std::uint16_t(row[k] & within);
        p.col[at] = col[k];
        if (!val.empty()) p.val[at] = val[k];
    }
    std::shift_right(p.start.begin(), p.start.end(), 1);  // the ends are the next bands' starts
    p.start[0] = 0;
    const std::lock_guard lock(mutex_);
    pieces_.emplace(number, std::move(p));
}

/// Makes one band of rows, in place in the matrix's arrays.
template <class V>
struct assembler<V>::band {
    row_scratch<V> scratch;
    host_vector<offset> next;  ///< where the next entry of each row goes

    /// Returns how many entries are left when duplicates are summed; writes where, counted from
    /// the band's start, every row ends.
    template <class P>
    offset make(const std::map<std::int64_t, piece>& pieces, std::size_t number, std::span<P> ends,
                index* col, V* val) {
        next.assign(ends.size() + 1, 0);
        for (const auto& [order, p] : pieces)
            for (auto k = p.start[number]; k < p.start[number + 1]; ++k)
                ++next[std::size_t(p.row[k]) + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        for (const auto& [order, p] : pieces) {
            for (auto k = p.start[number]; k < p.start[number + 1]; ++k) {
                const offset at = next[p.row[k]]++;
                col[at] = p.col[k];
                val[at] = p.val.empty() ? V(1) : p.val[k];
            }
        }
        return order_rows(ends, col, val);
    }

  private:
    template <class P>
    offset order_rows(std::span<P> ends, index* col, V* val) {
        offset first = 0, to = 0;
        for (std::size_t i = 0; i < ends.size(); ++i) {
            const offset last = next[i];  // next[i] has become the row's end
            const auto n = std::size_t(last - first);
            const auto kept = offset(order_row<V>({col + first, n}, {val + first, n}, scratch));
            if (to != first) {
                std::copy_n(col + first, kept, col + to);
                std::copy_n(val + first, kept, val + to);
            }
            to += kept;
            ends[i] = P(to);
            first = last;
        }
        return to;
    }
};

template <class V>
template <class P>
csr<V, host> assembler<V>::finish_as(int threads, const host_vector<offset>& band_start) {
    const auto entries = std::size_t(band_start.back());
    csr<V, host> A{shape_, {}, host_vector<index>(entries), host_vector<V>(entries)};
    host_vector<P> ptr(std::size_t(shape_.rows) + 1);
    ptr[0] = 0;
    host_vector<offset> kept(bands_, 0);
    const auto rows_of = [&](std::size_t b) {
        const std::size_t first = b << shift_;
        const std::size_t last = std::min((b + 1) << shift_, std::size_t(shape_.rows));
        return std::span(ptr).subspan(first + 1, last - first);
    };
    const auto make_band = [&](std::int64_t number, band& work) {
        const auto b = std::size_t(number);
        kept[b] = work.make(pieces_, b, rows_of(b), A.col_ind.data() + band_start[b],
                            A.val.data() + band_start[b]);
    };
    parallel_for(
        thread_count({.threads = threads}), std::int64_t(bands_), 1, [] { return band(); },
        make_band);
    pieces_.clear();
    offset to = 0;
    for (std::size_t b = 0; b < bands_; ++b) {  // closes the gaps that duplicates left
        if (to != band_start[b]) {
            std::copy_n(A.col_ind.begin() + band_start[b], kept[b], A.col_ind.begin() + to);
            std::copy_n(A.val.begin() + band_start[b], kept[b], A.val.begin() + to);
        }
        if (to != 0)
            for (P& end : rows_of(b)) end = P(end + to);
        to += kept[b];
    }
    A.col_ind.resize(std::size_t(to)), A.val.resize(std::size_t(to));
    if constexpr (sizeof(P) == 4) {
        A.row_ptr = offset_vector(std::move(ptr));
    } else {
        A.row_ptr = to <= offset_vector::max_narrow ? offset_vector(ptr)
                                                    : offset_vector::wide(std::move(ptr));
    }
    return A;
}

template <class V>
csr<V, host> assembler<V>::finish(int threads) {
    host_vector<offset> band_start(bands_ + 1, 0);
    for (const auto& [number, p] : pieces_)
        for (std::size_t b = 0; b < bands_; ++b) band_start[b + 1] += p.start[b + 1] - p.start[b];
    std::partial_sum(band_start.begin(), band_start.end(), band_start.begin());
    return band_start.back() <= offset_vector::max_narrow
               ? finish_as<std::int32_t>(threads, band_start)
               : finish_as<offset>(threads, band_start);
}

namespace {

/// Stable, for the short rows that most matrices have.
template <class V>
void insertion_sort(std::span<index> col, std::span<V> val) {
    for (std::size_t k = 1; k < col.size(); ++k) {
        const index c = col[k];
        const V v = val[k];
        std::size_t at = k;
        for (; at > 0 && col[at - 1] > c; --at) col[at] = col[at - 1], val[at] = val[at - 1];
        col[at] = c, val[at] = v;
    }
}

constexpr std::size_t short_row = 32;

/// Puts every entry where as many columns are smaller as stand before it: all pairs are compared,
/// without a branch, which for short unordered rows takes half the time of insertion. False, with
/// nothing changed, where two columns are equal.
template <class V>
bool rank_sort(std::span<index> col, std::span<V> val) {
    const std::size_t n = col.size();
    std::array<index, short_row> sorted_col;
    std::array<V, short_row> sorted_val;
    std::uint64_t taken = 0;
    for (std::size_t k = 0; k < n; ++k) {
        int rank = 0;
        for (const index c : col) rank += c < col[k];
        sorted_col[std::size_t(rank)] = col[k], sorted_val[std::size_t(rank)] = val[k];
        taken |= std::uint64_t(1) << rank;
    }
    if (taken != (std::uint64_t(1) << n) - 1) return false;
    std::copy_n(sorted_col.begin(), n, col.begin());
    std::copy_n(sorted_val.begin(), n, val.begin());
    return true;
}

/// Sorts by column and, among equal columns, by position: one key holds both.
template <class V>
void key_sort(std::span<index> col, std::span<V> val, row_scratch<V>& scratch) {
    constexpr int position_bits = 33;  // a column takes the other 31
    const std::size_t n = col.size();
    scratch.key.resize(n), scratch.val.assign(val.begin(), val.end());
    for (std::size_t k = 0; k < n; ++k)
        scratch.key[k] = (std::uint64_t(col[k]) << position_bits) | k;
    std::sort(scratch.key.begin(), scratch.key.end());
    for (std::size_t k = 0; k < n; ++k) {
        col[k] = index(scratch.key[k] >> position_bits);
        val[k] = scratch.val[scratch.key[k] & ((std::uint64_t(1) << position_bits) - 1)];
    }
}

}  // namespace

template <class V>
std::size_t order_row(std::span<index> col, std::span<V> val, row_scratch<V>& scratch) {
    const auto unordered = [&] {
        return std::adjacent_find(col.begin(), col.end(), std::greater_equal<>()) != col.end();
    };
    if (!unordered()) return col.size();
    if (col.size() <= short_row) {
        if (rank_sort(col, val)) return col.size();
        insertion_sort(col, val);
    } else {
        key_sort(col, val, scratch);
    }
    std::size_t kept = 0;
    for (std::size_t k = 0; k < col.size(); ++k) {
        if (kept > 0 && col[kept - 1] == col[k]) {
            val[kept - 1] += val[k];
        } else {
            col[kept] = col[k], val[kept++] = val[k];
        }
    }
    return kept;
}

#define NZ_INSTANTIATE(V)        \
    template class assembler<V>; \
    template std::size_t order_row(std::span<index>, std::span<V>, row_scratch<V>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
