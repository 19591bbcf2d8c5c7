// Ranks as threads that share this machine's GPUs.
#pragma once

#include "nonzero/core/threads.hpp"
#include "nonzero/dist/gpu/gpu_ranks.hpp"
#include "test/thread_ranks.hpp"

namespace nz::test {

/// f(on, ranks) on `size` ranks, which share GPUs where there are fewer. Each takes one thread of
/// the CPU's.
inline void on_gpus(int size, const std::function<void(gpu on, const communicator& ranks)>& f) {
    on_ranks(size, [&](const communicator& ranks) {
        const thread_limit one(cpu{1});
        const gpu_rank mine(ranks, true);
        f(mine, ranks);
    });
}

}  // namespace nz::test
