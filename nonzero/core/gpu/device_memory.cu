// Where the memory of arrays on the GPU comes from.
#include <algorithm>
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

/// A pool of our own for a GPU, as long as the process lives. What is given back stays in it, to be
/// handed out again without asking the driver, which takes as long as several products of a small
/// matrix (docs/experiments/setup-on-the-gpu.md), and longer the more memory it is. Others use the
/// GPU as well: it keeps a share of the GPU's memory, and while more is in use as much again, up to
/// a larger share.
class memory_pool {
  public:
    explicit memory_pool(int device) {
        cudaMemPoolProps properties{};
        properties.allocType = cudaMemAllocationTypePinned;
        properties.location = {cudaMemLocationTypeDevice, device};
        check(cudaMemPoolCreate(&pool_, &properties), "cudaMemPoolCreate");
        std::size_t free_bytes = 0;
        check(cudaMemGetInfo(&free_bytes, &total_), "cudaMemGetInfo");
        keep(total_ / least_share);
    }
    [[nodiscard]] void* take(gpu on, std::size_t bytes, cudaError_t& code) {
        void* at = nullptr;
        code = cudaMallocFromPoolAsync(&at, bytes, pool_, stream_of(on));
        if (code != cudaSuccess) {
            cudaGetLastError();
            return nullptr;
        }
        if (bytes >= worth_a_look) follow_use();
        return at;
    }
    void give_back(gpu on, void* at) {
        cudaFreeAsync(at, stream_of(on));
        if (keeps_more_) follow_use();
    }
    void trim() { cudaMemPoolTrimTo(pool_, 0); }

  private:
    static constexpr std::uint64_t least_share = 256, larger_share = 16;
    static constexpr std::size_t worth_a_look = std::size_t(1) << 20;

    /// Throws nothing: who takes memory has it by then.
    void follow_use() {
        std::uint64_t used = 0;
        if (cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used) != cudaSuccess) {
            cudaGetLastError();
            return;
        }
        const std::uint64_t least = total_ / least_share;
        keeps_more_ = 2 * used > least;
        keep(std::max(least, used + std::min<std::uint64_t>(used, total_ / larger_share)));
    }
    /// In all, with what is in use.
    void keep(std::uint64_t bytes) {
        if (cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &bytes) != cudaSuccess)
            cudaGetLastError();
    }

    cudaMemPool_t pool_ = nullptr;
    std::size_t total_ = 0;
    std::atomic<bool> keeps_more_ = false;
};

memory_pool& pool_of_current_gpu() {
    static std::mutex one_at_a_time;
    static auto* const pools = new std::map<int, memory_pool>;  // never destroyed, as kept()
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    const std::lock_guard lock(one_at_a_time);
    return pools->try_emplace(device, device).first->second;
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
            pool_of_current_gpu().give_back(k.first, k.second);
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
    memory_pool& pool = pool_of_current_gpu();
    if (void* const at = pool.take(on, bytes, code); at != nullptr) return at;
    cudaStreamSynchronize(stream_of(on));  // what this stream frees is free then
    pool.trim();
    return pool.take(on, bytes, code);
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
    pool_of_current_gpu().give_back(on, at);
} catch (const error&) {  // at the process's end CUDA may be gone, and the memory with it
}

}  // namespace nz
