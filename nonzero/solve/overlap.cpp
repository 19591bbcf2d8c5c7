#include "nonzero/solve/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/local_rows.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/dist/own_block.hpp"
#include "nonzero/dist/share_out.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/solve/multigrid/level_product.hpp"
#include "nonzero/solve/multigrid/ranks/halo_rows.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"

namespace nz {
namespace {

/// The columns that the rows of `all` have among `rows`, numbered by their places there.
template <class V>
csr<V, host> among(const csr<V, host>& all, std::span<const index> rows) {
    host_vector<offset> ptr{0};
    host_vector<index> col;
    host_vector<V> val;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (auto k = std::size_t(all.row_ptr[i]); k < std::size_t(all.row_ptr[i + 1]); ++k) {
            const auto at = std::ranges::lower_bound(rows, all.col_ind[k]);
            if (at == rows.end() || *at != all.col_ind[k]) continue;
            col.push_back(index(at - rows.begin())), val.push_back(all.val[k]);
        }
        ptr.push_back(offset(col.size()));
    }
    const auto n = index(rows.size());
    return {{n, n}, offset_vector(ptr), std::move(col), std::move(val)};
}

/// The block of the own rows and of those of others, ascending.
template <class V>
overlapping_block<V> joined_block(const matrix_slice<V>& A, int rank, const csr<V, host>& of_others,
                                  const host_vector<index>& others) {
    const range mine = A.rows.of(rank);
    overlapping_block<V> block;
    const auto first_after = std::ranges::lower_bound(others, index(mine.first));
    block.before = index(first_after - others.begin());
    block.rows.assign(others.begin(), first_after);
    for (auto i = mine.first; i < mine.last; ++i) block.rows.push_back(index(i));
    block.rows.insert(block.rows.end(), first_after, others.end());
    if (others.empty()) {
        block.A = own_block(A, rank);
        return block;
    }
    const auto until_own =
        stacked(cpu{}, rows_before(cpu{}, view(of_others), block.before), view(A.own));
    const auto after = rows_from(cpu{}, view(of_others), block.before);
    block.A = among(stacked(cpu{}, view(until_own), view(after)), block.rows);
    return block;
}

/// Names such a row here: the ranks that it goes to do not know it by its number.
template <class V>
void check_finite(const csr<V, host>& own, range mine) {
    const auto at = std::ranges::find_if_not(own.val, is_finite<V>) - own.val.begin();
    if (at == std::ssize(own.val)) return;
    index row = 0;
    while (own.row_ptr[std::size_t(row) + 1] <= at) ++row;
    throw argument_error(
        fmt::format("solve: A is not finite in row {} (counted from 0)", mine.first + row));
}

}  // namespace

template <class V>
overlapping_block<V> overlapping(const communicator& ranks, const matrix_slice<V>& A, int overlap) {
    const range mine = A.rows.of(ranks.rank());
    csr<V, host> of_others{{0, A.cols.total()}, {0}, {}, {}};
    host_vector<index> others;
    for (int step = 0; step < overlap; ++step) {
        agree(&ranks, [&] {
            if (step == 0) check_finite(A.own, mine);
            others = columns_outside(cpu{}, view(A.own), mine);
            const auto more = columns_outside(cpu{}, view(of_others), mine);
            others.insert(others.end(), more.begin(), more.end());
            make_distinct(others);
        });
        const halo h = make_halo(ranks, A.rows, others);
        csr<V, host> sent;
        agree(&ranks, [&] { sent = rows_at(cpu{}, view(A.own), h.sent); });
        of_others = rows_of_halo(ranks, h, view(sent));
    }
    overlapping_block<V> block;
    agree(&ranks, [&] { block = joined_block(A, ranks.rank(), of_others, others); });
    return block;
}

