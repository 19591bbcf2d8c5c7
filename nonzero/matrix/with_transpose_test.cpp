// A^T built beside A: its products by every op, on the CPU and on a GPU, and the transposing on a
// GPU.
#include "nonzero/matrix/with_transpose.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "nonzero/core/gpu.hpp"
#include "nonzero/matrix/transpose.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/products.hpp"

namespace nz::test {
namespace {

template <class V>
class transposed : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(transposed, value_types);

template <class V>
host_vector<V> product(const linear_operator<V, cpu>& op, const product_case<V>& c) {
    host_vector<V> y = c.y0;
    op.apply_transposed(c.how, c.alpha, c.x, c.beta, y);
    return y;
}
template <class V>
host_vector<V> product(const linear_operator<V, gpu>& op, const product_case<V>& c) {
    const gpu on{};
    auto y = to_device<V>(on, c.y0);
    op.apply_transposed(c.how, c.alpha, to_device<V>(on, c.x), c.beta, y);
    return to_host<V>(on, y);
}

template <class V, class B>
void expect_right(const linear_operator<V, B>& op, const csr<V, host_view>& A) {
    for (const auto& c : product_cases<V>(A, {transposition::plain, transposition::transpose,
                                              transposition::conjugate_transpose}))
        EXPECT_TRUE(compare<V>(product(op, c), c.want).holds())
            << "op " << int(c.how) << ", alpha " << c.alpha << ", beta " << c.beta;
}

TYPED_TEST(transposed, plans_are_right_on_every_matrix_of_the_zoo) {
    using V = TypeParam;
    for (const auto& [name, bug, A] : zoo<V>()) {
        SCOPED_TRACE(name);
        const auto p = make_plan(A, cpu{2}, {.transposed = true});
        ASSERT_NE(p.of_transpose, nullptr);
        EXPECT_EQ(p.of_transpose->of_transpose, nullptr);
        expect_right<V, cpu>(*build(p, A), view(A));
        if (!why_no_gpu().empty()) continue;
        const auto q = make_plan(A, gpu{}, {.transposed = true});
        expect_right<V, gpu>(*build(q, A), view(A));
        const auto on_device = upload(gpu{}, A);
        const auto r = make_plan(on_device, gpu{}, {.transposed = true});
        expect_right<V, gpu>(*build(r, on_device), view(A));
    }
}

TYPED_TEST(transposed, on_the_gpu_is_what_it_is_on_the_cpu_bit_for_bit) {
    using V = TypeParam;
    if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    const gpu_stream stream;
    for (const auto& [name, bug, A] : zoo<V>()) {
        SCOPED_TRACE(name);
        const auto got = download(gpu(stream), transpose(gpu(stream), view(upload(stream, A))));
        const auto want = transpose(view(A));
        EXPECT_EQ(got.shape, want.shape);
        EXPECT_EQ(got.row_ptr, want.row_ptr);
        EXPECT_EQ(got.col_ind, want.col_ind);
        ASSERT_EQ(got.val.size(), want.val.size());
        if (!want.val.empty()) {
            EXPECT_EQ(std::memcmp(got.val.data(), want.val.data(), want.val.size() * sizeof(V)), 0);
        }
    }
}

TEST(transposed, refuses_operators_that_are_no_pair) {
    const csr<double, host> A{{2, 3}, {0, 1, 2}, {0, 2}, {1, 2}};
    const auto make = [&] { return build(find_method<double>("csr.serial"), cpu{1}, view(A)); };
    EXPECT_THROW((void)with_transpose(cpu{1}, make(), make()), argument_error);
}

}  // namespace
}  // namespace nz::test
