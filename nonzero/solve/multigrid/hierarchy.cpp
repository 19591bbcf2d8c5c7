#include "nonzero/solve/multigrid/hierarchy.hpp"

#include <algorithm>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/solve/multigrid/coarsen.hpp"
#include "nonzero/solve/multigrid/coarsening.hpp"
#include "nonzero/solve/multigrid/level_plan.hpp"
#include "nonzero/solve/multigrid/local_rows.hpp"
#include "nonzero/solve/multigrid/pseudo_inverse.hpp"

namespace nz {
namespace {

/// What stays from level to level, and how the next one is made.
template <class V, class B>
struct making {
    B on;
    const communicator& ranks;
    const matrix_slice<V>& A;  ///< of the finest level
    const amg_options& o;
    const linear_operator<V, B>* finest;
    multigrid_levels<V, B>& levels;
    amg_report& report;
    offset most;  ///< entries of a level
    index block;  ///< unknowns a node
    double eps;   ///< strength
};

/// The finest level's candidates where the setup runs: the given ones, or the constant, which a GPU
/// makes itself. rows: the rank's.
template <class V>
candidates<V> first_candidates(cpu, const candidates<V>& given, range rows, index block) {
    if (given.count > 0) return given;
    return constant_candidates<V>(index(rows.last - rows.first), block, index(rows.first));
}
template <class V>
device_candidates<V> first_candidates(gpu on, const candidates<V>& given, range rows, index block) {
    if (given.count == 0 && block == 1) {
        const std::int64_t n = rows.last - rows.first;
        device_candidates<V> ones{1, device_array<V>(on, std::size_t(n))};
        vector_space<V, gpu>(on, n).fill(V(1), ones.val);
        return ones;
    }
    const auto near = first_candidates(cpu{}, given, rows, block);
    return {near.count, from_host(on, std::span<const V>(near.val))};
}

double largest(const communicator& ranks, double mine) {
    for (const double other : gathered(ranks, mine)) mine = std::max(mine, other);
    return mine;
}

/// 1 or 2: what suits the ranks that have most of the rows.
template <class C, class Graph>
int agreed_distance(C here, const communicator& ranks, const Graph& strong) {
    int mine = 1;
    agree(&ranks, [&] { mine = suitable_distance(here, strong); });
    const auto far = summed(ranks, offset(mine == 2 ? strong.nodes() : 0));
    return 2 * far > summed(ranks, offset(strong.nodes())) ? 2 : 1;
}

/// Ends the levels by one that is solved directly, on the rank that has its rows.
template <class V, class B, class C>
void add_inverse(const making<V, B>& m, C here, multigrid_level<V, B>& l,
                 const csr<V, space_of<C>>& block) {
    agree(&m.ranks, [&] {
        const auto on_cpu = on_host(here, block);
        const auto inverse = pseudo_inverse(helpers(m.on), view(on_cpu));
        const auto method = find_method<V>(plain_methods(m.on)[0]);
        l.inverse = method.template on<B>()(alone(m.on), view(inverse));
    });
    m.report.direct = true;
}

/// The product of a coarser level, which takes `block`.
template <class V, class B, class C>
void add_product(const making<V, B>& m, C here, multigrid_level<V, B>& l,
                 const local_level<V, C>& level, csr<V, space_of<C>> block) {
    const auto products = coarser_options<V>(m.on, level.A.own.val.size());
    split_rows<V, space_of<C>> rows;
    agree(&m.ranks, [&] {
        rows = split<V, C>(here, level.rows, level.rows, level.halo, level.A.own, std::move(block));
    });
    l.own = std::make_unique<distributed<V, B>>(m.on, std::move(rows), products);
}

/// The product with P and with its transpose.
template <class V, class B, class C>
void add_prolongation(const making<V, B>& m, C here, multigrid_level<V, B>& l, const shares& rows,
                      const coarser_level<V, C>& c) {
    const auto products = both_ways<V>(m.on, c.P.own.val.size());
    if (c.rows != c.numbered) {
        matrix_slice<V> P{rows, c.rows, {}};
        agree(&m.ranks, [&] {
            const auto on_cpu = on_host(here, c.P.own);
            P.own = numbered_globally(helpers(here), view(on_cpu), c.P.columns, c.rows.total());
        });
        l.P = std::make_unique<distributed<V, B>>(m.on, std::move(P), products);
        return;
    }
    auto halo = make_halo(m.ranks, c.rows, c.P.columns.others);
    split_rows<V, space_of<C>> P;
    agree(&m.ranks, [&] {
        auto block = own_columns(here, view(c.P.own), c.P.columns.own_count());
        P = split<V, C>(here, rows, c.rows, std::move(halo), c.P.own, std::move(block));
    });
    l.P = std::make_unique<distributed<V, B>>(m.on, std::move(P), products);
}

/// What the smoother and the aggregates are made of.
template <class V, class B, class C>
struct level_facts {
    smoother_inputs<V, B> smoothed;
    vector<V, C> diagonal;  ///< of A's columns, others' as well
    own_couplings<C> strong;
};

template <class V, class B, class C>
level_facts<V, B, C> look_at(const making<V, B>& m, C here, const local_level<V, C>& level,
                             const csr<V, space_of<C>>& block) {
    const auto first_row = level.rows.of(m.ranks.rank()).first;
    level_facts<V, B, C> f{{{}, {}, 0, 1, first_row}, {}, {}};
    vector<V, C> own;
    agree(&m.ranks, [&] { own = diagonal_of(here, view(level.A.own)); });
    f.diagonal = with_halo<V>(here, m.ranks, level.halo, in<V, C>(own));
    agree(&m.ranks, [&] {
        auto norm = l1_norms(here, view(level.A.own));
        f.smoothed.bound = gershgorin_bound<V>(here, own, norm);
        f.smoothed.diagonal = moved_to(m.on, std::move(own));
        f.smoothed.norm = moved_to(m.on, std::move(norm));
        f.strong = couplings_of<V>(here, level, block, m.block, m.eps, f.diagonal);
    });
    f.smoothed.bound = largest(m.ranks, f.smoothed.bound);
    if (m.levels.size() == 1)
        f.smoothed.distance = m.o.aggregation_distance > 0
                                  ? m.o.aggregation_distance
                                  : agreed_distance(here, m.ranks, f.strong.own);
    return f;
}

/// The next coarser level; of 0 rows in all: none.
template <class V, class B, class C>
coarser_level<V, C> coarser(const making<V, B>& m, C here, const local_level<V, C>& level,
                            level_facts<V, B, C> f, int distance, candidates_on<V, C> near,
                            double spectral_radius) {
    aggregation_on<C> groups;
    agree(&m.ranks, [&] {
        groups = aggregate(here, f.strong.own, distance);
        f.strong.own = {};  // its memory serves what follows
    });
    return coarsen<V, C>(here, m.ranks, level, f.strong, groups, f.diagonal, std::move(near),
                         {m.block, m.eps, m.o.omega / spectral_radius, m.most, m.o.coarse_rows,
                          m.o.rows_worth_a_gpu});
}

/// The levels from `next` on that C makes; returns that with which the CPUs go on, if there is one.
template <class V, class B, class C>
next_level<V, cpu> add_levels(making<V, B>& m, C here, next_level<V, C> next) {
    while (true) {
        const auto& level = next.level;
        const bool is_finest = m.levels.empty(), is_last = level.rows.total() <= m.o.coarse_rows;
        auto& l = m.levels.add(level.own());
        auto& told = m.report.levels.emplace_back();
        told.rows = level.rows.total();
        told.nnz = summed(m.ranks, offset(level.A.own.val.size()));
        csr<V, space_of<C>> block;
        agree(&m.ranks, [&] {
            if (std::is_same_v<C, cpu> || !is_finest || m.block > 1 || is_last)
                block = own_columns(here, view(level.A.own), level.own());
        });
        if (is_last) return add_inverse(m, here, l, block), next_level<V, cpu>{};
        auto facts = look_at(m, here, level, block);
        const int distance = facts.smoothed.distance;
        if (!is_finest)
            add_product(m, here, l, level, std::move(block));
        else if (m.finest == nullptr)
            l.own = std::make_unique<distributed<V, B>>(m.on, m.A, product_options<V>(m.on));
        l.A = l.own != nullptr ? l.own.get() : m.finest;
        told.method = l.A->method_name();
        told.spectral_radius = m.levels.add_smoother(std::move(facts.smoothed), m.o);
        if (int(m.report.levels.size()) >= m.o.max_levels) return {};
        auto c = coarser(m, here, level, std::move(facts), distance, std::move(next.near),
                         told.spectral_radius);
        if (c.rows.total() == 0) return {};
        add_prolongation(m, here, l, level.rows, c);
        const bool goes_on = c.here.exists();
        m.block = goes_on ? c.here.near.count : c.on_cpu.near.count, m.eps *= coarser_strength;
        if (!goes_on) return std::move(c.on_cpu);
        next = std::move(c.here);
    }
}

/// The same from the finest level on.
template <class V, class B, class C>
next_level<V, cpu> add_first_levels(making<V, B>& m, C here, const candidates<V>& near) {
    next_level<V, C> first{make_local_level<V>(here, m.ranks, m.A, m.block), {}};
    const range mine = m.A.rows.of(m.ranks.rank());
    agree(&m.ranks, [&] {
        require_positive<V>(here, diagonal_of(here, view(first.level.A.own)), mine.first);
        first.near = first_candidates(here, near, mine, m.block);
    });
    return add_levels(m, here, std::move(first));
}

}  // namespace

template <class V, class B>
void make_levels(B on, const matrix_slice<V>& A, const amg_options& o, const candidates<V>& near,
                 const linear_operator<V, B>* finest, multigrid_levels<V, B>& levels,
                 amg_report& report) {
    const communicator& ranks = *on.ranks;
    const offset most = most_entries(summed(ranks, offset(A.own.val.size())), o.block,
                                     near.count > 0 ? near.count : o.block);
    making<V, B> m{on, ranks, A, o, finest, levels, report, most, o.block, o.strength};
    next_level<V, cpu> next;
    // Longer ones are not transposed on a GPU.
    const bool fits = on_all(&ranks, A.own.val.size() <= std::size_t(max_narrow_offset));
    if (fits && suits(on, A.rows, o.rows_worth_a_gpu)) {
        next = add_first_levels(m, alone(on), near);
    } else {
        next = add_first_levels(m, helpers(on), near);
    }
    while (next.exists()) next = add_levels(m, helpers(on), std::move(next));
}

#define NZ_INSTANTIATE(V, B)                                                                       \
    template void make_levels(B, const matrix_slice<V>&, const amg_options&, const candidates<V>&, \
                              const linear_operator<V, B>*, multigrid_levels<V, B>&, amg_report&);
NZ_INSTANTIATE(float, cpu)
NZ_INSTANTIATE(double, cpu)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
