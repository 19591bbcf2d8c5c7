// Choices, texts and operators of the planner, from methods made up and from the registry's own.
#include "nonzero/plan/plan.hpp"
#include "nonzero/core/format.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <new>
#include <sstream>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/oracle.hpp"
#include "nonzero/gen/generate.hpp"
#include "nonzero/plan/speeds.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

using operator_ptr = std::unique_ptr<linear_operator<double, cpu>>;

/// Made-up methods of known size; the bytes say how they rank, as they gather nothing and are
/// beyond all sizes for which a bandwidth is measured.
template <int megabytes>
estimate of_size(const matrix_stats&) {
    return {.matrix_bytes = megabytes * 1e6, .sector_requests = 1, .work_units = 1};
}
estimate quick_but_slow_to_build(const matrix_stats&) {
    return {.matrix_bytes = 1e6, .sector_requests = 1, .work_units = 1, .setup_bytes = 1e12};
}
estimate unwilling(const matrix_stats&) { return {.declined = "not today"}; }
operator_ptr build_small(cpu on, const csr<double, host_view>& A) {
    return build(find_method<double>("csr.serial"), on, A);
}
operator_ptr build_without_memory(cpu, const csr<double, host_view>&) { throw std::bad_alloc(); }
operator_ptr build_on_failing_device(cpu, const csr<double, host_view>&) {
    throw device_error("cudaMalloc: out of memory");
}
operator_ptr build_unwillingly(cpu, const csr<double, host_view>&) {
    throw argument_error("not these values");
}

method<double> made(std::string_view name, estimate (*cost)(const matrix_stats&),
                    method<double>::builder<cpu> build = build_small, bool deterministic = true) {
    method<double> m{};
    m.name = name, m.cost = cost, m.on_cpu = build, m.deterministic = deterministic;
    return m;
}

std::vector<std::string> names(const plan_report& p) {
    std::vector<std::string> all;
    for (const plan_report::candidate& c : p.candidates) all.push_back(c.method);
    return all;
}

class planning : public ::testing::Test {
  protected:
    csr<double, host> A = from_rule<double>(40, 30, [](index, index, double u) { return u > 0.7; });
    plan_options options;
    plan<double, cpu> among(std::span<const method<double>> methods) {
        return make_plan(view(A), cpu{2}, options, methods);
    }
};

TEST_F(planning, takes_the_predicted_best_and_says_why_of_all) {
    const method<double> all[] = {made("a.large", of_size<2400>), made("b.unwilling", unwilling),
                                  made("c.small", of_size<1200>), made("d.middle", of_size<1800>)};
    const auto p = among(all);
    EXPECT_EQ(names(p),
              (std::vector<std::string>{"c.small", "d.middle", "a.large", "b.unwilling"}));
    EXPECT_EQ(p.chosen().method, "c.small");
    EXPECT_EQ(p.chosen().matrix_bytes, 1.2e9);
    EXPECT_LT(p.candidates[0].predicted_s, p.candidates[1].predicted_s);
    EXPECT_EQ(p.candidates[3].declined, "not today");
    EXPECT_NE(p.why.find("c.small should take"), std::string::npos) << p.why;
    EXPECT_NE(p.why.find("next is d.middle"), std::string::npos) << p.why;
    std::ostringstream text;
    text << p;
    for (const char* part :
         {"c.small should take", "\nd.middle ", "\na.large ", "methods that decline: 1\n"})
        EXPECT_NE(text.str().find(part), std::string::npos) << text.str();
}

TEST_F(planning, for_several_vectors_takes_what_multiplies_them_at_once) {
    options.vectors = 8;
    for (const index n : {3, 300}) {
        const auto B = laplace2d<double>(n, n);
        EXPECT_EQ(make_plan(B, cpu{2}, options).chosen().method, "csr.balanced");
    }
    options.methods = {"ell.row"};
    EXPECT_EQ(make_plan(laplace2d<double>(9, 9), cpu{2}, options).chosen().method, "ell.row");
    options = {.vectors = 0};
    EXPECT_THROW((void)make_plan(laplace2d<double>(9, 9), cpu{2}, options), argument_error);
}