namespace {

/// 1 over the root of the number of blocks that have each of a block's rows.
template <class V>
host_vector<V> weights_of(const communicator& ranks, const shares& rows,
                          const overlapping_block<V>& block) {
    const range mine = rows.of(ranks.rank());
    host_vector<index> others;
    const auto is_own = [&](index i) { return i >= mine.first && i < mine.last; };
    std::ranges::remove_copy_if(block.rows, std::back_inserter(others), is_own);
    const halo h = make_halo(ranks, rows, others);
    host_vector<index> blocks(std::size_t(mine.last - mine.first), 1), sent;
    for (const index i : h.sent) ++blocks[std::size_t(i)];
    for (const index i : h.sent) sent.push_back(blocks[std::size_t(i)]);
    const auto of_others = values_of_halo<index>(ranks, h, sent);
    host_vector<V> weights;
    auto next = of_others.begin();
    for (const index i : block.rows) {
        const index count = is_own(i) ? blocks[std::size_t(i - mine.first)] : *next++;
        weights.push_back(V(real<V>(1 / std::sqrt(double(count)))));
    }
    return weights;
}

template <class V, class B>
class schwarz_operator final : public matrix_free_operator<V, B> {
  public:
    schwarz_operator(B on, matrix_slice<V> taking, index before, schwarz_sum how,
                     std::unique_ptr<linear_operator<V, B>> M)
        : matrix_free_operator<V, B>(on, own_shape(on, taking)),
          before_(std::size_t(before)),
          how_(how),
          taking_(on, std::move(taking), both_ways<V>(on, 0)),
          M_(std::move(M)) {
        agree(on.ranks, [&] {
            x_ = make_vector<V>(on, std::size_t(taking_.shape().rows));
            y_ = make_vector<V>(on, x_.size());
        });
    }
    [[nodiscard]] std::size_t bytes() const override {
        return taking_.bytes() + M_->bytes() + (x_.size() + y_.size()) * sizeof(V);
    }

  protected:
    void map(in<V, B> x, out<V, B> y) const override {
        taking_.apply(V(1), x, V(0), x_);
        M_->apply(V(1), x_, V(0), y_);
        if (how_ == schwarz_sum::symmetric)
            return taking_.apply_transposed(transposition::transpose, V(1), y_, V(0), y);
        vector_space<V, B>(alone(this->on()), std::int64_t(y.size()))
            .copy(in<V, B>{y_.data() + before_, y.size()}, y);
    }

  private:
    static nz::shape own_shape(B on, const matrix_slice<V>& taking) {
        const index own = taking.cols.count(on.ranks->rank());
        return {own, own};
    }

    std::size_t before_;
    schwarz_sum how_;
    distributed<V, B> taking_;  ///< gives a block its elements of x, weighted where symmetric
    std::unique_ptr<linear_operator<V, B>> M_;
    mutable vector<V, B> x_, y_;
};

}  // namespace

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> schwarz(B on, const shares& rows,
                                               const overlapping_block<V>& block, schwarz_sum how,
                                               std::unique_ptr<linear_operator<V, B>> M) {
    const communicator& ranks = *on.ranks;
    const auto n = index(block.rows.size());
    const shares blocks = gathered_shares(ranks, n);
    host_vector<V> weights(block.rows.size(), V(1));
    if (how == schwarz_sum::symmetric) weights = weights_of(ranks, rows, block);
    host_vector<offset> ptr(block.rows.size() + 1);
    for (std::size_t i = 0; i < ptr.size(); ++i) ptr[i] = offset(i);
    matrix_slice<V> taking{
        blocks, rows, {{n, rows.total()}, offset_vector(ptr), block.rows, std::move(weights)}};
    return std::make_unique<schwarz_operator<V, B>>(on, std::move(taking), block.before, how,
                                                    std::move(M));
}

#define NZ_INSTANTIATE_ON(V, B)                                     \
    template std::unique_ptr<linear_operator<V, B>> schwarz(        \
        B, const shares&, const overlapping_block<V>&, schwarz_sum, \
        std::unique_ptr<linear_operator<V, B>>);
#define NZ_INSTANTIATE(V)                                                                        \
    template overlapping_block<V> overlapping(const communicator&, const matrix_slice<V>&, int); \
    NZ_INSTANTIATE_ON(V, cpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)
NZ_INSTANTIATE_ON(float, gpu)
NZ_INSTANTIATE_ON(double, gpu)

}  // namespace nz
