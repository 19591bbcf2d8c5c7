// Ranks as threads of one process, for tests of what runs over several processes.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "nonzero/core/communicator.hpp"
#include "nonzero/core/error.hpp"

namespace nz::test {

/// Where the threads meet. Whoever waits longer than the limit, or for a thread that has failed,
/// throws device_error: a deadlock fails its test and does not hang.
class meeting {
  public:
    explicit meeting(int size) : gathered_(std::size_t(size)), size_(size) {}

    void all_gather(int rank, std::span<const std::byte> mine, std::span<std::byte> all) {
        std::unique_lock lock(mutex_);
        gathered_[std::size_t(rank)].assign(mine.begin(), mine.end());
        meet(lock);
        for (std::size_t r = 0; r < gathered_.size(); ++r) {
            if (gathered_[r].size() != mine.size())
                throw argument_error("all_gather: ranks gave different lengths");
            std::copy(gathered_[r].begin(), gathered_[r].end(),
                      all.begin() + std::ptrdiff_t(r * mine.size()));
        }
        meet(lock);
    }
    void send(int from, const communicator::message<const std::byte>& m) {
        const std::lock_guard lock(mutex_);
        boxes_[{from, m.peer}].emplace_back(m.bytes.begin(), m.bytes.end());
        changed_.notify_all();
    }
    void receive(int to, const communicator::message<std::byte>& m) {
        std::unique_lock lock(mutex_);
        auto& box = boxes_[{m.peer, to}];
        wait(lock, [&] { return !box.empty(); });
        if (box.front().size() != m.bytes.size())
            throw argument_error("a message is of another length than expected");
        std::copy(box.front().begin(), box.front().end(), m.bytes.begin());
        box.pop_front();
    }
    void fail() {
        const std::lock_guard lock(mutex_);
        failed_ = true;
        changed_.notify_all();
    }
    [[nodiscard]] int size() const { return size_; }

  private:
    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, Ready ready) {
        // A rank may work for minutes by itself where sanitizers watch many tests at once.
        constexpr std::chrono::seconds limit(300);
        const bool done = changed_.wait_for(lock, limit, [&] { return failed_ || ready(); });
        if (!done || !ready()) throw device_error("a rank waits for one that does not come");
    }
    void meet(std::unique_lock<std::mutex>& lock) {
        const std::int64_t round = round_;
        if (++arrived_ == size_) arrived_ = 0, ++round_, changed_.notify_all();
        wait(lock, [&] { return round_ != round; });
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::vector<std::byte>> gathered_;
    std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> boxes_;
    int size_, arrived_ = 0;
    std::int64_t round_ = 0;
    bool failed_ = false;
};

/// One rank of a meeting. Counts what it sends.
class thread_rank final : public communicator {
  public:
    thread_rank(meeting& all, int rank) : all_(all), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return all_.size(); }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const override {
        all_.all_gather(rank_, mine, all);
    }
    void start(std::span<const communicator::message<const std::byte>> out,
               std::span<const communicator::message<std::byte>> in) const override {
        for (const auto& m : out) all_.send(rank_, m), sent_bytes += m.bytes.size();
        in_.assign(in.begin(), in.end());
    }
    void wait() const override {
        for (const auto& m : in_) all_.receive(rank_, m);
    }
    mutable std::size_t sent_bytes = 0;

  private:
    meeting& all_;
    int rank_;
    mutable std::vector<communicator::message<std::byte>> in_;
};

/// f(rank) on so many threads at once. What they threw, in rank order.
inline std::vector<std::exception_ptr> thrown_on_ranks(
    int size, const std::function<void(const thread_rank&)>& f) {
    meeting all(size);
    std::vector<std::exception_ptr> thrown(std::size_t(size), nullptr);
    std::vector<std::thread> threads;
    for (int r = 0; r < size; ++r)
        threads.emplace_back([&, r] {
            try {
                f(thread_rank(all, r));
            } catch (...) {
                thrown[std::size_t(r)] = std::current_exception();
                all.fail();
            }
        });
    for (auto& thread : threads) thread.join();
    return thrown;
}

/// The same where none may throw.
inline void on_ranks(int size, const std::function<void(const thread_rank&)>& f) {
    for (const auto& thrown : thrown_on_ranks(size, f)) {
        if (!thrown) continue;
        try {
            std::rethrow_exception(thrown);
        } catch (const std::exception& e) {
            ADD_FAILURE() << "a rank of " << size << " threw: " << e.what();
        }
    }
}

/// Message of that exception; empty where there is none.
inline std::string text_of(const std::exception_ptr& thrown) {
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
        return e.what();
    }
    return "";
}

}  // namespace nz::test
