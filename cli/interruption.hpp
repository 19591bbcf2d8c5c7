// Ctrl-C as a request: a measuring that is ended still shows what it has.
#pragma once

#include <atomic>

namespace nz::cli {

/// While it lives, the first Ctrl-C sets a flag instead of ending the process; the second one ends
/// it. One at a time.
class interruption {
  public:
    interruption();
    ~interruption();
    interruption(const interruption&) = delete;
    interruption& operator=(const interruption&) = delete;
    static const std::atomic<bool>* flag();
    static bool happened() { return flag()->load(); }
};

/// What nz bench and nz study return after Ctrl-C, once what they have is printed and written:
/// 128 + SIGINT, as shells report it.
inline constexpr int interrupted_exit = 130;

}  // namespace nz::cli
