// New values for a matrix that was planned and built: bit for bit what building it anew would do.
#include <gtest/gtest.h>

#include <algorithm>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/gen/generate.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/stats.hpp"
#include "test/files.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <class V>
host_vector<V> product(const linear_operator<V, cpu>& op) {
    const auto x = random_vector<V>(std::size_t(op.shape().cols), 5);
    host_vector<V> y(std::size_t(op.shape().rows), V(0));
    op.apply(V(1), x, V(0), y);
    return y;
}
template <class V>
host_vector<V> product(const linear_operator<V, gpu>& op) {
    const auto x = to_device<V>(gpu{}, random_vector<V>(std::size_t(op.shape().cols), 5));
    device_array<V> y(gpu{}, std::size_t(op.shape().rows));
    op.apply(V(1), x, V(0), y);
    return to_host<V>(gpu{}, y);
}

/// Values such as A's become: random ones, a single one, a few, floats, and random ones again.
template <class V>
std::vector<host_vector<V>> values_like(const csr<V, host>& A) {
    const std::size_t n = A.val.size();
    std::vector<host_vector<V>> all{random_vector<V>(n, 77), host_vector<V>(n, V(3)),
                                    random_vector<V>(n, 78), random_vector<V>(n, 79)};
    host_vector<V> few(n), halves(n);
    for (std::size_t k = 0; k < n; ++k) few[k] = V(real<V>(k % 7)), halves[k] = V(real<V>(k) / 2);
    all.push_back(few);
    all.push_back(halves);
    all.push_back(random_vector<V>(n, 80));
    return all;
}

/// On backend B, to which `to_backend` takes the matrix with the new values.
template <class V, class B, class M>
void expect_as_if_built_anew(B on, csr<V, host> A, std::string_view name, M to_backend) {
    const plan_options only{.deterministic = false, .methods = {std::string(name)}};
    const auto p = make_plan(A, on, only);
    auto op = build(p, A);
    for (auto& val : values_like(A)) {
        A.val = val;
        update_values(op, p, to_backend(A));
        ASSERT_NE(op, nullptr);
        EXPECT_EQ(op->method_name(), name);
        EXPECT_TRUE(same_bits<V>(product(*op), product(*build(p, A))));
    }
}

/// Those that build on the GPU in ways of their own: copies, packing, and through the CPU.
constexpr std::string_view some_of_the_gpu[] = {"csr.adaptive", "csr.subwarp", "dia.row",
                                                "packed.warp"};

template <class V>
class updated : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(updated, value_types);

TYPED_TEST(updated, are_as_if_built_anew_by_every_method) {
    using V = TypeParam;
    for (const auto& [name, bug, A] : zoo<V>()) {
        if (A.val.size() > 100000) continue;
        const matrix_stats stats = compute_stats(view(A));
        for (const method<V>& m : methods<V>()) {
            SCOPED_TRACE(std::string(m.name) + " on '" + name + "'");
            if (m.on_cpu != nullptr && m.cost(stats).declined.empty())
                expect_as_if_built_anew<V>(cpu{2}, A, m.name,
                                           [](const auto& M) { return view(M); });
            if (m.on_gpu == nullptr || !why_no_gpu().empty() || A.val.size() < 1500 ||
                std::ranges::count(some_of_the_gpu, m.name) == 0 ||
                !m.cost_on_gpu(stats).declined.empty())
                continue;
            expect_as_if_built_anew<V>(gpu{}, A, m.name, [](const auto& M) { return view(M); });
            csr<V, device> kept;
            expect_as_if_built_anew<V>(gpu{}, A, m.name, [&](const auto& M) {
                kept = upload(gpu{}, M);
                return view(kept);
            });
            if (this->HasFailure()) return;
        }
    }
}

