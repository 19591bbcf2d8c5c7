// Strong couplings on a GPU.
#include "nonzero/core/gpu/device_steps.cuh"
#include "nonzero/solve/multigrid/strength.hpp"
#include "nonzero/vector/scalar.cuh"

namespace nz {
namespace {

template <class V>
struct mark_strong {
    using R = real<V>;
    csr<device_value<V>, device_view> A;
    const R* diagonal;
    R eps2;
    char* strong;
    __device__ void operator()(std::int64_t i) const {
        const R mine = rounded_product(eps2, fabs(diagonal[i]));
        for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
            const index j = A.col_ind[k];
            const auto a = A.val[k];
            strong[k] = j != i && !(a == device_value<V>(0)) &&
                        squared(a) > rounded_product(mine, fabs(diagonal[j]));
        }
    }
};

/// The square root of the squared Frobenius norm of every diagonal block.
template <class V>
struct diagonal_block_norm {
    using R = real<V>;
    csr<device_value<V>, device_view> A;
    index block;
    R* norm;
    __device__ void operator()(std::int64_t i) const {
        R sum(0);
        for (std::int64_t row = i * block; row < (i + 1) * block; ++row)
            for (offset k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k)
                if (A.col_ind[k] / block == i) sum += squared(A.val[k]);
        norm[i] = sqrt(sum);
    }
};

/// The strong neighbours of a node, from its rows side by side: block column by block column, whose
/// squares are summed row by row. They have the room of the rows in A, as on the CPU.
template <class V>
struct merge_rows {
    using R = real<V>;
    csr<device_value<V>, device_view> A;
    index block;
    const R* norm;
    R eps2;
    offset* next;  ///< for each row, the entry that comes next
    index* neighbour;
    offset* count;
    __device__ void operator()(std::int64_t i) const {
        const std::int64_t first = i * block, last = first + block;
        for (std::int64_t row = first; row < last; ++row) next[row] = A.row_ptr[row];
        const R mine = rounded_product(norm[i], eps2);
        const offset start = A.row_ptr[first];
        offset to = start;
        for (index j = nearest(first, last); j < A.shape.rows / block; j = nearest(first, last)) {
            R norm2(0);
            for (std::int64_t row = first; row < last; ++row)
                for (; next[row] < A.row_ptr[row + 1] && A.col_ind[next[row]] / block == j;
                     ++next[row])
                    norm2 += squared(A.val[next[row]]);
            if (j != i && norm2 > rounded_product(mine, norm[j])) neighbour[to++] = j;
        }
        count[i] = to - start;
    }
    /// The least node that a row comes to next; as many as there are nodes where all are through.
    __device__ index nearest(std::int64_t first, std::int64_t last) const {
        index least = A.shape.rows / block;
        for (std::int64_t row = first; row < last; ++row)
            if (next[row] < A.row_ptr[row + 1]) least = min(least, A.col_ind[next[row]] / block);
        return least;
    }
};

/// Neighbours that lie apart moved side by side.
struct gather_lists {
    device_offset_span room, ptr;
    index block;
    const index* from;
    index* to;
    __device__ void operator()(std::int64_t i) const {
        const offset first = room[i * block];
        for (offset k = ptr[i]; k < ptr[i + 1]; ++k) to[k] = from[first + (k - ptr[i])];
    }
};

struct mark_within {
    const index* col;
    const char* strong;
    index nodes;
    char* to;
    __device__ void operator()(std::int64_t k) const { to[k] = strong[k] && col[k] < nodes; }
};

template <class V>
strong_graph<device> graph_of_blocks(gpu on, const csr<V, device_view>& A, index block,
                                     real<V> eps2) {
    const index nodes = A.shape.rows / block;
    device_array<real<V>> norm(on, static_cast<std::size_t>(nodes));
    launch_each(on, nodes, diagonal_block_norm<V>{in_kernels(A), block, norm.data()});
    device_array<offset> next(on, std::size_t(A.shape.rows)), count(on, std::size_t(nodes) + 1);
    device_array<index> neighbour(on, A.val.size());
    fill_bytes(on, count, 0);
    launch_each(on, nodes,
                merge_rows<V>{in_kernels(A), block, norm.data(), eps2, next.data(),
                              neighbour.data(), count.data()});
    strong_graph<device> g;
    offset edges = 0;
    g.own_row_ptr = row_pointers(on, count, edges);
    g.own_col_ind = device_array<index>(on, std::size_t(edges));
    g.strong = device_array<char>(on, std::size_t(edges));
    g.row_ptr = g.own_row_ptr, g.col_ind = g.own_col_ind;
    fill_bytes(on, g.strong, 1);
    launch_each(on, nodes,
                gather_lists{A.row_ptr, g.row_ptr, block, neighbour.data(), g.own_col_ind.data()});
    synchronize(on);
    return g;
}

}  // namespace

template <class V>
strong_graph<device> strong_couplings(gpu on, const csr<V, device_view>& A, index block, double eps,
                                      in<real<V>, gpu> known_diagonal) {
    const bool is_known = block == 1 && known_diagonal.size() == std::size_t(A.shape.cols);
    const bool fits = A.shape.rows == A.shape.cols || (is_known && A.shape.rows < A.shape.cols);
    if (!fits || block < 1 || A.shape.rows % block != 0 || !(eps >= 0))
        throw argument_error(
            "strong_couplings: expected a square matrix of whole blocks, eps >= 0");
    const device_guard guard(on);
    if (block > 1) return graph_of_blocks(on, A, block, real<V>(eps * eps));
    strong_graph<device> g{A.row_ptr, A.col_ind, device_array<char>(on, A.val.size()), {}, {}};
    const diagonal_or_known<V, gpu> diagonal(on, A, known_diagonal);
    launch_each(
        on, A.shape.rows,
        mark_strong<V>{in_kernels(A), diagonal.val.data(), real<V>(eps * eps), g.strong.data()});
    return g;
}

strong_graph<device> couplings_within(gpu on, const strong_graph<device>& g, index nodes) {
    const device_guard guard(on);
    strong_graph<device> within{
        g.row_ptr, g.col_ind, device_array<char>(on, g.strong.size()), {}, {}};
    launch_each(on, std::int64_t(g.strong.size()),
                mark_within{g.col_ind.data(), g.strong.data(), nodes, within.strong.data()});
    return within;
}

#define NZ_INSTANTIATE(V)                                                                          \
    template strong_graph<device> strong_couplings(gpu, const csr<V, device_view>&, index, double, \
                                                   in<real<V>, gpu>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
