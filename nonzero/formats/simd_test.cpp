// Every loop of explicit SIMD that this machine can run, not only the fastest, beside the plain
// one.
#include "nonzero/formats/simd.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "nonzero/formats/oracle.hpp"
#include "nonzero/formats/panel.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <class V>
struct simd : testing::Test {};
using reals = testing::Types<float, double>;
TYPED_TEST_SUITE(simd, reals);

/// A panel of rows * width entries, every third of them padding; x that no padding may meet.
template <class V>
struct sample {
    std::int64_t rows, pitch, width;
    host_vector<index> col_ind;
    host_vector<V> val, x;

    sample(std::int64_t n, std::int64_t w) : rows(n), pitch(n + 3), width(w) {
        val = random_vector<V>(std::size_t(pitch * width), 1);
        x = random_vector<V>(101, 2);
        x[0] = std::numeric_limits<V>::infinity();
        for (std::int64_t at = 0; at < pitch * width; ++at)
            col_ind.push_back(at % 3 == 1 ? index(-1) : index(1 + at * 7 % 100));
    }
    [[nodiscard]] panel<V> view() const { return {col_ind.data(), val.data(), rows, pitch, width}; }
};

TYPED_TEST(simd, every_panel_loop_gives_the_bits_of_the_plain_one) {
    using V = TypeParam;
    for (const std::int64_t rows : {0, 1, 3, 7, 8, 15, 16, 17, 31, 32, 33, 47, 64, 255, 256}) {
        for (const std::int64_t width : {0, 1, 2, 9}) {
            const sample<V> s(rows, width);
            const host_vector<V> before = random_vector<V>(std::size_t(rows) + 1, 3);
            host_vector<V> plain = before;
            multiply_panel_plainly(s.view(), s.x.data(), plain.data());
            EXPECT_EQ(plain.back(), before.back());
            for (const panel_loop<V> loop : simd_panel_loops<V>()) {
                host_vector<V> sums = before;  // the last one is a guard
                loop(s.view(), s.x.data(), sums.data());
                EXPECT_EQ(std::memcmp(sums.data(), plain.data(), sums.size() * sizeof(V)), 0)
                    << rows << " rows of " << width;
            }
        }
    }
}

TYPED_TEST(simd, every_row_dot_keeps_the_bound) {
    using V = TypeParam;
    for (index n = 0; n < 150; ++n) {
        const auto A = from_lengths<V>({n}, 200);
        const host_vector<V> x = random_vector<V>(200, 4);
        const reference r = reference_product<V>(transposition::plain, V(1), view(A), x, V(0), {});
        for (const row_dot<V> dot : simd_row_dots<V>()) {
            const V y = dot(A.col_ind.data(), A.val.data(), x.data(), n);
            EXPECT_TRUE(compare<V>(std::span(&y, 1), r).holds()) << n;
        }
    }
}

}  // namespace
}  // namespace nz::test
