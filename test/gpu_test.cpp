// The conformance suite on a GPU: every method x value type x zoo x alpha x beta against the same
// reference and bound as on the CPU. Skipped, and said so, only where there is no GPU.
#include <gtest/gtest.h>

#include "nonzero/core/format.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/files.hpp"
#include "test/products.hpp"

namespace nz::test {
namespace {

template <class V>
class gpu_conformance : public ::testing::Test {
  protected:
    void SetUp() override {
        const std::string why = why_no_gpu();
        if (why.empty()) return;
        int count = 0;
        for (const method<V>& m : methods<V>()) count += m.exists_on_gpu;
        GTEST_SKIP() << count << " GPU methods were not run: " << why;
    }
};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(gpu_conformance, value_types);

/// y between guard words on the GPU.
template <class V>
class guarded_on_gpu {
  public:
    guarded_on_gpu(gpu on, const host_vector<V>& v) : on_(on), len_(v.size()) {
        host_vector<V> all(guards, V(-77));
        all.insert(all.end(), v.begin(), v.end());
        all.insert(all.end(), guards, V(-77));
        data_ = to_device<V>(on, all);
    }
    device_out<V> out() { return {data_.data() + guards, len_}; }
    /// y, or nothing where a guard word was written.
    host_vector<V> fetch() const {
        const auto all = to_host<V>(on_, data_);
        for (std::size_t k = 0; k < guards; ++k)
            if (all[k] != V(-77) || all[all.size() - 1 - k] != V(-77)) return {};
        return {all.begin() + guards, all.end() - guards};
    }

