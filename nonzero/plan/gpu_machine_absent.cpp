// nonzero/plan/gpu_machine.hpp in a build without CUDA.
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/plan/gpu_machine.hpp"

namespace nz {

gpu_info describe_gpu(gpu on) {
    require_gpu(on);
    return {};
}
gpu_speeds measure_gpu(gpu on) {
    require_gpu(on);
    return {};
}

}  // namespace nz
