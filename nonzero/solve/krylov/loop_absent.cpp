// nonzero/solve/krylov/loop.hpp in a build without CUDA.
#include "nonzero/core/error.hpp"
#include "nonzero/solve/krylov/loop.hpp"

namespace nz {

struct loop<gpu>::watch {};

loop<gpu>::loop(gpu on, std::function<void()>, loop_state* state, bool, int)
    : on_(on), state_(state) {
    require_gpu(on);
}
loop<gpu>::~loop() = default;
void loop<gpu>::run() { require_gpu(on_); }

}  // namespace nz
