#include "nonzero/core/gpu.hpp"

#include <cstring>
#include <map>
#include <mutex>

#include "nonzero/core/device_complex.cuh"
#include "nonzero/core/gpu/capture.cuh"
#include "nonzero/core/gpu/staged_copy.cuh"
#include "nonzero/core/launch.cuh"

namespace nz {

int gpu_count() noexcept {
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
    cudaGetLastError();
    return 0;
}

std::string why_no_gpu(gpu on) {
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess) {
        cudaGetLastError();
        return std::string("no usable NVIDIA GPU here: ") + cudaGetErrorString(code);
    }
    if (count == 0) return "no NVIDIA GPU here";
    if (on.device < 0 || on.device >= count)
        return "no GPU number " + std::to_string(on.device) + " here, only " +
               std::to_string(count);
    return {};
}

void require_gpu(gpu on) {
    const std::string why = why_no_gpu(on);
    if (!why.empty()) throw unavailable(why);
}

device_guard::device_guard(gpu on) : now_(on.device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (now_ != before_) check(cudaSetDevice(now_), "cudaSetDevice");
}
device_guard::~device_guard() {
    if (now_ != before_) cudaSetDevice(before_);
}

void check_launch(const char* what) { check(cudaGetLastError(), what); }

void synchronize(gpu on) {
    const device_guard guard(on);
    refuse_capture(on, "waiting for a stream");
    const beside_captures mine;
    check(cudaStreamSynchronize(stream_of(on)), "cudaStreamSynchronize");
}

device_memory memory_of(gpu on) {
    const device_guard guard(on);
    device_memory m{};
    check(cudaMemGetInfo(&m.free_bytes, &m.total_bytes), "cudaMemGetInfo");
    return m;
}

std::string pci_bus_id(gpu on) {
    char text[32] = "";
    check(cudaDeviceGetPCIBusId(text, int(sizeof(text)), on.device), "cudaDeviceGetPCIBusId");
    return text;
}

gpu_stream::gpu_stream(int device) : device_(device) {
    const device_guard guard(gpu{.device = device});
    cudaStream_t s = nullptr;
    check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    stream_ = s;
}
gpu_stream::~gpu_stream() { cudaStreamDestroy(static_cast<cudaStream_t>(stream_)); }

gpu beside(gpu on) {
    static std::mutex one_at_a_time;
    static std::map<int, cudaStream_t> streams;  // never destroyed: CUDA may be gone by then
    const device_guard guard(on);
    const std::lock_guard lock(one_at_a_time);
    auto at = streams.find(on.device);
    if (at == streams.end()) {
        // Blocks of its kernels start before those of on.stream that wait for a place: else
        // messages would travel once a product's last blocks have started, not beside it.
        int least = 0, greatest = 0;
        check(cudaDeviceGetStreamPriorityRange(&least, &greatest),
              "cudaDeviceGetStreamPriorityRange");
        cudaStream_t s = nullptr;
        check(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, greatest),
              "cudaStreamCreateWithPriority");
        at = streams.emplace(on.device, s).first;
    }
    on.stream = at->second;
    return on;
}

void start_after(gpu later, gpu earlier) {
    static std::mutex one_at_a_time;
    static std::map<int, cudaEvent_t> events;  // by device, never destroyed, as streams are
    for (const gpu each : {later, earlier}) refuse_capture(each, "waiting for another stream");
    const device_guard guard(earlier);
    const std::lock_guard lock(one_at_a_time);
    cudaEvent_t& e = events[earlier.device];
    if (e == nullptr)
        check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    // The stream waits for what is recorded now, whatever is recorded later.
    check(cudaEventRecord(e, stream_of(earlier)), "cudaEventRecord");
    check(cudaStreamWaitEvent(stream_of(later), e), "cudaStreamWaitEvent");
}

gpu_event::gpu_event() {
    cudaEvent_t e = nullptr;
    check(cudaEventCreate(&e), "cudaEventCreate");
    event_ = e;
}
gpu_event::~gpu_event() { cudaEventDestroy(static_cast<cudaEvent_t>(event_)); }
void gpu_event::record(gpu on) {
    check(cudaEventRecord(static_cast<cudaEvent_t>(event_), stream_of(on)), "cudaEventRecord");
}
double gpu_event::seconds_since(const gpu_event& start) const {
    const beside_captures mine;
    check(cudaEventSynchronize(static_cast<cudaEvent_t>(event_)), "cudaEventSynchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, static_cast<cudaEvent_t>(start.event_),
                               static_cast<cudaEvent_t>(event_)),
          "cudaEventElapsedTime");
    return double(ms) * 1e-3;
}

void copy_to_device(gpu on, const void* from, void* to, std::size_t bytes) {
    if (bytes == 0) return;
    const device_guard guard(on);
    refuse_capture(on, "copying to the GPU");
    const beside_captures mine;
    if (!copy_staged(on, from, to, bytes))
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_of(on)),
              "cudaMemcpyAsync to the GPU");
    // The caller may free `from` at once.
    check(cudaStreamSynchronize(stream_of(on)), "cudaMemcpyAsync to the GPU");
}