TEST_F(planning, by_given_speeds_follows_from_them_alone) {
    const machine_speeds streams{.launch_s = 1e-6,
                                 .unit_s = 1e-10,
                                 .workers = 100,
                                 .reads = {{1e6, 1e9}},
                                 .gathers = {{1e6, 1e12}},
                                 .convert_bytes_per_s = 1e10};
    machine_speeds gathers = streams;  // reads at once, but finds x slowly
    gathers.reads[0].per_s = 1e13, gathers.gathers[0].per_s = 6e7;
    const method<double> two[] = {
        made("a.bytes",
             [](const matrix_stats&) {
                 return estimate{.matrix_bytes = 1e9, .sector_requests = 1, .work_units = 1};
             }),
        made("b.loads", [](const matrix_stats&) {
            return estimate{.matrix_bytes = 1e6, .sector_requests = 1e8, .work_units = 1};
        })};
    options.speeds = streams;
    EXPECT_EQ(among(two).chosen().method, "b.loads");
    const double once = among(two).chosen().predicted_s;
    EXPECT_EQ(among(two).chosen().predicted_s, once);
    options.speeds = gathers;
    EXPECT_EQ(among(two).chosen().method, "a.bytes");
    options.speeds->reads.clear();
    EXPECT_THROW((void)among(two), argument_error);
}

TEST_F(planning, leaves_out_what_differs_from_run_to_run_unless_told) {
    const method<double> all[] = {made("a.atomic", of_size<1200>, build_small, false),
                                  made("b.exact", of_size<2400>)};
    EXPECT_EQ(among(all).chosen().method, "b.exact");
    options.deterministic = false;
    EXPECT_EQ(among(all).chosen().method, "a.atomic");
}

TEST_F(planning, leaves_out_what_no_memory_would_hold) {
    const method<double> all[] = {
        made("a.huge", [](const matrix_stats&) { return estimate{.matrix_bytes = 1e18}; }),
        made("b.small", of_size<1>)};
    const auto p = among(all);
    EXPECT_EQ(p.chosen().method, "b.small");
    EXPECT_NE(p.candidates[1].declined.find("memory"), std::string::npos);
}

TEST_F(planning, for_few_products_counts_the_setup) {
    const method<double> all[] = {made("a.quick", quick_but_slow_to_build),
                                  made("b.cheap", of_size<50>)};
    EXPECT_EQ(among(all).chosen().method, "a.quick");
    const auto many = among(all);
    const double even = many.break_even_products();
    EXPECT_GT(even, 1);
    EXPECT_EQ(many.cheapest().method, "b.cheap");
    options.expected_products = 1;
    const auto one = among(all);
    EXPECT_EQ(one.chosen().method, "b.cheap");
    EXPECT_EQ(one.break_even_products(), 0);
    EXPECT_NE(one.why.find("suits 1 products in all"), std::string::npos) << one.why;
    options.expected_products = std::int64_t(1.5 * even * 1.01) + 2;
    EXPECT_EQ(among(all).chosen().method, "a.quick");
    options.expected_products = std::int64_t(1.5 * even * 0.99) - 2;
    EXPECT_EQ(among(all).chosen().method, "b.cheap");
}

/// A method between both is chosen only where it is predicted at less than half of both.
TEST_F(planning, for_few_products_takes_the_fastest_or_the_cheapest) {
    const auto chosen = [&](auto between) {
        const method<double> all[] = {
            made("a.fast",
                 [](const matrix_stats&) {
                     return estimate{.matrix_bytes = 1e6, .work_units = 1, .setup_bytes = 1e12};
                 }),
            made("b.between", between), made("c.cheap", [](const matrix_stats&) {
                return estimate{.matrix_bytes = 1e9, .work_units = 1, .setup_bytes = 1};
            })};
        return among(all).chosen().method;
    };
    options.expected_products = 100;
    EXPECT_EQ(chosen([](const matrix_stats&) {
                  return estimate{.matrix_bytes = 8e8, .work_units = 1, .setup_bytes = 1e6};
              }),
              "c.cheap");
    EXPECT_EQ(chosen([](const matrix_stats&) {
                  return estimate{.matrix_bytes = 1e8, .work_units = 1, .setup_bytes = 1e6};
              }),
              "b.between");
}

