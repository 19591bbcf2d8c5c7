// The timing harness under a clock that only the work itself moves.
#include "nonzero/plan/timing/measure.hpp"

#include <gtest/gtest.h>

#include <string>

#include "nonzero/core/error.hpp"

namespace nz::test {
namespace {

/// Work that takes the time it says and leaves its letter in a log.
struct fake {
    double time = 0;
    std::string log;
    measure_options options(double seconds, const std::atomic<bool>* interrupted = nullptr) {
        return {.seconds = seconds, .warm_up_runs = 1, .interrupted = interrupted, .now = [this] {
                    return time;
                }};
    }
    std::function<void()> takes(char letter, double s) {
        return [this, letter, s] { time += s, log += letter; };
    }
};

/// The log from the last warm-up run on: blocks only.
std::string tail(const std::string& log, std::size_t n) { return log.substr(log.size() - n); }

TEST(time_interleaved, times_a_run_whatever_the_repeats) {
    fake clock;
    const std::function<void()> work[] = {clock.takes('a', 3e-3), clock.takes('b', 1e-5)};
    const auto t = time_interleaved(work, clock.options(0.05));
    EXPECT_NEAR(t[0].median_s, 3e-3, 1e-12);
    EXPECT_EQ(t[0].repeats_per_block, 1);
    EXPECT_NEAR(t[1].median_s, 1e-5, 1e-12);
    EXPECT_EQ(t[1].repeats_per_block, 200);  // of 10 us in 2 ms
    EXPECT_NEAR(t[1].spread, 0, 1e-9);
}

TEST(time_interleaved, a_block_is_as_long_as_asked) {
    fake clock;
    const std::function<void()> work[] = {clock.takes('a', 1e-4)};
    measure_options options = clock.options(1e-9);
    options.block_s = 5e-4;
    EXPECT_EQ(time_interleaved(work, options)[0].repeats_per_block, 5);
}

TEST(time_interleaved, takes_turns_block_by_block) {
    fake clock;
    const std::function<void()> work[] = {clock.takes('a', 4e-3), clock.takes('b', 4e-3),
                                          clock.takes('c', 4e-3)};
    (void)time_interleaved(work, clock.options(1e-9));  // so min_blocks each
    EXPECT_EQ(clock.log,
              "aabbcc"
              "aabbcc"
              "aabbcc"
              "aabbcc"
              "aabbcc"
              "aabbcc");
}

TEST(time_interleaved, warms_up_before_every_block) {
    fake clock;
    const std::function<void()> work[] = {clock.takes('a', 4e-3), clock.takes('b', 4e-3)};
    measure_options options = clock.options(1e-9);
    options.warm_up_runs = 3;
    (void)time_interleaved(work, options);
    EXPECT_EQ(clock.log,
              "aabb"  // the repeats are chosen
              "aaaabbbb"
              "aaaabbbb"
              "aaaabbbb"
              "aaaabbbb"
              "aaaabbbb");
}

TEST(time_interleaved, an_item_ends_when_its_own_time_is_spent) {
    fake clock;
    const std::function<void()> work[] = {clock.takes('a', 1.0 / 256), clock.takes('b', 0.125)};
    const auto t = time_interleaved(work, clock.options(20 * 2.0 / 256));
    EXPECT_EQ(t[0].block_s.size(), 20U);  // each with its untimed run
    EXPECT_EQ(t[1].block_s.size(), min_blocks);
    EXPECT_EQ(tail(clock.log, 6), "aaaaaa");
}

TEST(time_interleaved, believes_work_that_times_itself) {
    double wall = 0;
    std::vector<std::int64_t> asked;
    const timed_runs work[] = {[&](std::int64_t runs) {
        wall += 1.0 / 8, asked.push_back(runs);
        return double(runs) / 1024;
    }};
    measure_options options{.seconds = 6 * 2.0 / 8, .warm_up_runs = 1, .now = [&] { return wall; }};
    options.block_s = 4.0 / 1024;
    const auto t = time_interleaved(work, options);
    EXPECT_EQ(t[0].median_s, 1.0 / 1024);
    EXPECT_EQ(t[0].repeats_per_block, 4);
    EXPECT_EQ(t[0].block_s.size(), 6U);  // by the wall's clock
    EXPECT_EQ(std::vector(asked.end() - 4, asked.end()), (std::vector<std::int64_t>{1, 4, 1, 4}));
}

TEST(time_interleaved, gives_median_quartiles_and_minimum) {
    fake clock;
    // Runs: warm-up, calibration, then untimed and timed in turn; the timed ones take 4, 2, 9, 5
    // and 3 ms, the untimed ones so long that counting one would show.
    const double ms[] = {50, 4, 50, 4, 50, 2, 50, 9, 50, 5, 50, 3};
    std::size_t run = 0;
    const std::function<void()> work[] = {[&] { clock.time += 1e-3 * ms[run++]; }};
    const timing t = time_interleaved(work, clock.options(1e-9))[0];
    ASSERT_EQ(t.block_s.size(), 5U);
    EXPECT_NEAR(t.block_s[2], 9e-3, 1e-12);
    EXPECT_NEAR(t.median_s, 4e-3, 1e-12);
    EXPECT_NEAR(t.min_s, 2e-3, 1e-12);
    EXPECT_NEAR(t.spread, (5.0 - 3.0) / 4.0, 1e-9);
}

TEST(time_interleaved, returns_what_it_has_when_interrupted) {
    fake clock;
    std::atomic<bool> interrupted = false;
    int runs = 0;
    const std::function<void()> work[] = {clock.takes('a', 4e-3), [&] {
                                              clock.takes('b', 4e-3)();
                                              if (++runs == 6) interrupted = true;
                                          }};
    const auto t = time_interleaved(work, clock.options(10, &interrupted));
    EXPECT_EQ(clock.log,
              "aabb"
              "aabb"
              "aabb");  // b's sixth run ends its second block
    EXPECT_EQ(t[0].block_s.size(), 2U);
    EXPECT_NEAR(t[0].median_s, 4e-3, 1e-12);
    EXPECT_EQ(t[1].block_s.size(), 2U);
}

TEST(time_interleaved, interrupted_at_once_measures_nothing) {
    fake clock;
    const std::atomic<bool> interrupted = true;
    const std::function<void()> work[] = {clock.takes('a', 1e-3)};
    const auto t = time_interleaved(work, clock.options(10, &interrupted));
    ASSERT_EQ(t.size(), 1U);
    EXPECT_TRUE(t[0].block_s.empty());
    EXPECT_EQ(t[0].median_s, 0);
    EXPECT_EQ(clock.log, "");
}

TEST(time_interleaved, work_of_no_time_ends) {
    fake clock;
    int runs = 0;
    const std::function<void()> work[] = {[&] { clock.time += ++runs > 3 ? 1e-2 : 0; }};
    EXPECT_EQ(time_interleaved(work, clock.options(1e-9))[0].block_s.size(), min_blocks);
}

TEST(time_interleaved, refuses_no_time) {
    EXPECT_THROW((void)time_interleaved(std::span<const timed_runs>(), {.seconds = 0}),
                 argument_error);
    EXPECT_THROW((void)time_interleaved(std::span<const timed_runs>(), {.block_s = 0}),
                 argument_error);
    EXPECT_THROW((void)time_interleaved(std::span<const timed_runs>(), {.warm_up_runs = -1}),
                 argument_error);
    EXPECT_TRUE(time_interleaved(std::span<const timed_runs>(), {}).empty());
}

}  // namespace
}  // namespace nz::test