namespace {

constexpr std::size_t few_bytes = 8192;

/// Page-locked memory of a thread for results of kernels, and for copies of few bytes, which
/// otherwise go by way of the driver's own. Null where none can be had.
template <std::size_t bytes>
struct page_locked {
    static constexpr std::size_t size = bytes;
    void* at = nullptr;
    page_locked() {
        if (cudaHostAlloc(&at, size, cudaHostAllocPortable) == cudaSuccess) return;
        cudaGetLastError();
        at = nullptr;
    }
    ~page_locked() { cudaFreeHost(at); }
    page_locked(const page_locked&) = delete;
    page_locked& operator=(const page_locked&) = delete;
};

}  // namespace

void copy_to_host(gpu on, const void* from, void* to, std::size_t bytes) {
    if (bytes == 0) return;
    const device_guard guard(on);
    refuse_capture(on, "copying to the CPU");
    const beside_captures others;
    if (copy_back_staged(on, from, to, bytes)) return;
    thread_local const page_locked<few_bytes> mine;
    void* const locked = bytes <= mine.size ? mine.at : nullptr;
    check(cudaMemcpyAsync(locked != nullptr ? locked : to, from, bytes, cudaMemcpyDeviceToHost,
                          stream_of(on)),
          "cudaMemcpyAsync to the CPU");
    check(cudaStreamSynchronize(stream_of(on)), "cudaMemcpyAsync to the CPU");
    if (locked != nullptr) std::memcpy(to, locked, bytes);
}

const void* start_copy_to_host(gpu on, const void* from, std::size_t bytes) {
    const device_guard guard(on);
    refuse_capture(on, "copying to the CPU");
    const beside_captures others;
    thread_local const page_locked<few_bytes> mine;
    if (bytes > mine.size || mine.at == nullptr) return nullptr;
    check(cudaMemcpyAsync(mine.at, from, bytes, cudaMemcpyDeviceToHost, stream_of(on)),
          "cudaMemcpyAsync to the CPU");
    return mine.at;
}

void* memory_for_results() {
    thread_local const page_locked<most_result_bytes> mine;
    return mine.at;
}

void copy_on_device(gpu on, const void* from, void* to, std::size_t bytes) {
    if (bytes == 0) return;
    const device_guard guard(on);
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_of(on)),
          "cudaMemcpyAsync on the GPU");
}

void zero_on_device(gpu on, device_out<std::byte> to) {
    if (to.size() == 0) return;
    const device_guard guard(on);
    check(cudaMemsetAsync(to.data(), 0, to.size(), stream_of(on)), "cudaMemsetAsync");
}

namespace {
constexpr int threads_per_block = 256;

template <class V>
__global__ void scale_kernel(V beta, V* __restrict__ y, std::size_t n) {
    wait_for_previous();
    const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = beta == V(0) ? V(0) : beta * y[i];
}

template <class V>
__global__ void negate_kernel(V* x, std::size_t n) {
    const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) x[i] = V(-1) * x[i];
}

template <class R>
__global__ void conjugate_kernel(const device_complex<R>* from, device_complex<R>* to,
                                 std::size_t n) {
    const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) to[i] = {from[i].re, -from[i].im};
}
}  // namespace

template <class V>
void negate_alone(gpu on, device_out<V> x) {
    if (x.size() == 0) return;
    const device_guard guard(on);
    negate_kernel<<<blocks_for(std::int64_t(x.size()), threads_per_block), threads_per_block, 0,
                    stream_of(on)>>>(in_kernels(x.data()), x.size());
    check_launch("negate");
}

template <class V>
void scale_vector(gpu on, V beta, device_out<V> y) {
    if (y.size() == 0) return;
    const device_guard guard(on);
    launch<scale_kernel<device_value<V>>>(on, blocks_for(std::int64_t(y.size()), threads_per_block),
                                          threads_per_block, in_kernels(beta), in_kernels(y.data()),
                                          y.size());
    check_launch("scale");
}

template <class V>
void conjugate(gpu on, device_span<V> from, device_out<V> to) {
    if (to.size() == 0) return;
    const device_guard guard(on);
    conjugate_kernel<<<blocks_for(std::int64_t(to.size()), threads_per_block), threads_per_block, 0,
                       stream_of(on)>>>(in_kernels(from.data()), in_kernels(to.data()), to.size());
    check_launch("conjugate");
}

#define NZ_INSTANTIATE(V)                              \
    template void scale_vector(gpu, V, device_out<V>); \
    template void negate_alone(gpu, device_out<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)
template void conjugate(gpu, device_span<std::complex<float>>, device_out<std::complex<float>>);
template void conjugate(gpu, device_span<std::complex<double>>, device_out<std::complex<double>>);

}  // namespace nz
