// The peers compute what we compute, so that their times are those of the same product.
#include <gtest/gtest.h>

#include "cli/peer_methods.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/oracle.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/plan/stats.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <class V>
class peers_of : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(peers_of, value_types);

TYPED_TEST(peers_of, keep_the_bound_on_the_zoo) {
    using V = TypeParam;
    int ran = 0;
    for (const auto& [name, bug, own] : zoo<V>()) {
        const auto A = view(own);
        if (A.row_ptr.wide()) continue;
        const auto x = random_vector<V>(std::size_t(A.shape.cols), 1);
        const auto y0 = random_vector<V>(std::size_t(A.shape.rows), 2);
        for (const auto& [alpha, beta] : {std::pair(V(1), V(0)), std::pair(V(-2.5), V(2))}) {
            const auto want = reference_product<V>(transposition::plain, alpha, A, x, beta, y0);
            for (const method<V>& m : cli::peer_methods<V>()) {
                if (m.on_cpu == nullptr) continue;
                const bool declines = m.name == "mkl.csr" || m.name == "aocl.csr";
                if (A.val.empty() && declines) continue;
                ASSERT_EQ(m.cost(compute_stats(A)).declined, "");
                for (const int threads : {1, 2}) {
                    host_vector<V> y = y0;
                    build(m, cpu{threads}, A)->apply(alpha, x, beta, y);
                    EXPECT_TRUE(compare<V>(y, want).holds())
                        << m.name << " on '" << name << "', " << threads << " threads, beta "
                        << beta;
                    ++ran;
                }
            }
        }
    }
    EXPECT_GT(ran, 0);
}

TEST(peers, decline_what_their_row_pointers_cannot_reach) {
    matrix_stats s;
    s.nnz = offset_vector::max_narrow + 1;
    for (const method<double>& m : cli::peer_methods<double>())
        EXPECT_NE(m.cost(s).declined, "") << m.name;
    const csr<double, host> wide{
        {1, 1}, offset_vector::wide(host_vector<offset>{0, 1}), {0}, {1.0}};
    for (const method<double>& m : cli::peer_methods<double>()) {
        if (m.on_cpu != nullptr) {
            EXPECT_THROW((void)build(m, cpu{1}, view(wide)), argument_error) << m.name;
        } else if (why_no_gpu().empty()) {
            EXPECT_THROW((void)build(m, gpu{}, view(wide)), argument_error) << m.name;
        }
    }
}

TYPED_TEST(peers_of, keep_the_bound_on_a_gpu) {
    using V = TypeParam;
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    if (is_complex<V>) GTEST_SKIP() << "no peer for complex values";
    int ran = 0;
    if constexpr (!is_complex<V>) {
        const gpu_stream stream;
        for (const auto& [name, bug, own] : zoo<V>()) {
            const auto A = view(own);
            if (A.row_ptr.wide()) continue;
            const matrix_stats stats = compute_stats(A);
            const auto x = random_vector<V>(std::size_t(A.shape.cols), 1);
            const auto y0 = random_vector<V>(std::size_t(A.shape.rows), 2);
            const auto x_on_device = to_device<V>(stream, x);
            const auto want = reference_product<V>(transposition::plain, V(-2.5), A, x, V(2), y0);
            for (const method<V>& m : cli::peer_methods<V>()) {
                if (m.on_gpu == nullptr || !m.cost_on_gpu(stats).declined.empty()) continue;
                // Its values fit single precision where they were made so.
                if (m.name == "cusparse.csr_mixed") continue;
                auto y = to_device<V>(stream, y0);
                build(m, gpu(stream), A)->apply(V(-2.5), x_on_device, V(2), y);
                EXPECT_TRUE(compare<V>(to_host<V>(stream, y), want).holds())
                    << m.name << " on '" << name << "'";
                ++ran;
            }
        }
    }
    EXPECT_GT(ran, 0);
}

TEST(peers, mixed_precision_takes_what_floats_hold) {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    for (const method<double>& m : cli::peer_methods<double>()) {
        if (m.name != "cusparse.csr_mixed") continue;
        csr<double, host> A{{2, 2}, {0, 2, 3}, {0, 1, 1}, {1.5, -0.25, 3.0}};
        constexpr double tiny = 1.0 / (1 << 30);  // lost in single precision
        const auto x = to_device<double>(gpu{}, host_vector<double>{1 + tiny, 2});
        device_array<double> y(gpu{}, 2);
        build(m, gpu{}, view(A))->apply(1, x, 0, y);
        EXPECT_EQ(to_host<double>(gpu{}, y), (host_vector<double>{1 + 1.5 * tiny, 6}));
        A.val[0] = 0.1;
        EXPECT_THROW((void)build(m, gpu{}, view(A)), argument_error);
    }
}

}  // namespace
}  // namespace nz::test
