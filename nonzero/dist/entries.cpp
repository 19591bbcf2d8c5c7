#include "nonzero/dist/entries.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/dist/exchange.hpp"
#include "nonzero/dist/share_out.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/matrix/symmetry.hpp"

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

template <class V>
bool is_before(const facing_entries<V>& a, const facing_entries<V>& b) {
    return std::pair(a.row, a.col) < std::pair(b.row, b.col);
}

/// The first by rows of what the ranks found; the same on all of them.
template <class V>
std::optional<facing_entries<V>> first_of(const communicator& ranks,
                                          const std::optional<facing_entries<V>>& mine) {
    std::optional<facing_entries<V>> first;
    for (const auto& found : gathered(ranks, mine))
        if (found && (!first || is_before(*found, *first))) first = found;
    return first;
}
/// An entry whose column is another rank's row, and the largest one of its own row.
template <class V>
struct outside_entry {
    entry<V> e;
    real<V> largest;
};

/// Own rows, ascending, and what they tell of entries that face them.
template <class V>
struct facing_rows {
    csr<V, host_view> rows;
    index first;  ///< where they begin
    host_vector<real<V>> largest = largest_of_rows(rows);

    /// e, where it is not what mirrors the entry across; its column is an own row, `size` the
    /// largest entry of its row.
    [[nodiscard]] std::optional<facing_entries<V>> asymmetry(const entry<V>& e,
                                                             real<V> size) const {
        const index j = e.col - first;
        const V across = rows.row_ptr.visit([&](const auto* row_ptr) {
            const auto at = position_of(row_ptr, rows.col_ind.data(), j, e.row);
            return at == row_ptr[j + 1] ? V(0) : rows.val[std::size_t(at)];
        });
        if (mirror_each_other(self_adjoint<V>, e.val, across,
                              double(std::min(size, largest[std::size_t(j)]))))
            return std::nullopt;
        return facing_entries<V>{e.row, e.col, e.val, across};
    }
};

/// Findings of a thread, or of a rank, in its rows.
template <class V>
struct looked_at {
    std::optional<facing_entries<V>> asymmetry;
    host_vector<outside_entry<V>> outside;
    void found(const std::optional<facing_entries<V>>& other) {
        if (other && (!asymmetry || is_before(*other, *asymmetry))) asymmetry = other;
    }
};

template <class V>
looked_at<V> look_at_rows(const facing_rows<V>& own, range rows) {
    looked_at<V> seen;
    for_each_entry(own.rows, rows.first, rows.last, [&](index i, index j, V v) {
        const entry<V> e{own.first + i, j, v};
        const real<V> largest = own.largest[std::size_t(i)];
        if (j < own.first || j >= own.first + own.rows.shape.rows)
            seen.outside.push_back({e, largest});
        else
            seen.found(own.asymmetry(e, largest));
    });
    return seen;
}

/// The same as of a whole matrix. Called by all ranks.
template <class V>
std::optional<facing_entries<V>> first_asymmetry(const communicator& ranks, const shares& all,
                                                 const facing_rows<V>& own) {
    const int threads = thread_count({});
    looked_at<V> seen;
    std::vector<host_vector<outside_entry<V>>> to(std::size_t(ranks.size()));  // by who faces them
    std::mutex one_at_a_time;
    agree(&ranks, [&] {
        parallel(threads, [&](int t) {
            const auto part = look_at_rows(own, share(own.rows.shape.rows, threads, t));
            const std::lock_guard lock(one_at_a_time);
            seen.found(part.asymmetry);
            for (const auto& o : part.outside) to[std::size_t(all.owner(o.e.col))].push_back(o);
        });
    });
    for (const auto& list : exchanged(ranks, to))
        for (const auto& [e, largest] : list) seen.found(own.asymmetry(e, largest));
    return first_of(ranks, seen.asymmetry);
}

}  // namespace

template <class V>
std::string why_not_symmetric(const communicator& ranks, const matrix_slice<V>& A) {
    const nz::shape shape = A.shape();
    if (shape.rows != shape.cols)
        return "A is " + std::to_string(shape.rows) + " x " + std::to_string(shape.cols) +
               ", not square";
    if (A.rows != A.cols) return "A's columns are not shared out as its rows are";
    const auto first = index(A.rows.of(ranks.rank()).first);
    std::optional<ascending<V>> own;
    std::unique_ptr<facing_rows<V>> facing;
    std::optional<facing_entries<V>> not_finite;
    agree(&ranks, [&] {
        own.emplace(view(A.own));
        facing.reset(new facing_rows<V>{own->view(), first});
        not_finite = first_not_finite(*own);
        if (not_finite) not_finite->row += first;
    });
    if (const auto found = first_of(ranks, not_finite)) return text_of_not_finite(*found);
    const auto found = first_asymmetry(ranks, A.rows, *facing);
    return found ? text_of_asymmetry(*found) : "";
}

#define NZ_INSTANTIATE(V)                                                                   \
    template shares balanced_shares(const communicator&, index, std::span<const entry<V>>); \
    template csr<V, host> assembled(const communicator&, const shares&, index,              \
                                    host_vector<entry<V>>);                                 \
    template matrix_slice<V> transpose(const communicator&, const matrix_slice<V>&);        \
    template std::string why_not_symmetric(const communicator&, const matrix_slice<V>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
