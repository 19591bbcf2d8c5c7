// The GPU reads and writes page-locked memory by itself. What lies in other memory goes by way of
// such; the driver lets one thread copy it, which is a seventh of what the link carries.
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
// 64 MiB take 1.8 ms instead of 6.6, and page-locking the pieces 11 ms, once: shorter copies wait
// until as many bytes were asked for.
constexpr std::size_t worth_staging = std::size_t(2) << 20;
constexpr std::size_t worth_locking = std::size_t(32) << 20,
                      worth_locking_in_all = 2 * worth_locking;

/// Page-locked memory for the pieces that are under way to one GPU. It is never given back: CUDA
/// may be gone by then.
class stage {
  public:
    /// Page-locks the pieces where copies are long or many enough; false where there are none. The
    /// caller has locked in_use.
    [[nodiscard]] bool serves(std::size_t bytes) {
        asked_ += bytes;
        if (!is_tried_ && (bytes >= worth_locking || asked_ >= worth_locking_in_all)) lock();
        return memory_ != nullptr;
    }
    /// Sends bytes by way of the k-th piece, once the GPU has read what it held before.
    void send(gpu on, int k, const std::byte* from, std::byte* to, std::size_t bytes) {
        wait_for(k);
        std::memcpy(piece(k), from, bytes);
        start(on, k, to, piece(k), bytes, cudaMemcpyHostToDevice);
    }
    /// Lets the GPU write bytes into the k-th piece, once it has read what that held before.
    void fetch(gpu on, int k, const std::byte* from, std::size_t bytes) {
        wait_for(k);
        start(on, k, piece(k), from, bytes, cudaMemcpyDeviceToHost);
    }
    /// Waits for what was fetched.
    void receive(int k, std::byte* to, std::size_t bytes) {
        wait_for(k);
        std::memcpy(to, piece(k), bytes);
    }

    std::mutex in_use;

  private:
    static constexpr int all = most_threads * pieces_each;
    [[nodiscard]] std::byte* piece(int k) const { return memory_ + std::size_t(k) * piece_bytes; }
    void wait_for(int k) const {
        check(cudaEventSynchronize(done_[std::size_t(k)]), "cudaEventSynchronize");
    }
    void start(gpu on, int k, void* to, const void* from, std::size_t bytes, cudaMemcpyKind way) {
        check(cudaMemcpyAsync(to, from, bytes, way, stream_of(on)), "cudaMemcpyAsync by pieces");
        check(cudaEventRecord(done_[std::size_t(k)], stream_of(on)), "cudaEventRecord");
    }
    void lock() {
        is_tried_ = true;
        void* at = nullptr;
        if (cudaHostAlloc(&at, all * piece_bytes, cudaHostAllocDefault) != cudaSuccess) {
            cudaGetLastError();
            return;
        }
        for (cudaEvent_t& e : done_)
            check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "cudaEventCreateWithFlags");
        memory_ = static_cast<std::byte*>(at);
    }
    bool is_tried_ = false;
    std::size_t asked_ = 0;
    std::byte* memory_ = nullptr;
    std::array<cudaEvent_t, all> done_{};  ///< what was under way by each piece
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

/// A piece of a copy: its bytes from `first` on.
struct span_of_bytes {
    std::size_t first, count;
};

/// f(stage, own, take) by several threads, where staging is worth it: pieces_each pieces from `own`
/// on are a thread's, and take(g) calls g(span_of_bytes) for parts of the copy that no other thread
/// takes. host: what is copied from or to.
template <class F>
bool by_pieces(gpu on, const void* host, std::size_t bytes, const F& f) {
    if (bytes < worth_staging) return false;
    const int threads = thread_count({});
    if (threads == 1 || is_page_locked(host)) return false;
    stage& through = stage_of(on);
    const std::unique_lock mine(through.in_use, std::try_to_lock);
    if (!mine || !through.serves(bytes)) return false;
    shared_range all(std::int64_t((bytes + piece_bytes - 1) / piece_bytes), 1);
    parallel(threads, [&](int t) {
        if (t >= most_threads) return;
        const device_guard guard(on);
        const beside_captures others;
        f(through, pieces_each * t, [&](const auto& g) {
            all.take([&](std::int64_t p) {
                const std::size_t first = std::size_t(p) * piece_bytes;
                g(span_of_bytes{first, std::min(piece_bytes, bytes - first)});
            });
        });
    });
    return true;
}

}  // namespace

bool copy_staged(gpu on, const void* from, void* to, std::size_t bytes) {
    return by_pieces(on, from, bytes, [&](stage& through, int own, const auto& take) {
        int turn = 0;
        take([&](span_of_bytes s) {
            through.send(on, own + turn, static_cast<const std::byte*>(from) + s.first,
                         static_cast<std::byte*>(to) + s.first, s.count);
            turn = (turn + 1) % pieces_each;
        });
    });
}

bool copy_back_staged(gpu on, const void* from, void* to, std::size_t bytes) {
    return by_pieces(on, to, bytes, [&](stage& through, int own, const auto& take) {
        std::array<span_of_bytes, pieces_each> under_way{};
        int turn = 0;
        const auto receive = [&] {
            auto& s = under_way[std::size_t(turn)];
            if (s.count > 0)
                through.receive(own + turn, static_cast<std::byte*>(to) + s.first, s.count);
            s = {};
        };
        take([&](span_of_bytes s) {
            receive();
            through.fetch(on, own + turn, static_cast<const std::byte*>(from) + s.first, s.count);
            under_way[std::size_t(turn)] = s;
            turn = (turn + 1) % pieces_each;
        });
        for (int k = 0; k < pieces_each; ++k) receive(), turn = (turn + 1) % pieces_each;
    });
}

}  // namespace nz
