// A^T of a CSR in the CPU's memory.
#include <algorithm>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/place_by_key.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/formats/csr/to_csr.hpp"

namespace nz {
namespace {

/// The entries of each column, for every share of the rows.
template <class V>
std::vector<host_vector<offset>> column_counts(cpu on, const csr<V, host_view>& A, int parts) {
    std::vector<host_vector<offset>> counts{std::size_t(parts)};
    parallel_for(thread_count(on), parts, [&](std::int64_t p) {
        auto& n = counts[std::size_t(p)];
        n.assign(std::size_t(A.shape.cols), 0);
        const range rows = share(A.shape.rows, parts, p);
        for_each_entry(A, rows.first, rows.last, [&](index, index j, V) { ++n[std::size_t(j)]; });
    });
    return counts;
}

/// Writes every entry to its place at once. next: for every share of the rows, where its first
/// entry of each column goes.
template <class V>
void place_directly(cpu on, const csr<V, host_view>& A, std::vector<host_vector<offset>>& next,
                    csr<V, host>& T) {
    const auto parts = std::ssize(next);
    parallel_for(thread_count(on), parts, [&](std::int64_t p) {
        offset* const at = next[std::size_t(p)].data();
        const range rows = share(A.shape.rows, parts, p);
        for_each_entry(A, rows.first, rows.last, [&](index i, index j, V v) {
            const auto k = std::size_t(at[j]++);
            T.col_ind[k] = i, T.val[k] = v;
        });
    });
}

/// Groups of columns of about as many entries, few enough that a cache holds a line of each, and
/// small enough that it holds the entries of one.
struct column_groups {
    static constexpr std::int64_t most = 256, least_entries = 16384;

    column_groups(cpu on, const host_vector<offset>& ptr)
        : of(ptr.size() - 1), count(std::clamp<std::int64_t>(ptr.back() / least_entries, 1, most)) {
        const double per_entry = double(count) / double(ptr.back());
        parallel_for(thread_count(on), std::ssize(of), [&](std::int64_t j) {
            const auto g = std::int64_t(double(ptr[std::size_t(j)]) * per_entry);
            of[std::size_t(j)] = std::uint16_t(std::min(g, count - 1));
        });
    }
    host_vector<std::uint16_t> of;  ///< ascending: the group of each column
    std::int64_t count;
};

/// Sorts the entries of one group by column. They lie in the group's part of T, by row. at: where
/// the next entry of each column goes, in that part.
template <class V>
class group_sorter {
  public:
    void sort(range part, const index* column, offset* at, csr<V, host>& T) {
        const auto first = std::size_t(part.first), len = std::size_t(part.last - part.first);
        row_.assign(T.col_ind.begin() + part.first, T.col_ind.begin() + part.last);
        val_.assign(T.val.begin() + part.first, T.val.begin() + part.last);
        for (std::size_t k = 0; k < len; ++k) {
            const auto to = std::size_t(at[column[first + k]]++);
            T.col_ind[to] = row_[k], T.val[to] = val_[k];
        }
    }

