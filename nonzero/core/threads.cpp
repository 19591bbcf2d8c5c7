#include "nonzero/core/threads.hpp"

#include <omp.h>
#include <pthread.h>

#include <algorithm>

namespace nz {
namespace {

thread_local bool had_several = false;  // this thread's loops, so that OpenMP keeps threads for it
thread_local bool left_alone = false;   // and a fork has left them behind

/// GCC's OpenMP does not know that a fork leaves its threads behind, and waits for them for ever:
/// where the thread that forked had some, its loops run in it alone from then on.
void after_fork_in_child() {
    if (!had_several) return;
    left_alone = true;
    omp_set_num_threads(1);
}
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);

}  // namespace

int thread_count(cpu on) {
    if (left_alone) return 1;
    const int n = std::clamp(on.threads > 0 ? on.threads : omp_get_max_threads(), 1, max_threads);
    had_several = had_several || n > 1;
    return n;
}

thread_limit::thread_limit(cpu on) : before_(omp_get_max_threads()) {
    omp_set_num_threads(thread_count(on));
}
thread_limit::~thread_limit() { omp_set_num_threads(before_); }

}  // namespace nz
