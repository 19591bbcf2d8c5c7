// How many threads of OpenMP's a stretch of code takes.
#pragma once

#include "nonzero/core/backend.hpp"

namespace nz {

/// While it lives, the calling thread's loops that ask for no number of threads take
/// thread_count(on) of them; of a GPU, as many as OpenMP offers.
class thread_limit {
  public:
    explicit thread_limit(cpu on);
    explicit thread_limit(gpu) : thread_limit(cpu{}) {}
    thread_limit(const thread_limit&) = delete;
    thread_limit& operator=(const thread_limit&) = delete;
    ~thread_limit();

  private:
    int before_;
};

}  // namespace nz
