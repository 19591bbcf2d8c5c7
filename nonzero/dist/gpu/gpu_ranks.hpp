// Ranks on GPUs: which GPU is whose, and how they talk.
#pragma once

#include <memory>
#include <string_view>

#include "nonzero/core/communicator.hpp"
#include "nonzero/core/gpu.hpp"

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
    ~gpu_rank();
    operator gpu() const;
    [[nodiscard]] std::string_view transport() const;  ///< in a word or two

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

}  // namespace nz
