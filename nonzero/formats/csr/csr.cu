// The classic CSR kernels: a thread, a warp or part of a warp a row.
#include "nonzero/core/device_complex.cuh"
#include "nonzero/core/gpu/texture.cuh"
#include "nonzero/core/launch.cuh"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/formats/row_ends.cuh"

namespace nz {

namespace {

constexpr int threads_per_block = 256;
constexpr int warps_per_block = threads_per_block / warp_size;

template <class V>
__global__ void scalar_kernel(csr<V, device_view> A, V alpha, const V* x, V beta,
                              V* __restrict__ y) {
    x = wait_for_previous(x);
    const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= A.shape.rows) return;
    V sum = 0;
    const offset end = A.row_ptr[i + 1];
    for (offset k = A.row_ptr[i]; k < end; ++k) sum += A.val[k] * gather(x + A.col_ind[k]);
    store_scaled(y + i, alpha, sum, beta);
}

// How a lane reads: by plain loads, through the read-only cache, or x by texture.
template <class V>
struct plain_loads {
    static constexpr bool follows_writes = true;
    const V* x;
    __device__ void wait() { x = wait_for_previous(x); }
    __device__ V product(const csr<V, device_view>& A, offset k) const {
        return A.val[k] * gather(x + A.col_ind[k]);
    }
};
template <class V>
struct read_only_loads {
    static constexpr bool follows_writes = false;
    const V* x;
    __device__ void wait() const { wait_for_previous(); }
    __device__ V product(const csr<V, device_view>& A, offset k) const {
        const index j = __ldg(A.col_ind.ptr + k);
        return __ldg(A.val.ptr + k) * __ldg(x + j);
    }
};
template <class V>
struct texture_loads {
    static constexpr bool follows_writes = false;
    texture_gather<V> x;
    __device__ void wait() const { x.wait(); }
    __device__ V product(const csr<V, device_view>& A, offset k) const {
        return A.val[k] * x[A.col_ind[k]];
    }
};

// How a warp adds its lanes' sums; lane 0 has the result.
struct by_shuffle {
    template <class V>
    static __device__ V sum(V v) {
        return sum_lanes<warp_size>(v);
    }
};
struct by_shared {
    template <class V>
    static __device__ V sum(V v) {
        __shared__ V sums[threads_per_block];
        const int lane = int(threadIdx.x), at = lane + int(threadIdx.y) * warp_size;
        sums[at] = v;
        for (int step = warp_size / 2; step > 0; step /= 2) {
            __syncwarp();
            if (lane < step) sums[at] += sums[at + step];
        }
        return sums[at];
    }
};
struct by_shared2d {
    template <class V>
    static __device__ V sum(V v) {
        __shared__ V sums[warps_per_block][warp_size];
        sums[threadIdx.y][threadIdx.x] = v;
        __syncwarp();
        return sum_lanes<warp_size>(sums[threadIdx.y][threadIdx.x]);
    }
};

template <class Reduction, class Loads, class V>
__global__ void vector_kernel(csr<V, device_view> A, V alpha, Loads loads, V beta,
                              V* __restrict__ y) {
    loads.wait();
    const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.y + threadIdx.y;
    if (i >= A.shape.rows) return;
    V sum = 0;
    const offset end = A.row_ptr[i + 1];
#pragma unroll 4
    for (offset k = A.row_ptr[i] + threadIdx.x; k < end; k += warp_size) sum += loads.product(A, k);
    sum = Reduction::sum(sum);
    if (threadIdx.x == 0) store_scaled(y + i, alpha, sum, beta);
}

template <class Reduction, class Loads, class V>
void launch_vector(gpu on, V alpha, const csr<V, device_view>& A, Loads loads, V beta,
                   device_out<V> y) {
    launch_gathering<Loads, vector_kernel<Reduction, Loads, V>>(
        on, blocks_for(A.shape.rows, warps_per_block), dim3(warp_size, warps_per_block), A, alpha,
        loads, beta, y.data());
}

template <int lanes, class End, class V>
__global__ void subwarp_kernel(csr<V, device_view> A, End end, const V* x, V* __restrict__ y) {
    x = wait_for_previous(x);
    const std::int64_t thread = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const std::int64_t i = thread / lanes;
    const int lane = int(threadIdx.x) % lanes;
    V sum = 0;
    if (i < A.shape.rows) {
        const offset end = A.row_ptr[i + 1];
#pragma unroll 4
        for (offset k = A.row_ptr[i] + lane; k < end; k += lanes)
            sum += A.val[k] * gather(x + A.col_ind[k]);
    }
    sum = sum_lanes<lanes>(sum);  // all lanes of the warp take part, also those past the end
    if (i < A.shape.rows && lane == 0) end(y + i, index(i), sum);
}

/// Gives every row's sum to `end`.
template <class End, class V>
void multiply_by_subwarps(gpu on, const csr<V, device_view>& A, const V* x, V* y, const End& end) {
    const auto start = [&]<int lanes>() {
        launch<subwarp_kernel<lanes, End, V>>(on,
                                              blocks_for(A.shape.rows, threads_per_block / lanes),
                                              threads_per_block, A, end, x, y);
    };
    switch (csr_subwarp::lanes(A.shape.rows, std::int64_t(A.val.len))) {
        case 2:
            return start.template operator()<2>();
        case 4:
            return start.template operator()<4>();
        case 8:
            return start.template operator()<8>();
        case 16:
            return start.template operator()<16>();
        default:
            return start.template operator()<32>();
    }
}

}  // namespace

