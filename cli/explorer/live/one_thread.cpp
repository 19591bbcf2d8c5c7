// WebAssembly has no OpenMP: every loop runs in the one thread there is.
#include "nonzero/core/threads.hpp"

namespace nz {

int thread_count(cpu) { return 1; }

thread_limit::thread_limit(cpu) : before_(1) {}
thread_limit::~thread_limit() = default;

}  // namespace nz
