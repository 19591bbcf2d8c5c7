#include "nonzero/dist/amg.hpp"

#include <algorithm>
#include <array>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/dist/coarsen.hpp"
#include "nonzero/dist/entries.hpp"
#include "nonzero/solve/multigrid/coarsening.hpp"
#include "nonzero/solve/multigrid/dense_inverse.hpp"
#include "nonzero/solve/multigrid/level_plan.hpp"

namespace nz {
namespace {

template <class V, class B>
nz::shape own_shape(B on, const matrix_slice<V>& A) {
    if (on.ranks == nullptr) throw argument_error("amg: on.ranks is null");
    return {A.own.shape.rows, A.own.shape.rows};
}

/// What one rank can check of its arguments.
template <class V, class B>
void check_part(const communicator& ranks, const matrix_slice<V>& A, const amg_options& o,
                const candidates<V>& near, const linear_operator<V, B>* finest) {
    check_options(o);
    const auto require = [](bool holds, const char* what) {
        if (!holds) throw argument_error(std::string("amg: ") + what);
    };
    require(o.below_finest == value_storage::exact, "over ranks all levels are stored exactly");
    require(A.rows == A.cols, "the matrix is not square");
    require(A.rows.parts() == ranks.size(), "the matrix is shared out over other ranks");
    const nz::shape expected{A.rows.count(ranks.rank()), A.cols.total()};
    require(A.own.shape == expected, "a rank's rows are not its share of the matrix");
    require(A.rows.total() % o.block == 0, "the rows are not whole blocks");
    require(
        near.count >= 0 && near.val.size() == std::size_t(expected.rows) * std::size_t(near.count),
        "the candidates have another number of rows than the rank");
    require(finest == nullptr || finest->shape() == nz::shape{expected.rows, expected.rows},
            "the product given is of another shape than the matrix");
}

void expect_same(const communicator& ranks, const amg_options& o, index candidates,
                 bool finest_given) {
    expect_equal(&ranks, "amg",
                 std::array{double(o.cycle), double(o.smoother), double(o.degree), double(o.sweeps),
                            o.eigenvalue_ratio, double(o.aggregation_distance), o.strength, o.omega,
                            double(o.block), double(o.coarse_rows), double(o.max_levels),
                            double(o.lanczos_iterations), double(o.check), double(candidates),
                            double(finest_given)});
}

/// The rows of a slice on other ranks.
template <class V>
matrix_slice<V> moved(const communicator& ranks, const matrix_slice<V>& A, const shares& to) {
    host_vector<entry<V>> mine;
    const auto first = index(A.rows.of(ranks.rank()).first);
    for_each_entry(view(A.own), 0, A.own.shape.rows, [&](index i, index j, V v) {
        mine.push_back({first + i, j, v});
    });
    return {to, to, assembled(ranks, to, A.shape().cols, std::move(mine))};
}

/// The identity, which takes elements of x from ranks that share them out in one way to those that
/// do in the other.
template <class V>
matrix_slice<V> identity(int rank, const shares& from, const shares& to) {
    const auto n = std::size_t(to.count(rank));
    matrix_slice<V> I{to, from, {{index(n), from.total()}, {}, {}, host_vector<V>(n, V(1))}};
    host_vector<offset> ptr{0};
    for (std::size_t i = 0; i < n; ++i)
        I.own.col_ind.push_back(index(to.of(rank).first) + index(i)), ptr.push_back(offset(i) + 1);
    I.own.row_ptr = offset_vector(ptr);
    return I;
}

/// The rank's threads that make the levels.
cpu helpers(cpu on) { return {.threads = on.threads}; }
cpu helpers(gpu) { return {}; }

/// Methods of the products that are hardly planned: planning takes longer than it gains over those
/// of a solve. On a GPU the second takes rows that are too long for the first.
std::vector<std::string> plain_methods(cpu) { return {"csr.balanced"}; }
std::vector<std::string> plain_methods(gpu) { return {"csr.subwarp", "csr.adaptive"}; }

/// How the product of this rank's part of a coarser level is planned.
template <class V, class B>
plan_options coarser_options(B on, const matrix_slice<V>& part) {
    if (std::is_same_v<B, gpu> && part.own.val.size() >= worth_packing)
        return product_options<V>(on);
    return {.methods = plain_methods(on)};
}
template <class V, class B>
plan_options both_ways(B on, const matrix_slice<V>& part) {
    plan_options o = coarser_options(on, part);
    o.transposed = true;
    return o;
}

double largest(const communicator& ranks, double mine) {
    for (const double other : gathered(ranks, mine)) mine = std::max(mine, other);
    return mine;
}

/// 1 or 2: what suits the ranks that have most of the rows.
int agreed_distance(const communicator& ranks, const strong_graph& strong) {
    const int mine = suitable_distance(cpu{}, strong);
    const auto far = summed(ranks, offset(mine == 2 ? strong.nodes() : 0));
    return 2 * far > summed(ranks, offset(strong.nodes())) ? 2 : 1;
}

}  // namespace

template <class V, class B>
distributed_amg<V, B>::distributed_amg(B on, const matrix_slice<V>& given, const amg_options& o,
                                       const candidates<V>& near,
                                       const linear_operator<V, B>* finest)
    : matrix_free_operator<V, B>(on, own_shape(on, given)), levels_(on, o.cycle) {
    const communicator& ranks = *on.ranks;
    const auto start = steady_clock::now();
    agree(&ranks, [&] { check_part(ranks, given, o, near, finest); });
    expect_same(ranks, o, near.count, finest != nullptr);
    matrix_slice<V> ascending;  // where A is not
    agree(&ranks, [&] {
        if (order_of(view(given.own)) == row_order::any)
            ascending = {given.rows, given.cols, canonical(view(given.own))};
    });
    const matrix_slice<V>& A = ascending.own.shape.rows > 0 ? ascending : given;
    if (o.check && !is_symmetric(ranks, A))
        throw argument_error("amg: the matrix is not symmetric");
    candidates<V> candidate;
    agree(&ranks, [&] {
        const index rows = A.rows.count(ranks.rank()), first = index(A.rows.of(ranks.rank()).first);
        require_positive<V>(diagonal_of(helpers(on), view(A.own), first), first);
        candidate = near.count > 0 ? near : constant_candidates<V>(rows, o.block, first);
    });
    const shares where = shares_of_level(whole_blocks(A.rows, o.block), o.coarse_rows);
    if (where == A.rows) {
        add_levels(A, o, std::move(candidate), finest);
    } else {
        candidate.val =
            nz::moved<V>(ranks, A.rows, where, candidate.val, std::size_t(candidate.count));
        auto I = identity<V>(ranks.rank(), A.rows, where);
        const auto products = both_ways(on, I);
        moves_ = std::make_unique<distributed<V, B>>(on, std::move(I), products);
        add_levels(moved(ranks, A, where), o, std::move(candidate), nullptr);
        agree(&ranks, [&] {
            moved_b_ = make_vector<V>(on, std::size_t(where.count(ranks.rank())));
            moved_x_ = make_vector<V>(on, moved_b_.size());
        });
    }
    agree(&ranks, [&] { levels_.finish(); });
    report_.setup_s = seconds_since(start);
}

template <class V, class B>
void distributed_amg<V, B>::add_levels(const matrix_slice<V>& A, const amg_options& o,
                                       candidates<V> near, const linear_operator<V, B>* finest) {
    const B on = this->on();
    const cpu here = helpers(on);
    const communicator& ranks = *on.ranks;
    coarser_level<V> made;
    const matrix_slice<V>* current = &A;
    made.near = std::move(near);
    const auto entries = [&] { return summed(ranks, offset(current->own.val.size())); };
    const offset most = most_entries(entries(), o.block, made.near.count);
    double eps = o.strength;
    for (index block = o.block;; block = made.near.count, eps *= coarser_strength) {
        const bool is_finest = levels_.empty();
        const shares rows = current->rows;
        const range mine = rows.of(ranks.rank());
        auto& l = levels_.add(mine.last - mine.first);
        auto& told = report_.levels.emplace_back();
        told.rows = rows.total(), told.nnz = entries();
        const auto level = make_local_level(ranks, *current, block);
        if (rows.total() <= o.coarse_rows) {
            agree(&ranks, [&] {
                const auto inverse = dense_inverse(here, view(level.block));
                B alone = on;
                alone.ranks = nullptr;
                l.inverse =
                    find_method<V>(plain_methods(on)[0]).template on<B>()(alone, view(inverse));
            });
            report_.direct = true;
            return;
        }
        const auto products = is_finest ? product_options<V>(on) : coarser_options(on, *current);
        if (!is_finest)
            l.own = std::make_unique<distributed<V, B>>(on, std::move(made.A), products);
        else if (finest == nullptr)
            l.own = std::make_unique<distributed<V, B>>(on, A, products);
        l.A = l.own != nullptr ? l.own.get() : finest;
        told.method = l.A->method_name();
        host_vector<V> diagonal;
        smoother_inputs<V, B> smoothed{{}, {}, 0, 0, mine.first};
        strong_graph strong;
        agree(&ranks, [&] {
            diagonal = diagonal_of(here, view(level.block));
            const auto norm = l1_norms(here, view(level.A));
            smoothed.bound = gershgorin_bound<V>(here, diagonal, norm);
            smoothed.diagonal = from_host(on, std::span<const V>(diagonal));
            smoothed.norm = from_host(on, std::span<const V>(norm));
            strong = strong_couplings<V>(here, view(level.block), block, eps, diagonal);
        });
        const int distance = !is_finest                   ? 1
                             : o.aggregation_distance > 0 ? o.aggregation_distance
                                                          : agreed_distance(ranks, strong);
        smoothed.bound = largest(ranks, smoothed.bound), smoothed.distance = distance;
        told.spectral_radius = levels_.add_smoother(std::move(smoothed), o);
        if (int(report_.levels.size()) >= o.max_levels) return;
        aggregation groups;
        agree(&ranks, [&] { groups = aggregate(here, strong, distance), strong = {}; });
        made = coarsen<V>(here, ranks, rows, level, groups, diagonal, std::move(made.near),
                          {block, eps, o.omega / told.spectral_radius, most, o.coarse_rows});
        if (made.A.rows.total() == 0) return;
        const auto there_and_back = both_ways(on, made.P);
        l.P = std::make_unique<distributed<V, B>>(on, std::move(made.P), there_and_back);
        current = &made.A;
    }
}

template <class V, class B>
void distributed_amg<V, B>::map(in<V, B> x, out<V, B> y) const {
    if (moves_ == nullptr) return levels_.cycle(x, y);
    moves_->apply(V(1), x, V(0), moved_b_);
    levels_.cycle(moved_b_, moved_x_);
    moves_->apply_transposed(transposition::transpose, V(1), moved_x_, V(0), y);
}

template <class V, class B>
std::size_t distributed_amg<V, B>::bytes() const {
    return levels_.bytes() + (moves_ == nullptr ? 0 : moves_->bytes()) +
           (moved_b_.size() + moved_x_.size()) * sizeof(V);
}

template class distributed_amg<float, cpu>;
template class distributed_amg<double, cpu>;
template class distributed_amg<float, gpu>;
template class distributed_amg<double, gpu>;

}  // namespace nz
