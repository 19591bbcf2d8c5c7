// Every layout x value type x matrix of the zoo: what is built stands for the same matrix, bit for
// bit, takes the bytes that its cost told, and is refused exactly where its cost declines.
#include <gtest/gtest.h>

#include <cstring>

#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/formats/layouts.hpp"
#include "nonzero/plan/stats.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <class V>
bool same_bits(const csr<V, host>& a, const csr<V, host>& b) {
    return a.shape == b.shape && a.row_ptr == b.row_ptr && a.col_ind == b.col_ind &&
           a.val.size() == b.val.size() &&
           (a.val.empty() ||
            std::memcmp(a.val.data(), b.val.data(), a.val.size() * sizeof(V)) == 0);
}

/// How many matrices of the zoo the layout F took.
template <class F>
int meet_the_zoo() {
    using V = typename F::value;
    int taken = 0;
    for (const auto& [name, bug, own] : zoo<V>()) {
        SCOPED_TRACE("'" + name + "' (" + bug + ") of " + std::string(value_name<V>()));
        const auto A = view(own);
        const estimate cost = F::cost(compute_stats(A));
        if (!cost.declined.empty()) {
            EXPECT_THROW((void)F::from(A), argument_error) << "declined as " << cost.declined;
            continue;
        }
        const F built = F::from(A);
        EXPECT_TRUE(same_bits(to_csr(view(built)), own));
        // The cost speaks of positions as narrow as they can be.
        if (!A.row_ptr.wide()) {
            EXPECT_EQ(double(bytes(built)), cost.matrix_bytes);
        }
        ++taken;
    }
    return taken;
}

template <class V>
class roundtrip : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(roundtrip, value_types);

TYPED_TEST(roundtrip, every_layout_gives_back_every_matrix_of_the_zoo) {
    for_each_layout([](auto layout, const char* name) {
        SCOPED_TRACE(name);
        EXPECT_GT((meet_the_zoo<typename decltype(layout)::template in<TypeParam, host>>()), 0);
    });
}

}  // namespace
}  // namespace nz::test
