#include "nonzero/solve/preconditioners/triangular/faster_way.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace nz {
namespace {

constexpr auto long_time = std::chrono::milliseconds(5);

TEST(faster_way, is_taken_after_three_turns_of_each) {
    for (const bool first_is_slow : {false, true}) {
        faster_way ways;
        std::array<int, 2> turns{};
        const auto way = [&](int k, bool is_slow) {
            return [&turns, k, is_slow] {
                if (is_slow) std::this_thread::sleep_for(long_time);
                ++turns[std::size_t(k)];
            };
        };
        for (int k = 0; k < 26; ++k) ways.run(way(0, first_is_slow), way(1, !first_is_slow));
        EXPECT_EQ(turns[std::size_t(first_is_slow)], 23) << first_is_slow;
        EXPECT_EQ(turns[std::size_t(!first_is_slow)], 3) << first_is_slow;
    }
}

/// One that had to wait in two of its turns is judged by the third.
TEST(faster_way, is_judged_by_its_fastest_turn) {
    faster_way ways;
    int turns = 0, others = 0;
    const auto first = [&] {
        if (++turns < 3) std::this_thread::sleep_for(2 * long_time);
    };
    const auto second = [&] {
        ++others;
        std::this_thread::sleep_for(long_time);
    };
    for (int k = 0; k < 10; ++k) ways.run(first, second);
    EXPECT_EQ(turns, 7);
    EXPECT_EQ(others, 3);
}

TEST(faster_way, runs_from_several_threads) {
    faster_way ways;
    std::atomic<int> runs = 0;
    const auto run = [&] { ++runs; };
    std::vector<std::jthread> all;
    for (int t = 0; t < 4; ++t)
        all.emplace_back([&] {
            for (int k = 0; k < 100; ++k) ways.run(run, run);
        });
    all.clear();
    EXPECT_EQ(runs, 400);
}

}  // namespace
}  // namespace nz
