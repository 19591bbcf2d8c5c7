// Smoothed prolongation on a GPU.
#include "nonzero/matrix/spgemm.cuh"
#include "nonzero/solve/multigrid/gram_schmidt.hpp"
#include "nonzero/solve/multigrid/prolongation.hpp"

namespace nz {
namespace {

struct sort_key {
    const index* of;
    index count;
    index *key, *node;
    __device__ void operator()(std::int64_t i) const {
        key[i] = of[i] == isolated ? count : of[i];
        node[i] = index(i);
    }
};

/// The candidates made orthonormal within one aggregate, its nodes in ascending order, by one
/// thread: sums have the CPU's order.
template <class V>
struct orthonormalise {
    const index *key, *node;
    std::int64_t n;
    index block, k;
    V remainder;
    V *fine, *columns, *R;
    __device__ void operator()(std::int64_t a) const {
        const std::int64_t first = first_at_least(key, n, a);
        const std::int64_t count = first_at_least(key, n, a + 1) - first;
        V* const Q = columns + first * block * k;
        move_part<true>(node + first, count, block, k, Q, fine);
        gram_schmidt<V>{count * block, k, remainder, Q, R + a * k * k}.run();
        move_part<false>(node + first, count, block, k, Q, fine);
    }
};

/// -omega over the diagonal with the weak couplings of the row.
template <class V>
struct find_scale {
    csr<V, device_view> A;
    const V* diagonal;
    const char* strong;  ///< null: all are
    V omega;
    V* scale;
    __device__ void operator()(std::int64_t i) const {
        V dropped(0);
        if (strong != nullptr)
            for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
                if (A.col_ind[k] != i && !strong[k]) dropped += A.val[k];
        constexpr V least = V(0.25);
        const V d = diagonal[i] + dropped;
        scale[i] = -omega / (d > least * diagonal[i] ? d : diagonal[i]);
    }
};

/// Rows of I - omega D_f^-1 A_f, empty where a node is isolated: over ranks it may be coupled to
/// nodes of others all the same.
template <class V>
struct smoother_rows {
    device_offset_span ptr;
    const index* col;
    const V* val;
    const char* strong;  ///< null: all are
    const V* scale;
    V omega;
    const index* of;
    __device__ bool is_left(std::int64_t i, offset k) const {
        return col[k] == i || (omega != V(0) && (strong == nullptr || strong[k]));
    }
    __device__ bool has(std::int64_t i, offset k) const {
        return is_left(i, k) && of[i] != isolated;
    }
    __device__ V value(std::int64_t i, offset k) const {
        return col[k] == i ? V(1) - omega : rounded_product(scale[i], val[k]);
    }
};

/// The same of nodes of `block` rows.
template <class V>
struct block_smoother_rows : smoother_rows<V> {
    index block;
    __device__ bool has(std::int64_t i, offset k) const {
        return this->is_left(i, k) && this->of[i / block] != isolated;
    }
};

/// Rows of T: one entry, or none where a node is isolated.
template <class V>
struct tentative_rows {
    const index* of;
    const V* T;
    __device__ offset first(index j) const { return j; }
    __device__ offset last(index j) const { return offset(j) + (of[j] != isolated); }
    __device__ index column(offset m) const { return of[m]; }
    __device__ V value(offset m) const { return T[m]; }
};

/// Rows of T: k entries side by side, or none where a node is isolated.
template <class V>
struct block_tentative_rows {
    const index* of;
    index block, k;
    const V* T;
    __device__ offset first(index j) const { return offset(j) * k; }
    __device__ offset last(index j) const {
        return of[j / block] != isolated ? first(j) + k : first(j);
    }
    __device__ index column(offset m) const {
        const auto row = index(m / k);
        return of[row / block] * k + index(m - offset(row) * k);
    }
    __device__ V value(offset m) const { return T[m]; }
};

int bits_of(index n) {
    int bits = 1;
    while (bits < 31 && (std::int64_t(1) << bits) <= n) ++bits;
    return bits;
}

}  // namespace

template <class V>
tentative<V, device> tentative_prolongation(gpu on, const aggregation<device>& a, index block,
                                            const candidates<V, device>& fine) {
    const device_guard guard(on);
    const std::size_t n = a.of.size(), k = std::size_t(fine.count);
    device_array<index> key(on, n), node(on, n), sorted_key(on, n), sorted_node(on, n);
    launch_each(on, std::int64_t(n), sort_key{a.of.data(), a.count, key.data(), node.data()});
    if (n > 0)
        with_scratch(on, [&](void* scratch, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortPairs(scratch, bytes, key.data(), sorted_key.data(),
                                                   node.data(), sorted_node.data(), std::int64_t(n),
                                                   0, bits_of(a.count), stream_of(on));
        });
    device_array<V> columns(on, fine.val.size());
    tentative<V, device> t{{fine.count, device_array<V>(on, fine.val.size())},
                           {fine.count, device_array<V>(on, std::size_t(a.count) * k * k)}};
    copy_on_device(on, fine.val.data(), t.fine.val.data(), fine.val.size() * sizeof(V));
    fill_bytes(on, t.coarse.val, 0);
    launch_each(on, a.count,
                orthonormalise<V>{sorted_key.data(), sorted_node.data(), std::int64_t(n), block,
                                  fine.count, dependent_remainder<V>, t.fine.val.data(),
                                  columns.data(), t.coarse.val.data()});
    synchronize(on);
    return t;
}

namespace {

/// The product S T, given to f as product_on_gpu.
template <class V, class F>
auto with_product(gpu on, const csr<V, device_view>& A, index block, const char* strong,
                  double omega, in<V, gpu> diagonal, const aggregation<device>& a,
                  const candidates<V, device>& T, F f) {
    device_array<V> scale(on, std::size_t(A.shape.rows));
    launch_each(on, A.shape.rows,
                find_scale<V>{A, diagonal.data(), strong, V(omega), scale.data()});
    const smoother_rows<V> S{A.row_ptr,    A.col_ind.data(), A.val.data(), strong,
                             scale.data(), V(omega),         a.of.data()};
    const nz::shape shape{A.shape.rows, index(std::int64_t(a.count) * T.count)};
    const double a_row = double(A.val.size()) / std::max(A.shape.rows, 1);
    if (block == 1 && T.count == 1)
        return f(product_on_gpu<V, smoother_rows<V>, tentative_rows<V>>(
            on, shape, S, {a.of.data(), T.val.data()}, a_row < 16 ? 0 : 1));
    return f(product_on_gpu<V, block_smoother_rows<V>, block_tentative_rows<V>>(
        on, shape, {S, block}, {a.of.data(), block, T.count, T.val.data()}, 2));
}

}  // namespace

template <class V>
csr<V, device> smoothed_prolongation(gpu on, const csr<V, device_view>& A, index block,
                                     const strong_graph<device>& g, double omega,
                                     const aggregation<device>& a, const candidates<V, device>& T) {
    const device_guard guard(on);
    const auto diagonal = diagonal_of(on, A);
    return with_product<V>(on, A, block, block == 1 ? g.strong.data() : nullptr, omega, diagonal, a,
                           T, [](auto product) { return product.run(); });
}

template <class V>
void smoothed_values(gpu on, const csr<V, device_view>& A, index block,
                     const device_array<char>& strong, double omega, const aggregation<device>& a,
                     const candidates<V, device>& T, in<V, gpu> diagonal, csr<V, device>& P) {
    const device_guard guard(on);
    with_product<V>(on, A, block, strong.size() > 0 ? strong.data() : nullptr, omega, diagonal, a,
                    T, [&](auto product) { product.run_values(P); });
}

#define NZ_INSTANTIATE(V)                                                                        \
    template tentative<V, device> tentative_prolongation(gpu, const aggregation<device>&, index, \
                                                         const candidates<V, device>&);          \
    template csr<V, device> smoothed_prolongation(                                               \
        gpu, const csr<V, device_view>&, index, const strong_graph<device>&, double,             \
        const aggregation<device>&, const candidates<V, device>&);                               \
    template void smoothed_values(gpu, const csr<V, device_view>&, index,                        \
                                  const device_array<char>&, double, const aggregation<device>&, \
                                  const candidates<V, device>&, in<V, gpu>, csr<V, device>&);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
