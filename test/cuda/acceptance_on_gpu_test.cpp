// Choices for a GPU that were predicted wrongly are told by timing, as those for a CPU are.
#include "nonzero/plan/acceptance.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "nonzero/core/format.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/gen/generate.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/plan/kept_speeds.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/speeds.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

namespace fs = std::filesystem;

/// Multiplies as csr.adaptive does, fifty times over, and counts.
class slow_gpu_operator final : public linear_operator<double, gpu> {
  public:
    explicit slow_gpu_operator(const csr<double, host_view>& A)
        : plain_(build(find_method<double>("csr.adaptive"), gpu{}, A)) {}
    [[nodiscard]] nz::shape shape() const override { return plain_->shape(); }
    [[nodiscard]] std::size_t bytes() const override { return 0; }
    [[nodiscard]] std::string_view method_name() const override { return "slow"; }
    static inline int products = 0;

  protected:
    void multiply(double alpha, device_span<double> x, double beta,
                  device_out<double> y) const override {
        ++products;
        for (int k = 0; k < 50; ++k) plain_->apply(alpha, x, beta, y);
    }
    void multiply_transposed(transposition, double, device_span<double>, double,
                             device_out<double>) const override {}
    void scale(double, device_out<double>) const override {}

  private:
    std::unique_ptr<linear_operator<double, gpu>> plain_;
};

/// As many bytes as CSR, without its loads of x.
method<double> slow_gpu_method() {
    method<double> m{};
    m.name = "slow", m.deterministic = true;
    m.cost_on_gpu = [](const matrix_stats& s) {
        estimate e = find_method<double>("csr.adaptive").cost_on_gpu(s);
        e.sector_requests = e.work_units = e.critical_units = 1;
        return e;
    };
    m.on_gpu = [](gpu, const csr<double, host_view>& A) {
        return std::unique_ptr<linear_operator<double, gpu>>(new slow_gpu_operator(A));
    };
    return m;
}

/// With a cache folder of its own, which describes a GPU that reads at 20 GB/s, and loads x so
/// slowly that a product of plain CSR waits for it about as long as for the matrix.
class acceptance_on_gpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
        std::string name = (fs::temp_directory_path() / "nz_accept_XXXXXX").string();
        dir = mkdtemp(name.data());
        setenv("XDG_CACHE_HOME", dir.c_str(), 1);
        const gpu_info here = describe_gpu(on);
        save_gpu_speeds(gpu_cache_path(here), here,
                        {.memory = {.read_gbps = 20, .copy_gbps = 20},
                         .l2_read_gbps = 20,
                         .launch_s = 2e-6,
                         .latency_s = 1e-8,
                         .upload_gbps = 10,
                         .resident_warps = 64 * here.multiprocessors,
                         .gathers = {{1 << 14, 4e9}, {1 << 20, 4e9}}});
        outcomes = cache_path("accepted-" + here.name);
        slow_gpu_operator::products = 0;
    }
    void TearDown() override {
        if (!dir.empty()) fs::remove_all(dir);
    }

    static csr<double, host> random_matrix(index n) {
        return from_rule<double>(n, n, [](index, index, double u) { return u > 0.995; });
    }
    [[nodiscard]] plan<double, gpu> lured(const plan_options& o = {}) const {
        return make_plan(view(A), on, o, std::span<const method<double>>(among));
    }
    [[nodiscard]] std::string kept_for_slow(const plan<double, gpu>& p) const {
        const auto there = ascending<double, gpu>::known(upload(on, view(A)), on);
        return std::string(
            accepted(p, there,
                     std::unique_ptr<linear_operator<double, gpu>>(new slow_gpu_operator(view(A))))
                ->method_name());
    }

    fs::path dir;
    std::string outcomes;  ///< path of the file that keeps them
    csr<double, host> A = random_matrix(3000);
    gpu on{};
    std::vector<method<double>> among{slow_gpu_method(), find_method<double>("csr.adaptive")};
};

TEST_F(acceptance_on_gpu, mends_the_choice_for_a_machine_that_was_described_wrongly) {
    const auto p = lured();
    ASSERT_EQ(p.chosen().method, "slow") << p;
    EXPECT_EQ(p.timing.beside, "csr.adaptive");
    const auto op = build(p, A);
    EXPECT_EQ(op->method_name(), "csr.adaptive");
    EXPECT_EQ(slow_gpu_operator::products, 4);

    const auto x = test::random_vector<double>(std::size_t(A.shape.cols), 1);
    const auto on_gpu = to_device(on, std::span<const double>(x));
    device_array<double> y(on, std::size_t(A.shape.rows)), expected(on, y.size());
    op->apply(1, on_gpu, 0, y);
    build(among.back(), on, view(A))->apply(1, on_gpu, 0, expected);
    EXPECT_EQ(to_host<double>(on, y), to_host<double>(on, expected));
}

/// Slow, by the name of packed.stripes; should take `share` of the time of csr.adaptive.
method<double> slow_stripes(double share) {
    static double factor;
    factor = share;
    method<double> m = slow_gpu_method();
    m.name = "packed.stripes";
    m.cost_on_gpu = [](const matrix_stats& s) {
        estimate e = find_method<double>("csr.adaptive").cost_on_gpu(s);
        e.imbalance *= factor;
        return e;
    };
    return m;
}