TYPED_TEST(updated, take_the_transpose_along) {
    using V = TypeParam;
    auto A = from_rule<V>(90, 70, [](index, index, double u) { return u > 0.8; });
    const auto p = make_plan(A, cpu{2}, {.transposed = true});
    auto op = build(p, A);
    A.val = random_vector<V>(A.val.size(), 3);
    update_values(op, p, view(A));
    const auto fresh = build(p, A);
    const auto x = random_vector<V>(90, 5);
    host_vector<V> got(70), want(70);
    op->apply_transposed(transposition::transpose, V(1), x, V(0), got);
    fresh->apply_transposed(transposition::transpose, V(1), x, V(0), want);
    EXPECT_TRUE(same_bits<V>(got, want));
}

/// Of A, whose values are many and no floats: packed keeps them as they are, takes others in place.
void expect_values_taken_in_place(csr<double, host> A) {
    const auto on_device = upload(gpu{}, A);
    const auto op = build(find_method<double>("packed.warp"), gpu{}, view(A));
    EXPECT_TRUE(op->takes_values());
    A.val = random_vector<double>(A.val.size(), 3);
    const auto other = upload(gpu{}, A);
    EXPECT_TRUE(op->take_values(view(other)));
    const auto fresh = build(find_method<double>("packed.warp"), gpu{}, view(A));
    EXPECT_TRUE(same_bits<double>(product(*op), product(*fresh)));
    A.val.assign(A.val.size(), 2.0);
    const auto constant = upload(gpu{}, A);
    EXPECT_FALSE(op->take_values(view(constant)));
    EXPECT_TRUE(same_bits<double>(product(*op), product(*fresh)));  // as it was
}

TEST(updated, packed_takes_plain_values_in_place_on_a_gpu) {
    if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    expect_values_taken_in_place(from_lengths<double>(std::vector<index>(3000, 7), 3000));
    auto chunks_in_twos = laplace2d<double>(500, 401);
    chunks_in_twos.val = random_vector<double>(chunks_in_twos.val.size(), 2);
    ASSERT_EQ((packed<double, host>::from(view(chunks_in_twos)).chunks_per_warp), 2);
    expect_values_taken_in_place(chunks_in_twos);
}

/// Products read the matrix before they wait for what is before them in the stream.
TEST(updated, are_what_the_next_product_sees) {
    if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    const gpu_stream stream;
    const auto pattern = from_lengths<double>(std::vector<index>(3000, 7), 3000);
    const auto x = to_device<double>(gpu(stream), random_vector<double>(3000, 5));
    device_array<double> y(stream, 3000), unseen(stream, 3000);
    for (const std::string_view name : some_of_the_gpu) {
        const plan_options only{.methods = {std::string(name)}};
        csr<double, device> on_device[2];
        host_vector<double> want[2];
        for (const unsigned k : {0U, 1U}) {
            auto A = pattern;
            A.val = random_vector<double>(A.val.size(), 30 + k);
            on_device[k] = upload(stream, A);
            if (!find_method<double>(name).cost_on_gpu(compute_stats(view(A))).declined.empty())
                continue;
            const auto p = make_plan(A, gpu(stream), only);
            build(p, A)->apply(1, x, 0, y);
            want[k] = to_host<double>(gpu(stream), y);
        }
        if (want[0].empty()) continue;
        const auto p = make_plan(on_device[0], gpu(stream), only);
        auto op = build(p, on_device[0]);
        for (unsigned run = 0; run < 100; ++run) {
            for (int k = 0; k < 3; ++k) op->apply(1, x, 0, unseen);
            update_values(op, p, view(on_device[run % 2]));
            op->apply(1, x, 0, y);
            ASSERT_TRUE(same_bits<double>(to_host<double>(gpu(stream), y), want[run % 2])) << name;
        }
    }
}

TEST(updated, refuse_another_pattern) {
    const auto A = from_rule<double>(9, 7, [](index, index, double u) { return u > 0.5; });
    const auto p = make_plan(A, cpu{1});
    auto op = build(p, A);
    auto other = A;
    other.shape.cols += 1;
    EXPECT_THROW(update_values(op, p, view(other)), argument_error);
    EXPECT_NE(op, nullptr);
    EXPECT_THROW((void)op->take_values(view(other)), argument_error);
}

}  // namespace
}  // namespace nz::test
