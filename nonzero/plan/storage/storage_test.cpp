// Values stored in less than all their precision: only when asked, and within the bound promised.
#include "nonzero/plan/storage/storage.hpp"
#include "nonzero/matrix/transpose.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "nonzero/core/gpu.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/stats.hpp"
#include "test/files.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

host_vector<double> product(const linear_operator<double, cpu>& op, const host_vector<double>& x) {
    host_vector<double> y(std::size_t(op.shape().rows));
    op.apply(1, x, 0, y);
    return y;
}
host_vector<double> product(const linear_operator<double, gpu>& op, const host_vector<double>& x) {
    const auto there = to_device<double>(gpu{}, x);
    device_array<double> y(gpu{}, std::size_t(op.shape().rows));
    op.apply(1, there, 0, y);
    return to_host<double>(gpu{}, y);
}

/// A with values of every magnitude that a float has, below its normal range too.
csr<double, host> of_all_magnitudes(csr<double, host> A) {
    std::mt19937_64 rng(11);
    std::uniform_int_distribution<int> exponent(-152, 126);
    for (double& v : A.val) v = std::ldexp(random_value<double>(rng), exponent(rng));
    return A;
}

/// The largest |y - A x| over what the bound allows it to be; at most 1 where the bound holds.
double worst(const csr<double, host>& A, const host_vector<double>& x, const host_vector<double>& y,
             const storage_bound& bound) {
    double largest = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        long double sum = 0, of_magnitudes = 0, of_small = 0;
        for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k) {
            const long double xj = x[std::size_t(A.col_ind[k])];
            sum += A.val[k] * xj, of_magnitudes += std::abs(A.val[k] * xj);
            if (std::abs(A.val[k]) < bound.smallest) of_small += std::abs(xj);
        }
        const long double error = std::abs(y[i] - sum);
        const long double allowed = bound.relative * of_magnitudes + bound.absolute * of_small;
        if (error > 0) largest = std::max(largest, double(error / allowed));
    }
    return largest;
}

/// v truncated to single precision, where nonzero rounds.
double truncated(double v) {
    const float nearest = float(v);
    return std::abs(double(nearest)) > std::abs(v) ? std::nextafter(nearest, 0.0F) : nearest;
}

csr<double, host> rounded(csr<double, host> A) {
    for (double& v : A.val) v = double(float(v));
    return A;
}

/// Plans by given speeds: measuring the machine is not what is tested.
plan_options stored_by(std::string_view name, value_storage storage) {
    return {.deterministic = false,
            .methods = {std::string(name)},
            .storage = storage,
            .speeds = machine_speeds{.launch_s = 1e-6,
                                     .unit_s = 1e-10,
                                     .workers = 100,
                                     .reads = {{1e6, 1e9}},
                                     .gathers = {{1e6, 1e12}},
                                     .convert_bytes_per_s = 1e10}};
}
plan_options single_by(std::string_view name) { return stored_by(name, value_storage::single); }

/// The plan for A on `on`, which finds A's arrays where `from` puts them, keeps its bound and gives
/// the bits of the same method for the rounded matrix. Returns the worst ratio.
template <class B, class From>
double expect_bound(B on, const csr<double, host>& A, std::string_view name, From from) {
    const auto x = random_vector<double>(std::size_t(A.shape.cols), 3);
    const auto p = make_plan(from(A), on, single_by(name));
    EXPECT_EQ(p.storage, value_storage::single);
    EXPECT_EQ(p.bound.unit_roundoff, 0x1p-24);
    const auto y = product(*build(p, from(A)), x);
    const csr<double, host> R = rounded(A);
    const auto plain = make_plan(from(R), on, stored_by(name, value_storage::exact));
    EXPECT_TRUE(same_bits<double>(y, product(*build(plain, from(R)), x)));
    const double ratio = worst(A, x, y, p.bound);
    EXPECT_LE(ratio, 1);
    return ratio;
}

const auto on_the_host = [](const csr<double, host>& A) { return view(A); };

