// Choices that were predicted wrongly are told by timing, once, and no others are.
#include "nonzero/plan/acceptance.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "nonzero/core/format.hpp"
#include "nonzero/gen/generate.hpp"
#include "nonzero/plan/kept_speeds.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/speeds.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

namespace fs = std::filesystem;
using operator_ptr = std::unique_ptr<linear_operator<double, cpu>>;

/// Gives the seconds of a list, one a product.
std::function<double()> taking(std::vector<double> seconds) {
    return [seconds = std::move(seconds), k = std::size_t(0)]() mutable { return seconds.at(k++); };
}

/// Of a method whose first two products do not count.
std::function<double()> at_last(double a, double b) { return taking({9, 9, a, b}); }

TEST(judge_beside, counts_the_last_two_of_four) {
    EXPECT_EQ(judge_beside(at_last(2, 2), at_last(1, 1)), verdict::refused);
    EXPECT_EQ(judge_beside(at_last(1, 1), at_last(2, 2)), verdict::accepted);
}
/// Threads that have slept make all products slow at first.
TEST(judge_beside, refuses_nothing_because_the_machine_becomes_fast_meanwhile) {
    for (int slow_products = 0; slow_products <= 8; ++slow_products) {
        int made = 0;
        const auto product = [&](double seconds) {
            return [&, seconds] { return made++ < slow_products ? 4 * seconds : seconds; };
        };
        EXPECT_NE(judge_beside(product(1), product(1.5)), verdict::refused) << slow_products;
        made = 0;
        EXPECT_NE(judge_beside(product(1.5), product(1)), verdict::accepted) << slow_products;
    }
}
TEST(judge_beside, takes_what_is_clearly_faster_in_its_fastest_take) {
    EXPECT_EQ(judge_beside(at_last(1, 1), at_last(0.96, 0.95)), verdict::accepted);
    EXPECT_EQ(judge_beside(at_last(1, 1), at_last(0.94, 0.9)), verdict::refused);
    EXPECT_EQ(judge_beside(at_last(2, 9), at_last(1, 1)), verdict::refused);
    EXPECT_EQ(judge_beside(at_last(1, 1), at_last(1, 9)), verdict::accepted);
    EXPECT_EQ(judge_beside(at_last(2, 3), at_last(1, 2.5)), verdict::refused);
}
TEST(judge_beside, asks_for_more_where_a_refusal_would_surprise) {
    EXPECT_EQ(judge_beside(at_last(1, 1), at_last(0.85, 0.85), 0.8), verdict::accepted);
    EXPECT_EQ(judge_beside(at_last(1, 1), at_last(0.75, 0.75), 0.8), verdict::refused);
}
TEST(judge_beside, decides_nothing_where_the_slowest_takes_say_otherwise) {
    EXPECT_EQ(judge_beside(at_last(2, 3), at_last(1, 3)), verdict::undecided);
    EXPECT_EQ(judge_beside(at_last(1, 1), at_last(0.9, 1)), verdict::undecided);
    EXPECT_EQ(judge_beside(at_last(1, 2), at_last(1, 1.5)), verdict::undecided);
}

/// A product that takes its time, and counts.
class slow_operator final : public linear_operator<double, cpu> {
  public:
    explicit slow_operator(nz::shape s) : shape_(s) {}
    [[nodiscard]] nz::shape shape() const override { return shape_; }
    [[nodiscard]] std::size_t bytes() const override { return 0; }
    [[nodiscard]] std::string_view method_name() const override { return "slow"; }
    static inline int products = 0;

  protected:
    void multiply(double, std::span<const double>, double, std::span<double>) const override {
        ++products;
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    void multiply_transposed(transposition, double, std::span<const double>, double,
                             std::span<double>) const override {}
    void scale(double, std::span<double>) const override {}

  private:
    nz::shape shape_;
};

/// Without a load of x that is not next to another: the best there is where such loads are slow.
method<double> slow_method() {
    method<double> m{};
    m.name = "slow", m.deterministic = true;
    m.cost = [](const matrix_stats&) {
        return estimate{.matrix_bytes = 1e6, .sector_requests = 1, .work_units = 1};
    };
    m.on_cpu =
        [](cpu, const csr<double, host_view>& A) -> std::unique_ptr<linear_operator<double, cpu>> {
        return std::make_unique<slow_operator>(A.shape);
    };
    return m;
}

/// With a cache folder of its own, which describes a machine that loads x a thousand times as
/// slowly as this one, with three threads.
class acceptance : public ::testing::Test {
  protected:
    acceptance() {
        std::string name = (fs::temp_directory_path() / "nz_accept_XXXXXX").string();
        dir = mkdtemp(name.data());
        setenv("XDG_CACHE_HOME", dir.c_str(), 1);
        keep(cache_path("machine-cpu-3"), machine_key(describe_machine(), on.threads),
             {{"launch_s", 1e-6},
              {"step_s", 1e-9},
              {"reads", json::array({json::array({1e6, 1e10})})},
              {"gathers", json::array({json::array({1e3, 6e7}), json::array({1e4, 1e6})})},
              {"convert_bytes_per_s", 1e9}});
        slow_operator::products = 0;
    }
    ~acceptance() override { fs::remove_all(dir); }

