// Every method of the registry x value type x matrix of the zoo x threads x alpha x beta, against
// the long double reference and its bound. A new row of the registry is tested without a new line.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/formats/oracle.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/plan/stats.hpp"
#include "test/files.hpp"
#include "test/products.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <class V>
class conformance : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(conformance, value_types);

template <class V>
void check_product(const linear_operator<V, cpu>& op, const product_case<V>& c) {
    guarded<V> y(c.y0);
    op.apply_transposed(c.how, c.alpha, c.x, c.beta, y.span());
    const agreement got = compare<V>(y.span(), c.want);
    EXPECT_TRUE(got.holds()) << "op " << int(c.how) << ", alpha " << c.alpha << ", beta " << c.beta
                             << ": y[" << got.row << "] = " << y.span()[got.row] << " is "
                             << got.worst << " bounds away from "
                             << double(c.want.y[got.row].real());
    EXPECT_TRUE(y.intact()) << "wrote outside y";
}

TYPED_TEST(conformance, every_method_meets_the_zoo) {
    using V = TypeParam;
    int ran = 0, declined = 0;
    for (const auto& [name, bug, own] : zoo<V>()) {
        const auto A = view(own);
        const matrix_stats stats = compute_stats(A);
        const auto cases = product_cases(A, {transposition::plain, transposition::transpose,
                                             transposition::conjugate_transpose});
        for (const method<V>& m : methods<V>()) {
            if (m.on_cpu == nullptr) continue;
            if (!m.cost(stats).declined.empty()) {
                ++declined;
                continue;
            }
            for (const int threads : {1, 2, 5}) {
                SCOPED_TRACE(std::string(m.name) + " on '" + name + "' (" + bug + "), " +
                             std::to_string(threads) + " threads");
                const auto op = build(m, cpu{threads}, A);
                for (const auto& c : cases)
                    if (c.how == transposition::plain || m.transposed_on_cpu) check_product(*op, c);
                ++ran;
                if (this->HasFailure()) return;
            }
        }
    }
    std::printf("[   cpu    ] %s: %d (method, matrix, threads) cases ran, %d declined\n",
                std::string(value_name<V>()).c_str(), ran, declined);
    EXPECT_GT(ran, 0);
}

TYPED_TEST(conformance, cost_is_the_bytes_that_are_built) {
    using V = TypeParam;
    for (const auto& [name, bug, own] : zoo<V>()) {
        const auto A = view(own);
        if (A.row_ptr.wide()) continue;  // the cost speaks of pointers as narrow as they can be
        const matrix_stats stats = compute_stats(A);
        for (const method<V>& m : methods<V>()) {
            const estimate e = m.cost(stats);
            if (m.on_cpu == nullptr || !e.declined.empty()) continue;
            if (m.name == "packed.stripes") continue;  // how it packs its stripes is estimated
            EXPECT_EQ(double(build(m, cpu{1}, A)->bytes()), e.matrix_bytes)
                << m.name << " on '" << name << "'";
        }
    }
}

TYPED_TEST(conformance, deterministic_methods_give_the_same_bits) {
    using V = TypeParam;
    for (const auto& [name, bug, own] : zoo<V>()) {
        const auto A = view(own);
        const matrix_stats stats = compute_stats(A);
        const auto x = random_vector<V>(std::size_t(A.shape.cols), 5);
        for (const method<V>& m : methods<V>()) {
            if (m.on_cpu == nullptr || !m.deterministic || !m.cost(stats).declined.empty())
                continue;
            const auto op = build(m, cpu{3}, A);
            host_vector<V> first(std::size_t(A.shape.rows), V(0)), again = first;
            op->apply(V(1), x, V(0), first);
            for (int run = 0; run < 3; ++run) {
                op->apply(V(1), x, V(0), again);
                ASSERT_TRUE(same_bits<V>(first, again)) << m.name << " on '" << name << "'";
            }
        }
    }
}

TYPED_TEST(conformance, padding_never_enters_the_sum) {
    using V = TypeParam;
    const padding_case<V> c = padding_never_meets<V>();
    const auto A = view(c.A);
    const matrix_stats stats = compute_stats(A);
    for (const method<V>& m : methods<V>()) {
        if (m.on_cpu == nullptr || !m.cost(stats).declined.empty()) continue;
        host_vector<V> y(std::size_t(A.shape.rows), not_a_number<V>());
        build(m, cpu{2}, A)->apply(V(1), c.x, V(0), y);
        EXPECT_TRUE(compare<V>(y, c.want).holds()) << m.name;
    }
}

