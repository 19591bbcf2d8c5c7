#include "cli/progress.hpp"

#include <fmt/format.h>

#include <chrono>

#include "cli/command.hpp"

namespace nz::cli {

running_clock::running_clock(std::string label) : label_(std::move(label)) {
    if (is_terminal(stderr)) thread_ = std::thread([this] { run(); });
}

running_clock::~running_clock() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void running_clock::relabel(std::string label) {
    const std::lock_guard lock(mutex_);
    label_ = std::move(label);
}

void running_clock::run() {
    using namespace std::chrono_literals;
    bool drawn = false;
    std::unique_lock lock(mutex_);
    for (auto passed = 1000ms;
         !changed_.wait_for(lock, drawn ? 500ms : 1000ms, [this] { return over_; });
         passed += 500ms) {
        drawn = true;
        fmt::print(stderr, "\r\033[K{}: {} s", label_, passed / 1000ms);
        std::fflush(stderr);
    }
    if (drawn) fmt::print(stderr, "\r\033[K");
}

}  // namespace nz::cli
