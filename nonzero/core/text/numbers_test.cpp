#include "nonzero/core/text/numbers.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace nz {
namespace {

TEST(numbers, have_three_digits_and_no_exponent_where_people_count) {
    EXPECT_EQ(text_of_number(0), "0");
    EXPECT_EQ(text_of_number(0.012345), "0.0123");
    EXPECT_EQ(text_of_number(7.1), "7.1");
    EXPECT_EQ(text_of_number(-12.345), "-12.3");
    EXPECT_EQ(text_of_number(999.6), "1000");
    EXPECT_EQ(text_of_number(1123.4), "1123");
    EXPECT_EQ(text_of_number(999999.6), "1.00 M");
    EXPECT_EQ(text_of_number(10198464), "10.2 M");
    EXPECT_EQ(text_of_number(4.46e8), "446 M");
    EXPECT_EQ(text_of_number(2e-7), "2.0e-07");
    EXPECT_EQ(text_of_number(std::numeric_limits<double>::max()), "1.8e+308");
    EXPECT_EQ(text_of_number(std::numeric_limits<double>::infinity()), "inf");
}

TEST(numbers, times_have_the_unit_in_which_three_digits_suffice) {
    EXPECT_EQ(text_of_time(0), "0 s");
    EXPECT_EQ(text_of_time(2e-7), "200 ns");
    EXPECT_EQ(text_of_time(79.75e-6), "79.8 us");
    EXPECT_EQ(text_of_time(999.6e-6), "1.00 ms");
    EXPECT_EQ(text_of_time(0.0372), "37.2 ms");
    EXPECT_EQ(text_of_time(1.12), "1.12 s");
    EXPECT_EQ(text_of_time(31.5), "31.5 s");
    EXPECT_EQ(text_of_time(1234), "1234 s");
    EXPECT_EQ(text_of_time(std::numeric_limits<double>::max()), "1.8e+308 s");
    EXPECT_EQ(text_of_time(std::numeric_limits<double>::infinity()), "inf s");
}

TEST(numbers, bytes_are_counted_by_thousands) {
    EXPECT_EQ(text_of_bytes(0), "0 B");
    EXPECT_EQ(text_of_bytes(512), "512 B");
    EXPECT_EQ(text_of_bytes(32768), "32.8 kB");
    EXPECT_EQ(text_of_bytes(999.7e3), "1.00 MB");
    EXPECT_EQ(text_of_bytes(1.759e6), "1.76 MB");
    EXPECT_EQ(text_of_bytes(80e9), "80.0 GB");
    EXPECT_EQ(text_of_bytes(2e15), "2000 TB");
    EXPECT_EQ(text_of_bytes(1e24), "1.0e+12 TB");
}

}  // namespace
}  // namespace nz
