#include "nonzero/solve/multigrid/coarsen.hpp"

#include <algorithm>
#include <numeric>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/entries.hpp"
#include "nonzero/dist/local_rows.hpp"
#include "nonzero/dist/share_out.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/matrix/spgemm.hpp"
#include "nonzero/solve/multigrid/coarsening.hpp"
#include "nonzero/solve/multigrid/ranks/halo_rows.hpp"

namespace nz {
namespace {

/// From this many rows a rank on, a level stays on as many ranks: with fewer, aggregates that end
/// at the rank's rows are too many of all, and messages take longer than the work.
constexpr index worth_a_rank = 1000;

shares scaled(shares all, index factor) {
    for (index& first : all.first) first *= factor;
    return all;
}

template <class T>
void append(host_vector<T>& to, const host_vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

/// A matrix of the host's where C computes.
template <class V>
csr<V, host> moved_to(cpu, csr<V, host> A) {
    return A;
}
template <class V>
csr<V, device> moved_to(gpu on, const csr<V, host>& A) {
    return upload(on, A);
}
template <class V>
csr<V, host> copied(cpu, const csr<V, host>& A) {
    return A;
}
template <class V>
csr<V, device> copied(gpu on, const csr<V, device>& A) {
    return upload(on, view(A));
}

/// Takes out others' columns without entries, but for those of nodes that have some.
template <class V, class C>
void leave_used(C here, local_matrix<V, C>& A, index nodes) {
    const index own = A.columns.own_count();
    auto used = columns_outside(here, view(A.own), {0, own});
    for (index& j : used) j = A.columns.global_of(j);
    used = in_whole_nodes(used, nodes);
    renumber_others(here, A.own, own, places_among(A.columns.others, used),
                    own + index(used.size()));
    A.columns.others = std::move(used);
}

/// The aggregates that the halo's nodes are in.
struct aggregates_of_halo {
    local_columns numbers;  ///< own aggregates, and these
    host_vector<index> of;  ///< aggregate of each of the nodes, or `isolated`

    /// of_halo: the aggregates of the halo's unknowns, numbered over all ranks.
    aggregates_of_halo(range own, const host_vector<index>& of_halo, index block)
        : numbers{own, {}} {
        std::copy_if(of_halo.begin(), of_halo.end(), std::back_inserter(numbers.others),
                     [](index a) { return a != isolated; });
        make_distinct(numbers.others);
        for (std::size_t k = 0; k < of_halo.size(); k += std::size_t(block))
            of.push_back(of_halo[k] == isolated ? isolated : numbers.local_of(of_halo[k]));
    }
};

template <class V>
csr<V, host> smoothed(cpu here, const local_level<V, cpu>& level, const own_couplings<cpu>& strong,
                      const coarsening& how, const aggregation<host>& of, const candidates<V>& T,
                      in<real<V>, cpu> diagonal) {
    return smoothed_prolongation<V>(here, level.matrix(), how.block, how.eps, how.omega, of, T,
                                    diagonal, strong.kept);
}
template <class V>
csr<V, device> smoothed(gpu here, const local_level<V, gpu>& level,
                        const own_couplings<gpu>& strong, const coarsening& how,
                        const aggregation<device>& of, const candidates<V, device>& T,
                        in<real<V>, gpu>) {
    return smoothed_prolongation<V>(here, level.matrix(), how.block, strong.all, how.omega, of, T);
}

/// P, from the own part of T. own_numbers: of the rank's aggregates.
template <class V, class C>
local_matrix<V, C> prolongation(C here, const communicator& ranks, const local_level<V, C>& level,
                                const own_couplings<C>& strong,
                                const aggregation<typename C::memory>& own, range own_numbers,
                                const candidates<V, typename C::memory>& T, in<real<V>, C> diagonal,
                                const coarsening& how) {
    const auto k = std::size_t(T.count);
    host_vector<index> nodes = level.halo.sent, aggregate_of;
    host_vector<V> rows_of_T;
    agree(&ranks, [&] {
        for (index& i : nodes) i /= how.block;
        aggregate_of = elements_at<index>(here, own.of, nodes);
        for (index& a : aggregate_of)
            if (a != isolated) a += index(own_numbers.first);
        rows_of_T = elements_at<V>(here, T.val, level.halo.sent, k);
    });
    const auto aggregates = values_of_halo<index>(ranks, level.halo, aggregate_of);
    const auto T_of_halo = values_of_halo<V>(ranks, level.halo, rows_of_T, k);
    local_matrix<V, C> P;
    agree(&ranks, [&] {
        const aggregates_of_halo known(own_numbers, aggregates, how.block);
        const aggregation<typename C::memory> of{known.numbers.count(),
                                                 extended<index>(here, own.of, known.of)};
        const candidates<V, typename C::memory> all{T.count, extended<V>(here, T.val, T_of_halo)};
        P = {unknowns_of(known.numbers, T.count),
             smoothed<V>(here, level, strong, how, of, all, diagonal)};
        leave_used(here, P, 1);
    });
    return P;
}

/// This rank's rows of A P put together with those of P^T: its part of R A P, rows and columns in
/// the same numbering. Of 0 rows where it has more than `most` entries, and has some columns.
/// diagonal: of A.
template <class V, class C>
local_matrix<V, C> galerkin_part(C here, const communicator& ranks, const local_level<V, C>& level,
                                 const local_matrix<V, C>& P, in<real<V>, C> diagonal, index cols,
                                 offset most) {
    csr<V, host> sent;
    agree(&ranks, [&] {
        const auto rows = rows_at(here, view(P.own), level.halo.sent);
        sent = numbered_globally(helpers(here), view(rows), P.columns, cols);
    });
    const auto P_of_halo = rows_of_halo(ranks, level.halo, view(sent));
    local_matrix<V, C> part{P.columns, {}};
    agree(&ranks, [&] {
        auto& others = part.columns.others;
        append(others, columns_outside(helpers(here), view(P_of_halo), P.columns.own));
        make_distinct(others);
        auto own = copied(here, P.own);
        renumber_others(here, own, P.columns.own_count(), places_among(P.columns.others, others),
                        part.columns.count());
        const auto R = adjoint(here, view(own));
        const auto of_halo =
            moved_to(here, numbered_locally(helpers(here), view(P_of_halo), part.columns));
        const auto all = stacked(here, view(own), view(of_halo));
        part.own = galerkin_product(here, view(R), level.matrix(), view(all), most);
        if (part.own.shape.rows == 0) return;
        // Rows that are in A's null space have no entries on other ranks, as aggregates have not.
        mend_diagonal(here, view(R), diagonal, P.columns.own_count(), part.own);
    });
    return part;
}

/// Contributions of other ranks to own rows: a row for each rank and own row that it adds to.
template <class V>
struct parts_of_others {
    csr<V, host> rows;
    host_vector<index> row_of;  ///< the own row that it is a part of
    std::size_t before = 0;     ///< how many come from ranks before this one
};

/// from: entries of own rows, rank by rank, row by row.
template <class V>
parts_of_others<V> parts_from(const std::vector<host_vector<entry<V>>>& from, int rank,
                              const local_columns& columns) {
    parts_of_others<V> parts;
    host_vector<offset> ptr{0};
    for (int r = 0; r < int(from.size()); ++r) {
        if (r == rank) parts.before = parts.row_of.size();
        index last = -1;
        for (const entry<V>& e : from[std::size_t(r)]) {
            if (e.row != last) parts.row_of.push_back(columns.local_of(e.row)), ptr.push_back(0);
            last = e.row;
            parts.rows.col_ind.push_back(columns.local_of(e.col));
            parts.rows.val.push_back(e.val);
            ptr.back() = offset(parts.rows.val.size());
        }
    }
    parts.rows.shape = {index(parts.row_of.size()), columns.count()};
    parts.rows.row_ptr = offset_vector(ptr);
    return parts;
}

/// 0/1 matrix that adds the contributions, which stand behind the `rows` own rows, to these rows
/// in rank order: those of ranks before, the own row, those of ranks behind.
template <class V>
csr<V, host> sum_of_parts(index rows, const host_vector<index>& row_of, std::size_t before) {
    host_vector<offset> ptr(std::size_t(rows) + 1, 1);
    ptr[0] = 0;
    for (const index i : row_of) ++ptr[std::size_t(i) + 1];
    std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
    host_vector<index> col(std::size_t(ptr.back()));
    host_vector<offset> next = ptr;
    const auto add = [&](std::size_t first, std::size_t last) {
        for (std::size_t k = first; k < last; ++k)
            col[std::size_t(next[std::size_t(row_of[k])]++)] = rows + index(k);
    };
    add(0, before);
    for (index i = 0; i < rows; ++i) col[std::size_t(next[std::size_t(i)]++)] = i;
    add(before, row_of.size());
    host_vector<V> ones(col.size(), V(1));
    return {
        {rows, rows + index(row_of.size())}, offset_vector(ptr), std::move(col), std::move(ones)};
}

/// The entries of `rows`, the first of which is row `first` of a part, numbered over all ranks.
template <class V>
host_vector<entry<V>> entries_of(const csr<V, host>& rows, index first,
                                 const local_columns& columns) {
    host_vector<entry<V>> all;
    all.reserve(rows.val.size());
    for_each_entry(view(rows), 0, rows.shape.rows, [&](index i, index j, V v) {
        all.push_back({columns.global_of(first + i), columns.global_of(j), v});
    });
    return all;
}

/// The first `rows` rows of a part, and what other ranks have of them.
template <class V, class C>
csr<V, typename C::memory> with_parts(C here, const csr<V, typename C::view>& part, index rows,
                                      const parts_of_others<V>& of_others) {
    if (rows == 0) return moved_to(here, csr<V, host>{{0, part.shape.cols}, {0}, {}, {}});
    const auto there = moved_to(here, of_others.rows);
    auto all = stacked(here, rows_before(here, part, rows), view(there));
    if (of_others.row_of.empty()) return all;
    const auto sum = moved_to(here, sum_of_parts<V>(rows, of_others.row_of, of_others.before));
    return spgemm(here, view(sum), view(all));
}

/// R A P where its parts are, from those of all ranks; `made` says whose rows are which.
template <class V, class C>
local_level<V, C> summed_here(C here, const communicator& ranks, const shares& made,
                              local_matrix<V, C> part, index nodes) {
    const index rows = part.columns.own_count();
    std::vector<host_vector<entry<V>>> to(std::size_t(ranks.size()));
    agree(&ranks, [&] {
        const auto of_others = rows_from(here, view(part.own), rows);
        for (const entry<V>& e : entries_of(of_others, rows, part.columns))
            to[std::size_t(made.owner(e.row))].push_back(e);
    });
    const auto from = exchanged(ranks, to);
    local_level<V, C> level{made, {}, {part.columns, {}}};
    agree(&ranks, [&] {
        auto& columns = level.A.columns;
        for (const auto& list : from)
            for (const entry<V>& e : list)
                if (!columns.is_own(e.col)) columns.others.push_back(e.col);
        make_distinct(columns.others);
        renumber_others(here, part.own, rows, places_among(part.columns.others, columns.others),
                        columns.count());
        level.A.own =
            with_parts(here, view(part.own), rows, parts_from(from, ranks.rank(), columns));
        leave_used(here, level.A, nodes);
    });
    level.halo = make_halo(ranks, made, level.A.columns.others);
    return level;
}

/// A level that is small, on the CPUs.
template <class V, class C>
next_level<V, cpu> on_cpus(C here, const local_level<V, C>& level,
                           const candidates<V, typename C::memory>& near) {
    return {{level.rows, level.halo, {level.A.columns, on_host(here, level.A.own)}},
            {near.count, to_host(here, in<V, C>(near.val))}};
}

/// R A P and its candidates on the CPUs of fewer ranks.
template <class V, class C>
next_level<V, cpu> moved_level(C here, const communicator& ranks, const shares& from,
                               const shares& to, const local_matrix<V, C>& part,
                               const candidates<V, typename C::memory>& near) {
    host_vector<entry<V>> entries;
    host_vector<V> val;
    agree(&ranks, [&] {
        entries = entries_of(rows_from(here, view(part.own), 0), 0, part.columns);
        val = to_host(here, in<V, C>(near.val));
    });
    const matrix_slice<V> A{to, to, assembled(ranks, to, to.total(), std::move(entries))};
    return {make_local_level<V>(helpers(here), ranks, A, near.count),
            {near.count, moved<V>(ranks, from, to, val, std::size_t(near.count))}};
}

/// The finest level's rows where the setup runs, columns ascending.
template <class V>
ascending<V> first_matrix(cpu, const csr<V, host>& A) {
    return ascending(view(A));
}
template <class V>
ascending<V, gpu> first_matrix(gpu on, const csr<V, host>& A) {
    return ascending<V, gpu>(upload(on, A), on);
}

/// Adds to c, whose P is there, R A P and its candidates; nothing where it has more than `most`
/// entries. diagonal: of A.
template <class V, class C>
void add_whole_product(C here, const local_level<V, C>& level, in<real<V>, C> diagonal,
                       candidates<V, typename C::memory> near, offset most,
                       coarser_level<V, C>& c) {
    c.R = adjoint(here, view(c.P.own));
    auto A = galerkin_product(here, view(c.R), level.matrix(), view(c.P.own), most);
    if (A.shape.rows == 0) return;
    mend_diagonal(here, view(c.R), diagonal, A.shape.rows, A);
    c.rows = c.numbered;
    c.here = {{c.rows, {}, {c.P.columns, std::move(A)}}, std::move(near)};
}
/// The same over ranks; this rank's entries of it.
template <class V, class C>
offset add_product_of_ranks(C here, const communicator& ranks, const local_level<V, C>& level,
                            in<real<V>, C> diagonal, candidates<V, typename C::memory> near,
                            const coarsening& how, coarser_level<V, C>& c) {
    const index k = near.count;
    auto part = galerkin_part(here, ranks, level, c.P, diagonal, c.numbered.total(), how.most);
    if (!on_all(&ranks, part.own.shape.rows == part.columns.count())) return 0;
    c.rows = shares_of_level(c.numbered, how.coarse_rows);
    if (c.rows == c.numbered) {
        auto made = summed_here(here, ranks, c.rows, std::move(part), k);
        if (suits(here, c.rows, how.rows_worth_a_gpu))
            c.here = {std::move(made), std::move(near)};
        else
            agree(&ranks, [&] { c.on_cpu = on_cpus(here, made, near); });
    } else {
        c.on_cpu = moved_level(here, ranks, c.numbered, c.rows, part, near);
    }
    return offset(c.here.exists() ? c.here.level.A.own.val.size()
                                  : c.on_cpu.level.A.own.val.size());
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

template <class V, class C>
local_level<V, C> make_local_level(C here, const communicator& ranks, const matrix_slice<V>& A,
                                   index nodes) {
    local_level<V, C> l{A.rows, {}, {{A.cols.of(ranks.rank()), {}}, {}}};
    agree(&ranks, [&] {
        const auto rows = first_matrix(here, A.own);
        l.A.columns.others =
            in_whole_nodes(columns_outside(here, rows.view(), l.A.columns.own), nodes);
        l.A.own = numbered_locally(here, rows.view(), l.A.columns);
    });
    l.halo = make_halo(ranks, A.cols, l.A.columns.others);
    return l;
}

template <class V>
local_level<V, cpu> make_local_level(cpu, const csr<V, host_view>& A) {
    return {{{0, A.shape.rows}}, {}, {{{0, A.shape.rows}, {}}, {}}, A};
}
template <class V>
local_level<V, gpu> make_local_level(gpu here, const csr<V, host_view>& A) {
    return {{{0, A.shape.rows}}, {}, {{{0, A.shape.rows}, {}}, upload(here, A)}};
}

template <class V>
own_couplings<cpu> couplings_of(cpu here, const local_level<V, cpu>& level,
                                const csr<V, host_view>& block, index nodes, double eps,
                                in<real<V>, cpu> diagonal) {
    return {strong_couplings<V>(here, block, nodes, eps, diagonal.first(std::size_t(level.own())))};
}
template <class V>
own_couplings<gpu> couplings_of(gpu here, const local_level<V, gpu>& level,
                                const csr<V, device_view>& block, index nodes, double eps,
                                in<real<V>, gpu> diagonal) {
    if (nodes > 1) return {{}, strong_couplings<V>(here, block, nodes, eps)};
    auto all = strong_couplings<V>(here, level.matrix(), 1, eps, diagonal);
    if (level.A.columns.others.empty()) return {std::move(all), {}, true};
    auto own = couplings_within(here, all, level.own());
    return {std::move(all), std::move(own)};
}

template <class V, class C>
vector<V, C> with_halo(C here, const communicator* ranks, const halo& h, in<V, C> own) {
    vector<V, C> all;
    if (ranks == nullptr) {  // by all threads, which a vector's own copy constructor is not
        vector_space<V, C> space(here, std::int64_t(own.size()));
        all = space.make();
        space.copy(own, all);
        return all;
    }
    host_vector<V> sent;
    agree(ranks, [&] { sent = elements_at<V>(here, own, h.sent); });
    const auto of_halo = values_of_halo<V>(*ranks, h, sent);
    agree(ranks, [&] { all = extended<V>(here, own, of_halo); });
    return all;
}

template <class V, class C>
coarser_level<V, C> coarsen(C here, const communicator* ranks, const local_level<V, C>& level,
                            const own_couplings<C>& strong,
                            const aggregation<typename C::memory>& own, in<real<V>, C> diagonal,
                            candidates<V, typename C::memory> near, const coarsening& how) {
    const shares aggregates =
        ranks == nullptr ? shares{{0, own.count}} : gathered_shares(*ranks, own.count);
    const index k = near.count;
    const double coarse_rows = double(aggregates.total()) * k;
    if (coarse_rows == 0 || coarse_rows > worth_a_level * level.rows.total()) return {};
    candidates<V, typename C::memory> fine, coarse;
    agree(ranks, [&] {
        if constexpr (is_complex<V>)
            if (how.by_phases) near.val = phases(here, level.matrix(), own);
        auto T = tentative_prolongation(here, own, how.block, std::move(near));
        fine = std::move(T.fine), coarse = std::move(T.coarse);
    });
    coarser_level<V, C> c;
    c.numbered = scaled(aggregates, k);
    if (ranks == nullptr) {
        c.P = {{{0, c.numbered.total()}, {}},
               smoothed<V>(here, level, strong, how, own, fine, diagonal)};
        add_whole_product(here, level, diagonal, std::move(coarse), how.most, c);
        c.T = std::move(fine);
        return c;
    }
    if constexpr (over_ranks<V, C>) {
        c.P = prolongation<V, C>(here, *ranks, level, strong, own, aggregates.of(ranks->rank()),
                                 fine, diagonal, how);
        fine = {};
        const auto entries =
            add_product_of_ranks(here, *ranks, level, diagonal, std::move(coarse), how, c);
        if (summed(*ranks, entries) > how.most) return {};
    }
    return c;
}

#define NZ_INSTANTIATE_ON(V, C)                                                                    \
    template local_level<V, C> make_local_level(C, const csr<V, host_view>&);                      \
    template own_couplings<C> couplings_of(C, const local_level<V, C>&,                            \
                                           const csr<V, typename C::view>&, index, double,         \
                                           in<real<V>, C>);                                        \
    template coarser_level<V, C> coarsen<V, C>(                                                    \
        C, const communicator*, const local_level<V, C>&, const own_couplings<C>&,                 \
        const aggregation<typename C::memory>&, in<real<V>, C>, candidates<V, typename C::memory>, \
        const coarsening&);
#define NZ_INSTANTIATE_OVER_RANKS(V, C)                                                         \
    template local_level<V, C> make_local_level(C, const communicator&, const matrix_slice<V>&, \
                                                index);
#define NZ_INSTANTIATE(V)                                                            \
    template host_vector<V> moved(const communicator&, const shares&, const shares&, \
                                  std::span<const V>, std::size_t);                  \
    NZ_INSTANTIATE_ON(V, cpu)                                                        \
    NZ_INSTANTIATE_OVER_RANKS(V, cpu)                                                \
    NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE_ON(V, gpu))
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)
#define NZ_INSTANTIATE_OF_REAL(V, C) \
    template vector<V, C> with_halo<V, C>(C, const communicator*, const halo&, in<V, C>);
#define NZ_INSTANTIATE_REAL(V)                        \
    NZ_INSTANTIATE_OF_REAL(V, cpu)                    \
    NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE_OF_REAL(V, gpu)) \
    NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE_OVER_RANKS(V, gpu))
NZ_INSTANTIATE_REAL(float)
NZ_INSTANTIATE_REAL(double)

}  // namespace nz
