// Vectors on both backends: sums within their bound, and the same bits in every run.
#include "nonzero/vector/vectors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nonzero/vector/scalar.hpp"
#include "test/solver_fixture.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <class T>
class vectors : public solver_test<T> {};
TYPED_TEST_SUITE(vectors, everywhere);

/// Around a lane, a block of threads, a CPU's block, and beyond all that a GPU starts at once.
const std::vector<std::int64_t> lengths{0,    1,    7,    8,     31,     255,    256,
                                        4095, 4096, 4097, 70001, 262143, 262145, 600000};

template <class V>
long double bound(const host_vector<V>& x, const host_vector<V>& y) {
    // Every order of summation keeps gamma_n, n additions and a (complex: four) product each.
    long double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        sum +=
            std::abs(std::complex<long double>(x[i])) * std::abs(std::complex<long double>(y[i]));
    const long double u = std::numeric_limits<real<V>>::epsilon() / 2;
    const long double nu = u * (static_cast<long double>(x.size()) + 4) * (is_complex<V> ? 2 : 1);
    return nu / (1 - nu) * sum;
}

TYPED_TEST(vectors, dot_keeps_its_bound_for_every_length) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    for (const std::int64_t n : lengths) {
        const auto x = random_vector<V>(std::size_t(n), 1), y = random_vector<V>(std::size_t(n), 2);
        std::complex<long double> want = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            want += std::conj(std::complex<long double>(x[i])) * std::complex<long double>(y[i]);
        vector_space<V, B> space(B{}, n);
        const auto x_on_device = from_host(space.on(), std::span<const V>(x));
        const auto y_on_device = from_host(space.on(), std::span<const V>(y));
        const V got = space.dot(x_on_device, y_on_device);
        EXPECT_LE(std::abs(std::complex<long double>(got) - want), bound(x, y)) << n;
        EXPECT_EQ(got, space.dot(x_on_device, y_on_device)) << n << ": other bits the second time";
    }
}

TYPED_TEST(vectors, operations_are_what_they_say) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    for (const std::int64_t n : lengths) {
        vector_space<V, B> space(B{}, n);
        const auto x = random_vector<V>(std::size_t(n), 3), y = random_vector<V>(std::size_t(n), 4);
        const auto x_on_device = from_host(space.on(), std::span<const V>(x));
        const auto fetch = [&](const auto& v) { return to_host<V>(space.on(), in<V, B>(v)); };
        const auto near = [&](V got, V want) {
            return std::abs(got - want) <= 8 * std::numeric_limits<real<V>>::epsilon();
        };
        auto y_on_device = from_host(space.on(), std::span<const V>(y));
        space.axpy(V(2), x_on_device, y_on_device);
        space.xpby(x_on_device, V(-3), y_on_device);
        const auto got = fetch(y_on_device);
        auto z = space.zero();
        EXPECT_EQ(fetch(z), host_vector<V>(std::size_t(n), V(0)));
        space.fill(std::numeric_limits<real<V>>::quiet_NaN(), z);
        space.multiply(x_on_device, x_on_device, z);
        const auto squares = fetch(z);
        space.fill(std::numeric_limits<real<V>>::quiet_NaN(), z);
        space.copy(x_on_device, z);  // does not read z
        EXPECT_EQ(fetch(z), x);
        space.scale(V(2), z);
        const auto twice = fetch(z);
        for (std::size_t i = 0; i < x.size(); ++i) {
            ASSERT_TRUE(near(got[i], x[i] - V(3) * (y[i] + V(2) * x[i]))) << i << " of " << n;
            ASSERT_TRUE(near(squares[i], x[i] * x[i])) << i << " of " << n;
            ASSERT_EQ(twice[i], x[i] + x[i]) << i << " of " << n;
        }
    }
}

TYPED_TEST(vectors, a_wrong_length_is_refused) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    vector_space<V, B> space(B{}, 5);
    vector_space<V, B> other(B{}, 4);
    auto x = space.zero();
    auto y = other.zero();
    EXPECT_THROW(space.axpy(V(1), x, y), argument_error);
    EXPECT_THROW((void)space.dot(y, x), argument_error);
    EXPECT_THROW((vector_space<V, B>(B{}, -1)), argument_error);
}

TEST(vectors_on_cpu, sums_have_the_same_bits_for_any_number_of_threads) {
    const auto x = random_vector<double>(100003, 5);
    const double one = vector_space<double, cpu>(cpu{1}, 100003).norm(x);
    for (const int threads : {2, 3, 7, 64})
        EXPECT_EQ(one, (vector_space<double, cpu>(cpu{threads}, 100003).norm(x))) << threads;
}

/// Each backend gives what the other gives, up to rounding: they sum in another order.
/// Also where squares of the parts overflow or vanish.
TEST(scalars, reciprocals_keep_their_bound_at_every_scale) {
    using wide = std::complex<long double>;
    constexpr double unit = std::numeric_limits<double>::epsilon();
    for (const double scale : {1e-300, 1e-160, 1.0, 1e160, 1e300})
        for (const auto& of_1 : random_vector<std::complex<double>>(1000, 3)) {
            const auto v = scale * of_1;
            const auto far = wide(reciprocal(v)) * wide(v) - wide(1);
            EXPECT_LE(double(std::abs(far)), 4 * unit) << v.real() << " " << v.imag();
        }
    EXPECT_EQ(reciprocal(std::complex<double>(0, 4)), std::complex<double>(0, -0.25));
    EXPECT_EQ(reciprocal(std::complex<double>(-2, 0)), std::complex<double>(-0.5, 0));
    EXPECT_FALSE(std::isfinite(reciprocal(std::complex<double>(0, 0)).real()));
    EXPECT_EQ(reciprocal(-8.0), -0.125);
}

TEST(vectors_on_gpu, norms_agree_with_the_cpu) {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    const auto x = random_vector<double>(100003, 5);
    vector_space<double, gpu> on_device(gpu{}, 100003);
    const auto x_on_device = from_host(on_device.on(), std::span<const double>(x));
    const double here = vector_space<double, cpu>(cpu{}, 100003).norm(x);
    EXPECT_NEAR(on_device.norm(x_on_device), here, here * 100003 * 0x1p-53);
}

TEST(vectors_on_gpu, unavailable_without_one) {
    if (why_no_gpu().empty()) GTEST_SKIP() << "a GPU is here: this is what happens without one";
    EXPECT_THROW((vector_space<double, gpu>(gpu{}, 5)), unavailable);
}

}  // namespace
}  // namespace nz::test
