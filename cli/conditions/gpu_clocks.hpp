// How fast a GPU's clocks run, as its driver's management library (NVML) says.
#pragma once

#include <optional>
#include <string>

namespace nz::cli {

struct gpu_clocks {
    unsigned sm_mhz = 0, memory_mhz = 0;          ///< now
    unsigned max_sm_mhz = 0, max_memory_mhz = 0;  ///< the highest clocks of this GPU
    std::string driver;                           ///< the driver's own version, as in 570.124.06
};

/// The clocks of the first GPU that CUDA sees; nothing where libnvidia-ml.so.1 or libcuda.so.1 is
/// missing or does not answer. Both are loaded when this is called, so that nz is linked with
/// neither.
std::optional<gpu_clocks> read_gpu_clocks();

}  // namespace nz::cli
