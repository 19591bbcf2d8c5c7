#include "cli/progress.hpp"

#include <fmt/core.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli/command.hpp"

namespace nz::cli {

struct running_clock::teller {
    explicit teller(std::string what) : label(std::move(what)), thread([this] { run(); }) {}
    ~teller() {
        {
            const std::lock_guard lock(mutex);
            over = true;
        }
        changed.notify_one();
        thread.join();
    }
    void run() {
        using namespace std::chrono_literals;
        bool drawn = false;
        std::unique_lock lock(mutex);
        for (auto passed = 1000ms;
             !changed.wait_for(lock, drawn ? 500ms : 1000ms, [this] { return over; });
             passed += 500ms) {
            drawn = true;
            fmt::print(stderr, "\r\033[K{}: {} s", label, passed / 1000ms);
            std::fflush(stderr);
        }
        if (drawn) fmt::print(stderr, "\r\033[K");
    }

    std::string label;
    std::mutex mutex;
    std::condition_variable changed;
    bool over = false;
    std::thread thread;  // the last member: it uses all others
};

running_clock::running_clock(std::string label) {
    if (is_terminal(stderr)) teller_ = std::make_unique<teller>(std::move(label));
}

running_clock::~running_clock() = default;

void running_clock::relabel(std::string label) {
    if (teller_ == nullptr) return;
    const std::lock_guard lock(teller_->mutex);
    teller_->label = std::move(label);
}

}  // namespace nz::cli