TEST(single_storage, keeps_its_bound_by_every_method) {
    double largest = 0;
    for (const auto& [name, bug, plain] : zoo<double>()) {
        if (plain.val.size() > 6000) continue;
        const auto A = of_all_magnitudes(plain);
        const matrix_stats stats = compute_stats(view(rounded(A)));
        for (const method<double>& m : methods<double>()) {
            if (m.on_cpu == nullptr || !m.cost(stats).declined.empty()) continue;
            SCOPED_TRACE(std::string(m.name) + " on '" + name + "'");
            largest = std::max(largest, expect_bound(cpu{1}, A, m.name, on_the_host));
            if (HasFailure()) return;
        }
    }
    EXPECT_GT(largest, 0.9);  // a bound that no product comes near would promise too little
}

TEST(single_storage, keeps_its_bound_on_a_gpu) {
    if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    for (const auto& [name, bug, plain] : zoo<double>()) {
        if (plain.val.size() > 6000) continue;
        const auto A = of_all_magnitudes(plain);
        const matrix_stats stats = compute_stats(view(rounded(A)));
        for (const std::string_view method : {"csr.adaptive", "csr.subwarp", "packed.warp"}) {
            if (!find_method<double>(method).cost_on_gpu(stats).declined.empty()) continue;
            SCOPED_TRACE(std::string(method) + " on '" + name + "'");
            expect_bound(gpu{}, A, method, on_the_host);
            std::vector<csr<double, device>> kept;
            expect_bound(gpu{}, A, method, [&](const csr<double, host>& M) {
                return view(kept.emplace_back(upload(gpu{}, M)));
            });
            if (HasFailure()) return;
        }
    }
}

/// One entry a row, so that no error is hidden by another's.
csr<double, host> diagonal_of_all_magnitudes() {
    return of_all_magnitudes(
        from_rule<double>(300, 300, [](index i, index j, double) { return i == j; }));
}

TEST(single_storage, is_not_truncation) {
    const auto A = diagonal_of_all_magnitudes();
    const auto p = make_plan(A, cpu{1}, {.storage = value_storage::single});
    auto cut = A;
    for (double& v : cut.val) v = truncated(v);
    const host_vector<double> ones(300, 1.0);
    EXPECT_GT(worst(A, ones, cut.val, p.bound), 1.5);
    EXPECT_LE(worst(A, ones, product(*build(p, A), ones), p.bound), 1);
    storage_bound without = p.bound;
    without.absolute = 0;  // which values below the normal range need
    EXPECT_GT(worst(A, ones, product(*build(p, A), ones), without), 1);
}

TEST(single_storage, rounds_to_nearest_ties_to_even) {
    const host_vector<double> given{
        0.1,      1 + 0x1p-24, 1 + 0x3p-24, -0.0,      0x1p-149,
        0x1p-150, 0x1.8p-149,  infinity,    -infinity, 0x1.fffffefffffffp127};
    const host_vector<double> want{double(0.1F), 1,        1 + 0x1p-22, -0.0,          0x1p-149, 0,
                                   0x1p-148,     infinity, -infinity,   0x1.fffffep127};
    const auto got = stored_values<double>(cpu{2}, given, value_storage::single);
    EXPECT_TRUE(same_bits<double>(got, want));
    EXPECT_TRUE(std::isnan(stored_values<double>(cpu{1}, host_vector<double>{std::nan("")},
                                                 value_storage::single)[0]));
    if (!why_no_gpu().empty()) return;
    const auto there = to_device<double>(gpu{}, given);
    EXPECT_TRUE(same_bits<double>(
        to_host<double>(gpu{}, stored_values<double>(gpu{}, there, value_storage::single)), want));
}

TEST(single_storage, is_never_taken_unasked) {
    EXPECT_EQ(plan_options{}.storage, value_storage::exact);
    const auto A = diagonal_of_all_magnitudes();
    const matrix_stats stats = compute_stats(view(A));
    const host_vector<double> ones(300, 1.0);
    for (const method<double>& m : methods<double>()) {
        if (m.on_cpu == nullptr || !m.cost(stats).declined.empty()) continue;
        auto unasked = single_by(m.name);
        unasked.storage = plan_options{}.storage;
        const auto p = make_plan(A, cpu{1}, unasked);
        EXPECT_EQ(p.storage, value_storage::exact);
        EXPECT_EQ(p.bound.unit_roundoff, 0);
        EXPECT_TRUE(same_bits<double>(product(*build(p, A), ones), A.val)) << m.name;
    }
}

