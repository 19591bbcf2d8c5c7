#include "nonzero/dist/coarsen.hpp"

#include <algorithm>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/entries.hpp"
#include "nonzero/dist/halo_rows.hpp"
#include "nonzero/solve/multigrid/coarsening.hpp"
#include "nonzero/solve/multigrid/spgemm.hpp"

namespace nz {
namespace {

/// From this many rows a rank on, a level stays on as many ranks: with fewer, aggregates that end
/// at the rank's rows are too many of all, and messages take longer than the work.
constexpr index worth_a_rank = 1000;

/// The unknowns of the nodes of these.
host_vector<index> in_whole_nodes(const host_vector<index>& unknowns, index block) {
    if (block == 1) return unknowns;
    host_vector<index> all;
    for (std::size_t k = 0; k < unknowns.size(); ++k) {
        const index node = unknowns[k] / block;
        if (k > 0 && unknowns[k - 1] / block == node) continue;
        for (index u = 0; u < block; ++u) all.push_back(node * block + u);
    }
    return all;
}

/// Numbers of nodes as those of their `k` unknowns.
local_columns unknowns_of(const local_columns& nodes, index k) {
    local_columns all{{nodes.own.first * k, nodes.own.last * k}, {}};
    for (const index node : nodes.others)
        for (index u = 0; u < k; ++u) all.others.push_back(node * k + u);
    return all;
}

shares scaled(shares all, index factor) {
    for (index& first : all.first) first *= factor;
    return all;
}

/// A above B.
template <class V>
csr<V, host> stacked(csr<V, host> A, const csr<V, host>& B) {
    host_vector<offset> ptr;
    for (std::size_t i = 0; i < A.row_ptr.size(); ++i) ptr.push_back(A.row_ptr[i]);
    const offset entries = ptr.back();
    for (std::size_t i = 1; i < B.row_ptr.size(); ++i) ptr.push_back(entries + B.row_ptr[i]);
    A.col_ind.insert(A.col_ind.end(), B.col_ind.begin(), B.col_ind.end());
    A.val.insert(A.val.end(), B.val.begin(), B.val.end());
    A.shape.rows += B.shape.rows;
    A.row_ptr = offset_vector(ptr);
    return A;
}

template <class T>
void append(host_vector<T>& to, const host_vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

/// Own aggregates, and others' that the halo's nodes are in.
struct known_aggregates {
    local_columns numbers;  ///< of aggregates
    aggregation of;         ///< that of each node, the halo's after the own ones
};

/// of_halo: the aggregates of the halo's unknowns, numbered over all ranks.
known_aggregates with_halo(const aggregation& own, range own_numbers,
                           const host_vector<index>& of_halo, index block) {
    known_aggregates all{{own_numbers, {}}, own};
    std::copy_if(of_halo.begin(), of_halo.end(), std::back_inserter(all.numbers.others),
                 [](index a) { return a != isolated; });
    make_distinct(all.numbers.others);
    for (std::size_t k = 0; k < of_halo.size(); k += std::size_t(block))
        all.of.of.push_back(of_halo[k] == isolated ? isolated : all.numbers.local_of(of_halo[k]));
    all.of.count = all.numbers.count();
    return all;
}

/// This rank's part of R A P, as entries. Empty, and `overflows`, beyond `most`.
template <class V>
host_vector<entry<V>> galerkin_part(cpu on, const local_level<V>& level, const csr<V, host>& P,
                                    const csr<V, host>& P_of_halo, range own_columns, offset most,
                                    bool& overflows) {
    local_columns columns{own_columns, columns_outside(view(P), own_columns)};
    append(columns.others, columns_outside(view(P_of_halo), own_columns));
    make_distinct(columns.others);
    auto own = numbered_locally(view(P), columns);
    const auto R = transposed(on, view(own));
    const auto all = stacked(std::move(own), numbered_locally(view(P_of_halo), columns));
    const auto C = galerkin_product(on, view(R), view(level.A), view(all), most);
    overflows = C.shape.rows != columns.count();
    host_vector<entry<V>> part;
    part.reserve(C.val.size());
    for_each_entry(view(C), 0, C.shape.rows, [&](index i, index j, V v) {
        part.push_back({columns.global_of(i), columns.global_of(j), v});
    });
    return part;
}

}  // namespace

shares shares_of_level(const shares& all, index coarse_rows) {
    const index worth = std::max<index>(all.total() / worth_a_rank, 1);
    return joined_ranges(all, all.total() <= coarse_rows ? 1 : std::min(worth, all.parts()));
}

template <class V>
host_vector<V> moved(const communicator& ranks, const shares& from, const shares& to,
                     std::span<const V> own, std::size_t width) {
    const range mine = from.of(ranks.rank());
    std::vector<host_vector<V>> lists(std::size_t(ranks.size()));
    for (int r = 0; r < ranks.size(); ++r) {
        const auto first = std::max(mine.first, to.of(r).first);
        const auto last = std::min(mine.last, to.of(r).last);
        if (first >= last) continue;
        const auto at =
            own.subspan(std::size_t(first - mine.first) * width, std::size_t(last - first) * width);
        lists[std::size_t(r)].assign(at.begin(), at.end());
    }
    host_vector<V> all;
    for (const auto& list : exchanged(ranks, lists)) append(all, list);
    return all;
}

template <class V>
local_level<V> make_local_level(const communicator& ranks, const matrix_slice<V>& A, index nodes) {
    local_level<V> l;
    agree(&ranks, [&] {
        l.block = own_block(A, ranks.rank());
        l.columns.own = A.cols.of(ranks.rank());
        l.columns.others = in_whole_nodes(columns_outside(view(A.own), l.columns.own), nodes);
        l.A = numbered_locally(view(A.own), l.columns);
    });
    l.halo = make_halo(ranks, A.cols, l.columns.others);
    return l;
}

template <class V>
coarser_level<V> coarsen(cpu on, const communicator& ranks, const shares& rows,
                         const local_level<V>& level, const aggregation& own,
                         std::span<const V> given_diagonal, candidates<V> near,
                         const coarsening_over_ranks& how) {
    const shares aggregates = gathered_shares(ranks, own.count);
    const index k = near.count;
    const double coarse_rows = double(aggregates.total()) * k;
    if (coarse_rows == 0 || coarse_rows > worth_a_level * rows.total()) return {};
    const auto own_aggregates = aggregates.of(ranks.rank());

    tentative<V> T;
    host_vector<index> of_own(std::size_t(level.columns.own_count()), isolated);
    agree(&ranks, [&] {
        T = tentative_prolongation(on, own, how.block, std::move(near));
        for (std::size_t i = 0; i < of_own.size(); ++i)
            if (const index a = own.of[i / std::size_t(how.block)]; a != isolated)
                of_own[i] = index(own_aggregates.first) + a;
    });
    const auto of_halo = values_of_halo<index>(ranks, level.halo, of_own);
    append(T.fine.val, values_of_halo<V>(ranks, level.halo, T.fine.val, std::size_t(k)));
    host_vector<V> diagonal(given_diagonal.begin(), given_diagonal.end());
    append(diagonal, values_of_halo<V>(ranks, level.halo, given_diagonal));

    coarser_level<V> c;
    const shares made = scaled(aggregates, k);
    agree(&ranks, [&] {
        const auto all = with_halo(own, own_aggregates, of_halo, how.block);
        const auto P = smoothed_prolongation<V>(on, view(level.A), how.block, how.eps, how.omega,
                                                all.of, T.fine, diagonal);
        c.P.own = numbered_globally(view(P), unknowns_of(all.numbers, k), made.total());
    });
    const auto P_of_halo = rows_of_halo(ranks, level.halo, view(c.P.own));
    bool overflows = false;
    host_vector<entry<V>> part;
    agree(&ranks, [&] {
        part = galerkin_part(on, level, c.P.own, P_of_halo, made.of(ranks.rank()), how.most,
                             overflows);
    });
    if (!on_all(&ranks, !overflows)) return {};
    c.A.rows = c.A.cols = shares_of_level(made, how.coarse_rows);
    c.A.own = assembled(ranks, c.A.rows, made.total(), std::move(part));
    if (summed(ranks, offset(c.A.own.val.size())) > how.most) return {};
    replace_zero_diagonal(on, c.A.own, index(c.A.rows.of(ranks.rank()).first));
    c.P.rows = rows, c.P.cols = c.A.rows;
    c.near = {k, moved<V>(ranks, made, c.A.rows, T.coarse.val, std::size_t(k))};
    return c;
}

#define NZ_INSTANTIATE(V)                                                                         \
    template host_vector<V> moved(const communicator&, const shares&, const shares&,              \
                                  std::span<const V>, std::size_t);                               \
    template local_level<V> make_local_level(const communicator&, const matrix_slice<V>&, index); \
    template coarser_level<V> coarsen(                                                            \
        cpu, const communicator&, const shares&, const local_level<V>&, const aggregation&,       \
        std::span<const V>, candidates<V>, const coarsening_over_ranks&);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
