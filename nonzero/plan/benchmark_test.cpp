// The benchmark_result of methods that are right, wrong, unwilling, or too large.
#include "nonzero/plan/benchmark.hpp"
#include "nonzero/formats/csr/kernels.hpp"

#include <gtest/gtest.h>

#include <new>

#include "nonzero/core/gpu.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

/// A product whose every result is off by `off`.
class wrong final : public linear_operator<double, cpu> {
  public:
    wrong(const csr<double, host_view>& A, double off, double prepared_s = 0)
        : A_(A), off_(off), prepared_s_(prepared_s) {}
    [[nodiscard]] setup_times setup() const override { return {.preprocessing_s = prepared_s_}; }
    [[nodiscard]] nz::shape shape() const override { return A_.shape; }
    [[nodiscard]] std::size_t bytes() const override { return 1000; }

  protected:
    void multiply(double alpha, std::span<const double> x, double beta,
                  std::span<double> y) const override {
        spmv(cpu{1}, csr_serial{}, alpha, A_, x, beta, y);
        for (double& v : y) v += off_;
    }
    void multiply_transposed(transposition, double, std::span<const double>, double,
                             std::span<double>) const override {}
    void scale(double, std::span<double>) const override {}

  private:
    csr<double, host_view> A_;
    double off_, prepared_s_;
};

using operator_ptr = std::unique_ptr<linear_operator<double, cpu>>;
estimate small(const matrix_stats&) { return {.matrix_bytes = 1000}; }
estimate unwilling(const matrix_stats&) { return {.declined = "not today"}; }
operator_ptr build_wrong(cpu, const csr<double, host_view>& A) {
    return std::make_unique<wrong>(A, 1e-9);
}
operator_ptr build_too_large(cpu, const csr<double, host_view>&) { throw std::bad_alloc(); }

/// Says that it prepared for the next of these times [s].
constexpr double prepared_s[] = {100, 5, 12, 1, 9, 15, 4, 7, 2, 14, 11, 3, 8, 13, 6, 10};
std::size_t times_prepared = 0;
operator_ptr build_preparing(cpu, const csr<double, host_view>& A) {
    return std::make_unique<wrong>(A, 0, prepared_s[times_prepared++ % std::size(prepared_s)]);
}

operator_ptr build_unwillingly(cpu, const csr<double, host_view>&) {
    throw argument_error("not these values");
}

method<double> made(std::string_view name, estimate (*cost)(const matrix_stats&),
                    method<double>::builder<cpu> build) {
    method<double> m{};
    m.name = name, m.cost = cost, m.on_cpu = build;
    return m;
}

class benchmark_results : public ::testing::Test {
  protected:
    csr<double, host> A = from_rule<double>(40, 30, [](index, index, double u) { return u > 0.7; });
    measure_options quick = {.seconds = 1e-6, .block_s = 1e-5};
    benchmark_result run(const method<double>& m, int threads = 2) {
        const benchmark_case<double> cases[] = {{&m, threads}};
        return run_benchmark<double>(view(A), cases, quick).at(0);
    }
};

TEST_F(benchmark_results, a_right_method_is_validated_and_timed) {
    const benchmark_result t = run(find_method<double>("csr.static"));
    EXPECT_TRUE(t.measured());
    EXPECT_TRUE(t.validated());
    EXPECT_EQ(t.method, "csr.static");
    EXPECT_EQ(t.threads, 2);
    EXPECT_EQ(t.matrix_bytes, double(bytes(A)));
    EXPECT_EQ(t.vector_bytes, 8.0 * (40 + 30));
    EXPECT_GT(t.setup_s, 0);
    EXPECT_DOUBLE_EQ(t.gbps(), (t.matrix_bytes + t.vector_bytes) / t.time.median_s / 1e9);
    EXPECT_DOUBLE_EQ(t.setup_products(), t.setup_s / t.time.median_s);
}

TEST_F(benchmark_results, what_is_prepared_is_built_again_and_takes_the_median) {
    const benchmark_result t = run(made("long.prepared", small, build_preparing));
    EXPECT_TRUE(t.measured());
    EXPECT_EQ(times_prepared, std::size(prepared_s));
    EXPECT_EQ(t.setup.preprocessing_s, 8);  // without the first, which loads what the rest find
}

TEST_F(benchmark_results, a_wrong_method_is_not_validated) {
    const benchmark_result t = run(made("bad.wrong", small, build_wrong));
    EXPECT_TRUE(t.measured());
    EXPECT_FALSE(t.validated());
    EXPECT_FALSE(t.error.holds());
    EXPECT_NEAR(t.serial_l2, 1e-9 * std::sqrt(40.0), 1e-13);
    EXPECT_LT(t.serial_l2_bound, t.serial_l2);
}

TEST_F(benchmark_results, both_checks_are_needed_to_validate) {
    benchmark_result t;
    t.error.worst = 0.5, t.serial_l2 = 1, t.serial_l2_bound = 2;
    EXPECT_TRUE(t.validated());
    t.serial_l2 = 3;
    EXPECT_FALSE(t.validated());
    t.serial_l2 = 1, t.error.worst = 1.5;
    EXPECT_FALSE(t.validated());
}

