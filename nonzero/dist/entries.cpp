#include "nonzero/dist/entries.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/dist/exchange.hpp"
#include "nonzero/solve/multigrid/diagonal.hpp"
#include "nonzero/solve/symmetry.hpp"

namespace nz {
namespace {

/// A list of each rank's own, filled in two passes so that none is larger than it need be:
/// of(owner) and value(owner) for each item.
template <class T, class Item, class Owner, class Value>
std::vector<host_vector<T>> by_owner(const shares& all, std::span<const Item> items, Owner row_of,
                                     Value value_of) {
    std::vector<std::size_t> count(std::size_t(all.parts()), 0);
    for (const Item& e : items) ++count[std::size_t(all.owner(row_of(e)))];
    std::vector<host_vector<T>> to(count.size());
    for (std::size_t r = 0; r < to.size(); ++r) to[r].reserve(count[r]);
    for (const Item& e : items) to[std::size_t(all.owner(row_of(e)))].push_back(value_of(e));
    return to;
}

}  // namespace

shares balanced_shares(const communicator& ranks, index rows, std::span<const index> lengths) {
    const int parts = ranks.size();
    const auto first = index(equal_shares(rows, parts).of(ranks.rank()).first);
    // A row counts as an entry more.
    host_vector<std::int64_t> before{0};
    for (const index length : lengths) before.push_back(before.back() + length + 1);
    std::int64_t total = 0, others = 0;  // in rows before this rank's
    const auto sums = gathered(ranks, before.back());
    for (int r = 0; r < parts; ++r) {
        if (r < ranks.rank()) others += sums[std::size_t(r)];
        total += sums[std::size_t(r)];
    }
    // The p-th range begins at the first row with its share before it; one rank finds that row.
    std::vector<index> found(std::size_t(parts) - 1, 0);
    for (int p = 1; p < parts; ++p) {
        const std::int64_t wanted = share(total, parts, p).first - others;
        if (wanted <= 0 || wanted > before.back()) continue;
        const auto at = std::lower_bound(before.begin(), before.end(), wanted);
        found[std::size_t(p) - 1] = first + index(at - before.begin());
    }
    std::vector<index> all(found.size() * std::size_t(parts));
    ranks.all_gather(std::as_bytes(std::span(found)), std::as_writable_bytes(std::span(all)));
    shares balanced;
    for (std::size_t p = 0; p < found.size(); ++p) {
        index begin = 0;
        for (std::size_t r = 0; r < std::size_t(parts); ++r)
            begin = std::max(begin, all[r * found.size() + p]);
        balanced.first.push_back(begin);
    }
    balanced.first.push_back(rows);
    return balanced;
}

template <class V>
shares balanced_shares(const communicator& ranks, index rows, std::span<const entry<V>> mine) {
    const shares counted = equal_shares(rows, ranks.size());  // who counts which rows
    const auto row_of = [](const entry<V>& e) { return e.row; };
    std::vector<host_vector<index>> to;
    agree(&ranks, [&] { to = by_owner<index>(counted, mine, row_of, row_of); });
    const auto first = index(counted.of(ranks.rank()).first);
    host_vector<index> lengths(std::size_t(counted.count(ranks.rank())), 0);
    for (const auto& list : exchanged(ranks, to))
        for (const index i : list) ++lengths[std::size_t(i - first)];
    return balanced_shares(ranks, rows, lengths);
}

template <class V>
csr<V, host> assembled(const communicator& ranks, const shares& rows, index cols,
                       host_vector<entry<V>> mine) {
    std::vector<host_vector<entry<V>>> to;
    agree(&ranks, [&] {
        to = by_owner<entry<V>>(
            rows, std::span<const entry<V>>(mine), [](const entry<V>& e) { return e.row; },
            [](const entry<V>& e) { return e; });
    });
    mine = {};
    auto from = exchanged(ranks, to);
    to.clear();
    csr<V, host> own;
    agree(&ranks, [&] {
        const auto first = index(rows.of(ranks.rank()).first);
        host_vector<index> row, col;
        host_vector<V> val;
        for (auto& list : from) {
            for (const entry<V>& e : list)
                row.push_back(e.row - first), col.push_back(e.col), val.push_back(e.val);
            list = {};
        }
        own = assemble<V>({rows.count(ranks.rank()), cols}, row, col, val);
    });
    return own;
}

template <class V>
matrix_slice<V> transpose(const communicator& ranks, const matrix_slice<V>& A) {
    host_vector<entry<V>> mine;
    mine.reserve(A.own.val.size());
    const auto first = index(A.rows.of(ranks.rank()).first);
    for_each_entry(view(A.own), 0, A.own.shape.rows, [&](index i, index j, V v) {
        mine.push_back({j, first + i, v});
    });
    return {A.cols, A.rows, assembled(ranks, A.cols, A.rows.total(), std::move(mine))};
}

namespace {

/// Own rows, and what they tell of entries across the diagonal.
template <class V>
struct mirror {
    csr<V, host_view> rows;  ///< ascending
    index first;             ///< where they begin
    double tolerance;
    std::optional<asymmetry<V>> found = {};  ///< the first so far