/// Packing on a CPU takes several times as long as copying.
TEST_F(planning, for_few_products_packs_nothing) {
    const auto stencil = laplace3d<double>(60, 60, 60);
    options.methods = {"packed.warp", "csr.balanced"};
    options.speeds = machine_speeds{.launch_s = 1e-6,
                                    .unit_s = 3.4e-10,
                                    .workers = 2,
                                    .units_load_x = true,
                                    .reads = {{3e7, 1.6e11}, {7e7, 4.9e10}},
                                    .gathers = {{2e4, 4e9}, {4e6, 2.3e9}, {7e7, 5e8}},
                                    .convert_bytes_per_s = 2.3e10};
    const auto p = make_plan(stencil, cpu{2}, options);
    EXPECT_EQ(p.chosen().method, "packed.warp");
    EXPECT_GT(p.chosen().predicted_setup_s, 2 * p.cheapest().predicted_setup_s);
    options.expected_products = 3;
    EXPECT_EQ(make_plan(stencil, cpu{2}, options).chosen().method, "csr.balanced");
}

/// Caches of a Xeon: loads from beyond a core's second level take several times as long.
TEST_F(planning, takes_stripes_on_a_cpu_where_rows_share_nothing_of_a_long_x) {
    options.methods = {"packed.warp", "packed.stripes", "csr.balanced"};
    options.speeds = machine_speeds{
        .launch_s = 5e-7,
        .unit_s = 3e-10,
        .workers = 2,
        .units_load_x = true,
        .reads = {{1e6, 1.8e11}, {4e6, 1.2e11}, {1.7e7, 6e10}, {6.7e7, 5e10}},
        .gathers = {{1.6e4, 2.9e9}, {1e6, 2.2e9}, {4e6, 1.2e9}, {1.7e7, 6.5e8}, {6.7e7, 2.3e8}},
        .convert_bytes_per_s = 2e10};
    const index rows = 5000, cols = 600'000, of_row = 100;
    host_vector<index> row, col;
    for (index i = 0; i < rows; ++i)
        for (index k = 0; k < of_row; ++k) {
            row.push_back(i);
            col.push_back(index((std::int64_t(i) * 7919 + std::int64_t(k) * 6007 + k * k) % cols));
        }
    const auto random =
        assemble<double>({rows, cols}, row, col, host_vector<double>(row.size(), 1.0));
    EXPECT_EQ(make_plan(random, cpu{2}, options).chosen().method, "packed.stripes");
    EXPECT_EQ(make_plan(laplace2d<double>(700, 700), cpu{2}, options).chosen().method,
              "packed.warp");
}

TEST_F(planning, chooses_among_those_named_only) {
    options.methods = {"csr.balanced", "coo.serial"};
    const auto p = make_plan(A, cpu{2}, options);
    EXPECT_EQ(p.candidates.size(), 2U);
    options.methods = {"csr.nonsense"};
    EXPECT_THROW((void)make_plan(A, cpu{2}, options), argument_error);
}

TEST_F(planning, looks_at_kernels_that_teach_only_where_they_are_named) {
    for (const plan_report::candidate& c : make_plan(A, cpu{2}, options).candidates)
        EXPECT_FALSE(find_method<double>(c.method).teaches) << c.method;
    options.methods = {"csr.vector_ldg"};
    EXPECT_THROW((void)make_plan(A, cpu{2}, options), unavailable);  // it is a GPU's
}

