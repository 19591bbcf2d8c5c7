// Every number is met once, whatever the threads; what a thread throws arrives at the caller.
#include "nonzero/core/parallel.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

namespace nz::test {
namespace {

constexpr int thread_counts[] = {1, 2, 5};
constexpr std::int64_t sizes[] = {0, 1, 4, 5, 1000};

TEST(parallel, meets_every_number_once) {
    for (const int threads : thread_counts)
        for (const std::int64_t n : sizes) {
            SCOPED_TRACE(testing::Message() << threads << " threads, " << n);
            const std::vector<int> once(std::size_t(n), 1);
            std::vector<int> even(once.size()), by_runs(once.size()), with_state(once.size());
            parallel_for(threads, n, [&](std::int64_t i) { ++even[std::size_t(i)]; });
            EXPECT_EQ(even, once);
            parallel_for(threads, n, 3, [&](std::int64_t i) { ++by_runs[std::size_t(i)]; });
            EXPECT_EQ(by_runs, once);
            std::atomic<int> states = 0;
            parallel_for(
                threads, n, 3, [&] { return ++states, std::make_unique<int>(1); },
                [&](std::int64_t i, const auto& mine) { with_state[std::size_t(i)] += *mine; });
            EXPECT_EQ(with_state, once);
            EXPECT_EQ(states, threads);
        }
}

TEST(parallel, takes_every_piece_once) {
    for (const int threads : thread_counts)
        for (const int each : {1, 3, 100}) {
            std::vector<std::atomic<int>> taken(std::size_t(threads * each));
            shared_pieces all(threads, each);
            parallel(threads,
                     [&](int t) { all.take(t, [&](int piece) { ++taken[std::size_t(piece)]; }); });
            for (const auto& times : taken) EXPECT_EQ(times, 1);
        }
}

TEST(parallel, takes_its_own_pieces_first_and_then_those_of_others_from_the_back) {
    shared_pieces all(3, 2);
    std::vector<int> order;
    all.take(1, [&](int piece) {
        order.push_back(piece);
        if (piece == 3) all.take(2, [&](int other) { order.push_back(other); });
    });
    EXPECT_EQ(order, (std::vector{2, 3, 4, 5, 1, 0}));
}

TEST(parallel, combines) {
    for (const int threads : thread_counts)
        for (const std::int64_t n : sizes) {
            const auto same = [](std::int64_t i) { return i; };
            EXPECT_EQ(parallel_reduce(threads, n, std::int64_t(0), std::plus<>(), same),
                      n * (n - 1) / 2);
            EXPECT_EQ(parallel_reduce(threads, n, std::int64_t(-1), larger_of(), same), n - 1);
        }
}

TEST(parallel, throws_what_a_thread_throws) {
    for (const int threads : thread_counts)
        for (const std::int64_t bad : {0, 17, 999}) {
            const auto fail = [&](std::int64_t i) {
                if (i == bad) throw std::out_of_range("here");
            };
            EXPECT_THROW(parallel_for(threads, 1000, fail), std::out_of_range);
            EXPECT_THROW(parallel_for(threads, 1000, 8, fail), std::out_of_range);
            const auto make = [] { return std::make_unique<int>(); };
            EXPECT_THROW(
                parallel_for(threads, 1000, 8, make, [&](std::int64_t i, auto&) { fail(i); }),
                std::out_of_range);
            const auto none = []() -> int { throw std::bad_alloc(); };
            EXPECT_THROW(parallel_for(threads, 1000, 8, none, [](std::int64_t, int) {}),
                         std::bad_alloc);
        }
}

TEST(parallel, begins_nothing_after_a_throw) {
    int done = 0;
    const auto fail = [&](std::int64_t i) {
        if (i == 10) throw std::out_of_range("here");
        ++done;
    };
    EXPECT_THROW(parallel_for(1, 1'000'000'000'000, 8, fail), std::out_of_range);
    EXPECT_EQ(done, 10);
}

}  // namespace
}  // namespace nz::test
