// Products with a relaxation, an update or a scalar product in the same pass, on the CPU and on a
// GPU, against separate passes.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/kernel_operator.hpp"
#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/files.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class V>
csr<V, host> in_order(const csr<V, host>& A) {
    return csr<V, host>::from(ascending(view(A)).view());
}

/// Small whole numbers and halves, so that every sum of products is exact.
template <class V>
host_vector<V> exact_vector(std::size_t n, int period) {
    host_vector<V> v(n);
    for (std::size_t k = 0; k < n; ++k)
        v[k] = V(real<V>(int(k % std::size_t(period)) - period / 2));
    return v;
}
/// A with such values, all different where `distinct`: then no table holds them.
template <class V>
csr<V, host> with_exact_values(csr<V, host> A, bool distinct) {
    for (std::size_t k = 0; k < A.val.size(); ++k)
        A.val[k] = V(distinct ? real<V>(k % 4001) : real<V>(int(k % 9) - 4));
    return A;
}

/// Those of the zoo, and matrices of tiles, of chunks that a warp takes at once, and of long rows.
template <class V>
std::vector<csr<V, host>> square_matrices() {
    std::vector<csr<V, host>> all;
    for (const auto& [name, bug, A] : zoo<V>())
        if (A.shape.rows == A.shape.cols && A.shape.rows > 0)
            all.push_back(with_exact_values(in_order(A), false));
    std::vector<index> length(4000);
    for (std::size_t i = 0; i < length.size(); ++i) length[i] = i % 16 > 0 ? index(i % 4) : 60;
    all.push_back(with_exact_values(from_lengths<V>(length, 4000), true));
    length[7] = length[3999] = 3000;
    all.push_back(with_exact_values(from_lengths<V>(length, 4000), true));
    all.push_back(laplace2d<V>(77, 101));
    all.push_back(laplace3d<V>(32, 20, 17));
    return all;
}

template <class V>
using gpu_op = std::unique_ptr<linear_operator<V, gpu>>;
/// packed.warp by these options.
template <class V>
gpu_op<V> packed_by(gpu on, const csr<V, host>& A, const packed_options& o) {
    return std::make_unique<gpu_operator<V, packed>>(on,
                                                     upload(on, packed<V, host>::from(view(A), o)),
                                                     kernel_on_gpu<packed_warp, V>, setup_times{});
}

/// Every way in which a backend multiplies A and takes something along.
template <class V>
auto operators_of(cpu, const csr<V, host>& A) {
    std::vector<std::unique_ptr<linear_operator<V, cpu>>> all;
    for (const char* name : {"packed.warp", "csr.balanced"})
        for (const int threads : {1, 3})
            all.push_back(build(find_method<V>(name), cpu{threads}, view(A)));
    return all;
}
template <class V>
auto operators_of(gpu on, const csr<V, host>& A) {
    std::vector<gpu_op<V>> all;
    for (const char* name : {"packed.warp", "csr.subwarp"})
        all.push_back(build(find_method<V>(name), on, view(A)));
    if constexpr (has_cuda) {
        packed_options tiles, two, four;
        tiles.tile_gain = 0;
        two.pair_min_chunks = 1;
        four.quad_min_chunks = 1;
        for (const auto& o : {tiles, two, four}) all.push_back(packed_by(on, A, o));
    }
    return all;
}

template <class V>
host_vector<V> product_of(const csr<V, host>& A, const host_vector<V>& x) {
    host_vector<V> y(std::size_t(A.shape.rows), V(0));
    for (std::size_t i = 0; i < y.size(); ++i)
        for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
            y[i] += A.val[std::size_t(k)] * x[std::size_t(A.col_ind[std::size_t(k)])];
    return y;
}