    /// e: its row any, its column an own row.
    void look_at(const entry<V>& e) {
        const V across = rows.row_ptr.visit([&](const auto* row_ptr) {
            const index j = e.col - first;
            const auto at = position_of(row_ptr, rows.col_ind.data(), j, e.row);
            return at == row_ptr[j + 1] ? V(0) : rows.val[std::size_t(at)];
        });
        const V partner = conjugated(transposition::conjugate_transpose, across);
        if (!(double(std::abs(e.val - partner)) <= tolerance))
            keep(asymmetry<V>{e.row, e.col, e.val, across});
    }
    void keep(const std::optional<asymmetry<V>>& other) {
        const auto place = [](const asymmetry<V>& a) { return std::pair(a.row, a.col); };
        if (other && (!found || place(*other) < place(*found))) found = other;
    }
};

}  // namespace

template <class V>
std::optional<asymmetry<V>> first_asymmetry(const communicator& ranks, const matrix_slice<V>& A) {
    const range mine = A.rows.of(ranks.rank());
    const int threads = thread_count({});
    std::unique_ptr<ascending_rows<V>> own;
    double largest = 0;
    agree(&ranks, [&] {
        own = std::make_unique<ascending_rows<V>>(view(A.own));
        const auto& val = own->view.val;
        largest = parallel_reduce(threads, std::ssize(val), 0.0, larger_of(), [&](std::int64_t k) {
            return double(std::abs(val[std::size_t(k)]));
        });
    });
    for (const double other : gathered(ranks, largest)) largest = std::max(largest, other);
    constexpr double relative = std::is_same_v<real<V>, float> ? 1e-4 : symmetry_tolerance;
    mirror<V> seen{own->view, index(mine.first), relative * largest};
    std::vector<host_vector<entry<V>>> to(std::size_t(ranks.size()));  // who has the mirrored ones
    std::mutex one_at_a_time;
    agree(&ranks, [&] {
        parallel(threads, [&](int t) {
            const range part = share(own->view.shape.rows, threads, t);
            host_vector<entry<V>> outside;
            mirror<V> here{seen.rows, seen.first, seen.tolerance};
            for_each_entry(own->view, part.first, part.last, [&](index i, index j, V v) {
                const entry<V> e{here.first + i, j, v};
                if (j < mine.first || j >= mine.last)
                    outside.push_back(e);
                else
                    here.look_at(e);
            });
            const std::lock_guard lock(one_at_a_time);
            seen.keep(here.found);
            for (const entry<V>& e : outside) to[std::size_t(A.rows.owner(e.col))].push_back(e);
        });
    });
    for (const auto& list : exchanged(ranks, to))
        for (const entry<V>& e : list) seen.look_at(e);
    for (const auto& other : gathered(ranks, seen.found)) seen.keep(other);
    return seen.found;
}

#define NZ_INSTANTIATE(V)                                                                   \
    template shares balanced_shares(const communicator&, index, std::span<const entry<V>>); \
    template csr<V, host> assembled(const communicator&, const shares&, index,              \
                                    host_vector<entry<V>>);                                 \
    template matrix_slice<V> transpose(const communicator&, const matrix_slice<V>&);        \
    template std::optional<asymmetry<V>> first_asymmetry(const communicator&,               \
                                                         const matrix_slice<V>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
