#include "nonzero/solve/multigrid/distributed_amg.hpp"

#include <algorithm>
#include <array>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/dist/entries.hpp"
#include "nonzero/solve/multigrid/coarsen.hpp"
#include "nonzero/solve/multigrid/hierarchy.hpp"
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
                            double(o.lanczos_iterations), double(o.rows_worth_a_gpu),
                            double(o.check), double(candidates), double(finest_given)});
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

}  // namespace

template <class V, class B>
distributed_amg<V, B>::distributed_amg(B on, const matrix_slice<V>& A, const amg_options& o,
                                       const candidates<V>& near,
                                       const linear_operator<V, B>* finest)
    : matrix_free_operator<V, B>(on, own_shape(on, A)), levels_(on, o.cycle) {
    const communicator& ranks = *on.ranks;
    const auto start = steady_clock::now();
    agree(&ranks, [&] { check_part(ranks, A, o, near, finest); });
    expect_same(ranks, o, near.count, finest != nullptr);
    if (o.check)
        if (const auto why = why_not_symmetric(ranks, A); !why.empty())
            throw argument_error("amg: " + why);
    const shares where = shares_of_level(whole_blocks(A.rows, o.block), o.coarse_rows);
    if (where == A.rows) {
        make_levels<V, B>(on, A, o, near, finest, levels_, report_);
    } else {
        agree(&ranks, [&] { (void)order_of(view(A.own)); });
        const candidates<V> there{
            near.count, nz::moved<V>(ranks, A.rows, where, near.val, std::size_t(near.count))};
        auto I = identity<V>(ranks.rank(), A.rows, where);
        const auto products = both_ways<V>(on, I.own.val.size());
        moves_ = std::make_unique<distributed<V, B>>(on, std::move(I), products);
        make_levels<V, B>(on, moved(ranks, A, where), o, there, nullptr, levels_, report_);
        agree(&ranks, [&] {
            moved_b_ = make_vector<V>(on, std::size_t(where.count(ranks.rank())));
            moved_x_ = make_vector<V>(on, moved_b_.size());
        });
    }
    agree(&ranks, [&] { levels_.finish(); });
    report_.setup_s = seconds_since(start);
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