  private:
    std::vector<index> row_;
    std::vector<V> val_;
};

/// The same by way of groups of columns. Entries go in order to the part of T that belongs to their
/// group, and are then put in place within that part, which a cache holds. The columns of the
/// entries take four bytes an entry meanwhile.
template <class V>
void place_by_groups(cpu on, const csr<V, host_view>& A, std::vector<host_vector<offset>>& places,
                     const host_vector<offset>& ptr, csr<V, host>& T) {
    const column_groups groups(on, ptr);
    const auto parts = std::ssize(places);
    // Starts of a share's entries in each group: by its first column, and the shares before.
    std::vector<host_vector<offset>> next{std::size_t(parts)};
    parallel_for(thread_count(on), parts, [&](std::int64_t p) {
        auto& n = next[std::size_t(p)];
        n.assign(std::size_t(groups.count), 0);
        const auto& mine = places[std::size_t(p)];
        const bool last = p + 1 == parts;
        const host_vector<offset>& behind = last ? ptr : places[std::size_t(p) + 1];
        for (std::size_t j = 0; j < groups.of.size(); ++j)
            n[groups.of[j]] += behind[j + std::size_t(last)] - mine[j];
    });
    host_vector<offset> first(std::size_t(groups.count) + 1);
    place_by_key(on, next, first);
    host_vector<index> column(A.val.size());
    parallel_for(thread_count(on), parts, [&](std::int64_t p) {
        offset* const at = next[std::size_t(p)].data();
        const range rows = share(A.shape.rows, parts, p);
        for_each_entry(A, rows.first, rows.last, [&](index i, index j, V v) {
            const auto k = std::size_t(at[groups.of[std::size_t(j)]]++);
            T.col_ind[k] = i, T.val[k] = v, column[k] = j;
        });
    });
    shared_range left(groups.count, 1);
    parallel(thread_count(on), [&](int) {
        group_sorter<V> sorter;
        left.take([&](std::int64_t g) {
            sorter.sort({first[std::size_t(g)], first[std::size_t(g) + 1]}, column.data(),
                        places[0].data(), T);
        });
    });
}

/// The row of the k-th entry.
template <class V>
std::int64_t row_of_entry(const csr<V, host_view>& A, std::int64_t k) {
    std::int64_t low = 0, high = A.shape.rows - 1;
    while (low < high) {
        const std::int64_t mid = (low + high) / 2;
        if (A.row_ptr[std::size_t(mid) + 1] <= k) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

/// Whether entries of neighbouring rows go to places so far from each other that a cache holds none
/// of the lines when they are written to again. Told by a cache of 512 KB, as it meets two runs of
/// entries. ptr: where the columns begin, and the end.
template <class V>
bool scatters(const csr<V, host_view>& A, const host_vector<offset>& ptr) {
    constexpr std::int64_t worth_a_copy = 1 << 20, run = 1 << 16, runs = 2;
    if (std::ssize(A.val) < worth_a_copy) return false;
    std::vector<offset> held(8192);
    std::int64_t misses = 0;
    for (std::int64_t r = 0; r < runs; ++r) {
        std::fill(held.begin(), held.end(), -1);
        const auto middle = std::int64_t(A.val.size()) * (2 * r + 1) / (2 * runs);
        auto i = row_of_entry(A, middle);
        for (std::int64_t k = middle; k < middle + run; ++k) {
            while (A.row_ptr[std::size_t(i) + 1] <= k) ++i;
            const auto j = std::size_t(A.col_ind[std::size_t(k)]);
            // As if the rows above had their share of the column's entries.
            const offset place = ptr[j] + (ptr[j + 1] - ptr[j]) * i / A.shape.rows;
            const offset line = place * offset(sizeof(V)) / 64;
            offset& here = held[std::size_t(line) % held.size()];
            misses += here != line && k >= middle + run / 2;
            here = line;
        }
    }
    return misses > runs * run / 2 / 3;
}

}  // namespace

template <class V>
csr<V, host> transposed(cpu any, const csr<V, host_view>& A) {
    const cpu on = worth(any, std::ssize(A.val));
    // Counters for every column and share: no more shares than entries pay for.
    const auto most = std::int64_t(A.val.size()) / std::max<std::int64_t>(A.shape.cols, 1);
    const int parts =
        int(std::clamp<std::int64_t>(thread_count(on), 1, std::max<std::int64_t>(most, 1)));
    host_vector<offset> ptr(std::size_t(A.shape.cols) + 1);
    csr<V, host> T{{A.shape.cols, A.shape.rows},
                   {},
                   host_vector<index>(A.val.size()),
                   host_vector<V>(A.val.size())};
    auto places = column_counts(on, A, parts);
    place_by_key(on, places, ptr);
    if (scatters(A, ptr)) {
        place_by_groups(on, A, places, ptr, T);
    } else {
        place_directly(on, A, places, T);
    }
    T.row_ptr = offset_vector(ptr);
    return T;
}

#define NZ_INSTANTIATE(V) template csr<V, host> transposed(cpu, const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
