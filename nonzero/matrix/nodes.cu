// Nodes of several unknowns, found in a matrix on a GPU.
#include "nonzero/matrix/nodes.hpp"

#include "nonzero/core/gpu/device_steps.cuh"
#include "nonzero/matrix/node_rows.hpp"
#include "nonzero/vector/scalar.cuh"

namespace nz {
namespace {

/// Counts kinds of `block` rows, by one addition a warp.
template <index block, class W>
struct count_nodes {
    csr<W, device_view> A;
    std::int64_t step;
    double rounding;
    unsigned* found;  ///< nodes, and those that feel a constant
    __device__ void operator()(std::int64_t k) const {
        const auto kind =
            kind_of_rows<block>(A.row_ptr, A.col_ind.ptr, A.val.ptr, k * step * block, rounding);
        const unsigned active = __activemask();
        const unsigned nodes = __ballot_sync(active, kind != rows_are::no_node);
        const unsigned feeling = __ballot_sync(active, kind == rows_are::a_node);
        if (int(threadIdx.x % warp_size) != __ffs(int(active)) - 1) return;
        atomicAdd(found, unsigned(__popc(nodes)));
        atomicAdd(found + 1, unsigned(__popc(feeling)));
    }
};

template <index block, class V>
bool are_nodes(gpu on, const csr<V, device_view>& A, std::int64_t step) {
    const std::int64_t groups = A.shape.rows / block, looked_at = (groups + step - 1) / step;
    device_array<unsigned> found(on, 2);
    fill_bytes(on, found, 0);
    launch_each(on, looked_at,
                count_nodes<block, device_value<V>>{in_kernels(A), step, rounding_of_sums<real<V>>,
                                                    found.data()});
    const auto counts = to_host<unsigned>(on, found);
    return nz::are_nodes({counts[0], counts[1]}, looked_at, step);
}

/// By a sample first, and then by all of them.
template <index block, class V>
bool is_of_nodes(gpu on, const csr<V, device_view>& A) {
    if (A.shape.rows % block != 0) return false;
    return are_nodes<block>(on, A, step_of_sample(A.shape.rows, block)) &&
           are_nodes<block>(on, A, 1);
}

}  // namespace

template <class V>
index unknowns_a_node(gpu on, const csr<V, device_view>& A) {
    const device_guard guard(on);
    if (is_of_nodes<6>(on, A)) return 6;
    if (is_of_nodes<3>(on, A)) return 3;
    return is_of_nodes<2>(on, A) ? 2 : 1;
}

#define NZ_INSTANTIATE(V) template index unknowns_a_node(gpu, const csr<V, device_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
