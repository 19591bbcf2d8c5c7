#include "nonzero/solve/multigrid/hierarchy.hpp"

#include <algorithm>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/local_rows.hpp"
#include "nonzero/solve/multigrid/coarsen.hpp"
#include "nonzero/solve/multigrid/coarsening.hpp"
#include "nonzero/solve/multigrid/first_candidates.hpp"
#include "nonzero/solve/multigrid/level_product.hpp"
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
    std::function<void()> make_finest;    ///< made.finest, or over ranks the first level's `own`
    hierarchy<V, B>& made;
    amg_report& report;
    offset most;                          ///< entries of a level
    index block;                          ///< unknowns a node
    double eps;                           ///< strength
    const kept_levels<V>* old = nullptr;  ///< levels whose aggregates and couplings these take
    bool by_phases = false;               ///< as `coarsening` has it
    multigrid_levels<V, B>& levels = made.levels;
    bool has_modes = false;  ///< candidates may be those of a body in space
    bool in_single = false;  ///< the cycle is
    /// The matrices that a cycle is rounded from are kept until then.
    [[nodiscard]] bool keeps() const { return o.keep || in_single; }

    /// The kept part of the level that was added last; null where nothing is kept.
    template <class C>
    kept_level<V, C>* kept() {
        return keeps() ? &std::get<kept_level<V, C>>(made.kept.back()) : nullptr;
    }
    /// The level of the same number whose aggregates it takes; null: it makes its own.
    template <class C>
    const kept_level<V, C>* older() const {
        return old == nullptr ? nullptr : &std::get<kept_level<V, C>>(old->at(levels.size() - 1));
    }
};

double largest(const communicator* ranks, double mine) {
    if (ranks == nullptr) return mine;
    for (const double other : gathered(*ranks, mine)) mine = std::max(mine, other);
    return mine;
}

