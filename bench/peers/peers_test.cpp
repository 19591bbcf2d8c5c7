// The peers compute what we compute, so that their times are those of the same product.
#include "bench/peers/peers.hpp"

#include <gtest/gtest.h>

#include "nonzero/formats/oracle.hpp"
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
            for (const method<V>& m : peers::peer_methods<V>()) {
                if (A.val.empty() && m.name == "mkl.csr") continue;  // which it declines
                ASSERT_EQ(m.cost(compute_stats(A)).declined, "");
                for (const int threads : {1, 2}) {
                    host_vector<V> y = y0;
                    m.on_cpu(cpu{threads}, A)->apply(alpha, x, beta, y);
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
    s.nnz = max_narrow_offset + 1;
    for (const method<double>& m : peers::peer_methods<double>())
        EXPECT_NE(m.cost(s).declined, "") << m.name;
    const csr<double, host> wide{
        {1, 1}, offset_vector::wide(host_vector<offset>{0, 1}), {0}, {1.0}};
    for (const method<double>& m : peers::peer_methods<double>())
        EXPECT_THROW((void)m.on_cpu(cpu{1}, view(wide)), argument_error) << m.name;
}

}  // namespace
}  // namespace nz::test