TEST_F(planning, tuned_times_the_best_few_and_takes_the_fastest) {
    options.tune = true, options.tune_s = 1e-5;
    const auto p = make_plan(A, cpu{2}, options);
    int timed = 0;
    for (const plan_report::candidate& c : p.candidates) {
        timed += c.measured_s > 0;
        if (c.measured_s > 0) {
            EXPECT_LE(p.chosen().measured_s, c.measured_s);
            EXPECT_GT(c.measured_setup_s, 0);
        }
    }
    EXPECT_EQ(timed, 5);
    EXPECT_NE(p.why.find("took"), std::string::npos) << p.why;
}

TEST_F(planning, throws_where_nothing_suits) {
    const method<double> all[] = {made("b.unwilling", unwilling)};
    EXPECT_THROW((void)among(all), unavailable);
    EXPECT_THROW((void)among({}), unavailable);
}

TEST_F(planning, refuses_what_makes_no_sense) {
    options.expected_products = 0;
    EXPECT_THROW((void)make_plan(A, cpu{2}, options), argument_error);
    options = {.tune_s = -1};
    EXPECT_THROW((void)make_plan(A, cpu{2}, options), argument_error);
    auto broken = view(A);
    broken.val = broken.val.first(broken.val.size() - 1);
    EXPECT_THROW((void)make_plan(broken, cpu{2}), argument_error);
    broken = view(A);
    broken.shape.rows += 1;
    EXPECT_THROW((void)make_plan(broken, cpu{2}), argument_error);
}

TEST_F(planning, builds_what_it_chose) {
    const auto p = make_plan(A, cpu{2});
    const auto op = build(p, A);
    EXPECT_EQ(op->method_name(), p.chosen().method);
    EXPECT_EQ(double(op->bytes()), p.chosen().matrix_bytes);
    auto other = A;
    other.shape.cols += 1;
    EXPECT_THROW((void)build(p, other), argument_error);
    EXPECT_THROW((void)build(plan<double, cpu>{}, A), argument_error);
}

host_vector<double> product_with(const linear_operator<double, cpu>& op, transposition t) {
    const auto [rows, cols] = op.shape();
    const bool plain = t == transposition::plain;
    auto x = host_vector<double>(std::size_t(plain ? cols : rows));
    auto y = host_vector<double>(std::size_t(plain ? rows : cols));
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = 1 + double(k % 7) / 3;
    op.apply_transposed(t, 1, x, 0, y);
    return y;
}

TEST_F(planning, takes_over_a_matrix_that_is_given_away) {
    for (const auto storage : {value_storage::exact, value_storage::single})
        for (const char* name : {"csr.merge", "ell.row"}) {
            const plan_options o{.methods = {name}, .transposed = true, .storage = storage};
            const auto given = std::make_unique<csr<double, host>>(A);
            const auto kept = plan_and_build(A, cpu{2}, o);
            const auto taken = plan_and_build(std::move(*given), cpu{2}, o);
            const bool may_be_taken =
                name == std::string("csr.merge") && storage == value_storage::exact;
            EXPECT_EQ(given->val.empty(), may_be_taken) << name;
            EXPECT_EQ(names(taken.plan), names(kept.plan));
            *given = {};
            for (const auto t : {transposition::plain, transposition::transpose})
                EXPECT_EQ(product_with(*taken.op, t), product_with(*kept.op, t)) << name;
        }
}

TEST_F(planning, without_memory_builds_the_next_that_is_smaller) {
    const auto slow_small = [](const matrix_stats&) {
        return estimate{
            .matrix_bytes = 1e6, .launches = 1e6, .sector_requests = 1, .work_units = 1};
    };
    for (const auto failing : {build_without_memory, build_on_failing_device}) {
        // b.larger would throw argument_error, were it tried.
        const method<double> all[] = {made("a.first", of_size<1200>, failing),
                                      made("b.larger", of_size<2400>, build_unwillingly),
                                      made("c.smaller", slow_small, build_small)};
        const auto p = among(all);
        ASSERT_EQ(names(p), (std::vector<std::string>{"a.first", "b.larger", "c.smaller"}));
        EXPECT_NE(build(p, A), nullptr);
        const method<double> none[] = {made("a.first", of_size<1200>, failing),
                                       made("b.larger", of_size<2400>, build_small)};
        EXPECT_ANY_THROW((void)build(among(none), A));  // which would not fit either
    }
}

