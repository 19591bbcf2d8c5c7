// Takes that agree, and takes beside a busy process.
#include "nonzero/plan/timing/steady.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>

namespace nz::test {
namespace {

/// Measures what is listed, take after take.
std::function<measured_rates()> of(const std::vector<measured_rates>& takes) {
    return [takes, k = std::size_t(0)]() mutable { return takes.at(k++); };
}
bool all_sound(const measured_rates&) { return true; }

TEST(steady, takes_two_that_agree_and_the_best_of_each) {
    const auto s = measure_steadily(of({{100, 7}, {110, 6}}), all_sound);
    EXPECT_TRUE(s.steady);
    EXPECT_EQ(s.takes, 2);
    EXPECT_EQ(s.best, (measured_rates{110, 7}));
}

TEST(steady, takes_again_what_one_take_says_alone) {
    // 25 where 3,861 are possible, and the other way round.
    auto s = measure_steadily(of({{25, 7}, {3861, 7}, {3700, 7}}), all_sound);
    EXPECT_TRUE(s.steady);
    EXPECT_EQ(s.takes, 3);
    EXPECT_EQ(s.best, (measured_rates{3861, 7}));
    // Another rate is disturbed in each take: three suffice all the same.
    s = measure_steadily(of({{25, 7}, {3861, 1}, {3700, 8}}), all_sound);
    EXPECT_TRUE(s.steady);
    EXPECT_EQ(s.best, (measured_rates{3861, 8}));
}

TEST(steady, gives_up_where_no_two_agree) {
    const auto s = measure_steadily(of({{1, 7}, {3, 7}, {9, 7}, {27, 7}}), all_sound);
    EXPECT_FALSE(s.steady);
    EXPECT_EQ(s.takes, most_takes);
    EXPECT_EQ(s.best, (measured_rates{27, 7}));
}

TEST(steady, takes_again_what_no_machine_does) {
    const auto sound = [](const measured_rates& r) { return r[0] >= 50; };
    auto s = measure_steadily(of({{25}, {25}, {60}, {61}}), sound);
    EXPECT_TRUE(s.steady);
    EXPECT_EQ(s.takes, 4);
    s = measure_steadily(of({{25}, {25}, {25}, {25}}), sound);
    EXPECT_FALSE(s.steady);
    EXPECT_EQ(s.takes, most_takes);
}

TEST(steady, needs_numbers) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(measure_steadily(of({{none}, {none}, {none}, {none}}), all_sound).steady);
    EXPECT_FALSE(measure_steadily(of({{0}, {5}, {0}, {0}}), all_sound).steady);
}

}  // namespace
}  // namespace nz::test
