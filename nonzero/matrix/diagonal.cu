// Diagonals and norms on a GPU.
#include "nonzero/matrix/diagonal.hpp"

#include <cstring>

#include "nonzero/core/gpu/device_steps.cuh"
#include "nonzero/vector/scalar.cuh"

namespace nz {
namespace {

/// The smallest row whose diagonal is not positive and finite.
template <class V>
struct find_not_positive {
    const V* diagonal;
    unsigned* first;
    __device__ void operator()(std::int64_t i) const {
        if (!(diagonal[i] > V(0)) || isinf(diagonal[i])) atomicMin(first, unsigned(i));
    }
};

template <class V>
struct find_diagonal {
    csr<V, device_view> A;
    V* to;
    __device__ void operator()(std::int64_t i) const {
        V d(0);
        for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
            if (A.col_ind[k] == i) d = A.val[k];
        to[i] = d;
    }
};

template <class V>
struct sum_magnitudes {
    csr<device_value<V>, device_view> A;
    real<V>* to;
    __device__ void operator()(std::int64_t i) const {
        real<V> sum(0);
        for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) sum += magnitude(A.val[k]);
        to[i] = sum;
    }
};

/// Positive doubles are ordered as their bits are.
template <class V>
struct largest_ratio {
    const V *diagonal, *norm;
    unsigned long long* bits;
    __device__ void operator()(std::int64_t i) const {
        const double mine = double(norm[i] / diagonal[i]);
        const auto active = __activemask();
        unsigned long long most = (unsigned long long)(__double_as_longlong(mine));
        for (int step = 16; step > 0; step /= 2) {
            const auto other = __shfl_xor_sync(active, most, step);
            // A shuffle from an inactive lane gives nothing of use.
            if ((active >> (threadIdx.x % 32 ^ unsigned(step)) & 1) && other > most) most = other;
        }
        if (int(threadIdx.x % 32) == __ffs(int(active)) - 1) atomicMax(bits, most);
    }
};

template <class R>
struct take_real {
    const device_complex<R>* from;
    R* to;
    __device__ void operator()(std::int64_t i) const { to[i] = from[i].re; }
};

/// A warp a row. By how its lanes add, most entries are seen to be more than rounding errors; the
/// others' sums are taken in the CPU's order.
template <class V, class Real>
struct mend_entry {
    csr<V, device_view> R;
    const Real* diagonal;
    device_offset_span row_ptr;
    const index* col_ind;
    V* val;
    __device__ void operator()(std::int64_t thread) const {
        const std::int64_t i = thread / warp_size;
        const int lane = int(thread % warp_size);
        const auto at = first_at_least(col_ind + row_ptr[i], row_ptr[i + 1] - row_ptr[i], i);
        const offset k = row_ptr[i] + at;
        if (k == row_ptr[i + 1] || col_ind[k] != i) return;
        const Real sum = sum_lanes<warp_size>(summed(i, lane, warp_size));
        constexpr Real by_far = 2 * rounding_of_products<Real>;
        if (lane > 0 || magnitude(val[k]) > by_far * sum) return;
        val[k] = mended_entry(val[k], summed(i, 0, 1));
    }
    /// |r|^2 a of every `step`-th entry of row i.
    [[nodiscard]] __device__ Real summed(std::int64_t i, int first, int step) const {
        Real sum(0);
        for (offset r = R.row_ptr[i] + first; r < R.row_ptr[i + 1]; r += step)
            sum += rounded_product(squared(R.val[r]), diagonal[R.col_ind[r]]);
        return sum;
    }
};

template <class V>
struct invert_one {
    V* v;
    __device__ void operator()(std::int64_t i) const { v[i] = V(1) / v[i]; }
};

}  // namespace

template <class V>
void require_positive(gpu on, device_span<V> diagonal, std::int64_t first_row) {
    const device_guard guard(on);
    device_array<unsigned> first(on, 1);
    fill_bytes(on, first, 0xff);
    launch_each(on, std::int64_t(diagonal.size()),
                find_not_positive<V>{diagonal.data(), first.data()});
    const std::size_t i = read_back(on, first.data());
    if (i < diagonal.size())
        refuse_diagonal(read_back(on, diagonal.data() + i), first_row + std::int64_t(i));
}

template <class V>
device_array<V> diagonal_of(gpu on, const csr<V, device_view>& A) {
    const device_guard guard(on);
    device_array<V> d(on, std::size_t(A.shape.rows));
    launch_each(on, A.shape.rows,
                find_diagonal<device_value<V>>{in_kernels(A), in_kernels(d.data())});
    return d;
}

template <class V>
device_array<real<V>> real_parts(gpu on, device_array<V> v) {
    if constexpr (is_complex<V>) {
        const device_guard guard(on);
        device_array<real<V>> parts(on, v.size());
        launch_each(on, std::int64_t(v.size()),
                    take_real<real<V>>{in_kernels(v.data()), parts.data()});
        return parts;
    } else {
        return v;
    }
}

template <class V>
device_array<real<V>> l1_norms(gpu on, const csr<V, device_view>& A) {
    const device_guard guard(on);
    device_array<real<V>> norm(on, std::size_t(A.shape.rows));
    launch_each(on, A.shape.rows, sum_magnitudes<V>{in_kernels(A), norm.data()});
    return norm;
}

template <class V>
double gershgorin_bound(gpu on, device_span<V> diagonal, device_span<V> norm) {
    const device_guard guard(on);
    device_array<unsigned long long> bits(on, 1);
    fill_bytes(on, bits, 0);
    launch_each(on, std::int64_t(norm.size()),
                largest_ratio<V>{diagonal.data(), norm.data(), bits.data()});
    const auto most = read_back(on, bits.data());
    double bound = 0;
    static_assert(sizeof bound == sizeof most);
    std::memcpy(&bound, &most, sizeof bound);
    return bound;
}

template <class V>
void mend_diagonal(gpu on, const csr<V, device_view>& R, device_span<real<V>> diagonal, index rows,
                   csr<V, device>& C) {
    const device_guard guard(on);
    launch_each(on, std::int64_t(rows) * warp_size,
                mend_entry<device_value<V>, real<V>>{in_kernels(R), diagonal.data(), C.row_ptr,
                                                     C.col_ind.data(), in_kernels(C.val.data())});
}

template <class V>
void invert_each(gpu on, device_out<V> v) {
    const device_guard guard(on);
    launch_each(on, std::int64_t(v.size()), invert_one<V>{v.data()});
}

#define NZ_INSTANTIATE(V)                                                  \
    template void require_positive(gpu, device_span<V>, std::int64_t);     \
    template double gershgorin_bound(gpu, device_span<V>, device_span<V>); \
    template void invert_each(gpu, device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)
#undef NZ_INSTANTIATE
#define NZ_INSTANTIATE(V)                                                                     \
    template device_array<V> diagonal_of(gpu, const csr<V, device_view>&);                    \
    template device_array<real<V>> real_parts(gpu, device_array<V>);                          \
    template device_array<real<V>> l1_norms(gpu, const csr<V, device_view>&);                 \
    template void mend_diagonal(gpu, const csr<V, device_view>&, device_span<real<V>>, index, \
                                csr<V, device>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