TEST_F(planning, a_builder_that_refuses_is_passed_over) {
    const method<double> all[] = {made("a.picky", of_size<1200>, build_unwillingly),
                                  made("b.larger", of_size<2400>, build_small)};
    const auto p = among(all);
    EXPECT_EQ(p.chosen().method, "a.picky");
    EXPECT_NE(build(p, A), nullptr);
    const method<double> none[] = {made("a.picky", of_size<1>, build_unwillingly)};
    EXPECT_THROW((void)build(among(none), A), argument_error);
}

TEST_F(planning, for_a_gpu_that_is_not_there_is_unavailable) {
    if (const std::string why = why_no_gpu(); !why.empty()) {
        EXPECT_THROW((void)make_plan(A, gpu{}), unavailable);
        GTEST_SKIP() << why;
    }
    const auto p = make_plan(A, gpu{});
    EXPECT_EQ(build(p, A)->method_name(), p.chosen().method);
    const auto C = from_rule<std::complex<double>>(4, 4, [](index, index, double) { return true; });
    EXPECT_EQ(build(make_plan(C, gpu{}), C)->shape(), C.shape);
}

class planning_on_gpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    }
    /// Product of op with a vector of elements 1.5.
    template <class V>
    static host_vector<V> product(gpu on, const linear_operator<V, gpu>& op, std::size_t cols) {
        const auto x = to_device<V>(on, host_vector<V>(cols, V(1.5)));
        device_array<V> y(on, std::size_t(op.shape().rows));
        op.apply(V(1), x, V(0), y);
        return to_host<V>(on, y);
    }
};

/// The methods that do not decline, best first.
std::vector<std::string> judged(const plan_report& p) {
    std::vector<std::string> all;
    for (const plan_report::candidate& c : p.candidates)
        if (c.declined.empty()) all.push_back(c.method);
    return all;
}
/// Those of them that are built from a CSR on the GPU.
std::vector<std::string> built_on_device(std::vector<std::string> all) {
    std::erase_if(all, [](const auto& m) { return !find_method<double>(m).from_device; });
    return all;
}

TEST_F(planning_on_gpu, chooses_for_a_csr_on_the_device_as_for_one_on_the_host) {
    const gpu_stream stream;
    for (const auto& [name, bug, A] : zoo<double>()) {
        SCOPED_TRACE(name);
        const auto on_device = upload(stream, A);
        const auto p = make_plan(on_device, gpu(stream)), q = make_plan(A, gpu(stream));
        EXPECT_EQ(judged(p), built_on_device(judged(q)));
        const auto made = plan_and_build(view(on_device), gpu(stream));
        EXPECT_EQ(names(made.plan), names(p));
        const host_vector<double> x(std::size_t(A.shape.cols), 1.5);
        const auto truth = reference_product<double>(transposition::plain, 1, view(A), x, 0, {});
        const auto built = build(p, on_device);
        for (const auto* op : {built.get(), made.op.get()}) {
            EXPECT_EQ(op->method_name(), p.chosen().method);
            EXPECT_TRUE(compare<double>(product(gpu(stream), *op, x.size()), truth).holds());
        }
    }
}

TEST_F(planning_on_gpu, builds_every_method_from_the_device) {
    const gpu on{};
    const auto A = from_rule<double>(300, 200, [](index, index, double u) { return u > 0.9; });
    const auto on_device = upload(on, A);
    for (const method<double>& m : methods<double>()) {
        if (m.on_gpu == nullptr || !m.cost_on_gpu(compute_stats(view(A))).declined.empty())
            continue;
        SCOPED_TRACE(m.name);
        const auto p =
            make_plan(on_device, on, {.deterministic = false, .methods = {std::string(m.name)}});
        const auto op = build(p, on_device);
        EXPECT_EQ(op->method_name(), m.name);
        const host_vector<double> x(std::size_t(A.shape.cols), 1.5);
        const auto truth = reference_product<double>(transposition::plain, 1, view(A), x, 0, {});
        EXPECT_TRUE(compare<double>(product(on, *op, x.size()), truth).holds());
    }
}