/// Y = keep x - momentum Y + step W (b - A x), exact; what must not be read is NaN.
template <class V, class B>
void check_relaxation(B on, const linear_operator<V, B>& op, const csr<V, host>& A, bool weighs,
                      real<V> keep, real<V> momentum, real<V> step) {
    const auto n = std::size_t(A.shape.rows);
    const auto x = exact_vector<V>(n, 7), b = exact_vector<V>(n, 11);
    const auto before = momentum == 0 ? host_vector<V>(n, V(real<V>(nan))) : exact_vector<V>(n, 5);
    const auto w = weighs ? exact_vector<real<V>>(n, 3) : host_vector<real<V>>();
    const auto Ax = product_of(A, x);
    host_vector<V> want(n);
    for (std::size_t i = 0; i < n; ++i) {
        want[i] = keep * x[i] + step * (weighs ? w[i] : real<V>(1)) * (b[i] - Ax[i]);
        if (momentum != 0) want[i] -= momentum * before[i];
    }
    auto y = from_host(on, std::span<const V>(before));
    const auto x_copy = from_host(on, std::span<const V>(x));
    const auto b_copy = from_host(on, std::span<const V>(b));
    const auto w_copy = from_host(on, std::span<const real<V>>(w));
    ASSERT_TRUE(op.relax_many({keep, momentum, step, w_copy, b_copy}, 1, x_copy, y));
    const auto got = to_host<V>(on, y);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], want[i]) << "row " << i;
}

template <class V, class B>
void check_relaxations(B on) {
    for (const csr<V, host>& A : square_matrices<V>())
        for (const auto& op : operators_of(on, A)) {
            SCOPED_TRACE(std::string(op->method_name()) + ", " + std::to_string(A.shape.rows));
            check_relaxation<V, B>(on, *op, A, true, real<V>(1.5), real<V>(0.5), 2);
            check_relaxation<V, B>(on, *op, A, true, 1, 0, real<V>(0.5));
            check_relaxation<V, B>(on, *op, A, false, 0, 0, 1);
            check_relaxation<V, B>(on, *op, A, false, 2, 1, 1);
        }
}

/// y, z and the parts beside a product and separate passes. in_place: z takes b's place.
template <class V, class B>
host_vector<double> check_update(B on, const linear_operator<V, B>& op, V beta, bool in_place,
                                 bool of_itself) {
    const auto [rows, cols] = op.shape();
    const auto x = from_host(on, std::span<const V>(random_vector<V>(std::size_t(cols), 1)));
    const auto w = random_vector<V>(std::size_t(rows), 3),
               b = random_vector<V>(std::size_t(rows), 4);
    const auto y0 = beta == V(0) ? host_vector<V>(w.size(), V(real<V>(nan)))
                                 : random_vector<V>(std::size_t(rows), 2);
    auto alone = from_host(on, std::span<const V>(y0)), y = from_host(on, std::span<const V>(y0));
    auto z = from_host(on, std::span<const V>(b));
    const auto w_copy = from_host(on, std::span<const V>(w));
    const auto b_copy = from_host(on, std::span<const V>(b));
    auto parts = make_vector<double>(on, op.product_parts());
    typename linear_operator<V, B>::fused_update with{.z = z, .parts = parts};
    with.b = in_place ? in<V, B>(z) : in<V, B>(b_copy);
    if (!of_itself) with.w = w_copy;
    op.apply(V(-1.5), x, beta, alone);
    EXPECT_TRUE(op.apply_fused(V(-1.5), x, beta, y, with));
    const auto now = to_host<V>(on, y), after = to_host<V>(on, z);
    EXPECT_TRUE(same_bits<V>(now, to_host<V>(on, alone)));
    long double want = 0, size = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
        EXPECT_EQ(after[i], now[i] - b[i]);
        const double term = real_product(of_itself ? now[i] : w[i], now[i]);
        want += term, size += std::abs(term);
    }
    const auto found = to_host<double>(on, parts);
    if (!found.empty()) {
        const double sum = std::accumulate(found.begin(), found.end(), 0.0);
        // Both are sums of as many terms in double: Higham 2002, section 4.2.
        EXPECT_LE(std::abs(double(want) - sum), double(now.size() + 1) * 0x1p-52 * double(size));
    }
    return found;
}

template <class V, class B>
void check_updates(B on) {
    std::vector<csr<V, host>> matrices{laplace2d<V>(77, 101), laplace3d<V>(32, 20, 17)};
    for (const auto& [name, bug, A] : zoo<V>()) matrices.push_back(in_order(A));
    int with_parts = 0;
    for (const csr<V, host>& A : matrices)
        for (const auto& op : operators_of(on, A)) {
            SCOPED_TRACE(std::string(op->method_name()) + ", " + std::to_string(A.shape.rows));
            const bool fuses = op->method_name() == "packed.warp";
            if (!fuses) {
                EXPECT_EQ(op->product_parts(), 0U);
            }
            if (!fuses) continue;
            const auto parts = check_update<V, B>(on, *op, V(0), false, false);
            EXPECT_TRUE(same_bits<double>(parts, check_update<V, B>(on, *op, V(0), false, false)));
            check_update<V, B>(on, *op, V(0.5), true, true);
            with_parts += !parts.empty();
        }
    EXPECT_GT(with_parts, 0);
}

