#include "cli/interruption.hpp"

namespace nz::cli {
namespace {
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "written by a signal handler");
struct sigaction before {};  // what the second Ctrl-C does
}  // namespace

interruption::interruption() {
    interrupted = false;
    sigaction(SIGINT, nullptr, &before);
    struct sigaction on_interrupt {};
    on_interrupt.sa_handler = [](int signal) {
        interrupted = true;
        sigaction(signal, &before, nullptr);
    };
    on_interrupt.sa_flags = SA_RESTART;
    sigaction(SIGINT, &on_interrupt, nullptr);
}
interruption::~interruption() { sigaction(SIGINT, &before, nullptr); }
suspended_interruption::suspended_interruption() { sigaction(SIGINT, &before, &kept_); }
suspended_interruption::~suspended_interruption() { sigaction(SIGINT, &kept_, nullptr); }
const std::atomic<bool>* interruption::flag() { return &interrupted; }

}  // namespace nz::cli