TEST_F(benchmark_results, declining_says_why) {
    EXPECT_EQ(run(made("no.method", unwilling, build_wrong)).declined, "not today");
    EXPECT_EQ(run(made("too.large", small, build_too_large)).declined, "out of memory");
    EXPECT_EQ(run(made("picky.builder", small, build_unwillingly)).declined, "not these values");
    EXPECT_EQ(run(made("gpu.only", small, nullptr)).declined, "no such kernel on the CPU");
    EXPECT_FALSE(run(made("no.method", unwilling, build_wrong)).measured());
}

TEST_F(benchmark_results, come_in_the_order_of_the_cases) {
    const auto no = made("no.method", unwilling, build_wrong);
    const auto& yes = find_method<double>("csr.serial");
    const benchmark_case<double> cases[] = {{&no, 1}, {&yes, 1}, {&no, 2, true}, {&yes, 1}};
    const auto got = run_benchmark<double>(view(A), cases, quick);
    ASSERT_EQ(got.size(), 4U);
    for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_EQ(got[k].method, cases[k].m->name);
        EXPECT_EQ(got[k].threads, cases[k].threads);
        EXPECT_EQ(got[k].peer, cases[k].peer);
        EXPECT_EQ(got[k].measured(), k % 2 == 1);
    }
}

TEST_F(benchmark_results, interrupted_ones_have_no_times) {
    const std::atomic<bool> interrupted = true;
    quick.interrupted = &interrupted;
    const benchmark_result t = run(find_method<double>("csr.serial"));
    EXPECT_EQ(t.method, "csr.serial");
    EXPECT_FALSE(t.measured());
    EXPECT_TRUE(t.declined.empty());
}

TEST_F(benchmark_results, on_a_gpu_are_validated_and_timed_hot_and_cold) {
    const auto& m = find_method<double>("csr.vector");
    const auto made_up = made("cpu.only", small, build_wrong);
    const method<double>* const two[] = {&m, &made_up};
    const auto cases = make_gpu_cases<double>(two);
    if (const std::string why = why_no_gpu(); !why.empty()) {
        EXPECT_THROW(run_benchmark<double>(gpu{}, view(A), cases, quick), unavailable);
        GTEST_SKIP() << why;
    }
    for (const caches found : {caches::hot, caches::cold}) {
        const auto t = run_benchmark<double>(gpu{}, view(A), cases, quick, found);
        ASSERT_EQ(t.size(), 2U);
        EXPECT_TRUE(t[0].measured());
        EXPECT_TRUE(t[0].validated());
        EXPECT_EQ(t[0].matrix_bytes, double(bytes(A)));
        EXPECT_GT(t[0].setup.conversion_s, 0);
        EXPECT_GT(t[0].setup.upload_s, 0);
        EXPECT_LE(t[0].setup.conversion_s + t[0].setup.upload_s, t[0].setup_s);
        EXPECT_EQ(t[1].declined, "no such kernel on the GPU");
    }
}

TEST_F(benchmark_results, on_a_gpu_are_timed_in_a_graph_and_in_a_chain) {
    const method<double>* const two[] = {&find_method<double>("csr.vector"),
                                         &find_method<double>("hyb.host_tail")};
    const auto cases = make_gpu_cases<double>(two);
    EXPECT_THROW(
        run_benchmark<double>(gpu{}, view(A), cases, quick, caches::cold, {}, launches::graph),
        argument_error);
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    const auto graph =
        run_benchmark<double>(gpu{}, view(A), cases, quick, caches::hot, {}, launches::graph);
    EXPECT_TRUE(graph[0].measured() && graph[0].validated());
    EXPECT_EQ(graph[0].rewriting_s, 0);
    EXPECT_NE(graph[1].declined, "");  // it waits for the GPU within a product
    const auto chain =
        run_benchmark<double>(gpu{}, view(A), cases, quick, caches::hot, {}, launches::chain);
    EXPECT_TRUE(chain[0].measured() && chain[0].validated());
    EXPECT_GT(chain[0].rewriting_s, 0);
}

TEST(cases, serial_methods_take_part_once) {
    const method<double>* const two[] = {&find_method<double>("csr.serial"),
                                         &find_method<double>("csr.static")};
    const int threads[] = {2, 4};
    const auto got = make_cases<double>(two, threads);
    ASSERT_EQ(got.size(), 3U);
    EXPECT_EQ(got[0].m->name, "csr.serial");
    EXPECT_EQ(got[0].threads, 1);
    EXPECT_EQ(got[1].threads, 2);
    EXPECT_EQ(got[2].threads, 4);
    EXPECT_EQ(got[2].m->name, "csr.static");
}

TEST(flops, are_two_an_entry_and_eight_a_complex_one) {
    EXPECT_EQ(flops<float>(10), 20);
    EXPECT_EQ(flops<std::complex<double>>(10), 80);
}

}  // namespace
}  // namespace nz::test
