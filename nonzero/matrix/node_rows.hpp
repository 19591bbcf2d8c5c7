// Rows of a node, looked at where they lie: shared by the CPU and the GPU.
#pragma once

#include <limits>

#include "nonzero/core/space.hpp"
#include "nonzero/vector/scalar.hpp"

namespace nz {

/// The columns of a row as nodes, each once. `block` is no variable, as divisions by one take
/// longer than all else. Ptr: positions, by pointer or as a GPU has them.
template <index block, class Ptr>
class nodes_of_row {
  public:
    NZ_HOST_DEVICE nodes_of_row(Ptr row_ptr, const index* col, std::int64_t row)
        : col_(col), at_(row_ptr[std::size_t(row)]), end_(row_ptr[std::size_t(row) + 1]) {}
    /// -1 behind the last one.
    NZ_HOST_DEVICE index next() {
        if (at_ == end_) return -1;
        const index node = col_[at_] / block;
        while (at_ < end_ && col_[at_] / block == node) ++at_;
        return node;
    }

  private:
    const index* col_;
    offset at_, end_;
};

/// Kinds of `block` rows: those of a node, as `unknowns_a_node` says, which may send constants to
/// zero.
enum class rows_are { no_node, a_node, a_node_without_feeling };

/// Of the rows from `row` on. rounding: in units of the entries' magnitudes.
template <index block, class V, class Ptr>
NZ_HOST_DEVICE rows_are kind_of_rows(Ptr row_ptr, const index* col, const V* val, std::int64_t row,
                                     double rounding) {
    std::int64_t neighbours = 0;
    for (index r = 0; r < block; ++r) {
        nodes_of_row<block, Ptr> first(row_ptr, col, row), mine(row_ptr, col, row + r);
        for (index node = 0; node >= 0;) {
            node = first.next();
            if (mine.next() != node) return rows_are::no_node;
            neighbours += node >= 0;
        }
    }
    const offset entries = row_ptr[std::size_t(row + block)] - row_ptr[std::size_t(row)];
    if (2 * std::int64_t(entries) <= neighbours * block) return rows_are::no_node;
    double felt = 0, size = 0;
    for (index r = 0; r < block; ++r) {
        V sums[std::size_t(block)];
        for (V& sum : sums) sum = V(0);
        const offset end = row_ptr[std::size_t(row + r) + 1];
        for (offset k = row_ptr[std::size_t(row + r)]; k < end; ++k) {
            sums[std::size_t(col[k] % block)] += val[k];
            size += double(magnitude(val[k]));
        }
        for (const V& sum : sums) felt += double(magnitude(sum));
    }
    if (2 * felt > size) return rows_are::no_node;
    return felt <= rounding * size ? rows_are::a_node_without_feeling : rows_are::a_node;
}

/// Groups of rows that are nodes, and those of them that feel a constant.
struct node_counts {
    std::int64_t nodes = 0, feeling = 0;
};

/// Of `found` among `all` groups, every `step`-th: whether nine in ten are nodes. Of all of them,
/// also whether some feel a constant: where none does A is singular, as that of a free body, and
/// its levels would be.
constexpr bool are_nodes(const node_counts& found, std::int64_t all, std::int64_t step) {
    if (10 * found.nodes < 9 * all || all == 0) return false;
    return step > 1 || found.feeling > 0;
}
/// Every such group of a rank's is looked at first.
constexpr std::int64_t step_of_sample(index rows, index block) {
    constexpr std::int64_t sample = 200;  // of a rank's groups
    return rows / block / sample + 1;
}

/// Rounding errors of a row's sums, over the magnitudes of its entries: more is no error.
template <class R>
inline constexpr double rounding_of_sums = 1e3 * double(std::numeric_limits<R>::epsilon());

}  // namespace nz
