// How many threads of OpenMP's a stretch of code takes.
#pragma once

#include "nonzero/core/backend.hpp"

namespace nz {

inline constexpr int max_threads = 1024;  ///< more are not used: carries live on the stack

/// on.threads, or what OpenMP offers where that is 0. A loop is run by all of them or by one, also
/// where some have nothing to do: GCC's OpenMP ends the threads that a loop leaves out and has to
/// start new ones for the next loop (docs/decisions/threads.md).
[[nodiscard]] int thread_count(cpu);

/// The p-th of `parts` shares of [0, n), of equal size up to one.
constexpr range share(std::int64_t n, std::int64_t parts, std::int64_t p) {
    const std::int64_t each = n / parts, rest = n % parts;
    const std::int64_t first = p * each + (p < rest ? p : rest);
    return {first, first + each + (p < rest)};
}

/// Rows and entries of a matrix from which on a second thread pays for a loop over them, as
/// measured in docs/decisions/threads.md.
inline constexpr std::int64_t worth_sharing = 1 << 15;
/// thread_count(on), or 1 where the loop is over fewer.
[[nodiscard]] inline int thread_count(cpu on, std::int64_t elements) {
    return elements < worth_sharing ? 1 : thread_count(on);
}
/// `on` with that many threads.
[[nodiscard]] inline cpu worth(cpu on, std::int64_t elements) {
    on.threads = thread_count(on, elements);
    return on;
}
[[nodiscard]] inline gpu worth(gpu on, std::int64_t) { return on; }

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
