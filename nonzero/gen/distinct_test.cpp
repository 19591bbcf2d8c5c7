#include "nonzero/gen/distinct.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "nonzero/core/error.hpp"
#include "nonzero/core/space.hpp"

namespace nz {
namespace {

template <class V>
class distinct_of : public testing::Test {};
using value_types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(distinct_of, value_types);

template <class V>
std::int64_t counted_by_a_set(const host_vector<V>& val) {
    std::set<std::string> all;
    for (const V& v : val) all.emplace(reinterpret_cast<const char*>(&v), sizeof v);
    return std::int64_t(all.size());
}

TYPED_TEST(distinct_of, no_two_values_are_equal) {
    using V = TypeParam;
    for (const std::size_t n : {0, 1, 2, 3, 255, 256, 257, 50001}) {
        host_vector<V> val(n, V(-2.5));
        for (std::size_t k = 0; k < n; k += 3) val[k] = V(0);
        for (std::size_t k = 1; k < n; k += 7) val[k] = V(real<V>(k));
        make_distinct<V>(val, 1);
        EXPECT_EQ(counted_by_a_set(val), std::int64_t(n));
        EXPECT_EQ(count_distinct<V>(val), std::int64_t(n));
    }
}

TYPED_TEST(distinct_of, parts_become_what_the_whole_becomes) {
    using V = TypeParam;
    host_vector<V> whole(1001);
    for (std::size_t k = 0; k < whole.size(); ++k) whole[k] = V(real<V>(k % 5));
    host_vector<V> parts = whole;
    make_distinct<V>(whole, 3);
    std::size_t first = 0;
    for (const std::size_t last : {0, 1, 400, 1001}) {
        make_distinct<V>(std::span(parts).subspan(first, last - first), 3, first, whole.size());
        first = last;
    }
    EXPECT_EQ(std::memcmp(parts.data(), whole.data(), whole.size() * sizeof(V)), 0);
    EXPECT_THROW(make_distinct<V>(std::span(parts), 3, 1, parts.size()), argument_error);
    EXPECT_THROW(make_distinct<V>(std::span(parts), 3, 2000, parts.size()), argument_error);
}

TYPED_TEST(distinct_of, each_is_the_original_by_a_factor_from_a_half_to_one) {
    using V = TypeParam;
    using R = real<V>;
    constexpr std::size_t n = 1000;  // of ten bits, five a part in complex values
    host_vector<V> val(n);
    for (std::size_t k = 0; k < n; ++k) val[k] = V(R(k % 7 + 1) * (k % 2 == 0 ? R(-3) : R(1e-3)));
    const host_vector<V> before = val;
    make_distinct<V>(val, 5);
    const double low_bits = std::ldexp(1.0, 10 - std::numeric_limits<R>::digits + 1);
    double least = 1, most = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const double factor = double(std::real(val[k]) / std::real(before[k]));
        EXPECT_GE(factor, 0.5 - low_bits);
        EXPECT_LT(factor, 1 + low_bits);
        least = std::min(least, factor), most = std::max(most, factor);
    }
    EXPECT_LT(least, 0.51);
    EXPECT_GT(most, 0.99);
}

TYPED_TEST(distinct_of, depends_on_values_and_seed_alone) {
    using V = TypeParam;
    const auto made = [](std::uint64_t seed, int threads) {
        const int before = omp_get_max_threads();
        omp_set_num_threads(threads);
        host_vector<V> val(10007, V(3));
        make_distinct<V>(val, seed);
        EXPECT_EQ(count_distinct<V>(val), 10007);
        omp_set_num_threads(before);
        return val;
    };
    EXPECT_EQ(made(1, 1), made(1, 3));
    EXPECT_NE(made(1, 1), made(2, 1));
}

TYPED_TEST(distinct_of, values_that_cannot_be_scaled_become_finite_ones) {
    using V = TypeParam;
    using R = real<V>;
    using limits = std::numeric_limits<R>;
    host_vector<V> val{V(limits::infinity()), V(limits::quiet_NaN()),  V(limits::max()),
                       V(limits::lowest()),   V(limits::denorm_min()), V(limits::min())};
    make_distinct<V>(val, 1);
    for (const V& v : val) EXPECT_TRUE(std::isfinite(std::real(v)));
    EXPECT_EQ(count_distinct<V>(val), 6);
}

TEST(distinct, floats_beyond_their_mantissas_are_distinct_too) {
    constexpr std::size_t n = (1 << 24) + 1000;  // two bits of the exponent
    host_vector<float> val(n);
    for (std::size_t k = 0; k < n; ++k) val[k] = k % 2 == 0 ? 1.5F : -7.0F;
    make_distinct<float>(val, 1);
    EXPECT_EQ(count_distinct<float>(val), std::int64_t(n));
    for (std::size_t k = 0; k < n; ++k) {
        ASSERT_EQ(std::signbit(val[k]), k % 2 == 1);
        ASSERT_GE(std::abs(val[k]), 0.25F);
        ASSERT_LT(std::abs(val[k]), 4.0F);
    }
}

TEST(distinct, refuses_more_floats_than_it_can_tell_apart) {
    // It looks at the size alone, so that no memory of 2 GB is needed: nothing of it is read.
    float one = 1;
    const std::span<float> too_many(&one, (std::size_t(1) << 29) + 1);
    EXPECT_THROW(make_distinct<float>(too_many, 1), argument_error);
}

TEST(distinct, counts_bit_patterns) {
    EXPECT_EQ(count_distinct<double>(host_vector<double>{}), 0);
    EXPECT_EQ(count_distinct<double>(host_vector<double>{1, 1, 2, -1, 2, 1}), 3);
    EXPECT_EQ(count_distinct<double>(host_vector<double>{0.0, -0.0}), 2);
    using c = std::complex<double>;
    EXPECT_EQ(count_distinct<c>(host_vector<c>{{1, 2}, {2, 1}, {1, 2}, {1, 1}}), 3);
}

}  // namespace
}  // namespace nz
