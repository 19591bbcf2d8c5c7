// Products with several vectors at once: every method, on the CPU and on a GPU, against the oracle,
// vector by vector. What a method has no kernel for, it does vector by vector.
#include <gtest/gtest.h>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/registry.hpp"
#include "nonzero/plan/stats.hpp"
#include "test/files.hpp"
#include "test/products.hpp"

namespace nz::test {
namespace {

constexpr index counts[] = {0, 1, 2, 3, 8, 17, 64};

/// Vectors at a stride beyond their length, and what each must become.
template <class V>
struct many_case {
    index count;
    std::size_t x_stride, y_stride;
    V alpha, beta;
    host_vector<V> X, Y;  ///< NaN between the vectors, in X where alpha and in Y where beta is 0
    std::vector<reference> want;
};

template <class V>
host_vector<V> side_by_side(index count, std::size_t len, std::size_t stride, unsigned seed) {
    host_vector<V> all(std::size_t(count) * stride, not_a_number<V>());
    for (index c = 0; c < count; ++c) {
        const auto v = random_vector<V>(len, seed + unsigned(c));
        std::copy(v.begin(), v.end(), all.begin() + std::ptrdiff_t(std::size_t(c) * stride));
    }
    return all;
}

template <class V>
many_case<V> make_case(const csr<V, host_view>& A, index count, V alpha, V beta) {
    const auto rows = std::size_t(A.shape.rows), cols = std::size_t(A.shape.cols);
    many_case<V> c{count, cols + 3, rows + 1, alpha, beta, {}, {}, {}};
    c.X = side_by_side<V>(count, cols, c.x_stride, 100);
    c.Y = side_by_side<V>(count, rows, c.y_stride, 900);
    for (index k = 0; k < count; ++k) {
        const auto x = std::span(c.X).subspan(std::size_t(k) * c.x_stride, cols);
        const auto y = std::span(c.Y).subspan(std::size_t(k) * c.y_stride, rows);
        c.want.push_back(reference_product<V>(transposition::plain, alpha, A, x, beta, y));
    }
    if (alpha == V(0)) std::fill(c.X.begin(), c.X.end(), not_a_number<V>());
    if (beta == V(0)) std::fill(c.Y.begin(), c.Y.end(), not_a_number<V>());
    return c;
}

/// Every number of vectors.
template <class V>
std::vector<many_case<V>> many_cases(const csr<V, host_view>& A) {
    std::vector<many_case<V>> cases;
    for (const index count : counts) cases.push_back(make_case<V>(A, count, V(1), V(0)));
    cases.push_back(make_case<V>(A, 9, V(-2.5), V(1)));
    return cases;
}
/// For those that multiply vector by vector, as all but packed.warp do.
template <class V>
std::vector<many_case<V>> few_cases(const csr<V, host_view>& A) {
    std::vector<many_case<V>> cases;
    cases.push_back(make_case<V>(A, 3, V(-2.5), V(0.5)));
    cases.push_back(make_case<V>(A, 2, V(0), V(0)));
    return cases;
}

template <class V>
host_vector<V> multiply(const linear_operator<V, cpu>& op, const many_case<V>& c) {
    host_vector<V> Y = c.Y;
    op.apply_many(c.alpha, {c.X, c.x_stride, c.count}, c.beta, {Y, c.y_stride, c.count});
    return Y;
}
template <class V>
host_vector<V> multiply(const linear_operator<V, gpu>& op, const many_case<V>& c) {
    const gpu on{};
    const auto X = to_device<V>(on, c.X);
    auto Y = to_device<V>(on, c.Y);
    op.apply_many(c.alpha, {X, c.x_stride, c.count}, c.beta, {Y, c.y_stride, c.count});
    return to_host<V>(on, Y);
}

template <class V, class B>
void check(const linear_operator<V, B>& op, const many_case<V>& c) {
    const auto rows = std::size_t(op.shape().rows);
    const host_vector<V> Y = multiply(op, c);
    EXPECT_TRUE(same_bits<V>(Y, multiply(op, c))) << "another result at the second time";
    for (index k = 0; k < c.count; ++k) {
        const std::size_t at = std::size_t(k) * c.y_stride;
        const auto y = std::span(Y).subspan(at, rows);
        EXPECT_TRUE(compare<V>(y, c.want[std::size_t(k)]).holds())
            << "vector " << k << " of " << c.count << ", alpha " << c.alpha << ", beta " << c.beta;
        for (std::size_t i = at + rows; i < at + c.y_stride; ++i)
            EXPECT_TRUE(same_bits<V>(std::span(Y).subspan(i, 1), std::span(c.Y).subspan(i, 1)))
                << "wrote between the vectors";
    }
}

template <class V>
class many_vectors : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(many_vectors, value_types);

TYPED_TEST(many_vectors, are_right_by_every_method_on_every_matrix) {
    using V = TypeParam;
    for (const auto& [name, bug, own] : zoo<V>()) {
        if (own.val.size() > 100000) continue;  // the oracle would take minutes
        const auto A = view(own);
        const matrix_stats stats = compute_stats(A);
        const auto many = many_cases<V>(A), few = few_cases<V>(A);
        for (const method<V>& m : methods<V>()) {
            const auto& cases = m.name == "packed.warp" ? many : few;
            SCOPED_TRACE(std::string(m.name) + " on '" + name + "'");
            if (m.on_cpu != nullptr && m.cost(stats).declined.empty()) {
                const auto op = m.on_cpu(cpu{3}, A);
                for (const auto& c : cases) check<V, cpu>(*op, c);
            }
            if (m.on_gpu != nullptr && why_no_gpu().empty() && m.deterministic &&
                m.cost_on_gpu(stats).declined.empty()) {
                const auto op = m.on_gpu(gpu{}, A);
                for (const auto& c : cases) check<V, gpu>(*op, c);
            }
            if (this->HasFailure()) return;
        }
    }
}

/// Rows beyond every cut: parts of a row within one GPU block, and over several of them.
TYPED_TEST(many_vectors, are_right_where_rows_are_cut) {
    using V = TypeParam;
    const auto own = from_lengths<V>({5, 70000, 600, 0, 4000, 9000, 7}, 70001);
    const auto A = view(own);
    const method<V>& m = find_method<V>("packed.warp");
    for (const index count : {2, 11}) {
        const auto c = make_case<V>(A, count, V(2), V(-1));
        check<V, cpu>(*m.on_cpu(cpu{2}, A), c);
        if (m.on_gpu == nullptr || !why_no_gpu().empty()) continue;
        const auto op = m.on_gpu(gpu{}, A);
        check<V, gpu>(*op, c);
        const auto one = make_case<V>(A, 1, V(1), V(0));  // the counters are as they were
        check<V, gpu>(*op, one);
        check<V, gpu>(*op, c);
    }
}

TEST(many_vectors, refuse_what_makes_no_sense) {
    const csr<double, host> A{{2, 3}, {0, 1, 2}, {0, 2}, {1, 2}};
    const auto op = find_method<double>("csr.serial").on_cpu(cpu{1}, view(A));
    host_vector<double> X(6, 1), Y(4), both(20);
    using std::span;
    EXPECT_NO_THROW(op->apply_many(1, {X, 3, 2}, 0, {Y, 2, 2}));
    EXPECT_THROW(op->apply_many(1, {X, 3, 1}, 0, {Y, 2, 2}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, 2, 2}, 0, {Y, 2, 2}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, 3, 2}, 0, {Y, 1, 2}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, 4, 2}, 0, {Y, 2, 2}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, 3, 2}, 0, {Y, 3, 2}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, 3, -1}, 0, {Y, 2, -1}), argument_error);
    // Strides whose product with the number of vectors wraps around 64 bits, to 0 or to few.
    constexpr std::size_t half = std::size_t(1) << 63, third = std::size_t(-1) / 3 + 1;
    EXPECT_THROW(op->apply_many(1, {X, half, 3}, 0, {Y, 2, 3}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, 3, 3}, 0, {Y, half, 3}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, third, 4}, 0, {Y, third, 4}), argument_error);
    EXPECT_THROW(op->apply_many(1, {X, std::size_t(-1), 2}, 0, {Y, std::size_t(-1), 2}),
                 argument_error);
    EXPECT_THROW(op->apply_many(0, {X, half, 3}, 0, {Y, half, 3}), argument_error);
    EXPECT_NO_THROW(op->apply_many(1, {X, half, 1}, 0, {Y, half, 1}));  // no stride is taken
    // In the gaps between X's vectors too: a kernel may keep several of X while it writes Y.
    EXPECT_THROW(
        op->apply_many(1, {span(both).first(13), 10, 2}, 0, {span(both).subspan(3, 4), 2, 2}),
        argument_error);
    EXPECT_THROW(
        op->apply_many(1, {span(both).first(6), 3, 2}, 0, {span(both).subspan(5, 4), 2, 2}),
        argument_error);
}

}  // namespace
}  // namespace nz::test
