// Each rank writes its words into every rank's box, its number behind them, and waits until the
// same number stands behind all the words in its own box.
#include "nonzero/dist/gpu/peer_mailbox.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <cuda/atomic>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/gpu/capture.cuh"
#include "nonzero/core/launch.cuh"
#include "nonzero/core/stream.hpp"

namespace nz {
namespace {

using word = std::uint64_t;
constexpr int most_words = 8;

/// Message of one rank in another's box. Every other gather uses the same slot: a rank begins the
/// gather after the next only when all have ended this one.
struct slot {
    word words[most_words];
    unsigned number;  ///< of the gather that the words are of
};

/// The boxes of all ranks; a box has two rows of a slot for each rank.
struct all_boxes {
    slot* of[warp_size];
    int rank, ranks;
    __device__ slot& at(int box, int from, unsigned number) const {
        return of[box][int(number % 2) * ranks + from];
    }
};

/// A thread for each rank.
__global__ void gather_kernel(all_boxes boxes, unsigned number, const word* mine, word* all,
                              int words) {
    wait_for_previous();
    const int peer = int(threadIdx.x);
    if (peer >= boxes.ranks) return;
    slot& theirs = boxes.at(peer, boxes.rank, number);
    for (int w = 0; w < words; ++w) theirs.words[w] = mine[w];
    cuda::atomic_ref<unsigned, cuda::thread_scope_system>(theirs.number)
        .store(number, cuda::memory_order_release);
    slot& own = boxes.at(boxes.rank, peer, number);
    const cuda::atomic_ref<unsigned, cuda::thread_scope_system> arrived(own.number);
    while (arrived.load(cuda::memory_order_acquire) != number) {
    }
    for (int w = 0; w < words; ++w) all[peer * words + w] = own.words[w];
}

/// The place of a rank's box, as the rank tells the others.
struct offer {
    std::array<char, 256> host;
    pid_t process;
    cudaIpcMemHandle_t handle;
};

bool can_be_connected(const std::vector<offer>& all) {
    if (all.size() > std::size_t(warp_size)) return false;
    for (std::size_t a = 0; a < all.size(); ++a)
        for (std::size_t b = 0; b < a; ++b)
            if (all[a].host != all[b].host || all[a].process == all[b].process) return false;
    return true;
}

}  // namespace

struct peer_mailbox::boxes {
    all_boxes view = {};
    unsigned gathers = 0;
    int device = 0;
    slot* own = nullptr;

    explicit boxes(const communicator& by_cpu, gpu on) : device(on.device) {
        view.rank = by_cpu.rank(), view.ranks = by_cpu.size();
        const device_guard guard(on);
        const std::size_t bytes = 2 * std::size_t(view.ranks) * sizeof(slot);
        check(cudaMalloc(&own, bytes), "cudaMalloc");
        check(cudaMemset(own, 0, bytes), "cudaMemset");
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    boxes(const boxes&) = delete;
    boxes& operator=(const boxes&) = delete;
    /// The own box stays as long as the process lives: another may still have it open.
    ~boxes() {
        const device_guard guard(gpu{.device = device});
        for (int r = 0; r < std::min(view.ranks, warp_size); ++r)
            if (view.of[r] != nullptr && view.of[r] != own) cudaIpcCloseMemHandle(view.of[r]);
    }

    [[nodiscard]] offer offered() const {
        offer o{};
        gethostname(o.host.data(), o.host.size() - 1);
        o.process = getpid();
        check(cudaIpcGetMemHandle(&o.handle, own), "cudaIpcGetMemHandle");
        return o;
    }
    /// Whether all boxes can be reached.
    bool open(const std::vector<offer>& all) {
        const device_guard guard(gpu{.device = device});
        for (int r = 0; r < view.ranks; ++r) {
            void* at = own;
            if (r != view.rank &&
                cudaIpcOpenMemHandle(&at, all[std::size_t(r)].handle,
                                     cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) {
                cudaGetLastError();
                return false;
            }
            view.of[r] = static_cast<slot*>(at);
        }
        return true;
    }
};

peer_mailbox::peer_mailbox(std::unique_ptr<boxes> all) : boxes_(std::move(all)) {}
peer_mailbox::~peer_mailbox() = default;

std::unique_ptr<peer_mailbox> peer_mailbox::connect(const communicator& by_cpu, gpu on) {
    const beside_captures mine;
    std::unique_ptr<boxes> made;
    offer offered{};
    bool holds = true;
    try {
        made = std::make_unique<boxes>(by_cpu, on);
        offered = made->offered();
    } catch (const device_error&) {  // such as a system that allows no sharing
        holds = false;
    }
    const auto all = gathered(by_cpu, offered);
    holds = on_all(&by_cpu, holds) && can_be_connected(all);
    if (!on_all(&by_cpu, holds && made->open(all))) return nullptr;
    return std::unique_ptr<peer_mailbox>(new peer_mailbox(std::move(made)));
}

bool peer_mailbox::takes(std::size_t bytes) {
    return bytes % sizeof(word) == 0 && bytes <= most_words * sizeof(word);
}

void peer_mailbox::gather(gpu on, device_span<std::byte> mine, device_out<std::byte> all) {
    const device_guard guard(on);
    launch<gather_kernel>(on, 1, warp_size, boxes_->view, ++boxes_->gathers,
                          reinterpret_cast<const word*>(mine.data()),
                          reinterpret_cast<word*>(all.data()), int(mine.size() / sizeof(word)));
    check_launch("gather_kernel");
}

}  // namespace nz