template <class V>
void spmv(gpu on, csr_scalar, V alpha, const csr<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    launch<scalar_kernel<device_value<V>>>(
        on, blocks_for(A.shape.rows, threads_per_block), threads_per_block, in_kernels(A),
        in_kernels(alpha), in_kernels(x.data()), in_kernels(beta), in_kernels(y.data()));
}

template <class V>
void spmv(gpu on, csr_vector, V alpha, const csr<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    launch_vector<by_shuffle>(on, alpha, A, plain_loads<V>{x.data()}, beta, y);
}

template <class V>
void spmv(gpu on, csr_vector_shared, V alpha, const csr<V, device_view>& A, device_span<V> x,
          V beta, device_out<V> y) {
    launch_vector<by_shared>(on, alpha, A, plain_loads<V>{x.data()}, beta, y);
}

template <class V>
void spmv(gpu on, csr_vector_shared2d, V alpha, const csr<V, device_view>& A, device_span<V> x,
          V beta, device_out<V> y) {
    launch_vector<by_shared2d>(on, alpha, A, plain_loads<V>{x.data()}, beta, y);
}

template <class V>
void spmv(gpu on, csr_vector_ldg, V alpha, const csr<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    launch_vector<by_shuffle>(on, alpha, A, read_only_loads<V>{x.data()}, beta, y);
}

template <class V>
void spmv(gpu on, csr_vector_texture, V alpha, const csr<V, device_view>& A, device_span<V> x,
          V beta, device_out<V> y) {
    launch_vector<by_shuffle>(on, alpha, A, texture_loads<V>{gather_by_texture(on, x)}, beta, y);
}

template <class V>
void spmv(gpu on, csr_subwarp, V alpha, const csr<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    using in_kernel = device_value<V>;
    multiply_by_subwarps(on, in_kernels(A), in_kernels(x.data()), in_kernels(y.data()),
                         scaled_row<in_kernel>{in_kernels(alpha), in_kernels(beta)});
}

template <class V>
requires(!is_complex<V>) bool relax(gpu on, csr_subwarp,
                                    const typename linear_operator<V, gpu>::relaxation& how,
                                    const csr<V, device_view>& A, in_columns<V, gpu> X,
                                    out_columns<V, gpu> Y) {
    if (X.count != 1) return false;
    multiply_by_subwarps(on, A, X.values.data(), Y.values.data(),
                         relaxed_row<V>(how, X.values.data()));
    return true;
}

#define NZ_KERNEL(V, K) \
    template void spmv(gpu, K, V, const csr<V, device_view>&, device_span<V>, V, device_out<V>);
#define NZ_INSTANTIATE(V)             \
    NZ_KERNEL(V, csr_scalar)          \
    NZ_KERNEL(V, csr_vector)          \
    NZ_KERNEL(V, csr_vector_shared)   \
    NZ_KERNEL(V, csr_vector_shared2d) \
    NZ_KERNEL(V, csr_vector_ldg)      \
    NZ_KERNEL(V, csr_vector_texture)  \
    NZ_KERNEL(V, csr_subwarp)
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)
template bool relax(gpu, csr_subwarp, const linear_operator<float, gpu>::relaxation&,
                    const csr<float, device_view>&, in_columns<float, gpu>,
                    out_columns<float, gpu>);
template bool relax(gpu, csr_subwarp, const linear_operator<double, gpu>::relaxation&,
                    const csr<double, device_view>&, in_columns<double, gpu>,
                    out_columns<double, gpu>);
#define NZ_INSTANTIATE_COMPLEX(V) \
    NZ_KERNEL(V, csr_scalar)      \
    NZ_KERNEL(V, csr_subwarp)
NZ_INSTANTIATE_COMPLEX(std::complex<float>)
NZ_INSTANTIATE_COMPLEX(std::complex<double>)

}  // namespace nz
