#include "nonzero/plan/gpu_machine.hpp"

#include <algorithm>

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/launch.cuh"
#include "nonzero/core/stream.hpp"

namespace nz {

gpu_info describe_gpu(gpu on) {
    require_gpu(on);
    cudaDeviceProp p{};
    check(cudaGetDeviceProperties(&p, on.device), "cudaGetDeviceProperties");
    gpu_info g{.name = p.name,
               .compute_capability = 10 * p.major + p.minor,
               .multiprocessors = p.multiProcessorCount,
               .memory_bytes = std::int64_t(p.totalGlobalMem),
               .l2_bytes = p.l2CacheSize};
    check(cudaDriverGetVersion(&g.driver_version), "cudaDriverGetVersion");
    check(cudaRuntimeGetVersion(&g.runtime_version), "cudaRuntimeGetVersion");
    return g;
}

namespace {

constexpr int threads_per_block = 256;

// 16 bytes a thread and step, the widest load there is.
__global__ void copy_kernel(const uint4* __restrict__ from, uint4* __restrict__ to,
                            std::int64_t n) {
    const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
#pragma unroll 4
    for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        to[i] = from[i];
}

__global__ void read_kernel(const uint4* __restrict__ from, std::int64_t n, unsigned* kept) {
    const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
    unsigned bits = 0;
#pragma unroll 8
    for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        const uint4 v = from[i];
        bits ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (bits == 1) *kept = bits;  // never: the memory holds zeros. So that no load is dropped.
}

// The same of n elements, a power of two, read `steps` times by the grid in all; around the L1
// cache.
__global__ void read_again_kernel(const uint4* __restrict__ from, std::int64_t n,
                                  std::int64_t steps, unsigned* kept) {
    const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
    const std::int64_t first = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    unsigned bits = 0;
#pragma unroll 8
    for (std::int64_t k = 0; k < steps; ++k) {
        const uint4 v = __ldcg(from + ((first + k * step) & (n - 1)));
        bits ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (bits == 1) *kept = bits;
}

__global__ void empty_kernel() { wait_for_previous(); }

// Each load's address is what the load before found.
__global__ void chase_kernel(const unsigned* next, int loads, unsigned* kept) {
    unsigned at = 0;
    for (int k = 0; k < loads; ++k) at = __ldcg(next + at);
    *kept = at;
}

constexpr int gathers_per_thread = 256;

// The elements' numbers come from a congruential sequence of each thread's own, whose high bits
// are the good ones: no memory is read but x's.
__global__ void gather_kernel(const double* __restrict__ x, int log2_len, double* kept) {
    unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761U;
    state = (state ^ (state >> 15)) * 2246822519U;
    const int shift = 32 - log2_len;
    double sum = 0;
#pragma unroll 8
    for (int k = 0; k < gathers_per_thread; ++k) {
        state = state * 1664525U + 1013904223U;
        sum += x[state >> shift];
    }
    if (sum == 1) *kept = sum;  // never, as above
}

/// The median time of several runs, after one for warming up.
template <class Run>
double median_time_s(gpu on, Run run) {
    constexpr int runs = 11;
    gpu_event start, stop;
    double times[runs];
    run();
    for (double& t : times) {
        start.record(on);
        run();
        stop.record(on);
        t = stop.seconds_since(start);
    }
    std::nth_element(times, times + runs / 2, times + runs);
    return times[runs / 2];
}

bandwidth measure_memory(gpu on, unsigned blocks) {
    const std::size_t half =
        std::min<std::size_t>(std::size_t(1) << 30, memory_of(on).free_bytes / 4) / 16 * 16;
    device_array<std::byte> both(on, 2 * half);
    zero_on_device(on, both);
    auto* const low = reinterpret_cast<uint4*>(both.data());
    auto* const high = reinterpret_cast<uint4*>(both.data() + half);
    const auto n = std::int64_t(half / 16);
    device_array<unsigned> kept(on, 1);
    const double read_s = median_time_s(on, [&] {
        read_kernel<<<blocks, threads_per_block, 0, stream_of(on)>>>(low, 2 * n, kept.data());
    });
    const double copy_s = median_time_s(
        on, [&] { copy_kernel<<<blocks, threads_per_block, 0, stream_of(on)>>>(low, high, n); });
    check_launch("measure_memory");
    const double bytes = 2.0 * double(half);
    return {.read_gbps = bytes / read_s * 1e-9, .copy_gbps = bytes / copy_s * 1e-9};
}

/// The largest power of two up to a quarter of the L2 cache, of which an H200 sees one half closer.
std::size_t within_l2(const gpu_info& g) {
    std::size_t bytes = std::size_t(1) << 20;
    while (8 * bytes <= std::size_t(g.l2_bytes)) bytes *= 2;
    return bytes;
}

double measure_l2(gpu on, const gpu_info& g, unsigned blocks) {
    constexpr std::int64_t steps = 1024;
    const std::size_t bytes = within_l2(g);
    device_array<std::byte> data(on, bytes);
    device_array<unsigned> kept(on, 1);
    zero_on_device(on, data);
    const double s = median_time_s(on, [&] {
        read_again_kernel<<<blocks, threads_per_block, 0, stream_of(on)>>>(
            reinterpret_cast<const uint4*>(data.data()), std::int64_t(bytes / 16), steps,
            kept.data());
    });
    check_launch("measure_l2");
    return double(blocks) * threads_per_block * steps * 16 / s * 1e-9;
}

double measure_latency(gpu on, const gpu_info& g) {
    constexpr int loads = 4096;
    const std::size_t len = within_l2(g) / sizeof(unsigned);
    host_vector<unsigned> next(len);
    // An odd stride of some lines: every load is of a line that was not read before.
    for (std::size_t k = 0; k < len; ++k) next[k] = unsigned((k + 4099 * 8) & (len - 1));
    const auto on_device = to_device<unsigned>(on, next);
    device_array<unsigned> kept(on, 1);
    const double s = median_time_s(on, [&] {
        chase_kernel<<<1, 1, 0, stream_of(on)>>>(on_device.data(), loads, kept.data());
    });
    check_launch("measure_latency");
    return s / loads;
}

double measure_upload(gpu on) {
    constexpr std::size_t bytes = std::size_t(32) << 20;
    host_vector<std::byte> here(bytes);
    std::fill(here.begin(), here.end(), std::byte(1));
    device_array<std::byte> on_device(on, bytes);
    const double s =
        median_time_s(on, [&] { copy_to_device(on, here.data(), on_device.data(), bytes); });
    return double(bytes) / s * 1e-9;
}

double measure_launch(gpu on) {
    constexpr int launches = 1000;
    const double s = median_time_s(on, [&] {
        for (int k = 0; k < launches; ++k) launch<empty_kernel>(on, 1, 1);
    });
    check_launch("measure_launch");
    return s / launches;
}

std::vector<gather_rate> measure_gathers(gpu on, unsigned blocks) {
    constexpr int least = 11, most = 26;  // log2 of 16 KB and of 512 MB, in elements
    const std::size_t room = memory_of(on).free_bytes / 2;
    std::vector<gather_rate> rates;
    for (int log2_len = least; log2_len <= most; ++log2_len) {
        const std::size_t len = std::size_t(1) << log2_len;
        if (len * sizeof(double) > room) break;
        device_array<double> x(on, len), kept(on, 1);
        zero_on_device(on, {reinterpret_cast<std::byte*>(x.data()), len * sizeof(double)});
        const double s = median_time_s(on, [&] {
            gather_kernel<<<blocks, threads_per_block, 0, stream_of(on)>>>(x.data(), log2_len,
                                                                           kept.data());
        });
        check_launch("measure_gathers");
        const double gathers = double(blocks) * threads_per_block * gathers_per_thread;
        rates.push_back({.x_bytes = std::int64_t(len * sizeof(double)), .per_s = gathers / s});
    }
    return rates;
}

}  // namespace

gpu_speeds measure_gpu(gpu on) {
    const gpu_info g = describe_gpu(on);
    const device_guard guard(on);
    const gpu_stream stream(on.device);
    // Eight blocks fill a multiprocessor; of the gathers more, as their ends are ragged.
    const unsigned full = 8U * unsigned(g.multiprocessors);
    int threads = 0;
    check(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, on.device),
          "cudaDeviceGetAttribute");
    return {.memory = measure_memory(stream, full),
            .l2_read_gbps = measure_l2(stream, g, full),
            .launch_s = measure_launch(stream),
            .latency_s = measure_latency(stream, g),
            .upload_gbps = measure_upload(stream),
            .resident_warps = std::int64_t(g.multiprocessors) * threads / 32,
            .gathers = measure_gathers(stream, 4 * full)};
}

}  // namespace nz
