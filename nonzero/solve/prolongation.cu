// Smoothed prolongation on a GPU, for one candidate.
#include "nonzero/solve/prolongation.hpp"
#include "nonzero/solve/spgemm.cuh"

namespace nz {
namespace {

struct sort_key {
    const index* of;
    index count;
    index *key, *node;
    __device__ void operator()(std::int64_t i) const {
        key[i] = of[i] == alone ? count : of[i];
        node[i] = index(i);
    }
};

/// One aggregate's part of the candidate made a unit vector: its nodes in ascending order.
template <class V>
struct normalise {
    const index *key, *node;
    std::int64_t n;
    const V* fine;
    V tiny;
    V *T, *coarse;
    __device__ void operator()(std::int64_t a) const {
        std::int64_t low = 0, high = n;
        while (low < high) {
            const std::int64_t mid = (low + high) / 2;
            if (key[mid] < a) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        V sum(0);
        for (std::int64_t k = low; k < n && key[k] == a; ++k)
            sum += rounded_product(fine[node[k]], fine[node[k]]);
        const V length = sqrt(sum);
        const bool none = !(length > rounded_product(tiny, length));
        coarse[a] = none ? V(0) : length;
        for (std::int64_t k = low; k < n && key[k] == a; ++k)
            T[node[k]] = none ? V(0) : fine[node[k]] / length;
    }
};

/// -omega over the diagonal with the weak couplings of the row.
template <class V>
struct find_scale {
    csr<V, device_view> A;
    const V* diagonal;
    const char* strong;
    V omega;
    V* scale;
    __device__ void operator()(std::int64_t i) const {
        V dropped(0);
        for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
            if (A.col_ind[k] != i && !strong[k]) dropped += A.val[k];
        constexpr V least = V(0.25);
        const V d = diagonal[i] + dropped;
        scale[i] = -omega / (d > least * diagonal[i] ? d : diagonal[i]);
    }
};

/// Rows of I - omega D_f^-1 A_f.
template <class V>
struct smoother_rows {
    device_offset_span ptr;
    const index* col;
    const V* val;
    const char* strong;
    const V* scale;
    V omega;
    __device__ bool has(std::int64_t i, offset k) const {
        return col[k] == i || (strong[k] && omega != V(0));
    }
    __device__ V value(std::int64_t i, offset k) const {
        return col[k] == i ? V(1) - omega : rounded_product(scale[i], val[k]);
    }
};

/// Rows of T: one entry, or none where a node is alone.
template <class V>
struct tentative_rows {
    const index* of;
    const V* T;
    __device__ offset first(index j) const { return j; }
    __device__ offset last(index j) const { return offset(j) + (of[j] != alone); }
    __device__ index column(offset m) const { return of[m]; }
    __device__ V value(offset m) const { return T[m]; }
};

int bits_of(index n) {
    int bits = 1;
    while (bits < 31 && (std::int64_t(1) << bits) <= n) ++bits;
    return bits;
}

}  // namespace

template <class V>
device_tentative<V> tentative_prolongation(gpu on, const device_aggregation& a,
                                           device_span<V> fine) {
    const device_guard guard(on);
    const std::size_t n = a.of.size();
    device_array<index> key(n), node(n), sorted_key(n), sorted_node(n);
    launch_each(on, std::int64_t(n), sort_key{a.of.data(), a.count, key.data(), node.data()});
    if (n > 0)
        with_scratch([&](void* scratch, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortPairs(scratch, bytes, key.data(), sorted_key.data(),
                                                   node.data(), sorted_node.data(), std::int64_t(n),
                                                   0, bits_of(a.count), stream_of(on));
        });
    device_tentative<V> t{device_array<V>(n), device_array<V>(std::size_t(a.count))};
    fill_bytes(on, t.fine, 0);
    constexpr V tiny = V(1e3) * std::numeric_limits<V>::epsilon();
    launch_each(on, a.count,
                normalise<V>{sorted_key.data(), sorted_node.data(), std::int64_t(n), fine.data(),
                             tiny, t.fine.data(), t.coarse.data()});
    synchronize(on);
    return t;
}

template <class V>
csr<V, device> smoothed_prolongation(gpu on, const csr<V, device_view>& A, const marked_graph& g,
                                     double omega, const device_aggregation& a,
                                     device_span<V> tentative) {
    const device_guard guard(on);
    const auto diagonal = diagonal_of(on, A);
    device_array<V> scale(std::size_t(A.shape.rows));
    launch_each(on, A.shape.rows,
                find_scale<V>{A, diagonal.data(), g.strong.data(), V(omega), scale.data()});
    const double a_row = double(A.val.size()) / std::max(A.shape.rows, 1);
    return product_on_gpu<V, smoother_rows<V>, tentative_rows<V>>(
               on, {A.shape.rows, a.count},
               {A.row_ptr, A.col_ind.data(), A.val.data(), g.strong.data(), scale.data(), V(omega)},
               {a.of.data(), tentative.data()}, a_row < 16 ? 0 : 1)
        .run();
}

#define NZ_INSTANTIATE(V)                                                               \
    template device_tentative<V> tentative_prolongation(gpu, const device_aggregation&, \
                                                        device_span<V>);                \
    template csr<V, device> smoothed_prolongation(gpu, const csr<V, device_view>&,      \
                                                  const marked_graph&, double,          \
                                                  const device_aggregation&, device_span<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