  private:
    static constexpr std::ptrdiff_t guards = 32;
    gpu on_;
    std::size_t len_;
    device_array<V> data_;
};

template <class V>
void check_product(gpu on, const linear_operator<V, gpu>& op, const product_case<V>& c) {
    guarded_on_gpu<V> y(on, c.y0);
    const auto x = to_device<V>(on, c.x);
    op.apply_transposed(c.how, c.alpha, x, c.beta, y.out());
    const host_vector<V> got_y = y.fetch();
    ASSERT_EQ(got_y.size(), c.y0.size()) << "wrote outside y";
    const agreement got = compare<V>(got_y, c.want);
    EXPECT_TRUE(got.holds()) << "op " << int(c.how) << ", alpha " << c.alpha << ", beta " << c.beta
                             << ": y[" << got.row << "] = " << got_y[got.row] << " is " << got.worst
                             << " bounds away from " << double(c.want.y[got.row].real());
}

TYPED_TEST(gpu_conformance, every_method_meets_the_zoo) {
    using V = TypeParam;
    const gpu_stream stream;
    const gpu on = stream;
    int ran = 0, declined = 0;
    for (const auto& [name, bug, own] : zoo<V>()) {
        const auto A = view(own);
        const matrix_stats stats = compute_stats(A);
        const auto cases = product_cases(A, {transposition::plain, transposition::transpose});
        for (const method<V>& m : methods<V>()) {
            if (m.on_gpu == nullptr) continue;
            if (!m.cost_on_gpu(stats).declined.empty()) {
                ++declined;
                continue;
            }
            SCOPED_TRACE(std::string(m.name) + " on '" + name + "' (" + bug + ")");
            const auto op = build(m, on, A);
            for (const auto& c : cases)
                if (c.how == transposition::plain || m.transposed_on_gpu) check_product(on, *op, c);
            ++ran;
            if (this->HasFailure()) return;
        }
    }
    std::printf("[   gpu    ] %s: %d (method, matrix) cases ran, %d declined\n",
                std::string(value_name<V>()).c_str(), ran, declined);
    EXPECT_GT(ran, 0);
}

TYPED_TEST(gpu_conformance, deterministic_methods_give_the_same_bits_in_20_runs) {
    using V = TypeParam;
    const gpu_stream stream;
    const gpu on = stream;
    for (const auto& [name, bug, own] : zoo<V>()) {
        const auto A = view(own);
        const matrix_stats stats = compute_stats(A);
        const auto x = to_device<V>(on, random_vector<V>(std::size_t(A.shape.cols), 5));
        device_array<V> y(on, std::size_t(A.shape.rows));
        for (const method<V>& m : methods<V>()) {
            if (m.on_gpu == nullptr || !m.deterministic || !m.cost_on_gpu(stats).declined.empty())
                continue;
            const auto op = build(m, on, A);
            host_vector<V> first;
            for (int run = 0; run < 20; ++run) {
                op->apply(V(1), x, V(0), y);
                const auto got = to_host<V>(on, y);
                if (run == 0) first = got;
                ASSERT_TRUE(same_bits<V>(first, got))
                    << m.name << " on '" << name << "', run " << run;
            }
        }
    }
}

/// 1 / the largest sum of a row's magnitudes: products scaled by it never grow.
template <class V>
V never_grows(const csr<V, host_view>& A) {
    double most = 1;
    for (index i = 0; i < A.shape.rows; ++i) {
        double sum = 0;
        for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) sum += std::abs(A.val[k]);
        most = std::max(most, sum);
    }
    return V(real<V>(1 / most));
}

/// Keeps the GPU busy for some milliseconds, so that what is launched meanwhile runs without a gap.
void keep_busy(gpu on, device_array<std::byte>& some) {
    for (int k = 0; k < 20; ++k) zero_on_device(on, some);
}

/// A product's kernel may start before the one that it follows has finished: it must still read the
/// vector that the other wrote, and write none that the other reads. Products alone, and products
/// with a kernel between them that writes x in place.
TYPED_TEST(gpu_conformance, products_wait_for_the_product_before) {
    using V = TypeParam;
    const gpu_stream stream;
    const gpu on = stream;
    constexpr int products = 60;
    device_array<std::byte> some(on, std::size_t(1) << 29);
    for (const auto& own : {laplace2d<V>(150, 150), laplace2d<V>(3, 3), laplace2d<V>(600, 600),
                            rmat<V>(13, 8, 0.57, 0.19, 0.19, 2)}) {
        const auto A = view(own);
        const matrix_stats stats = compute_stats(A);
        const auto start = random_vector<V>(std::size_t(A.shape.cols), 5);
        const V alpha = never_grows(A);
        for (const method<V>& m : methods<V>()) {
            if (m.on_gpu == nullptr || !m.deterministic || !m.cost_on_gpu(stats).declined.empty())
                continue;
            const auto op = build(m, on, A);
            const auto multiply_often = [&](bool one_by_one, bool in_place) {
                auto from = to_device<V>(on, start), to = to_device<V>(on, start);
                if (!one_by_one) keep_busy(on, some);
                for (int k = 0; k < products; ++k) {
                    op->apply(alpha, from, V(0), to);
                    if (one_by_one) synchronize(on);
                    if (in_place) scale_vector<V>(on, V(1.5), to);
                    if (one_by_one) synchronize(on);
                    std::swap(from, to);
                }
                return to_host<V>(on, from);
            };
            for (const bool in_place : {false, true})
                EXPECT_TRUE(
                    same_bits<V>(multiply_often(true, in_place), multiply_often(false, in_place)))
                    << m.name << ", " << A.shape.rows << " rows"
                    << (in_place ? ", x in place" : "");
        }
    }
}

TYPED_TEST(gpu_conformance, padding_never_enters_the_sum) {
    using V = TypeParam;
    const gpu on{};
    const padding_case<V> c = padding_never_meets<V>();
    const auto A = view(c.A);
    const matrix_stats stats = compute_stats(A);
    const auto x = to_device<V>(on, c.x);
    for (const method<V>& m : methods<V>()) {
        if (m.on_gpu == nullptr || !m.cost_on_gpu(stats).declined.empty()) continue;
        guarded_on_gpu<V> y(on, host_vector<V>(std::size_t(A.shape.rows), not_a_number<V>()));
        build(m, on, A)->apply(V(1), x, V(0), y.out());
        EXPECT_TRUE(compare<V>(y.fetch(), c.want).holds()) << m.name;
    }
}

TYPED_TEST(gpu_conformance, a_stored_zero_times_infinity_is_nan) {
    using V = TypeParam;
    const gpu on{};
    const csr<V, host> own{{2, 3}, {0, 2, 3}, {0, 1, 2}, {V(1), V(0), V(1)}};
    const auto A = view(own);
    const host_vector<V> x{V(1), V(std::numeric_limits<real<V>>::infinity()), V(3)};
    const auto on_device = to_device<V>(on, x);
    for (const method<V>& m : methods<V>()) {
        if (m.on_gpu == nullptr || !m.cost_on_gpu(compute_stats(A)).declined.empty()) continue;
        device_array<V> y(on, 2);
        build(m, on, A)->apply(V(1), on_device, V(0), y);
        const auto got = to_host<V>(on, y);
        EXPECT_TRUE(std::isnan(std::real(got[0]))) << m.name;
        EXPECT_EQ(got[1], V(3)) << m.name;
    }
}

TEST(gpu, keeps_memory_while_as_much_is_in_use_and_gives_it_back_after) {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    const gpu_stream stream;
    const gpu on(stream);
    const std::size_t total = memory_of(on).total_bytes, part = total / 32, slack = total / 200;
    const auto free_bytes = [&] {
        synchronize(on);
        return memory_of(on).free_bytes;
    };
    device_array<std::byte> one(on, part), another(on, part);
    const std::size_t with_both = free_bytes();
    another = {};
    EXPECT_LE(free_bytes(), with_both + slack);
    one = {};
    EXPECT_GE(free_bytes(), with_both + 2 * part - slack);
}

TEST(gpu, refuses_a_device_that_does_not_exist_and_more_memory_than_it_has) {
    EXPECT_THROW(require_gpu(gpu{.device = 1 << 20}), unavailable);
    if (!why_no_gpu().empty()) return;
    const std::size_t before = memory_of(gpu{}).free_bytes;
    try {
        const device_array<double> huge(gpu{}, std::size_t(1) << 50);
        FAIL() << "allocated 8 PB";
    } catch (const device_error& e) {
        EXPECT_NE(std::string(e.what()).find(std::to_string(std::size_t(1) << 53)),
                  std::string::npos)
            << e.what();
    }
    EXPECT_GE(memory_of(gpu{}).free_bytes, before);
}

TEST(gpu, download_brings_back_what_upload_took) {
    if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    for (const auto& [name, bug, A] : zoo<double>()) {
        const auto back = download(gpu{}, upload(gpu{}, A));
        EXPECT_EQ(back.shape, A.shape) << name;
        EXPECT_EQ(back.arrays(back), A.arrays(A)) << name;
    }
}

}  // namespace
}  // namespace nz::test
