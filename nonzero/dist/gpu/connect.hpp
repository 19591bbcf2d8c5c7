// Transports between ranks on GPUs.
#pragma once

#include <memory>

#include "nonzero/core/gpu_communicator.hpp"

namespace nz {

/// A transport by way of the CPU's memory, for any ranks: each waits for its stream, and sends by
/// `by_cpu`.
std::unique_ptr<gpu_communicator> connect_by_cpu(const communicator& by_cpu);

/// By NVIDIA's collective communications library, which is looked for when this is called. Its
/// messages travel beside on.stream, and no call waits for the GPU. Throws, on all ranks,
/// unavailable where one of them has no libnccl.so.2, device_error where NCCL fails.
std::unique_ptr<gpu_communicator> connect_by_nccl(const communicator& by_cpu, gpu on);

}  // namespace nz