TEST(single_storage, takes_the_bytes_that_the_plan_says) {
    const auto A = from_rule<double>(600, 600, [](index, index, double u) { return u < 0.05; });
    const auto bytes = [&](value_storage s) {
        const auto p = make_plan(A, cpu{1}, {.methods = {"packed.warp"}, .storage = s});
        const auto op = build(p, A);
        EXPECT_EQ(double(op->bytes()), p.chosen().matrix_bytes);
        return double(op->bytes());
    };
    EXPECT_GT(bytes(value_storage::exact), 1.6 * bytes(value_storage::single));  // 10 to 6 an entry
}

TEST(single_storage, refuses_what_it_cannot_hold) {
    auto A = diagonal_of_all_magnitudes();
    const plan_options single = single_by("packed.warp");
    const auto p = make_plan(A, cpu{1}, single);
    auto op = build(p, A);
    const host_vector<double> ones(300, 1.0);
    const auto before = product(*op, ones);
    A.val[77] = 0x1.ffffffp127;  // halfway to what would follow the largest float
    try {
        (void)make_plan(A, cpu{1}, single);
        FAIL() << "taken";
    } catch (const argument_error& e) {
        EXPECT_NE(std::string(e.what()).find("entry 77"), std::string::npos) << e.what();
    }
    EXPECT_THROW((void)build(p, A), argument_error);
    EXPECT_THROW(update_values(op, p, view(A)), argument_error);
    EXPECT_TRUE(same_bits<double>(product(*op, ones), before));  // as it was
    EXPECT_NO_THROW((void)make_plan(A, cpu{1}, stored_by("packed.warp", value_storage::exact)));
    if (!why_no_gpu().empty()) return;
    EXPECT_THROW((void)make_plan(upload(gpu{}, A), gpu{}, single), argument_error);
    const auto there = upload(gpu{}, A);
    EXPECT_THROW((void)plan_and_build(view(there), gpu{}, single), argument_error);
}

/// The values of A become others, in place and by building anew.
template <class B, class From>
void expect_new_values_rounded(B on, csr<double, host> A, std::string_view name, From from) {
    const auto p = make_plan(from(A), on, single_by(name));
    auto op = build(p, from(A));
    const auto x = random_vector<double>(std::size_t(A.shape.cols), 3);
    for (const unsigned seed : {5U, 6U}) {
        A.val = random_vector<double>(A.val.size(), seed);
        update_values(op, p, from(A));
        const auto y = product(*op, x);
        EXPECT_TRUE(same_bits<double>(y, product(*build(p, from(A)), x))) << name;
        EXPECT_LE(worst(A, x, y, p.bound), 1) << name;
        EXPECT_GT(worst(A, x, y, bound_of<double>(value_storage::exact, p.longest_row)), 1) << name;
    }
}

TEST(single_storage, rounds_new_values_alike) {
    const auto A = from_lengths<double>(std::vector<index>(3000, 7), 3000);
    for (const std::string_view name : {"csr.balanced", "packed.warp", "ell.row"})
        expect_new_values_rounded(cpu{2}, A, name, on_the_host);
    if (!why_no_gpu().empty()) return;
    for (const std::string_view name : {"csr.adaptive", "packed.warp"}) {
        expect_new_values_rounded(gpu{}, A, name, on_the_host);
        std::vector<csr<double, device>> kept;
        expect_new_values_rounded(gpu{}, A, name, [&](const csr<double, host>& M) {
            return view(kept.emplace_back(upload(gpu{}, M)));
        });
    }
}

/// apply_transposed, from and to the host.
host_vector<double> transposed_product(const linear_operator<double, cpu>& op,
                                       const host_vector<double>& x) {
    host_vector<double> y(std::size_t(op.shape().cols));
    op.apply_transposed(transposition::transpose, 1, x, 0, y);
    return y;
}
host_vector<double> transposed_product(const linear_operator<double, gpu>& op,
                                       const host_vector<double>& x) {
    const auto there = to_device<double>(gpu{}, x);
    device_array<double> y(gpu{}, std::size_t(op.shape().cols));
    op.apply_transposed(transposition::transpose, 1, there, 0, y);
    return to_host<double>(gpu{}, y);
}

