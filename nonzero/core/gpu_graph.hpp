// Launches in a stream, recorded once as a CUDA graph and launched whole from then on.
#pragma once

#include <functional>

#include "nonzero/core/gpu.hpp"

namespace nz {

class gpu_graph {
  public:
    /// Records what `launch` launches in on.stream, which is not the default stream; nothing of it
    /// runs. Throws what `launch` throws, device_error where CUDA cannot record it, unavailable
    /// without CUDA.
    gpu_graph(gpu on, const std::function<void()>& launch);
    ~gpu_graph();
    gpu_graph(const gpu_graph&) = delete;
    gpu_graph& operator=(const gpu_graph&) = delete;
    void run(gpu on) const;  ///< in on.stream; throws device_error

  private:
    void* runnable_ = nullptr;  ///< a cudaGraphExec_t
};

}  // namespace nz
