// Ranks on GPUs: which GPU is whose, and how they talk.
#pragma once

#include <memory>

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/gpu_communicator.hpp"

namespace nz {

/// A rank's GPU, a stream on it, and a transport between the ranks. The ranks of one host take its
/// GPUs in turn. They talk by NCCL where every rank has it and a GPU of its own, else by way of the
/// CPU's memory. What runs over the ranks runs in this stream alone.
///
///     const nz::mpi_ranks processes(MPI_COMM_WORLD);
///     const nz::gpu_rank on(processes);
///     const nz::distributed<double, nz::gpu> A(on, nz::read_slice<double>(processes, "A.mtx"));
class gpu_rank {
  public:
    /// Called by all ranks; destroyed by all of them, and before `by_cpu`. Throws, on all ranks,
    /// unavailable where a host has no GPU, or where ranks would share one and may not;
    /// device_error where NCCL fails.
    explicit gpu_rank(const communicator& by_cpu, bool may_share = false);
    operator gpu() const;
    [[nodiscard]] std::string_view transport() const { return ranks_->transport(); }

  private:
    struct place {
        int device = 0;
        bool is_shared = false;  ///< some ranks share one GPU, these or others
    };
    static place choose(const communicator& ranks, bool may_share);

    place place_;
    gpu_stream stream_;
    std::unique_ptr<gpu_communicator> ranks_;
};

/// A transport by way of the CPU's memory, for any ranks: each waits for its stream, and sends by
/// `by_cpu`.
std::unique_ptr<gpu_communicator> connect_by_cpu(const communicator& by_cpu);

/// By NVIDIA's collective communications library, which is looked for when this is called. Its
/// messages travel beside on.stream, and no call waits for the GPU. Throws, on all ranks,
/// unavailable where one of them has no libnccl.so.2, device_error where NCCL fails.
std::unique_ptr<gpu_communicator> connect_by_nccl(const communicator& by_cpu, gpu on);

}  // namespace nz
