#include "nonzero/solve/multigrid/amg.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/entries.hpp"
#include "nonzero/dist/share_out.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/solve/multigrid/coarsen.hpp"
#include "nonzero/solve/multigrid/hierarchy.hpp"
#include "nonzero/solve/multigrid/level_product.hpp"

namespace nz {
namespace {

/// A's diagonal. Throws argument_error, saying why, where A cannot be symmetric positive definite.
template <class V>
host_vector<V> suitable_diagonal(const ascending<V>& in_order, bool symmetric) {
    const csr<V, host_view>& A = in_order.view();
    if (A.shape.rows != A.shape.cols)
        throw argument_error(
            fmt::format("amg: the matrix is {} x {}, not square", A.shape.rows, A.shape.cols));
    auto diagonal = diagonal_of(cpu{}, A);
    require_positive<V>(cpu{}, diagonal);
    if (!symmetric) return diagonal;
    if (const auto why = why_not_finite(in_order); !why.empty())
        throw argument_error("amg: " + why);
    if (const auto found = first_asymmetry(in_order, symmetry::symmetric))
        throw argument_error(fmt::format("amg: the matrix is not symmetric in row {}", found->row));
    return diagonal;
}

template <class V, class B>
nz::shape own_shape(B on, const matrix_slice<V>& A) {
    if (on.ranks == nullptr) throw argument_error("amg: on.ranks is null");
    return {A.own.shape.rows, A.own.shape.rows};
}

/// Checks the arguments as far as one rank can.
template <class V, class B>
void check_part(const communicator& ranks, const matrix_slice<V>& A, const amg_options& o,
                const candidates<V>& near, const linear_operator<V, B>* finest) {
    o.validate();
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
struct amg<V, B>::hierarchy {
    multigrid_levels<V, B> levels;
    /// Where the levels are on other ranks than x: from those of x to those of the levels.
    std::unique_ptr<distributed<V, B>> moves;
    vector<V, B> moved_b, moved_x;
};

template <class V, class B>
amg<V, B>::amg(const ascending<V>& in_order, B on, const amg_options& o, const candidates<V>& near,
               const linear_operator<V, B>* finest)
    : matrix_free_operator<V, B>(on, in_order.view().shape),
      made_(new hierarchy{{on, o.cycle}, {}, {}, {}}) {
    const auto start = steady_clock::now();
    o.validate();
    const csr<V, host_view>& A = in_order.view();
    auto diagonal = suitable_diagonal(in_order, o.check);
    if (A.shape.rows % o.block != 0)
        throw argument_error(
            fmt::format("amg: {} rows, not whole blocks of {}", A.shape.rows, o.block));
    if (near.count < 0 || near.val.size() != std::size_t(A.shape.rows) * std::size_t(near.count))
        throw argument_error(fmt::format("amg: {} candidates of {} rows have {} values", near.count,
                                         A.shape.rows, near.val.size()));
    if (finest != nullptr && finest->shape() != A.shape)
        throw argument_error("amg: the product given is of another shape than the matrix");
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        if constexpr (std::is_same_v<B, gpu>) require_gpu(on);
        make_levels<V, B>(on, in_order, std::move(diagonal), o, near, finest, made_->levels,
                          report_);
        made_->levels.finish();
        report_.setup_s = seconds_since(start);
    }
}

template <class V, class B>
amg<V, B>::amg(B on, const matrix_slice<V>& A, const amg_options& o, const candidates<V>& near,
               const linear_operator<V, B>* finest)
    : matrix_free_operator<V, B>(on, own_shape(on, A)),
      made_(new hierarchy{{on, o.cycle}, {}, {}, {}}) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const communicator& ranks = *on.ranks;
        const auto start = steady_clock::now();
        agree(&ranks, [&] { check_part(ranks, A, o, near, finest); });
        expect_same(ranks, o, near.count, finest != nullptr);
        if (o.check)
            if (const auto why = why_not_symmetric(ranks, A); !why.empty())
                throw argument_error("amg: " + why);
        auto& h = *made_;
        const shares where = shares_of_level(whole_blocks(A.rows, o.block), o.coarse_rows);
        if (where == A.rows) {
            make_levels<V, B>(on, A, o, near, finest, h.levels, report_);
        } else {
            agree(&ranks, [&] { validate(view(A.own), false); });
            const candidates<V> there{
                near.count, nz::moved<V>(ranks, A.rows, where, near.val, std::size_t(near.count))};
            auto I = identity<V>(ranks.rank(), A.rows, where);
            const auto products = both_ways<V>(on, I.own.val.size());
            h.moves = std::make_unique<distributed<V, B>>(on, std::move(I), products);
            make_levels<V, B>(on, moved(ranks, A, where), o, there, nullptr, h.levels, report_);
            agree(&ranks, [&] {
                h.moved_b = make_vector<V>(on, std::size_t(where.count(ranks.rank())));
                h.moved_x = make_vector<V>(on, h.moved_b.size());
            });
        }
        agree(&ranks, [&] { h.levels.finish(); });
        report_.setup_s = seconds_since(start);
    }
}

template <class V, class B>
amg<V, B>::~amg() = default;

template <class V, class B>
void amg<V, B>::map(in<V, B> x, out<V, B> y) const {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        auto& h = *made_;
        if (h.moves == nullptr) return h.levels.cycle(x, y);
        h.moves->apply(V(1), x, V(0), h.moved_b);
        h.levels.cycle(h.moved_b, h.moved_x);
        h.moves->apply_transposed(transposition::transpose, V(1), h.moved_x, V(0), y);
    }
}

template <class V, class B>
std::size_t amg<V, B>::bytes() const {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto& h = *made_;
        return h.levels.bytes() + (h.moves == nullptr ? 0 : h.moves->bytes()) +
               (h.moved_b.size() + h.moved_x.size()) * sizeof(V);
    }
}

#define NZ_INSTANTIATE(V, B) template class amg<V, B>;
NZ_INSTANTIATE(float, cpu)
NZ_INSTANTIATE(double, cpu)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