TEST_F(acceptance_on_gpu, times_stripes_beside_packed_where_that_comes_close) {
    method<double> packed = find_method<double>("csr.adaptive");
    packed.name = "packed.warp";
    among = {slow_stripes(0.95), packed, packed};
    among.back().name = "csr.adaptive";
    const auto close = lured();
    ASSERT_EQ(close.chosen().method, "packed.stripes") << close;
    EXPECT_EQ(close.timing.beside, "packed.warp");
    EXPECT_EQ(build(close, A)->method_name(), "csr.adaptive");
    EXPECT_EQ(slow_gpu_operator::products, 4);
    among.front() = slow_stripes(0.5);
    const auto far = lured();
    ASSERT_EQ(far.chosen().method, "packed.stripes") << far;
    EXPECT_EQ(far.timing.beside, "csr.adaptive");
}

TEST_F(acceptance_on_gpu, times_plain_csr_beside_packed_where_that_comes_close) {
    method<double> slow = slow_gpu_method(), packed = find_method<double>("csr.adaptive");
    slow.name = "csr.adaptive", slow.cost_on_gpu = packed.cost_on_gpu;
    packed.name = "packed.warp", packed.cost_on_gpu = slow_stripes(1.1).cost_on_gpu;
    among = {slow, packed};
    const auto close = lured();
    ASSERT_EQ(close.chosen().method, "csr.adaptive") << close;
    EXPECT_EQ(close.timing.beside, "packed.warp");
    EXPECT_EQ(build(close, A)->method_name(), "csr.adaptive");
    EXPECT_EQ(slow_gpu_operator::products, 4);
    (void)slow_stripes(1.6);  // of packed.warp, too
    EXPECT_EQ(lured().timing.beside, "");
}

TEST_F(acceptance_on_gpu, is_for_products_without_end_that_were_predicted) {
    for (const plan_options& o :
         {plan_options{.accept = plan_options::acceptance::predicted},
          plan_options{.expected_products = 1000000}, plan_options{.speeds = speeds_of(on)}}) {
        const auto p = lured(o);
        EXPECT_TRUE(p.timing.beside.empty());
        EXPECT_EQ(build(p, A)->method_name(), "slow");
    }
    EXPECT_EQ(slow_gpu_operator::products, 0);
    EXPECT_TRUE(make_plan(ascending(view(A)), on, {}).timing.beside.empty());
}

TEST_F(acceptance_on_gpu, of_one_matrix_is_measured_once_wherever_it_lies) {
    const auto there = upload(on, view(A));
    const auto p = make_plan(view(there), on);
    ASSERT_EQ(p.timing.beside, "csr.adaptive") << p;
    EXPECT_EQ(kept_for_slow(p), "csr.adaptive");
    EXPECT_EQ(slow_gpu_operator::products, 4);
    EXPECT_EQ(kept_for_slow(p), "csr.adaptive");
    EXPECT_EQ(slow_gpu_operator::products, 4);
    EXPECT_TRUE(fs::exists(outcomes));

    const auto from_gpu = make_plan(view(there), on), from_cpu = make_plan(view(A), on);
    EXPECT_EQ(from_gpu.chosen().method, "csr.adaptive");
    EXPECT_EQ(from_gpu.why,
              "csr.adaptive was faster than " + p.chosen().method + " when both were timed");
    EXPECT_EQ(from_cpu.chosen().method, "csr.adaptive");
    EXPECT_EQ(build(from_gpu, there)->method_name(), "csr.adaptive");
}

/// 16 x 2^scale entries. Products by it take a GPU longer than the CPU takes to launch them.
csr<double, host> large_matrix(int scale) { return rmat<double>(scale, 16, 0.25, 0.25, 0.25, 2); }

/// Of large ones the hash is taken beside the survey.
TEST_F(acceptance_on_gpu, knows_a_large_matrix_by_the_same_hash_wherever_it_lies) {
    A = large_matrix(17);
    const auto there = make_plan(view(upload(on, view(A))), on), here = make_plan(view(A), on);
    ASSERT_EQ(there.timing.beside, "csr.adaptive") << there;
    EXPECT_EQ(there.timing.kept_as, here.timing.kept_as);
}

TEST_F(acceptance_on_gpu, keeps_a_choice_that_is_the_faster_one) {
    // One of 2^17 rows takes 20 us, and times of that length differ by 5% now and then.
    A = large_matrix(19);
    const auto there = upload(on, view(A));
    const auto p = make_plan(view(there), on);
    ASSERT_EQ(p.timing.beside, "csr.adaptive") << p;
    const auto A_on_gpu = ascending<double, gpu>::known(view(there), on);
    auto plain = build(find_method<double>("csr.adaptive"), on, A_on_gpu);
    // Of one method's two operators none is clearly faster.
    class renamed final : public linear_operator<double, gpu> {
      public:
        explicit renamed(std::unique_ptr<linear_operator<double, gpu>> op) : op_(std::move(op)) {}
        [[nodiscard]] nz::shape shape() const override { return op_->shape(); }
        [[nodiscard]] std::size_t bytes() const override { return 0; }
        [[nodiscard]] std::string_view method_name() const override { return "renamed"; }

      protected:
        void multiply(double alpha, device_span<double> x, double beta,
                      device_out<double> y) const override {
            op_->apply(alpha, x, beta, y);
        }
        void multiply_transposed(transposition, double, device_span<double>, double,
                                 device_out<double>) const override {}
        void scale(double, device_out<double>) const override {}

      private:
        std::unique_ptr<linear_operator<double, gpu>> op_;
    };
    std::unique_ptr<linear_operator<double, gpu>> op(new renamed(std::move(plain)));
    op = accepted(p, A_on_gpu, std::move(op));
    EXPECT_EQ(op->method_name(), "renamed");
}

}  // namespace
}  // namespace nz::test
