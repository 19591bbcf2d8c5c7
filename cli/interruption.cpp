#include "cli/interruption.hpp"

#include <csignal>

namespace nz::cli {
namespace {
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "written by a signal handler");
}  // namespace

interruption::interruption() {
    interrupted = false;
    struct sigaction on_interrupt {};
    on_interrupt.sa_handler = [](int) { interrupted = true; };
    on_interrupt.sa_flags = int(SA_RESETHAND) | SA_RESTART;
    sigaction(SIGINT, &on_interrupt, nullptr);
}
interruption::~interruption() { std::signal(SIGINT, SIG_DFL); }
const std::atomic<bool>* interruption::flag() { return &interrupted; }

}  // namespace nz::cli
