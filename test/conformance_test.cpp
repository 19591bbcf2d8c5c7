// Every method of the registry x value type x matrix of the zoo x threads x alpha x beta, against
// the long double reference and its bound. A new row of the registry is tested without a new line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "nonzero/formats/oracle.hpp"
#include "nonzero/formats/registry.hpp"
#include "nonzero/plan/stats.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <class V>
class conformance : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(conformance, value_types);

template <class V>
V not_a_number() {
    return V(std::numeric_limits<real<V>>::quiet_NaN());
}

/// A vector between guard words, which must stand after the product.
template <class V>
class guarded {
  public:
    explicit guarded(const host_vector<V>& v) : data_(v.size() + 2 * guards, V(-77)) {
        std::copy(v.begin(), v.end(), data_.begin() + guards);
    }
    std::span<V> span() { return std::span(data_).subspan(guards, data_.size() - 2 * guards); }
    [[nodiscard]] bool intact() const {
        const auto is_guard = [](V v) { return v == V(-77); };
        return std::all_of(data_.begin(), data_.begin() + guards, is_guard) &&
               std::all_of(data_.end() - guards, data_.end(), is_guard);
    }

  private:
    static constexpr std::ptrdiff_t guards = 16;
    host_vector<V> data_;
};

/// One product y = alpha op(A) x + beta y with what it must give, computed once for all methods.
template <class V>
struct product_case {
    transposition how;
    V alpha, beta;
    host_vector<V> x;   ///< NaN where alpha is zero: then it must not be read
    host_vector<V> y0;  ///< NaN where beta is zero: then it must not be read
    reference want;
};

template <class V>
std::vector<product_case<V>> product_cases(const csr<V, host_view>& A) {
    std::vector<transposition> hows{transposition::plain, transposition::transpose};
    if (is_complex<V>) hows.push_back(transposition::conjugate_transpose);
    std::vector<product_case<V>> cases;
    for (const transposition how : hows) {
        const bool swap = how != transposition::plain;
        const auto x = random_vector<V>(std::size_t(swap ? A.shape.rows : A.shape.cols), 1);
        const auto y = random_vector<V>(std::size_t(swap ? A.shape.cols : A.shape.rows), 2);
        for (const V alpha : {V(0), V(1), V(-2.5)})
            for (const V beta : {V(0), V(1), V(-2.5)})
                cases.push_back({how, alpha, beta,
                                 alpha == V(0) ? host_vector<V>(x.size(), not_a_number<V>()) : x,
                                 beta == V(0) ? host_vector<V>(y.size(), not_a_number<V>()) : y,
                                 reference_product<V>(how, alpha, A, x, beta, y)});
    }
    return cases;
}

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
        const auto cases = product_cases(A);
        for (const method<V>& m : methods<V>()) {
            if (m.on_cpu == nullptr) continue;
            if (!m.cost(stats).declined.empty()) {
                ++declined;
                continue;
            }
            for (const int threads : {1, 2, 5}) {
                SCOPED_TRACE(std::string(m.name) + " on '" + name + "' (" + bug + "), " +
                             std::to_string(threads) + " threads");
                const auto op = m.on_cpu(cpu{threads}, A);
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
            EXPECT_EQ(double(m.on_cpu(cpu{1}, A)->bytes()), e.matrix_bytes)
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
            const auto op = m.on_cpu(cpu{3}, A);
            host_vector<V> first(std::size_t(A.shape.rows), V(0)), again = first;
            op->apply(V(1), x, V(0), first);
            for (int run = 0; run < 3; ++run) {
                op->apply(V(1), x, V(0), again);
                ASSERT_EQ(0, std::memcmp(first.data(), again.data(), first.size() * sizeof(V)))
                    << m.name << " on '" << name << "'";
            }
        }
    }
}

/// Infinities and NaNs in the elements of x that no entry touches must not reach y, whatever the
/// layout pads with; in those that an explicit zero touches, they must.
TYPED_TEST(conformance, padding_never_enters_the_sum) {
    using V = TypeParam;
    using R = real<V>;
    std::vector<index> row, col;
    host_vector<V> val;
    for (index i = 0; i < 67; ++i)
        for (index j = 1; j < 60; j += 2)
            if ((i * 7 + j * 3) % 5 < 1 + i % 3 && (j / 2 + i) % 4 != 0)
                row.push_back(i), col.push_back(j), val.push_back(V(R(1)));
    const csr<V, host> own = assemble<V>({67, 60}, row, col, val);
    const auto A = view(own);
    const matrix_stats stats = compute_stats(A);
    host_vector<V> x(60, V(R(1)));
    for (std::size_t j = 0; j < x.size(); j += 4)
        x[j] = V(std::numeric_limits<R>::infinity()), x[j + 2] = not_a_number<V>();
    const auto want = reference_product<V>(transposition::plain, V(1), A, x, V(0), {});
    for (const method<V>& m : methods<V>()) {
        if (m.on_cpu == nullptr || !m.cost(stats).declined.empty()) continue;
        host_vector<V> y(67, not_a_number<V>());
        m.on_cpu(cpu{2}, A)->apply(V(1), x, V(0), y);
        EXPECT_TRUE(compare<V>(y, want).holds()) << m.name;
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
        m.on_cpu(cpu{2}, A)->apply(V(1), x, V(0), y);
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
    const auto op = find_method<double>("csr.serial").on_cpu(cpu{1}, view(A));
    host_vector<double> x(3, 1), y(2), both(5);
    EXPECT_NO_THROW(op->apply(1, x, 0, y));
    EXPECT_THROW(op->apply(1, y, 0, y), argument_error);
    EXPECT_THROW(op->apply(1, x, 0, x), argument_error);
    EXPECT_THROW(op->apply_transposed(transposition::transpose, 1, x, 0, y), argument_error);
    EXPECT_THROW(op->apply(1, std::span(both).subspan(0, 3), 0, std::span(both).subspan(2, 2)),
                 argument_error);
}

}  // namespace
}  // namespace nz::test