TEST_F(planning_on_gpu, refuses_what_makes_no_sense) {
    const gpu on{};
    const csr<double, host> A{{2, 3}, {0, 2, 3}, {1, 0, 2}, {1, 2, 3}};
    const auto on_device = upload(on, A);
    EXPECT_NO_THROW((void)make_plan(on_device, on));
    auto broken = view(on_device);
    broken.shape.rows += 1;
    EXPECT_THROW((void)make_plan(broken, on), argument_error);
    broken = view(on_device);
    broken.val.len -= 1;
    EXPECT_THROW((void)make_plan(broken, on), argument_error);
}

TEST(predicted_seconds, lets_a_step_take_longer_the_further_its_bytes_exceed_the_last_cache) {
    constexpr double cache = 1e6, memory = 4e6;
    const machine_speeds m{.unit_s = 1e-9,
                           .out_of_cache_factor = 3,
                           .reads = {{cache, 1e30}, {memory, 1e30}},
                           .gathers = {{1, 1e30}}};
    matrix_stats s;
    s.rows = s.cols = s.nnz = 1;
    const auto of_a_thousand = [&](double bytes) {
        return predicted_seconds({.matrix_bytes = bytes, .work_units = 1000}, s, m) * 1e6;
    };
    EXPECT_NEAR(of_a_thousand(cache / 2), 1, 1e-9);
    EXPECT_NEAR(of_a_thousand(cache), 1, 1e-9);
    EXPECT_NEAR(of_a_thousand(2 * cache), 2, 1e-9);  // halfway, in the logarithm of the bytes
    EXPECT_NEAR(of_a_thousand(memory), 3, 1e-9);
    EXPECT_NEAR(of_a_thousand(10 * memory), 3, 1e-9);
}

TEST(predicted_seconds, counts_what_rows_share_of_x_as_far_as_l1_holds_it) {
    const machine_speeds machine{.reads = {{1, 1e30}}, .gathers = {{1, 1e9}}};
    matrix_stats s;
    s.rows = 256, s.cols = 1000000, s.nnz = 1000000;
    s.group_sectors = 8192;  // of the one group of rows: 256 KB
    const estimate e{.matrix_bytes = 1, .vector_bytes = 1, .sector_requests = 1e6, .work_units = 1};
    const auto loads_beyond = [&](double l1_bytes) {
        machine_speeds m = machine;
        m.l1_bytes = l1_bytes;
        return predicted_seconds(e, s, m) * 1e9 - e.sector_requests;
    };
    EXPECT_NEAR(loads_beyond(0), 8192, 1e-3);
    EXPECT_NEAR(loads_beyond(1 << 20), 8192, 1e-3);
    EXPECT_NEAR(loads_beyond(1 << 17), (1e6 + 8192) / 2, 1e-3);
}