TYPED_TEST(conformance, a_stored_zero_times_infinity_is_nan) {
    using V = TypeParam;
    using R = real<V>;
    const csr<V, host> own{{2, 3}, {0, 2, 3}, {0, 1, 2}, {V(R(1)), V(R(0)), V(R(1))}};
    const auto A = view(own);
    const host_vector<V> x{V(R(1)), V(std::numeric_limits<R>::infinity()), V(R(3))};
    for (const method<V>& m : methods<V>()) {
        if (m.on_cpu == nullptr || !m.cost(compute_stats(A)).declined.empty()) continue;
        host_vector<V> y(2, V(R(0)));
        build(m, cpu{2}, A)->apply(V(1), x, V(0), y);
        EXPECT_TRUE(std::isnan(std::real(y[0]))) << m.name;
        EXPECT_EQ(y[1], V(R(3))) << m.name;
    }
}

TEST(registry, names_are_unique_sorted_and_say_their_source) {
    const auto all = methods<double>();
    for (std::size_t k = 0; k < all.size(); ++k) {
        EXPECT_NE(all[k].name.find('.'), std::string_view::npos) << all[k].name;
        EXPECT_FALSE(all[k].source.empty()) << all[k].name;
        EXPECT_TRUE(all[k].exists_on_cpu || all[k].exists_on_gpu) << all[k].name;
        if (k > 0) {
            EXPECT_LT(all[k - 1].name, all[k].name);
        }
    }
    EXPECT_THROW((void)find_method<double>("csr.nonsense"), argument_error);
}

TEST(linear_operator, refuses_wrong_lengths_and_overlap) {
    const csr<double, host> A{{2, 3}, {0, 1, 2}, {0, 2}, {1, 2}};
    const auto op = build(find_method<double>("csr.serial"), cpu{1}, view(A));
    host_vector<double> x(3, 1), y(2), both(5);
    EXPECT_NO_THROW(op->apply(1, x, 0, y));
    EXPECT_THROW(op->apply(1, y, 0, y), argument_error);
    EXPECT_THROW(op->apply(1, x, 0, x), argument_error);
    EXPECT_THROW(op->apply_transposed(transposition::transpose, 1, x, 0, y), argument_error);
    EXPECT_THROW(op->apply(1, std::span(both).subspan(0, 3), 0, std::span(both).subspan(2, 2)),
                 argument_error);
    for (const auto how : {transposition::transpose, transposition::conjugate_transpose}) {
        const std::span<double> all(both);
        EXPECT_NO_THROW(op->apply_transposed(how, 1, all.first(2), 0, all.last(3)));
        EXPECT_THROW(op->apply_transposed(how, 1, all.first(2), 0, all.first(3)), argument_error);
        EXPECT_THROW(op->apply_transposed(how, 0, all.last(2), 1, all.subspan(1, 3)),
                     argument_error);
    }
}

/// Effect of alpha and beta that are not finite, by every method.
template <class V>
void check_scalars_that_are_not_finite(const linear_operator<V, cpu>& op, transposition how) {
    using R = real<V>;
    constexpr R infinity = std::numeric_limits<R>::infinity();
    const host_vector<V> x(4, V(R(2)));
    const auto product = [&](V alpha, V beta, V y0) {
        host_vector<V> y(4, y0);
        op.apply_transposed(how, alpha, x, beta, y);
        return y;
    };
    const auto is_nan = [](V v) { return std::isnan(std::real(v)); };
    const auto is_infinite = [](V v) { return !std::isfinite(std::real(v)); };
    EXPECT_TRUE(std::ranges::all_of(product(not_a_number<V>(), V(1), V(1)), is_nan));
    EXPECT_TRUE(std::ranges::all_of(product(V(1), not_a_number<V>(), V(1)), is_nan));
    EXPECT_TRUE(std::ranges::all_of(product(V(0), not_a_number<V>(), V(1)), is_nan));
    EXPECT_TRUE(std::ranges::all_of(product(V(infinity), V(1), V(1)), is_infinite));
    EXPECT_TRUE(std::ranges::all_of(product(V(1), V(-infinity), V(1)), is_infinite));
    EXPECT_TRUE(std::ranges::all_of(product(V(0), V(infinity), V(0)), is_nan));
    EXPECT_TRUE(std::ranges::all_of(product(V(1), V(-R(0)), not_a_number<V>()),
                                    [](V v) { return v == V(R(8)); }));
}

TYPED_TEST(conformance, alpha_and_beta_may_be_infinite_or_no_numbers) {
    using V = TypeParam;
    auto own = from_rule<V>(4, 4, [](index, index, double) { return true; });
    std::fill(own.val.begin(), own.val.end(), V(1));
    const matrix_stats stats = compute_stats(view(own));
    for (const method<V>& m : methods<V>()) {
        if (m.on_cpu == nullptr || !m.cost(stats).declined.empty()) continue;
        SCOPED_TRACE(m.name);
        const auto op = build(m, cpu{2}, view(own));
        check_scalars_that_are_not_finite(*op, transposition::plain);
        if (m.transposed_on_cpu) check_scalars_that_are_not_finite(*op, transposition::transpose);
    }
}

}  // namespace
}  // namespace nz::test
