#include "nonzero/matrix/nodes.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/parallel.hpp"

namespace nz {
namespace {

/// The columns of a row as nodes, each once. `block` is no variable, as divisions by one take
/// longer than all else.
template <index block, class P>
class nodes_of_row {
  public:
    nodes_of_row(const P* row_ptr, const index* col, std::int64_t row)
        : col_(col), at_(row_ptr[row]), end_(row_ptr[row + 1]) {}
    /// -1 behind the last one.
    index next() {
        if (at_ == end_) return -1;
        const index node = col_[at_] / block;
        while (at_ < end_ && col_[at_] / block == node) ++at_;
        return node;
    }

  private:
    const index* col_;
    P at_, end_;
};

/// Kinds of `block` rows: those of a node, as the header says, which may send constants to zero.
enum class rows_are { no_node, a_node, a_node_without_feeling };

template <index block, class V, class P>
rows_are kind_of(const P* row_ptr, const csr<V, host_view>& A, std::int64_t row) {
    const index* const col = A.col_ind.data();
    std::int64_t neighbours = 0;
    for (index r = 0; r < block; ++r) {
        nodes_of_row<block, P> first(row_ptr, col, row), mine(row_ptr, col, row + r);
        for (index node = 0; node >= 0;) {
            node = first.next();
            if (mine.next() != node) return rows_are::no_node;
            neighbours += node >= 0;
        }
    }
    if (2 * std::int64_t(row_ptr[row + block] - row_ptr[row]) <= neighbours * block)
        return rows_are::no_node;
    double felt = 0, size = 0;
    for (index r = 0; r < block; ++r) {
        std::array<V, std::size_t(block)> sums{};
        for (P k = row_ptr[row + r]; k < row_ptr[row + r + 1]; ++k) {
            sums[std::size_t(col[k] % block)] += A.val[std::size_t(k)];
            size += double(std::abs(A.val[std::size_t(k)]));
        }
        for (const V sum : sums) felt += double(std::abs(sum));
    }
    if (2 * felt > size) return rows_are::no_node;
    constexpr double rounding = 1e3 * std::numeric_limits<real<V>>::epsilon();
    return felt <= rounding * size ? rows_are::a_node_without_feeling : rows_are::a_node;
}

/// Of every `step`-th group of `block` rows: whether nine in ten are nodes. Of all of them, also
/// whether some feel a constant: where none does A is singular, as that of a free body, and its
/// levels would be.
template <index block, class V>
bool are_nodes(cpu on, const communicator* ranks, const csr<V, host_view>& A, index first_row,
               std::int64_t step) {
    const std::int64_t before = (block - first_row % block) % block;
    const std::int64_t groups = std::max<std::int64_t>(A.shape.rows - before, 0) / block;
    const std::int64_t looked_at = (groups + step - 1) / step;
    constexpr offset feeling = offset(1) << 32;  // counts those that feel a constant as well
    const offset mine = A.row_ptr.visit([&](const auto* row_ptr) {
        return parallel_reduce(thread_count(on), looked_at, offset(0), std::plus<>(),
                               [&](std::int64_t k) -> offset {
                                   switch (kind_of<block>(row_ptr, A, before + k * step * block)) {
                                       case rows_are::no_node:
                                           return 0;
                                       case rows_are::a_node:
                                           return 1 + feeling;
                                       default:
                                           return 1;
                                   }
                               });
    });
    const offset all = summed_over(ranks, offset(looked_at)), found = summed_over(ranks, mine);
    if (10 * (found % feeling) < 9 * all || all == 0) return false;
    return step > 1 || found >= feeling;
}

/// Whether A is of nodes of `block` unknowns: by a sample first, and then by all of them.
template <index block, class V>
bool is_of_nodes(cpu on, const communicator* ranks, const csr<V, host_view>& A, index rows,
                 index first_row) {
    constexpr std::int64_t sample = 200;  // of a rank's groups
    if (rows % block != 0) return false;
    const std::int64_t step = A.shape.rows / block / sample + 1;
    return are_nodes<block>({.threads = 1}, ranks, A, first_row, step) &&
           are_nodes<block>(on, ranks, A, first_row, 1);
}

}  // namespace

template <class V>
index unknowns_a_node(cpu on, const communicator* ranks, const csr<V, host_view>& A, index rows,
                      index first_row) {
    if (is_of_nodes<6>(on, ranks, A, rows, first_row)) return 6;
    if (is_of_nodes<3>(on, ranks, A, rows, first_row)) return 3;
    return is_of_nodes<2>(on, ranks, A, rows, first_row) ? 2 : 1;
}

#define NZ_INSTANTIATE(V)                                                                     \
    template index unknowns_a_node(cpu, const communicator*, const csr<V, host_view>&, index, \
                                   index);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
