#include "nonzero/dist/amg.hpp"

#include <algorithm>
#include <array>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/dist/coarsen.hpp"
#include "nonzero/dist/entries.hpp"
#include "nonzero/solve/multigrid/coarsening.hpp"
#include "nonzero/solve/multigrid/dense_inverse.hpp"

namespace nz {
namespace {

template <class V>
nz::shape own_shape(cpu on, const matrix_slice<V>& A) {
    if (on.ranks == nullptr) throw argument_error("amg: on.ranks is null");
    return {A.own.shape.rows, A.own.shape.rows};
}

/// What one rank can check of its arguments.
template <class V>
void check_part(const communicator& ranks, const matrix_slice<V>& A, const amg_options& o,
                const candidates<V>& near, const linear_operator<V, cpu>* finest) {
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

/// Products that are not planned: planning takes longer than it gains over those of a solve.
plan_options not_planned() {
    plan_options o;
    o.methods = {"csr.balanced"};
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

template <class V>
distributed_amg<V>::distributed_amg(cpu on, const matrix_slice<V>& given, const amg_options& o,
                                    const candidates<V>& near,
                                    const linear_operator<V, cpu>* finest)
    : matrix_free_operator<V, cpu>(on, own_shape(on, given)), levels_(on, o.cycle) {
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
        require_positive<V>(diagonal_of(cpu{.threads = on.threads}, view(A.own), first), first);
        candidate = near.count > 0 ? near : constant_candidates<V>(rows, o.block, first);
    });
    const shares where = shares_of_level(whole_blocks(A.rows, o.block), o.coarse_rows);
    if (where == A.rows) {
        add_levels(A, o, std::move(candidate), finest);
    } else {
        candidate.val =
            nz::moved<V>(ranks, A.rows, where, candidate.val, std::size_t(candidate.count));
        moves_ = std::make_unique<distributed<V, cpu>>(on, identity<V>(ranks.rank(), A.rows, where),
                                                       not_planned());
        add_levels(moved(ranks, A, where), o, std::move(candidate), nullptr);
        moved_b_.resize(std::size_t(where.count(ranks.rank())));
        moved_x_.resize(moved_b_.size());
    }
    levels_.finish();
    report_.setup_s = seconds_since(start);
}

template <class V>
void distributed_amg<V>::add_levels(const matrix_slice<V>& A, const amg_options& o,
                                    candidates<V> near, const linear_operator<V, cpu>* finest) {
    const cpu on = this->on(), alone{.threads = on.threads};
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
                const auto inverse = dense_inverse(alone, view(level.block));
                l.inverse = find_method<V>("csr.balanced").on_cpu(alone, view(inverse));
            });
            report_.direct = true;
            return;
        }
        if (!is_finest)
            l.own = std::make_unique<distributed<V, cpu>>(on, std::move(made.A), not_planned());
        else if (finest == nullptr)
            l.own = std::make_unique<distributed<V, cpu>>(on, A,
                                                          plan_options{.expected_products = 100});
        l.A = l.own != nullptr ? l.own.get() : finest;
        told.method = l.A->method_name();
        host_vector<V> diagonal, norm;
        double bound = 0;
        strong_graph strong;
        agree(&ranks, [&] {
            diagonal = diagonal_of(alone, view(level.block));
            norm = l1_norms(alone, view(level.A));
            bound = gershgorin_bound<V>(alone, diagonal, norm);
            strong = strong_couplings<V>(alone, view(level.block), block, eps, diagonal);
        });
        const int distance = !is_finest                   ? 1
                             : o.aggregation_distance > 0 ? o.aggregation_distance
                                                          : agreed_distance(ranks, strong);
        told.spectral_radius = levels_.add_smoother(
            {diagonal, std::move(norm), largest(ranks, bound), distance, mine.first}, o);
        if (int(report_.levels.size()) >= o.max_levels) return;
        aggregation groups;
        agree(&ranks, [&] { groups = aggregate(alone, strong, distance), strong = {}; });
        made = coarsen<V>(alone, ranks, rows, level, groups, diagonal, std::move(made.near),
                          {block, eps, o.omega / told.spectral_radius, most, o.coarse_rows});
        if (made.A.rows.total() == 0) return;
        plan_options both = not_planned();
        both.transposed = true;
        l.P = std::make_unique<distributed<V, cpu>>(on, std::move(made.P), both);
        current = &made.A;
    }
}

template <class V>
void distributed_amg<V>::map(in<V, cpu> x, out<V, cpu> y) const {
    if (moves_ == nullptr) return levels_.cycle(x, y);
    moves_->apply(V(1), x, V(0), moved_b_);
    levels_.cycle(moved_b_, moved_x_);
    moves_->apply_transposed(transposition::transpose, V(1), moved_x_, V(0), y);
}

template <class V>
std::size_t distributed_amg<V>::bytes() const {
    return levels_.bytes() + (moves_ == nullptr ? 0 : moves_->bytes()) +
           (moved_b_.size() + moved_x_.size()) * sizeof(V);
}

template class distributed_amg<float>;
template class distributed_amg<double>;

}  // namespace nz
