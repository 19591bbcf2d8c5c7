// Smoothed prolongation on a GPU.
#include "nonzero/matrix/spgemm.cuh"
#include "nonzero/solve/multigrid/gram_schmidt.hpp"
#include "nonzero/solve/multigrid/prolongation.hpp"
#include "nonzero/vector/scalar.cuh"

namespace nz {
namespace {

int bits_of(index n) {
    int bits = 1;
    while (bits < 31 && (std::int64_t(1) << bits) <= n) ++bits;
    return bits;
}

struct sort_key {
    const index* of;
    index count;
    index *key, *node;
    __device__ void operator()(std::int64_t i) const {
        key[i] = of[i] == isolated ? count : of[i];
        node[i] = index(i);
    }
};

/// A warp's lanes on an aggregate's rows. Products are made by all lanes, and their sum by each, in
/// the CPU's order.
struct lanes_of_warp {
    static __device__ int lane() { return int(threadIdx.x) % warp_size; }
    template <class F>
    static __device__ void for_each(std::int64_t rows, F f) {
        for (std::int64_t i = lane(); i < rows; i += warp_size) f(i);
        __syncwarp();
    }
    template <class V, class F>
    static __device__ V sum(std::int64_t rows, F f) {
        V sum(0);
        for (std::int64_t start = 0; start < rows; start += warp_size) {
            const int here = rows - start < warp_size ? int(rows - start) : warp_size;
            const V mine = lane() < here ? f(start + lane()) : V(0);
            for (int l = 0; l < here; ++l) sum += __shfl_sync(full_warp, mine, l);
        }
        return sum;
    }
    static __device__ bool is_first() { return lane() == 0; }
};

/// The candidates made orthonormal within each aggregate, its nodes in ascending order, by a warp.
template <class V>
struct aggregates_columns {
    const index *key, *node;
    std::int64_t n;
    index block, k;
    real<V> remainder;
    device_value<V>*fine, *columns, *R;
    __device__ void orthonormalise(std::int64_t a) const {
        using W = device_value<V>;
        const std::int64_t first = first_at_least(key, n, a);
        const std::int64_t count = first_at_least(key, n, a + 1) - first;
        W* const Q = columns + first * block * k;
        move_part<true, lanes_of_warp>(node + first, count, block, k, Q, fine);
        gram_schmidt<W, lanes_of_warp>{count * block, k, remainder, Q, R + a * k * k}.run();
        move_part<false, lanes_of_warp>(node + first, count, block, k, Q, fine);
    }
};
template <class V>
__global__ void orthonormalise_each(std::int64_t count, aggregates_columns<V> columns) {
    const std::int64_t a = (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp_size;
    if (a < count) columns.orthonormalise(a);
}

/// The nodes of each aggregate, ascending, as a GPU's sort puts them.
struct members_on_gpu {
    members_on_gpu(gpu on, const aggregation<device>& a)
        : aggregate(on, a.of.size()), node(on, a.of.size()) {
        const std::size_t n = a.of.size();
        device_array<index> key(on, n), number(on, n);
        launch_each(on, std::int64_t(n), sort_key{a.of.data(), a.count, key.data(), number.data()});
        if (n > 0)
            with_scratch(on, [&](void* scratch, std::size_t& bytes) {
                return cub::DeviceRadixSort::SortPairs(scratch, bytes, key.data(), aggregate.data(),
                                                       number.data(), node.data(), std::int64_t(n),
                                                       0, bits_of(a.count), stream_of(on));
            });
    }
    device_array<index> aggregate, node;
};

/// Sets a mark where a value has an imaginary part.
template <class V>
struct find_imaginary {
    const V* val;
    unsigned* found;
    __device__ void operator()(std::int64_t k) const {
        if (val[k].im != 0) *found = 1;
    }
};

/// One aggregate's, by one thread, in the CPU's order.
template <class V>
struct find_phases {
    const index *key, *node;
    aggregate_phases<V, device_offset_span> walk;
    __device__ void operator()(std::int64_t a) const {
        const std::int64_t first = first_at_least(key, walk.own, a);
        walk.find(node + first, first_at_least(key, walk.own, a + 1) - first);
    }
};

/// The part of a weak coupling that the diagonal takes.
template <class R>
__device__ R weak_part(R a) {
    return a;
}
template <class R>
__device__ R weak_part(device_complex<R> a) {
    return -magnitude(a);
}

/// -omega over the diagonal with the weak couplings of the row.
template <class V>
struct find_scale {
    using R = real<V>;
    csr<device_value<V>, device_view> A;
    const R* diagonal;
    const char* strong;  ///< null: all are
    R omega;
    R* scale;
    __device__ void operator()(std::int64_t i) const {
        R dropped(0);
        if (strong != nullptr)
            for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
                if (A.col_ind[k] != i && !strong[k]) dropped += weak_part(A.val[k]);
        constexpr R least = R(0.25);
        const R d = diagonal[i] + dropped;
        scale[i] = -omega / (d > least * diagonal[i] ? d : diagonal[i]);
    }
};

/// Rows of I - omega D_f^-1 A_f, empty where a node is isolated: over ranks it may be coupled to
/// nodes of others all the same.
template <class V>
struct smoother_rows {
    using R = real<V>;
    using W = device_value<V>;
    device_offset_span ptr;
    const index* col;
    const W* val;
    const char* strong;  ///< null: all are
    const R* scale;
    R omega;
    const index* of;
    __device__ bool is_left(std::int64_t i, offset k) const {
        return col[k] == i || (omega != R(0) && (strong == nullptr || strong[k]));
    }
    __device__ bool has(std::int64_t i, offset k) const {
        return is_left(i, k) && of[i] != isolated;
    }
    __device__ W value(std::int64_t i, offset k) const {
        return col[k] == i ? W(R(1) - omega) : rounded_product(scale[i], val[k]);
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

}  // namespace

template <class V>
tentative<V, device> tentative_prolongation(gpu on, const aggregation<device>& a, index block,
                                            const candidates<V, device>& fine) {
    const device_guard guard(on);
    const std::size_t n = a.of.size(), k = std::size_t(fine.count);
    const members_on_gpu in(on, a);
    device_array<V> columns(on, fine.val.size());
    tentative<V, device> t{{fine.count, device_array<V>(on, fine.val.size())},
                           {fine.count, device_array<V>(on, std::size_t(a.count) * k * k)}};
    copy_on_device(on, fine.val.data(), t.fine.val.data(), fine.val.size() * sizeof(V));
    fill_bytes(on, t.coarse.val, 0);
    constexpr int threads = 128;
    if (a.count > 0)
        orthonormalise_each<V>
            <<<blocks_for(a.count, threads / warp_size), threads, 0, stream_of(on)>>>(
                a.count, {in.aggregate.data(), in.node.data(), std::int64_t(n), block, fine.count,
                          dependent_remainder<real<V>>, in_kernels(t.fine.val.data()),
                          in_kernels(columns.data()), in_kernels(t.coarse.val.data())});
    check_launch("tentative_prolongation");
    synchronize(on);
    return t;
}

template <class V>
bool are_real(gpu on, device_span<V> values) {
    const device_guard guard(on);
    device_array<unsigned> found(on, 1);
    fill_bytes(on, found, 0);
    launch_each(on, std::int64_t(values.size()),
                find_imaginary<device_value<V>>{in_kernels(values.data()), found.data()});
    return read_back(on, found.data()) == 0;
}

template <class V>
device_array<V> phases(gpu on, const csr<V, device_view>& A, const aggregation<device>& a) {
    const device_guard guard(on);
    const std::size_t n = a.of.size();
    const members_on_gpu in(on, a);
    device_array<V> x(on, n);
    fill_bytes(on, x, 0);
    launch_each(on, a.count,
                find_phases<device_value<V>>{in.aggregate.data(),
                                             in.node.data(),
                                             {A.row_ptr, A.col_ind.data(), in_kernels(A.val.data()),
                                              a.of.data(), std::int64_t(n), in_kernels(x.data())}});
    synchronize(on);
    return x;
}

namespace {

/// The product S T, given to f as product_on_gpu.
template <class V, class F>
auto with_product(gpu on, const csr<V, device_view>& A, index block, const char* strong,
                  double omega, in<real<V>, gpu> diagonal, const aggregation<device>& a,
                  const candidates<V, device>& T, F f) {
    using R = real<V>;
    using W = device_value<V>;
    device_array<R> scale(on, std::size_t(A.shape.rows));
    launch_each(on, A.shape.rows,
                find_scale<V>{in_kernels(A), diagonal.data(), strong, R(omega), scale.data()});
    const smoother_rows<V> S{A.row_ptr,  A.col_ind.data(), in_kernels(A.val.data()),
                             strong,     scale.data(),     R(omega),
                             a.of.data()};
    const nz::shape shape{A.shape.rows, index(std::int64_t(a.count) * T.count)};
    const double a_row = double(A.val.size()) / std::max(A.shape.rows, 1);
    if (block == 1 && T.count == 1)
        return f(product_on_gpu<V, smoother_rows<V>, tentative_rows<W>>(
            on, shape, S, {a.of.data(), in_kernels(T.val.data())}, a_row < 16 ? 0 : 1));
    return f(product_on_gpu<V, block_smoother_rows<V>, block_tentative_rows<W>>(
        on, shape, {S, block}, {a.of.data(), block, T.count, in_kernels(T.val.data())}, 2));
}

}  // namespace

template <class V>
csr<V, device> smoothed_prolongation(gpu on, const csr<V, device_view>& A, index block,
                                     const strong_graph<device>& g, double omega,
                                     const aggregation<device>& a, const candidates<V, device>& T) {
    const device_guard guard(on);
    const auto diagonal = real_diagonal_of<V>(on, A);
    return with_product<V>(on, A, block, block == 1 ? g.strong.data() : nullptr, omega, diagonal, a,
                           T, [](auto product) { return product.run(); });
}

template <class V>
void smoothed_values(gpu on, const csr<V, device_view>& A, index block,
                     const device_array<char>& strong, double omega, const aggregation<device>& a,
                     const candidates<V, device>& T, in<real<V>, gpu> diagonal, csr<V, device>& P) {
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
                                  const candidates<V, device>&, in<real<V>, gpu>,                \
                                  csr<V, device>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)
#undef NZ_INSTANTIATE
#define NZ_INSTANTIATE(R)                                                                        \
    template bool are_real(gpu, device_span<std::complex<R>>);                                   \
    template device_array<std::complex<R>> phases(gpu, const csr<std::complex<R>, device_view>&, \
                                                  const aggregation<device>&);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