/// Whether the candidates may be the translations and rotations of a body. Large aggregates suit
/// these: fewer entries make setup and cycle shorter by more than iterations become more.
template <class V>
bool are_modes_in_space(const candidates<V>& near, const amg_options& o) {
    return o.block == 3 && near.count >= 6 && o.adaptive_candidates == 0;
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
void add_inverse(making<V, B>& m, C here, multigrid_level<V, B>& l,
                 const csr<V, typename C::view>& A) {
    agree(m.ranks, [&] {
        if (m.ranks == nullptr) {
            auto inverse = inverse_matrix<V>(here, A);
            if (m.in_single)
                m.template kept<C>()->inverse = std::move(inverse);
            else
                l.inverse = product_with(m.on, std::move(inverse));
        } else {
            const auto inverse = inverse_on_host(here, A);
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
        l.own = m.in_single ? unpacked_product_with(m.on, level.share())
                            : product_with(m.on, level.share());
        return;
    }
    if constexpr (over_ranks<V, B>) {
        const auto products = coarser_options<V>(m.on, level.A.own.val.size());
        split_rows<V, typename C::memory> rows;
        agree(m.ranks, [&] {
            rows = split<V, C>(here, level.rows, level.rows, level.halo, level.A.own,
                               std::move(block));
        });
        l.own = std::make_unique<distributed<V, B>>(m.on, std::move(rows), products);
    }
}

/// The product with P and with P^H over ranks.
template <class V, class B, class C>
void add_shared_prolongation(const making<V, B>& m, C here, multigrid_level<V, B>& l,
                             const shares& rows, coarser_level<V, C>& c) {
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

/// The product with P and with P^H.
template <class V, class B, class C>
void add_prolongation(making<V, B>& m, C here, multigrid_level<V, B>& l, const shares& rows,
                      coarser_level<V, C>& c) {
    if (m.ranks == nullptr) {
        auto P = std::make_shared<csr<V, typename C::memory>>(std::move(c.P.own));
        auto R = std::make_shared<csr<V, typename C::memory>>(std::move(c.R));
        if (!m.in_single) l.P = product_with(m.on, P), l.R = product_with(m.on, R);
        if (auto* const kept = m.template kept<C>())
            kept->P = std::move(P), kept->R = std::move(R), kept->T = std::move(c.T);
    } else if constexpr (over_ranks<V, B>) {
        add_shared_prolongation(m, here, l, rows, c);
    }
}

/// Inputs of a level's smoother and of its aggregates.
template <class V, class B, class C>
struct level_facts {
    smoother_inputs<V, B> smoothed;
    vector<real<V>, C> diagonal;  ///< of A's columns, others' as well
    own_couplings<C> strong;      ///< without graphs where the aggregates are known
};

template <class C>
aggregation<typename C::memory> copy_of(C here, const aggregation<typename C::memory>& a) {
    if constexpr (std::is_same_v<C, cpu>) {
        return a;
    } else {
        aggregation<device> c{a.count, {}};
        copy(here, device_span<index>(a.of), c.of);
        return c;
    }
}
template <class V>
own_couplings<cpu> known_couplings(cpu, const csr<V, host_view>&, const host_vector<char>& strong) {
    return {{}, strong};
}
template <class V>
own_couplings<gpu> known_couplings(gpu here, const csr<V, device_view>& A,
                                   const device_array<char>& strong) {
    own_couplings<gpu> c;
    c.all.row_ptr = A.row_ptr, c.all.col_ind = A.col_ind;
    copy(here, device_span<char>(strong), c.all.strong);
    return c;
}

/// block: A's own columns. diagonal: A's, where it is known.
template <class V, class B, class C>
level_facts<V, B, C> look_at(const making<V, B>& m, C here, const local_level<V, C>& level,
                             const csr<V, typename C::view>& block, vector<real<V>, C> diagonal) {
    using R = real<V>;
    const int rank = m.ranks == nullptr ? 0 : m.ranks->rank();
    const auto* const old = m.template older<C>();
    level_facts<V, B, C> f{{{}, {}, 0, 1, level.rows.of(rank).first}, {}, {}};
    agree(m.ranks, [&] {
        if (diagonal.size() == 0) diagonal = real_diagonal_of<V>(here, level.matrix());
    });
    f.diagonal = with_halo<R>(here, m.ranks, level.halo, in<R, C>(diagonal));
    agree(m.ranks, [&] {
        auto norm = l1_norms(here, level.matrix());
        f.smoothed.bound = gershgorin_bound<R>(here, diagonal, norm);
        f.smoothed.diagonal = moved_to(m.on, std::move(diagonal));
        f.smoothed.norm = moved_to(m.on, std::move(norm));
        f.strong = old != nullptr ? known_couplings<V>(here, level.matrix(), old->strong)
                                  : couplings_of<V>(here, level, block, m.block, m.eps, f.diagonal);
    });
    f.smoothed.bound = largest(m.ranks, f.smoothed.bound);
    if (old != nullptr)
        f.smoothed.distance = old->distance;
    else if (m.levels.size() == 1)
        f.smoothed.distance = m.o.aggregation_distance > 0 ? m.o.aggregation_distance
                              : m.has_modes
                                  ? 2
                                  : agreed_distance(here, m.ranks, f.strong.between_own());
    return f;
}

/// The entries that the smoothed prolongation takes, of single unknowns.
template <class V, class B>
host_vector<char> entries_kept(cpu here, const local_level<V, cpu>& level, double eps,
                               level_facts<V, B, cpu>& f) {
    if (!f.strong.kept.empty()) return std::move(f.strong.kept);
    return kept_entries<V>(here, level.matrix(), eps, f.diagonal);
}
template <class V, class B>
device_array<char> entries_kept(gpu, const local_level<V, gpu>&, double,
                                level_facts<V, B, gpu>& f) {
    return std::move(f.strong.all.strong);
}

/// The next coarser level; of 0 rows in all: none.
template <class V, class B, class C>
coarser_level<V, C> coarser(making<V, B>& m, C here, const local_level<V, C>& level,
                            level_facts<V, B, C> f, int distance,
                            candidates<V, typename C::memory> near, double spectral_radius) {
    const auto* const old = m.template older<C>();
    aggregation<typename C::memory> groups;
    agree(m.ranks, [&] {
        groups = old != nullptr ? copy_of(here, old->groups)
                                : aggregate(here, f.strong.between_own(), distance);
        f.strong.own = {};  // its memory serves what follows
    });
    auto c = coarsen<V, C>(here, m.ranks, level, f.strong, groups, f.diagonal, std::move(near),
                           {m.block, m.eps, m.o.omega / spectral_radius, m.most, m.o.coarse_rows,
                            m.o.rows_worth_a_gpu, m.by_phases});
    auto* const kept = m.template kept<C>();
    if (kept == nullptr || c.rows.total() == 0) return c;
    agree(m.ranks, [&] {
        kept->block = m.block, kept->distance = distance, kept->groups = std::move(groups);
        if (m.block == 1) kept->strong = entries_kept<V>(here, level, m.eps, f);
    });
    return c;
}

/// The levels from `next` on that `setup` makes; returns that with which the CPUs go on, if there
/// is one. diagonal: the first one's, where it is known.
template <class V, class B, class C>
next_level<V, cpu> add_levels(making<V, B>& m, C setup, next_level<V, C> next,
                              vector<real<V>, C> diagonal = {}) {
    while (true) {
        auto& level = next.level;
        const bool is_finest = m.levels.empty(), is_last = level.rows.total() <= m.o.coarse_rows;
        auto& l = m.levels.add(level.own());
        if (m.keeps()) m.made.kept.emplace_back(kept_level<V, C>{});
        auto& told = m.report.levels.emplace_back();
        const auto entries = offset(level.matrix().val.size());
        told.rows = level.rows.total(), told.nnz = summed_over(m.ranks, entries);
        const C here = worth(setup, level.own() + entries);
        csr<V, typename C::memory> block;
        agree(m.ranks, [&] {
            if constexpr (over_ranks<V, C>)
                if (m.ranks != nullptr &&
                    (std::is_same_v<C, cpu> || !is_finest || m.block > 1 || is_last))
                    block = own_columns(here, level.matrix(), level.own());
        });
        const auto own = m.ranks == nullptr ? level.matrix() : view(block);
        if (is_last) {
            add_inverse(m, here, l, own);
            if (auto* const kept = m.template kept<C>(); kept && !is_finest && !m.ranks)
                kept->A = level.share();
            return {};
        }
        auto facts = look_at(m, here, level, own, std::move(diagonal));
        const int distance = facts.smoothed.distance;
        if (!is_finest)
            add_product(m, here, l, level, std::move(block));
        else if (m.finest == nullptr)
            m.make_finest();
        if (auto* const kept = m.template kept<C>()) kept->A = level.shared;
        l.A = l.own != nullptr ? l.own.get() : m.finest;
        if (l.A == nullptr) l.A = m.made.finest->op.get();
        told.method = l.A->method_name();
        told.spectral_radius =
            m.levels.set_smoother(m.levels.size() - 1, std::move(facts.smoothed), m.o);
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
        require_positive<real<V>>(here, real_diagonal_of<V>(here, view(first.level.A.own)),
                                  mine.first);
        first.near = first_candidates(here, near, mine, m.block);
    });
    return add_levels(m, here, std::move(first));
}

}  // namespace

template <class V, class B>
void make_levels(B on, const ascending<V>& in_order, host_vector<real<V>> diagonal,
                 const amg_options& o, const candidates<V>& near,
                 const linear_operator<V, B>* finest, hierarchy<V, B>& made, amg_report& report) {
    const csr<V, host_view>& A = in_order.view();
    const offset most =
        most_entries(offset(A.val.size()), o.block, near.count > 0 ? near.count : o.block);
    const auto planned = [&] {
        made.finest = plan_and_build(in_order, on, product_options<V>(on));
    };
    making<V, B> m{on, nullptr, o, finest, planned, made, report, most, o.block, o.strength};
    m.has_modes = are_modes_in_space(near, o);
    m.by_phases = has_phases<V>(cpu{}, nullptr, in<V, cpu>(A.val), o, near);
    m.in_single = cycles_in_single<V>(o, A.shape.rows);
    made.has_found = near.count == 0;
    const cpu here = helpers(on);
    auto first_near = first_candidates(here, near, {0, A.shape.rows}, m.block);
    next_level<V, cpu> first{make_local_level<V>(here, A), std::move(first_near)};
    add_levels(m, here, std::move(first), std::move(diagonal));
    finish_levels(on, A, o, made, report);
}

template <class V>
void make_levels(gpu on, const ascending<V, gpu>& A, const amg_options& o,
                 const candidates<V>& near, const linear_operator<V, gpu>* finest,
                 const std::function<planned<V, gpu>()>& plan, hierarchy<V, gpu>& made,
                 amg_report& report) {
    const csr<V, device_view>& M = A.view();
    const offset most =
        most_entries(offset(M.val.size()), o.block, near.count > 0 ? near.count : o.block);
    const auto make_finest = [&] { made.finest = plan(); };
    making<V, gpu> m{on, nullptr, o, finest, make_finest, made, report, most, o.block, o.strength};
    const device_guard guard(on);
    m.has_modes = are_modes_in_space(near, o);
    m.by_phases = has_phases<V>(on, nullptr, in<V, gpu>(M.val), o, near);
    m.in_single = cycles_in_single<V>(o, M.shape.rows);
    made.has_found = near.count == 0;
    const range rows{0, M.shape.rows};
    // Before the level: of a brace in a brace GCC 12 frees members twice where a later one throws.
    auto near_on_gpu = first_candidates(on, near, rows, m.block);
    local_level<V, gpu> level{{{0, M.shape.rows}}, {}, {{rows, {}}, {}}, M};
    add_levels(m, on, next_level<V, gpu>{std::move(level), std::move(near_on_gpu)});
    finish_levels(on, M, o, made, report);
}

template <class V, class B>
void make_levels(B on, const matrix_slice<V>& A, const amg_options& o, const candidates<V>& near,
                 const linear_operator<V, B>* finest, const kept_levels<V>* old,
                 hierarchy<V, B>& made, amg_report& report) {
    const communicator& ranks = *on.ranks;
    const offset most = most_entries(summed(ranks, offset(A.own.val.size())), o.block,
                                     near.count > 0 ? near.count : o.block);
    const auto planned = [&] {
        made.levels.at(0).own = std::make_unique<distributed<V, B>>(on, A, product_options<V>(on));
    };
    making<V, B> m{on, &ranks, o, finest, planned, made, report, most, o.block, o.strength, old};
    m.has_modes = are_modes_in_space(near, o);
    m.by_phases = has_phases<V>(cpu{}, &ranks, in<V, cpu>(A.own.val), o, near);
    next_level<V, cpu> next;
    // Longer ones are not transposed on a GPU.
    const bool fits = on_all(&ranks, A.own.val.size() <= std::size_t(offset_vector::max_narrow));
    if (fits && suits(on, A.rows, o.rows_worth_a_gpu)) {
        next = add_first_levels(m, alone(on), A, near);
    } else {
        next = add_first_levels(m, helpers(on), A, near);
    }
    while (next.exists()) next = add_levels(m, helpers(on), std::move(next));
    agree(&ranks, [&] { made.levels.finish(); });
}

#define NZ_INSTANTIATE(V, B)                                                                    \
    template void make_levels(B, const ascending<V>&, host_vector<real<V>>, const amg_options&, \
                              const candidates<V>&, const linear_operator<V, B>*,               \
                              hierarchy<V, B>&, amg_report&);
#define NZ_INSTANTIATE_OVER_RANKS(V, B)                                                            \
    template void make_levels(B, const matrix_slice<V>&, const amg_options&, const candidates<V>&, \
                              const linear_operator<V, B>*, const kept_levels<V>*,                 \
                              hierarchy<V, B>&, amg_report&);
#define NZ_INSTANTIATE_ON_GPU(V)                                                           \
    NZ_INSTANTIATE(V, gpu)                                                                 \
    template void make_levels(gpu, const ascending<V, gpu>&, const amg_options&,           \
                              const candidates<V>&, const linear_operator<V, gpu>*,        \
                              const std::function<planned<V, gpu>()>&, hierarchy<V, gpu>&, \
                              amg_report&);
#define NZ_INSTANTIATE_FOR(V)         \
    NZ_INSTANTIATE(V, cpu)            \
    NZ_INSTANTIATE_OVER_RANKS(V, cpu) \
    NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE_ON_GPU(V))
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE_OVER_RANKS(float, gpu))
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE_OVER_RANKS(double, gpu))

}  // namespace nz