/// 400 rows of 7,000 entries load from all of x at once, however little 256 rows do in the mean.
TEST(predicted_seconds, knows_that_long_rows_on_a_gpu_miss_l1) {
    const machine_speeds m{.reads = {{1, 1e30}}, .gathers = {{1e5, 6e11}, {1e6, 1.6e11}}};
    matrix_stats s;
    s.rows = 450'400, s.cols = 450'000, s.nnz = 4'500'000 + 2'800'000, s.group_sectors = 900'000;
    s.row_lengths = {{10, 450'000}, {7000, 400}};
    const auto misses = [&](double x_bytes, double held) {
        const estimate e{.matrix_bytes = 1,
                         .x_bytes = x_bytes,
                         .sector_requests = double(s.nnz),
                         .held_requests = held,
                         .work_units = 1};
        const double rate = x_bytes > 1e5 ? 1.6e11 : 6e11;
        return (predicted_seconds(e, s, m) - e.sector_requests / 6e11) * rate;
    };
    EXPECT_NEAR(misses(1e6, 0), 3.7e6, 1);
    EXPECT_NEAR(misses(1e6, 2.8e6), 0.9e6, 1) << "L1 answers those of the long rows";
    EXPECT_NEAR(misses(1e5, 0), 0.9e6, 1) << "L1 holds x";
    s.row_lengths = {{10, 450'000}, {1000, 2800}};
    EXPECT_NEAR(misses(1e6, 0), 0.9e6, 1) << "no long rows";
}

/// A measured load of x takes the longer of the work beside it and of the wait.
TEST(predicted_seconds, adds_to_a_units_load_only_what_is_beyond_l1) {
    const machine_speeds m{.unit_s = 1e-30,
                           .units_load_x = true,
                           .reads = {{1, 1e30}},
                           .gathers = {{1e4, 1 / 3e-9}, {1e6, 1 / 5e-9}}};
    matrix_stats s;
    s.rows = s.cols = s.nnz = s.group_sectors = 1000;
    const auto of_x = [&](double bytes) {
        return predicted_seconds({.matrix_bytes = 1, .x_bytes = bytes, .work_units = 1}, s, m);
    };
    EXPECT_NEAR(of_x(1e4), 0, 1e-15);
    EXPECT_NEAR(of_x(1e6), 1000 * 4e-9, 1e-12);  // 5^2 = 3^2 + 4^2
}

TEST(predicted_seconds, lets_stripes_gain_only_where_rows_load_far_from_each_other) {
    const machine_speeds machine{.reads = {{1, 1e30}}, .gathers = {{1e6, 1e12}, {1e9, 1e10}}};
    matrix_stats s;
    s.rows = s.cols = s.nnz = s.compared_columns = 100'000'000;
    const estimate whole{.matrix_bytes = 1, .x_bytes = 8e8, .work_units = 1};
    estimate striped = whole;
    striped.stripes = 30;
    EXPECT_EQ(predicted_seconds(striped, s, machine), predicted_seconds(whole, s, machine));
    s.far_columns = s.compared_columns;
    EXPECT_LT(predicted_seconds(striped, s, machine), predicted_seconds(whole, s, machine) / 2);
}

template <class V>
class planned : public ::testing::Test {};
using values = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(planned, values);

TYPED_TEST(planned, products_are_right_on_every_matrix_of_the_zoo) {
    using V = TypeParam;
    for (const auto& [name, bug, A] : zoo<V>()) {
        SCOPED_TRACE(name);
        const auto p = make_plan(A, cpu{2});
        EXPECT_TRUE(find_method<V>(p.chosen().method).deterministic);
        const auto op = build(p, A);
        const host_vector<V> x(std::size_t(A.shape.cols), V(1.25));
        host_vector<V> y(std::size_t(A.shape.rows), V(0));
        op->apply(V(1), x, V(0), y);
        const auto truth = reference_product<V>(transposition::plain, V(1), view(A), x, V(0), {});
        EXPECT_TRUE(compare<V>(y, truth).holds());
    }
}

TYPED_TEST(planned, every_method_says_what_makes_sense_of_every_matrix) {
    using V = TypeParam;
    const machine_speeds machine = speeds_of(cpu{2});
    for (const auto& [name, bug, A] : zoo<V>()) {
        const matrix_stats s = compute_stats(view(A));
        for (const method<V>& m : methods<V>()) {
            SCOPED_TRACE(std::string(m.name) + " on " + name);
            for (const estimate& e : {m.cost(s), m.cost_on_gpu(s)}) {
                if (!e.declined.empty()) continue;
                for (const double x : {e.sector_requests, e.work_units, e.critical_units})
                    EXPECT_GE(x, 0);
                EXPECT_GE(e.launches, s.nnz > 0 && !m.one_thread ? 1 : 0);
                EXPECT_GE(e.imbalance, 1);
                const double t = predicted_seconds(e, s, machine);
                EXPECT_TRUE(std::isfinite(t) && t > 0) << t;
                EXPECT_TRUE(std::isfinite(predicted_setup_seconds(e, 1, machine)));
            }
        }
    }
}

TEST(planning_on_a_cpu, takes_equal_shares_of_rows_as_its_threads_do) {
    const auto uneven =  // in sixteen parts, and not in two
        from_rule<double>(2048, 256,
                          [](index i, index, double u) { return i % 256 < 64 && u > 0.7; });
    const machine_speeds machine{.unit_s = 1e-9,
                                 .workers = 2,
                                 .reads = {{1e6, 1e10}},
                                 .gathers = {{1e6, 1e9}},
                                 .convert_bytes_per_s = 1e9};
    const auto slower = [&](int threads) {
        const auto takes = [&](const char* method) {
            return make_plan(uneven, cpu{threads}, {.methods = {method}, .speeds = machine})
                .chosen()
                .predicted_s;
        };
        return takes("csr.static") / takes("csr.balanced");
    };
    EXPECT_NEAR(slower(2), 1, 0.02);
    EXPECT_NEAR(slower(16), 2, 0.1);
}

TEST(stats, count_the_sectors_of_x) {
    const auto full = [](index, index, double) { return true; };
    const auto A = from_rule<double>(2, 8, full);  // two rows over two sectors
    const matrix_stats s = compute_stats(view(A));
    EXPECT_EQ(s.row_sectors, 4);
    EXPECT_EQ(s.column_sectors, 8);  // those of the first row; the second shares each
    EXPECT_EQ(s.group_sectors, 2);
    EXPECT_EQ(compute_stats(view(from_rule<float>(2, 8, full))).row_sectors, 2);
    const auto tall = from_rule<double>(257, 8, full);  // two stretches of rows, nine warps
    const matrix_stats t = compute_stats(view(tall));
    EXPECT_EQ(t.row_sectors, 2 * 257);
    EXPECT_EQ(t.column_sectors, 8 * 9);
    EXPECT_EQ(t.group_sectors, 2 * 2);
    const auto diagonal =
        from_rule<double>(64, 64, [](index i, index j, double) { return i == j; });
    EXPECT_EQ(compute_stats(view(diagonal)).column_sectors, 16);
    EXPECT_DOUBLE_EQ(compute_stats(view(diagonal)).row_imbalance, 1);
    const auto heavy = from_rule<double>(64, 64, [](index i, index, double) { return i < 4; });
    EXPECT_DOUBLE_EQ(compute_stats(view(heavy)).row_imbalance, 16);
}

TEST(speeds, rates_are_interpolated_and_flat_beyond_their_ends) {
    const std::vector<machine_speeds::rate_at> rates{{16, 8}, {64, 4}, {256, 2}};
    EXPECT_DOUBLE_EQ(rate_for(rates, 1), 8);
    EXPECT_DOUBLE_EQ(rate_for(rates, 16), 8);
    EXPECT_DOUBLE_EQ(rate_for(rates, 32), 6);
    EXPECT_DOUBLE_EQ(rate_for(rates, 256), 2);
    EXPECT_DOUBLE_EQ(rate_for(rates, 1e9), 2);
}

TEST(speeds, of_this_cpu_are_those_of_a_machine) {
    const machine_speeds s = speeds_of(cpu{2});
    EXPECT_EQ(s.workers, 2);
    EXPECT_GT(s.launch_s, 0);
    EXPECT_LT(s.launch_s, 0.1);
    EXPECT_GT(s.unit_s, 1e-11);
    EXPECT_LT(s.unit_s, 1e-6);
    EXPECT_GT(s.convert_bytes_per_s, 1e6);
    EXPECT_GE(s.reads.size(), 5U);
    EXPECT_GE(s.gathers.size(), 5U);
    EXPECT_EQ(s.gathers, speeds_of(cpu{2}).gathers);  // not measured again
}

}  // namespace
}  // namespace nz::test