template <class V>
class fused_products : public ::testing::Test {};
using values = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(fused_products, values);

TYPED_TEST(fused_products, relax_one_vector) { check_relaxations<TypeParam>(cpu{2}); }
TYPED_TEST(fused_products, update_and_multiply_by_a_vector) { check_updates<TypeParam>(cpu{2}); }

TYPED_TEST(fused_products, give_the_same_parts_for_any_number_of_threads) {
    using V = TypeParam;
    const auto A = laplace2d<V>(300, 301);
    host_vector<double> first;
    for (const int threads : {1, 2, 5, 64}) {
        const auto op = build(find_method<V>("packed.warp"), cpu{threads}, view(A));
        EXPECT_GT(op->product_parts(), 1U);
        const auto parts = check_update<V, cpu>(cpu{threads}, *op, V(0), false, false);
        if (first.empty()) first = parts;
        EXPECT_TRUE(same_bits<double>(parts, first));
    }
}

template <class V>
class fused_products_on_gpu : public ::testing::Test {
  protected:
    void SetUp() override {
        // The kernels run on a GPU alone; the same checks on the CPU are not skipped.
        if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    }
};
using real_values = ::testing::Types<float, double>;
TYPED_TEST_SUITE(fused_products_on_gpu, real_values);
TYPED_TEST(fused_products_on_gpu, relax_one_vector) { check_relaxations<TypeParam>(gpu{}); }
TYPED_TEST(fused_products_on_gpu, update_and_multiply_by_a_vector) {
    check_updates<TypeParam>(gpu{});
}

TEST(fused_products, refuse_what_does_not_fit) {
    const auto A = laplace2d<double>(20, 30);
    const auto op = build(find_method<double>("packed.warp"), cpu{2}, view(A));
    host_vector<double> x(600, 1.0), y(600, 7.0), b(600, 2.0), z(600), w(600),
        parts(op->product_parts());
    using update = linear_operator<double, cpu>::fused_update;
    const auto fused = [&](const update& with) { return op->apply_fused(1, x, 0, y, with); };
    EXPECT_THROW((void)fused({.b = std::span(b).first(599), .z = z}), argument_error);
    EXPECT_THROW((void)fused({.b = {}, .z = z}), argument_error);
    EXPECT_THROW((void)fused({.b = b, .z = {}}), argument_error);
    EXPECT_THROW((void)fused({.b = b, .z = std::span(z).first(1)}), argument_error);
    EXPECT_THROW((void)fused({.b = b, .z = y}), argument_error);
    EXPECT_THROW((void)fused({.b = b, .z = x}), argument_error);
    EXPECT_THROW((void)fused({.b = y, .z = z}), argument_error);
    EXPECT_THROW((void)fused({.w = y, .parts = parts}), argument_error);
    EXPECT_THROW((void)fused({.b = b, .z = z, .w = z, .parts = parts}), argument_error);
    EXPECT_THROW((void)fused({.w = std::span(w).first(2), .parts = parts}), argument_error);
    host_vector<double> more(parts.size() + 1);
    EXPECT_THROW((void)fused({.w = w, .parts = more}), argument_error);
    EXPECT_THROW((void)op->apply_fused(1, std::span(x).first(3), 0, y, {}), argument_error);
    EXPECT_THROW((void)op->apply_fused(1, y, 0, y, {}), argument_error);
    EXPECT_FALSE(op->apply_fused(0, x, 0, y, {.b = b, .z = z}));
    const auto plain = build(find_method<double>("csr.balanced"), cpu{2}, view(A));
    EXPECT_FALSE(plain->apply_fused(1, x, 0, y, {.b = b, .z = z}));
    EXPECT_EQ(y, host_vector<double>(600, 7.0));
    EXPECT_TRUE(fused({.w = x, .parts = parts}));
}

}  // namespace
}  // namespace nz::test
