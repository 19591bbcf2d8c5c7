// Where the memory of arrays on the GPU comes from.
#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/gpu/capture.cuh"
#include "nonzero/core/stream.hpp"

// Nothing else is in this file: a test that defines these functions itself links in place of it
// (test/cuda/device_memory_test.cpp).

namespace nz {
namespace {

/// A pool of our own for the current GPU, as long as the process lives. What is given back stays in
/// it, up to a share of the GPU's memory, to be handed out again without asking the driver: that
/// takes as long as several products of a small matrix (docs/experiments/setup-on-the-gpu.md).
cudaMemPool_t pool_of_current_gpu() {
    constexpr std::size_t kept_share = 256;
    static std::mutex one_at_a_time;
    static std::map<int, cudaMemPool_t> pools;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    check(cudaGetDevice(&properties.location.id), "cudaGetDevice");
    const std::lock_guard lock(one_at_a_time);
    if (const auto at = pools.find(properties.location.id); at != pools.end()) return at->second;
    cudaMemPool_t pool = nullptr;
    check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
    pools.emplace(properties.location.id, pool);
    std::size_t free_bytes = 0, total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
    std::uint64_t kept = total_bytes / kept_share;
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept),
          "cudaMemPoolSetAttribute");
    return pool;
}

/// Memory that was released while its stream was being captured.
class kept_memory {
  public:
    void keep(gpu on, void* at) noexcept try {
        const std::lock_guard lock(mutex_);
        kept_.emplace_back(on, at);
        count_ = kept_.size();
    } catch (const std::exception&) {  // lost until the process ends
    }
    void free_what_can_be() {
        if (count_ == 0) return;
        const std::lock_guard lock(mutex_);
        std::erase_if(kept_, [](const auto& k) {
            const device_guard guard(k.first);
            if (is_captured(k.first)) return false;
            cudaFreeAsync(k.second, stream_of(k.first));
            return true;
        });
        count_ = kept_.size();
    }

  private:
    std::mutex mutex_;
    std::vector<std::pair<gpu, void*>> kept_;
    std::atomic<std::size_t> count_ = 0;
};
kept_memory& kept() {
    static auto* const memory = new kept_memory;  // never destroyed: arrays may live longer
    return *memory;
}

/// Null where the memory is not to be had even when all that was given back has been freed.
void* taken_from_pool(gpu on, std::size_t bytes, cudaError_t& code) {
    cudaMemPool_t const pool = pool_of_current_gpu();
    void* at = nullptr;
    code = cudaMallocFromPoolAsync(&at, bytes, pool, stream_of(on));
    if (code == cudaSuccess) return at;
    cudaGetLastError();
    cudaStreamSynchronize(stream_of(on));  // what this stream frees is free then
    cudaMemPoolTrimTo(pool, 0);
    code = cudaMallocFromPoolAsync(&at, bytes, pool, stream_of(on));
    if (code == cudaSuccess) return at;
    cudaGetLastError();
    return nullptr;
}

}  // namespace

void* device_array<void>::allocate(gpu on, std::size_t bytes) {
    const device_guard guard(on);
    refuse_capture(on, "allocating GPU memory");
    const beside_captures mine;
    kept().free_what_can_be();
    cudaError_t code = cudaSuccess;
    if (void* const at = taken_from_pool(on, bytes, code); at != nullptr) return at;
    std::size_t free_bytes = 0, total_bytes = 0;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    throw out_of_memory("allocating " + std::to_string(bytes) + " bytes on the GPU failed: " +
                        cudaGetErrorString(code) + "; " + std::to_string(free_bytes) + " of " +
                        std::to_string(total_bytes) + " bytes are free");
}

void device_array<void>::release(gpu on, void* at) noexcept try {
    const device_guard guard(on);
    const beside_captures mine;
    if (is_captured(on)) return kept().keep(on, at);
    kept().free_what_can_be();
    cudaFreeAsync(at, stream_of(on));
} catch (const error&) {  // at the process's end CUDA may be gone, and the memory with it
}

}  // namespace nz
