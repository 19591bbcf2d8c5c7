// Ctrl-C as a request: a measuring that is ended still shows what it has.
#pragma once

#include <atomic>
#include <csignal>
#include <optional>

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

/// While it lives within an interruption, Ctrl-C ends the process as it does outside of one.
class suspended_interruption {
  public:
    suspended_interruption();
    ~suspended_interruption();
    suspended_interruption(const suspended_interruption&) = delete;
    suspended_interruption& operator=(const suspended_interruption&) = delete;

  private:
    struct sigaction kept_ {};
};

/// Result of `read`. Where nothing is measured yet that Ctrl-C could leave, Ctrl-C ends the process
/// during it: a pipe in which nothing comes is not waited for.
template <class F>
auto read_within_interruption(bool is_first, F read) {
    std::optional<suspended_interruption> suspended;
    if (is_first) suspended.emplace();
    return read();
}

/// Exit code of nz bench and nz study after Ctrl-C, once what they have is printed and written:
/// 128 + SIGINT, as shells report it.
inline constexpr int interrupted_exit = 130;

}  // namespace nz::cli
