#include "nonzero/matrix/nodes.hpp"

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/matrix/node_rows.hpp"

namespace nz {
namespace {

/// Of every `step`-th group of `block` rows, as nz::are_nodes.
template <index block, class V>
bool are_nodes(cpu on, const communicator* ranks, const csr<V, host_view>& A, index first_row,
               std::int64_t step) {
    const std::int64_t before = (block - first_row % block) % block;
    const std::int64_t groups = std::max<std::int64_t>(A.shape.rows - before, 0) / block;
    const std::int64_t looked_at = (groups + step - 1) / step;
    const auto both = [](const node_counts& a, const node_counts& b) {
        return node_counts{a.nodes + b.nodes, a.feeling + b.feeling};
    };
    const auto mine = A.row_ptr.visit([&](const auto* row_ptr) {
        return parallel_reduce(
            thread_count(on), looked_at, node_counts(), both, [&](std::int64_t k) {
                const auto kind =
                    kind_of_rows<block>(row_ptr, A.col_ind.data(), A.val.data(),
                                        before + k * step * block, rounding_of_sums<real<V>>);
                return node_counts{kind != rows_are::no_node, kind == rows_are::a_node};
            });
    });
    const node_counts found{summed_over(ranks, mine.nodes), summed_over(ranks, mine.feeling)};
    return nz::are_nodes(found, summed_over(ranks, looked_at), step);
}

/// Whether A is of nodes of `block` unknowns: by a sample first, and then by all of them.
template <index block, class V>
bool is_of_nodes(cpu on, const communicator* ranks, const csr<V, host_view>& A, index rows,
                 index first_row) {
    if (rows % block != 0) return false;
    const std::int64_t step = step_of_sample(A.shape.rows, block);
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
