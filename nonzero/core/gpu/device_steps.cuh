// Shared by kernels that make matrices: CUB's scratch memory, sums, functions run once an index.
#pragma once

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "nonzero/core/cuda.cuh"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/stream.hpp"

namespace nz {

template <class T>
void fill_bytes(gpu on, device_array<T>& to, int byte) {
    if (to.size() == 0) return;
    check(cudaMemsetAsync(to.data(), byte, to.size() * sizeof(T), stream_of(on)),
          "cudaMemsetAsync");
}

/// How many of n ascending numbers are below `least`: where it stands among them, or would stand.
template <class Ascending>
__device__ std::int64_t first_at_least(const Ascending& ascending, std::int64_t n,
                                       std::int64_t least) {
    std::int64_t low = 0, high = n;
    while (low < high) {
        const std::int64_t mid = (low + high) / 2;
        if (ascending[mid] < least) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

/// A CUB algorithm, run(scratch, bytes): asked for its scratch memory, then run with it.
template <class Run>
void with_scratch(gpu on, Run run) {
    std::size_t bytes = 0;
    check(run(nullptr, bytes), "CUB");
    device_array<std::byte> scratch(on, bytes > 0 ? bytes : 1);
    check(run(scratch.data(), bytes), "CUB");
}

/// to[i] = the sum of the elements before i, for 0 <= i < n; `from` and `to` may be the same.
template <class T>
void sum_before(gpu on, const T* from, T* to, std::int64_t n) {
    with_scratch(on, [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(scratch, bytes, from, to, n, stream_of(on));
    });
}

/// f(i) for i in [0, n), each by a thread of its own.
template <class F>
__global__ void for_each_index(std::int64_t n, F f) {
    const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
template <class F>
void launch_each(gpu on, std::int64_t n, const F& f) {
    constexpr int threads = 256;
    if (n == 0) return;
    for_each_index<<<blocks_for(n, threads), threads, 0, stream_of(on)>>>(n, f);
    check_launch("for_each_index");
}

struct narrow_positions {
    const offset* from;
    std::int32_t* to;
    __device__ void operator()(std::int64_t i) const { to[i] = std::int32_t(from[i]); }
};

/// Row pointers from where the rows begin, which ascend to the number of entries.
inline device_offsets as_row_pointers(gpu on, const device_array<offset>& begins, offset nnz) {
    const std::size_t n = begins.size();
    const bool wide = nnz > offset_vector::max_narrow;
    device_offsets ptr{device_array<std::byte>(on, n * (wide ? 8 : 4)), n, wide};
    if (wide) {
        check(cudaMemcpyAsync(ptr.bytes.data(), begins.data(), n * sizeof(offset),
                              cudaMemcpyDeviceToDevice, stream_of(on)),
              "cudaMemcpyAsync");
    } else {
        launch_each(
            on, std::int64_t(n),
            narrow_positions{begins.data(), reinterpret_cast<std::int32_t*>(ptr.bytes.data())});
    }
    return ptr;
}

/// Row pointers from the rows' lengths, n + 1 elements of which the last does not count. Reads
/// their sum, and so waits for the GPU.
inline device_offsets row_pointers(gpu on, device_array<offset>& length, offset& nnz) {
    const std::size_t n = length.size();
    sum_before(on, length.data(), length.data(), std::int64_t(n));
    nnz = read_back(on, length.data() + n - 1);
    return as_row_pointers(on, length, nnz);
}

}  // namespace nz
