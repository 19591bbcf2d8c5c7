#include "nonzero/core/backend.hpp"

#include <omp.h>

#include <algorithm>

namespace nz {
int thread_count(cpu on) {
    return std::clamp(on.threads > 0 ? on.threads : omp_get_max_threads(), 1, max_threads);
}
}  // namespace nz
