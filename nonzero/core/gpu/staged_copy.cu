// The GPU reads page-locked memory by itself. What lies in other memory is copied there first; the
// driver lets one thread do so, which is a seventh of what the link carries.
#include "nonzero/core/gpu/staged_copy.cuh"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/gpu/capture.cuh"
#include "nonzero/core/parallel.hpp"
#include "nonzero/core/stream.hpp"

namespace nz {
namespace {

// 1 GiB to an H100: the driver takes 147 ms; 1, 2, 4, 8 and 16 threads with two pieces of 1 MiB
// each take 160, 74, 42, 22.6 and 24 ms; 8 threads with pieces of 0.5, 2 and 4 MiB 34.8, 21.5
// and 20.9.
constexpr int most_threads = 8;
constexpr int pieces_each = 2;
constexpr std::size_t piece_bytes = std::size_t(1) << 20;
// 64 MiB take 1.8 ms instead of 6.6, and page-locking the pieces 11 ms, once.
constexpr std::size_t worth_staging = std::size_t(32) << 20;

/// Page-locked memory for the pieces that are under way to one GPU. It is never given back: CUDA
/// may be gone by then.
class stage {
  public:
    stage() {
        void* at = nullptr;
        if (cudaHostAlloc(&at, all * piece_bytes, cudaHostAllocDefault) != cudaSuccess) {
            cudaGetLastError();
            return;
        }
        for (cudaEvent_t& e : read_)
            check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "cudaEventCreateWithFlags");
        memory_ = static_cast<std::byte*>(at);
    }
    [[nodiscard]] bool exists() const { return memory_ != nullptr; }
    /// Sends bytes by way of the k-th piece, once the GPU has read what it held before.
    void send(gpu on, int k, const std::byte* from, std::byte* to, std::size_t bytes) {
        std::byte* const here = memory_ + std::size_t(k) * piece_bytes;
        cudaEvent_t& read = read_[std::size_t(k)];
        check(cudaEventSynchronize(read), "cudaEventSynchronize");
        std::memcpy(here, from, bytes);
        check(cudaMemcpyAsync(to, here, bytes, cudaMemcpyHostToDevice, stream_of(on)),
              "cudaMemcpyAsync to the GPU");
        check(cudaEventRecord(read, stream_of(on)), "cudaEventRecord");
    }

    std::mutex in_use;

  private:
    static constexpr int all = most_threads * pieces_each;
    std::byte* memory_ = nullptr;
    std::array<cudaEvent_t, all> read_{};
};

stage& stage_of(gpu on) {
    static std::mutex one_at_a_time;
    static std::map<int, stage> stages;
    const std::lock_guard lock(one_at_a_time);
    return stages[on.device];
}

bool is_page_locked(const void* at) {
    cudaPointerAttributes found{};
    check(cudaPointerGetAttributes(&found, at), "cudaPointerGetAttributes");
    return found.type != cudaMemoryTypeUnregistered;
}

}  // namespace

bool copy_staged(gpu on, const void* from, void* to, std::size_t bytes) {
    if (bytes < worth_staging) return false;
    const int threads = thread_count({});
    if (threads == 1 || is_page_locked(from)) return false;
    stage& through = stage_of(on);
    const std::unique_lock mine(through.in_use, std::try_to_lock);
    if (!mine || !through.exists()) return false;
    shared_range pieces(std::int64_t((bytes + piece_bytes - 1) / piece_bytes), 1);
    parallel(threads, [&](int t) {
        if (t >= most_threads) return;
        const device_guard guard(on);
        const beside_captures others;
        int turn = 0;
        pieces.take([&](std::int64_t p) {
            const std::size_t first = std::size_t(p) * piece_bytes;
            through.send(on, pieces_each * t + turn, static_cast<const std::byte*>(from) + first,
                         static_cast<std::byte*>(to) + first, std::min(piece_bytes, bytes - first));
            turn = (turn + 1) % pieces_each;
        });
    });
    return true;
}

}  // namespace nz
