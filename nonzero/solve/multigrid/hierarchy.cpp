#include "nonzero/solve/multigrid/hierarchy.hpp"

#include <algorithm>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/solve/multigrid/coarsen.hpp"
#include "nonzero/solve/multigrid/coarsening.hpp"
#include "nonzero/solve/multigrid/level_product.hpp"
#include "nonzero/solve/multigrid/local_rows.hpp"
#include "nonzero/solve/multigrid/pseudo_inverse.hpp"

namespace nz {
namespace {

/// State of the setup from level to level, and the parameters of the next level.
template <class V, class B>
struct making {
    B on;
    const communicator* ranks;  ///< null: there is one process
    const amg_options& o;
    const linear_operator<V, B>* finest;  ///< null: make_finest plans and builds it
    std::function<std::unique_ptr<linear_operator<V, B>>()> make_finest;
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
    return candidates<V>::constant(index(rows.last - rows.first), block, index(rows.first));
}
template <class V>
candidates<V, device> first_candidates(gpu on, const candidates<V>& given, range rows,
                                       index block) {
    if (given.count == 0 && block == 1) {
        const std::int64_t n = rows.last - rows.first;
        candidates<V, device> ones{1, device_array<V>(on, std::size_t(n))};
        vector_space<V, gpu>(on, n).fill(V(1), ones.val);
        return ones;
    }
    const auto near = first_candidates(cpu{}, given, rows, block);
    return {near.count, from_host(on, std::span<const V>(near.val))};
}

double largest(const communicator* ranks, double mine) {
    if (ranks == nullptr) return mine;
    for (const double other : gathered(*ranks, mine)) mine = std::max(mine, other);
    return mine;
}

/// 1 or 2: what suits the ranks that have most of the rows.
template <class C, class Graph>
int agreed_distance(C here, const communicator* ranks, const Graph& strong) {
    int mine = 1;
    agree(ranks, [&] { mine = suitable_distance(here, strong); });
    const auto far = summed_over(ranks, offset(mine == 2 ? strong.nodes() : 0));
    return 2 * far > summed_over(ranks, offset(strong.nodes())) ? 2 : 1;
}

template <class V>
csr<V, host> inverse_on_host(cpu here, const csr<V, host_view>& A) {
    return pseudo_inverse(here, A);
}
template <class V>
csr<V, host> inverse_on_host(gpu here, const csr<V, device_view>& A) {
    return pseudo_inverse(cpu{}, view(download(here, A)));
}

/// Ends the levels by one that is solved directly, on the rank that has its rows, A.
template <class V, class B, class C>
void add_inverse(const making<V, B>& m, C here, multigrid_level<V, B>& l,
                 const csr<V, typename C::view>& A) {
    agree(m.ranks, [&] {
        auto inverse = inverse_on_host(here, A);
        if (m.ranks == nullptr) {
            l.inverse = product_with(m.on, std::move(inverse), value_storage::exact);
        } else {
            const auto method = find_method<V>(plain_methods(m.on)[0]);
            l.inverse = build(method, alone(m.on), ascending<V>::known(view(inverse)));
        }
    });
    m.report.direct = true;
}

/// The product of a coarser level, which takes `block`, or of one process the level's matrix.
template <class V, class B, class C>
void add_product(const making<V, B>& m, C here, multigrid_level<V, B>& l, local_level<V, C>& level,
                 csr<V, typename C::memory> block) {
    if (m.ranks == nullptr) {
        l.own = product_with(m.on, level.give_away(), m.o.below_finest);
        return;
    }
    const auto products = coarser_options<V>(m.on, level.A.own.val.size());
    split_rows<V, typename C::memory> rows;
    agree(m.ranks, [&] {
        rows = split<V, C>(here, level.rows, level.rows, level.halo, level.A.own, std::move(block));
    });
    l.own = std::make_unique<distributed<V, B>>(m.on, std::move(rows), products);
}

/// The product with P and with its transpose.
template <class V, class B, class C>
void add_prolongation(const making<V, B>& m, C here, multigrid_level<V, B>& l, const shares& rows,
                      coarser_level<V, C>& c) {
    if (m.ranks == nullptr) {
        l.P = product_with(m.on, std::move(c.P.own), m.o.below_finest);
        l.R = product_with(m.on, std::move(c.R), m.o.below_finest);
        return;
    }
    const auto products = both_ways<V>(m.on, c.P.own.val.size());
    if (c.rows != c.numbered) {
        matrix_slice<V> P{rows, c.rows, {}};
        agree(m.ranks, [&] {
            const auto on_cpu = on_host(here, c.P.own);
            P.own = numbered_globally(helpers(here), view(on_cpu), c.P.columns, c.rows.total());
        });
        l.P = std::make_unique<distributed<V, B>>(m.on, std::move(P), products);
        return;
    }
    auto halo = make_halo(*m.ranks, c.rows, c.P.columns.others);
    split_rows<V, typename C::memory> P;
    agree(m.ranks, [&] {
        auto block = own_columns(here, view(c.P.own), c.P.columns.own_count());
        P = split<V, C>(here, rows, c.rows, std::move(halo), c.P.own, std::move(block));
    });
    l.P = std::make_unique<distributed<V, B>>(m.on, std::move(P), products);
}

/// Inputs of a level's smoother and of its aggregates.
template <class V, class B, class C>
struct level_facts {
    smoother_inputs<V, B> smoothed;
    vector<V, C> diagonal;  ///< of A's columns, others' as well
    own_couplings<C> strong;
};

/// block: A's own columns. diagonal: A's, where it is known.
template <class V, class B, class C>
level_facts<V, B, C> look_at(const making<V, B>& m, C here, const local_level<V, C>& level,
                             const csr<V, typename C::view>& block, vector<V, C> diagonal) {
    const int rank = m.ranks == nullptr ? 0 : m.ranks->rank();
    level_facts<V, B, C> f{{{}, {}, 0, 1, level.rows.of(rank).first}, {}, {}};
    agree(m.ranks, [&] {
        if (diagonal.size() == 0) diagonal = diagonal_of(here, level.matrix());
    });
    f.diagonal = with_halo<V>(here, m.ranks, level.halo, in<V, C>(diagonal));
    agree(m.ranks, [&] {
        auto norm = l1_norms(here, level.matrix());
        f.smoothed.bound = gershgorin_bound<V>(here, diagonal, norm);
        f.smoothed.diagonal = moved_to(m.on, std::move(diagonal));
        f.smoothed.norm = moved_to(m.on, std::move(norm));
        f.strong = couplings_of<V>(here, level, block, m.block, m.eps, f.diagonal);
    });
    f.smoothed.bound = largest(m.ranks, f.smoothed.bound);
    if (m.levels.size() == 1)
        f.smoothed.distance = m.o.aggregation_distance > 0
                                  ? m.o.aggregation_distance
                                  : agreed_distance(here, m.ranks, f.strong.between_own());
    return f;
}

/// The next coarser level; of 0 rows in all: none.
template <class V, class B, class C>
coarser_level<V, C> coarser(const making<V, B>& m, C here, const local_level<V, C>& level,
                            level_facts<V, B, C> f, int distance,
                            candidates<V, typename C::memory> near, double spectral_radius) {
    aggregation<typename C::memory> groups;
    agree(m.ranks, [&] {
        groups = aggregate(here, f.strong.between_own(), distance);
        f.strong.own = {};  // its memory serves what follows
    });
    return coarsen<V, C>(here, m.ranks, level, f.strong, groups, f.diagonal, std::move(near),
                         {m.block, m.eps, m.o.omega / spectral_radius, m.most, m.o.coarse_rows,
                          m.o.rows_worth_a_gpu});
}

/// The levels from `next` on that `setup` makes; returns that with which the CPUs go on, if there
/// is one. diagonal: the first one's, where it is known.
template <class V, class B, class C>
next_level<V, cpu> add_levels(making<V, B>& m, C setup, next_level<V, C> next,
                              vector<V, C> diagonal = {}) {
    while (true) {
        auto& level = next.level;
        const bool is_finest = m.levels.empty(), is_last = level.rows.total() <= m.o.coarse_rows;
        auto& l = m.levels.add(level.own());
        auto& told = m.report.levels.emplace_back();
        const auto entries = offset(level.matrix().val.size());
        told.rows = level.rows.total(), told.nnz = summed_over(m.ranks, entries);
        const C here = worth(setup, level.own() + entries);
        csr<V, typename C::memory> block;
        agree(m.ranks, [&] {
            if (m.ranks != nullptr &&
                (std::is_same_v<C, cpu> || !is_finest || m.block > 1 || is_last))
                block = own_columns(here, level.matrix(), level.own());
        });
        const auto own = m.ranks == nullptr ? level.matrix() : view(block);
        if (is_last) return add_inverse(m, here, l, own), next_level<V, cpu>{};
        auto facts = look_at(m, here, level, own, std::move(diagonal));
        const int distance = facts.smoothed.distance;
        if (!is_finest)
            add_product(m, here, l, level, std::move(block));
        else if (m.finest == nullptr)
            l.own = m.make_finest();
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
        diagonal = {};
    }
}

/// From the finest level of a rank on.
template <class V, class B, class C>
next_level<V, cpu> add_first_levels(making<V, B>& m, C here, const matrix_slice<V>& A,
                                    const candidates<V>& near) {
    next_level<V, C> first{make_local_level<V>(here, *m.ranks, A, m.block), {}};
    const range mine = A.rows.of(m.ranks->rank());
    agree(m.ranks, [&] {
        require_positive<V>(here, diagonal_of(here, view(first.level.A.own)), mine.first);
        first.near = first_candidates(here, near, mine, m.block);
    });
    return add_levels(m, here, std::move(first));
}
/// And of one process.
template <class V, class B, class C>
void add_all_levels(making<V, B>& m, C here, const csr<V, host_view>& A, const candidates<V>& near,
                    vector<V, C> diagonal) {
    next_level<V, C> first{make_local_level<V>(here, A),
                           first_candidates(here, near, {0, A.shape.rows}, m.block)};
    add_levels(m, here, std::move(first), std::move(diagonal));
}

}  // namespace

template <class V, class B>
void make_levels(B on, const ascending<V>& in_order, host_vector<V> diagonal, const amg_options& o,
                 const candidates<V>& near, const linear_operator<V, B>* finest,
                 multigrid_levels<V, B>& levels, amg_report& report) {
    const csr<V, host_view>& A = in_order.view();
    const offset most =
        most_entries(offset(A.val.size()), o.block, near.count > 0 ? near.count : o.block);
    const auto planned = [&] { return plan_and_build(in_order, on, product_options<V>(on)).op; };
    making<V, B> m{on, nullptr, o, finest, planned, levels, report, most, o.block, o.strength};
    if constexpr (std::is_same_v<B, gpu>) {
        const device_guard guard(on);
        // Longer ones are not transposed on a GPU.
        if (A.val.size() <= std::size_t(offset_vector::max_narrow))
            return add_all_levels(m, on, A, near, {});
    }
    add_all_levels(m, helpers(on), A, near, std::move(diagonal));
}

template <class V, class B>
void make_levels(B on, const matrix_slice<V>& A, const amg_options& o, const candidates<V>& near,
                 const linear_operator<V, B>* finest, multigrid_levels<V, B>& levels,
                 amg_report& report) {
    const communicator& ranks = *on.ranks;
    const offset most = most_entries(summed(ranks, offset(A.own.val.size())), o.block,
                                     near.count > 0 ? near.count : o.block);
    const auto planned = [&] {
        return std::make_unique<distributed<V, B>>(on, A, product_options<V>(on));
    };
    making<V, B> m{on, &ranks, o, finest, planned, levels, report, most, o.block, o.strength};
    next_level<V, cpu> next;
    // Longer ones are not transposed on a GPU.
    const bool fits = on_all(&ranks, A.own.val.size() <= std::size_t(offset_vector::max_narrow));
    if (fits && suits(on, A.rows, o.rows_worth_a_gpu)) {
        next = add_first_levels(m, alone(on), A, near);
    } else {
        next = add_first_levels(m, helpers(on), A, near);
    }
    while (next.exists()) next = add_levels(m, helpers(on), std::move(next));
}

#define NZ_INSTANTIATE(V, B)                                                                       \
    template void make_levels(B, const ascending<V>&, host_vector<V>, const amg_options&,          \
                              const candidates<V>&, const linear_operator<V, B>*,                  \
                              multigrid_levels<V, B>&, amg_report&);                               \
    template void make_levels(B, const matrix_slice<V>&, const amg_options&, const candidates<V>&, \
                              const linear_operator<V, B>*, multigrid_levels<V, B>&, amg_report&);
NZ_INSTANTIATE(float, cpu)
NZ_INSTANTIATE(double, cpu)
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(float, gpu))
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(double, gpu))

}  // namespace nz