TEST(single_storage, holds_for_the_transpose) {
    const auto A = of_all_magnitudes(
        from_rule<double>(90, 70, [](index, index, double u) { return u > 0.8; }));
    const auto T = transpose(view(A));
    const auto x = random_vector<double>(90, 5);
    const plan_options both{.transposed = true, .storage = value_storage::single};
    const auto expect_held = [&](const auto& p, const auto& op) {
        ASSERT_NE(p.of_transpose, nullptr);
        EXPECT_EQ(p.of_transpose->storage, value_storage::single);
        const auto y = transposed_product(op, x);
        EXPECT_LE(worst(T, x, y, p.of_transpose->bound), 1);
        EXPECT_GT(worst(T, x, y, bound_of<double>(value_storage::exact, 90)), 1);
    };
    const auto p = make_plan(A, cpu{2}, both);
    expect_held(p, *build(p, A));
    if (!why_no_gpu().empty()) return;
    const auto there = upload(gpu{}, A);
    const auto made = plan_and_build(view(there), gpu{}, both);
    expect_held(made.plan, *made.op);
    const auto q = make_plan(there, gpu{}, both);
    expect_held(q, *build(q, there));
}

TEST(single_storage, counts_entries_in_one_place_each) {
    csr<double, host> A{
        {2, 3}, offset_vector{0, 4, 5}, {1, 1, 0, 1, 2}, {0.1, -0.1, 0.3, 0.2, 0.7}};
    const auto x = random_vector<double>(3, 5);
    for (const std::string_view name : {"csr.serial", "packed.warp"}) {
        const auto p = make_plan(A, cpu{1}, single_by(name));
        EXPECT_EQ(p.longest_row, 4);
        EXPECT_LE(worst(A, x, product(*build(p, A), x), p.bound), 1);
    }
    if (!why_no_gpu().empty()) return;
    const auto there = upload(gpu{}, A);
    const auto p = make_plan(there, gpu{}, {.storage = value_storage::single});
    EXPECT_EQ(p.longest_row, 4);
    EXPECT_LE(worst(A, x, product(*build(p, there), x), p.bound), 1);
}

TEST(single_storage, of_floats_changes_nothing_and_of_complex_values_is_refused) {
    const auto A = from_rule<float>(40, 30, [](index, index, double u) { return u > 0.7; });
    const plan_options single{.storage = value_storage::single};
    const auto p = make_plan(A, cpu{1}, single);
    EXPECT_EQ(p.bound.unit_roundoff, 0);
    EXPECT_EQ(p.bound.relative, make_plan(A, cpu{1}).bound.relative);
    EXPECT_TRUE(stored_values<float>(cpu{1}, A.val, value_storage::single).empty());
    const auto C = from_rule<std::complex<double>>(4, 3, [](index, index, double) { return true; });
    EXPECT_THROW((void)make_plan(C, cpu{1}, single), argument_error);
}

TEST(single_storage, has_tuned_plans_of_its_own) {
    namespace fs = std::filesystem;
    std::string folder = (fs::temp_directory_path() / "nz_storage_XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    const auto A = from_rule<double>(40, 30, [](index, index, double u) { return u > 0.7; });
    plan_options o{.tune = true, .methods = {"csr.serial", "packed.warp"}, .tune_s = 1e-5};
    const auto x = random_vector<double>(30, 5);
    for (const value_storage s : {value_storage::exact, value_storage::single,
                                  value_storage::single, value_storage::exact}) {
        o.storage = s;
        const auto p = make_plan(A, cpu{1}, o);
        EXPECT_EQ(p.storage, s);
        EXPECT_EQ(p.bound.relative, bound_of<double>(s, p.longest_row).relative);
        EXPECT_LE(worst(A, x, product(*build(p, A), x), p.bound), 1);
    }
    fs::remove_all(folder);
}

TEST(single_storage, is_told_by_the_plan) {
    const auto A = from_rule<double>(40, 30, [](index, index, double u) { return u > 0.7; });
    const auto text = to_text(make_plan(A, cpu{1}, {.storage = value_storage::single}));
    EXPECT_NE(text.find("storage single: |y - A x| <= 5.96e-08 |A| |x|"), std::string::npos)
        << text;
    EXPECT_EQ(to_text(make_plan(A, cpu{1})).find("storage"), std::string::npos);
    EXPECT_EQ(storage_named("single"), value_storage::single);
    EXPECT_THROW((void)storage_named("double"), argument_error);
}

}  // namespace
}  // namespace nz::test