    static csr<double, host> random_matrix(index n) {
        return from_rule<double>(n, n, [](index, index, double u) { return u > 0.995; });
    }
    /// The plan of slow_method and plain CSR: neither of the registry, so that nothing is kept.
    [[nodiscard]] plan<double, cpu> lured(const plan_options& o = {}) const {
        return make_plan(view(A), on, o, std::span<const method<double>>(among));
    }
    /// A plan of the registry's whose choice is timed.
    [[nodiscard]] plan<double, cpu> registered(const plan_options& o = {}) const {
        auto p = make_plan(A, on, o);
        EXPECT_NE(p.chosen().method, "csr.balanced");
        return p;
    }
    /// The method kept for `p` where its choice turns out to be slow.
    [[nodiscard]] std::string kept_for_slow(const plan<double, cpu>& p) const {
        return std::string(accepted(p, ascending(view(A)), operator_ptr(new slow_operator(A.shape)))
                               ->method_name());
    }

    fs::path dir;
    /// Of each test another, as the process remembers.
    csr<double, host> A = random_matrix(3000);
    cpu on{3};
    std::vector<method<double>> among{slow_method(), find_method<double>("csr.balanced")};
};

TEST_F(acceptance, mends_the_choice_for_a_machine_that_was_described_wrongly) {
    const auto p = lured();
    ASSERT_EQ(p.chosen().method, "slow") << p;
    EXPECT_EQ(p.timing.beside, "csr.balanced");
    EXPECT_EQ(build(p, A)->method_name(), "csr.balanced");
    EXPECT_EQ(slow_operator::products, 4);
}

TEST_F(acceptance, tells_its_time_as_setup) {
    const auto timed = lured(), not_timed = lured({.accept = plan_options::acceptance::predicted});
    EXPECT_GT(timed.chosen().predicted_setup_s,
              not_timed.chosen().predicted_setup_s + 2 * timed.chosen().predicted_s);
}

TEST_F(acceptance, is_for_products_without_end_that_were_predicted) {
    const auto taken = [&](const plan_options& o) {
        const auto p = lured(o);
        EXPECT_TRUE(p.timing.beside.empty());
        return build(p, A)->method_name();
    };
    EXPECT_EQ(taken({.accept = plan_options::acceptance::predicted}), "slow");
    EXPECT_EQ(taken({.expected_products = 1000000}), "slow");
    EXPECT_EQ(taken({.speeds = speeds_of(on)}), "slow");
    EXPECT_EQ(slow_operator::products, 0);
    EXPECT_TRUE(lured({.vectors = 2}).timing.beside.empty());
    EXPECT_TRUE(lured({.methods = {"slow"}}).timing.beside.empty());
    EXPECT_TRUE(make_plan(ascending(view(A)), on, {}).timing.beside.empty());
    EXPECT_TRUE(make_plan(laplace2d<double>(9, 9), on).timing.beside.empty());  // too short
}

TEST_F(acceptance, of_one_matrix_is_measured_once) {
    const auto p = registered({.cache = false});
    ASSERT_EQ(p.timing.beside, "csr.balanced");
    EXPECT_EQ(kept_for_slow(p), "csr.balanced");
    EXPECT_EQ(slow_operator::products, 4);
    EXPECT_EQ(kept_for_slow(p), "csr.balanced");
    EXPECT_EQ(slow_operator::products, 4);

    const auto again = make_plan(A, on, {.cache = false});
    EXPECT_EQ(again.chosen().method, "csr.balanced");
    EXPECT_TRUE(again.timing.beside.empty());
    EXPECT_EQ(again.why,
              "csr.balanced was faster than " + p.chosen().method + " when both were timed");
    EXPECT_FALSE(fs::exists(cache_path("accepted-cpu-3")));
}

TEST_F(acceptance, is_kept_in_a_file_by_machine) {
    A = random_matrix(3001);
    EXPECT_EQ(kept_for_slow(registered()), "csr.balanced");
    const std::string file = cache_path("accepted-cpu-3");
    const json outcomes = load_kept(file, machine_key(describe_machine(), on.threads));
    ASSERT_EQ(outcomes.size(), 1U);
    EXPECT_EQ(outcomes[0].members()[0].value, json("refused"));
}

TEST_F(acceptance, of_a_file_that_is_none_is_measured) {
    const std::string file = cache_path("accepted-cpu-3");
    A = random_matrix(3002);
    for (const json& odd : {json(7), json::array({7, "x", json::array()}), json::object()}) {
        keep(file, machine_key(describe_machine(), on.threads), odd);
        EXPECT_EQ(registered().timing.beside, "csr.balanced");
    }
}

}  // namespace
}  // namespace nz::test
