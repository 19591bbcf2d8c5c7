// A kernel for rows that wait for each other's results, each of which is its own signal.
#pragma once

#include "nonzero/core/device_complex.cuh"
#include "nonzero/core/launch.cuh"

namespace nz {

// A result that is not known yet has all bits set: among numbers a NaN that no operation makes.
__device__ inline bool is_unknown(index v) { return v == -1; }
__device__ inline bool is_unknown(float v) { return __float_as_int(v) == -1; }
__device__ inline bool is_unknown(double v) { return __double_as_longlong(v) == -1; }
template <class R>
__device__ bool is_unknown(device_complex<R> v) {
    return is_unknown(v.re) || is_unknown(v.im);
}

template <class T>
__device__ T unknown() {
    T v;
    memset(&v, 0xff, sizeof v);
    return v;
}
/// v, or the NaN of arithmetic where a vector that was given has those bits.
__device__ inline float known(float v) { return is_unknown(v) ? __int_as_float(0x7fffffff) : v; }
__device__ inline double known(double v) {
    return is_unknown(v) ? __longlong_as_double(0x7ff8000000000000LL) : v;
}
template <class R>
__device__ device_complex<R> known(device_complex<R> v) {
    return {known(v.re), known(v.im)};
}

/// The result as it stands now, of memory that another thread may be about to write. Both parts of
/// a complex number say whether they are known.
template <class T>
__device__ T asked(const T* p) {
    return *const_cast<const volatile T*>(p);
}
template <class R>
__device__ device_complex<R> asked(const device_complex<R>* p) {
    return {asked(&p->re), asked(&p->im)};
}
template <class T>
__device__ void tell(T* p, T v) {
    *const_cast<volatile T*>(p) = v;
}
template <class R>
__device__ void tell(device_complex<R>* p, device_complex<R> v) {
    tell(&p->re, v.re), tell(&p->im, v.im);
}

inline constexpr int waiting_threads = 256;
/// Entries that a thread asks for at once: as many misses of the cache overlap.
inline constexpr int asked_at_once = 4;

/// The number of this block, by the order in which blocks start: what it waits for has started.
/// Leaves *started at 0 behind the last block.
__device__ inline unsigned number_of_block(unsigned* started) {
    __shared__ unsigned number;
    if (threadIdx.x == 0) {
        number = atomicAdd(started, 1U);
        if (number == gridDim.x - 1) *started = 0;
    }
    __syncthreads();
    return number;
}

/// The result of row j as it stands now: among a block's own, from shared memory. at_once: by one
/// load from either, which is faster where lanes of a warp ask in both (by 0.1 us a level of one
/// row), slower where all ask in one (by a tenth).
template <bool at_once, class T>
__device__ T asked_of(const T* results, const T* here, std::int64_t block_first, std::int64_t j) {
    if constexpr (at_once) return asked(j >= block_first ? here + (j - block_first) : results + j);
    return j >= block_first ? asked(here + (j - block_first)) : asked(results + j);
}

/// Computes n rows, `lanes` neighbouring threads each, in their order; a row waits for results of
/// rows before it only. Those of the block's own rows are handed over in shared memory. All lanes
/// of a warp take the same steps, so that none waits for a lane that waits for it.
///
/// Rows has: value; row, which open(p, whether this is its first lane) gives, with first and last,
/// of its entries, and the result without them; entry, which load(p, k) gives, with a column: the
/// row that it waits for, -1 for none; add(result, entry, value of its column);
/// join(result, result); finish(row), which returns what others wait for; results(), where
/// that is told; gives_up(), whether no row waits any longer.
template <int lanes, class Rows>
__global__ void __launch_bounds__(waiting_threads)
    compute_rows(Rows rows, std::int64_t n, unsigned* started) {
    using T = typename Rows::value;
    constexpr int rows_here = waiting_threads / lanes;
    extern __shared__ __align__(16) unsigned char shared[];
    T* const here = reinterpret_cast<T*>(shared);
    wait_for_previous();
    if (threadIdx.x < rows_here) here[threadIdx.x] = unknown<T>();
    const std::int64_t block_first = std::int64_t(number_of_block(started)) * rows_here;
    const std::int64_t p = block_first + int(threadIdx.x) / lanes;
    const int lane = int(threadIdx.x) % lanes;

    bool done = p >= n;
    typename Rows::row row{};
    if (!done) row = rows.open(p, lane == 0);
    offset k = row.first + lane;
    typename Rows::entry entry[asked_at_once];
    T value[asked_at_once];
    unsigned asking = 0;
    const auto load = [&] {
        asking = 0;
#pragma unroll
        for (int a = 0; a < asked_at_once; ++a) {
            entry[a].column = -1;
            if (k + a * lanes < row.last) entry[a] = rows.load(p, k + a * lanes);
            if (entry[a].column >= 0) asking |= 1U << a;
        }
    };
    load();
    while (true) {
#pragma unroll
        for (int a = 0; a < asked_at_once; ++a)
            if ((asking >> a & 1) != 0)
                value[a] = asked_of<lanes == 1>(rows.results(), here, block_first, entry[a].column);
#pragma unroll
        for (int a = 0; a < asked_at_once; ++a)
            if ((asking >> a & 1) != 0 && !is_unknown(value[a])) asking &= ~(1U << a);
        if (lanes == 1 ? rows.gives_up() : __any_sync(full_warp, rows.gives_up())) return;
        if (asking == 0 && k < row.last) {
#pragma unroll
            for (int a = 0; a < asked_at_once; ++a)
                if (entry[a].column >= 0) rows.add(row.result, entry[a], value[a]);
            k += asked_at_once * lanes;
            load();
        }
        bool ends = !done && k >= row.last;
        if constexpr (lanes > 1) {
            const unsigned through = __ballot_sync(full_warp, k >= row.last);
            const unsigned group =
                lanes == warp_size ? full_warp : ((1U << lanes) - 1) << (lane_id() / lanes * lanes);
            ends = !done && (through & group) == group;
            if (__any_sync(full_warp, ends)) {
                T joined = row.result;
#pragma unroll
                for (int step = lanes / 2; step > 0; step /= 2)
                    joined = rows.join(joined, __shfl_down_sync(full_warp, joined, step, lanes));
                if (ends) row.result = joined;
            }
        }
        if (ends && lane == 0) {
            const T result = rows.finish(row);
            tell(here + int(threadIdx.x) / lanes, result);
            tell(rows.results() + p, result);
        }
        done = done || ends;
        if (lanes == 1 ? done : __all_sync(full_warp, done)) return;
    }
}

/// Shared memory with which two blocks share a multiprocessor, where it can have as much: threads
/// that wait take turns from those that do not (of elasticity3d 32^3 a H200 solves in 1.25 ms so,
/// in 1.83 ms with eight blocks).
template <auto kernel>
std::size_t shared_by_few() {
    constexpr std::size_t rows_in_double_complex = waiting_threads * 16, of_system = 1024;
    int device = 0, of_one = 0, of_block = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&of_one, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device),
          "cudaDeviceGetAttribute");
    check(cudaDeviceGetAttribute(&of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "cudaDeviceGetAttribute");
    const std::size_t bytes =
        std::max(rows_in_double_complex,
                 std::min(std::size_t(of_one / 2), std::size_t(of_block)) - of_system);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)),
          "cudaFuncSetAttribute");
    return bytes;
}

/// Lanes for a row, by how long rows are in the mean.
template <class F>
void with_lanes(double mean_length, const F& f) {
    if (mean_length <= 2 * asked_at_once) return f(std::integral_constant<int, 1>{});
    if (mean_length <= 16 * asked_at_once) return f(std::integral_constant<int, 8>{});
    f(std::integral_constant<int, warp_size>{});
}

template <class Rows>
void launch_rows(gpu on, std::int64_t n, double mean_length, const Rows& rows, unsigned* started) {
    with_lanes(mean_length, [&](auto lanes) {
        launch_with_shared<compute_rows<lanes, Rows>>(
            on, blocks_for(n, waiting_threads / lanes), waiting_threads,
            shared_by_few<compute_rows<lanes, Rows>>(), rows, n, started);
    });
    check_launch("compute_rows");
}

}  // namespace nz
