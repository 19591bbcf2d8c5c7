// Sums of ranks whose GPUs reach each other's memory: in one kernel, without a library between.
#pragma once

#include <memory>

#include "nonzero/core/backend.hpp"
#include "nonzero/core/communicator.hpp"

namespace nz {

/// Memory of every rank's GPU that all other ranks write into. CG gathers a few bytes two or three
/// times an iteration, and waits for them (docs/experiments/several-gpus.md).
class peer_mailbox {
  public:
    /// Called by all ranks of on's GPUs; null on all of them where one cannot write into another's
    /// memory: GPUs of several hosts or without a link, more than a warp's lanes, or ranks of one
    /// process, in which allocating memory on one GPU may wait for a kernel on the other.
    static std::unique_ptr<peer_mailbox> connect(const communicator& by_cpu, gpu on);
    ~peer_mailbox();
    peer_mailbox(const peer_mailbox&) = delete;
    peer_mailbox& operator=(const peer_mailbox&) = delete;

    /// Whether a rank can send that many bytes by `gather`.
    [[nodiscard]] static bool takes(std::size_t bytes);

    /// all = mine of every rank, in rank order; in on.stream. Called by all ranks, of one stream
    /// each, with as many bytes, which `takes` them.
    void gather(gpu on, device_span<std::byte> mine, device_out<std::byte> all);

  private:
    struct boxes;
    explicit peer_mailbox(std::unique_ptr<boxes>);
    std::unique_ptr<boxes> boxes_;
};

}  // namespace nz
