// Plans kept in a file: given back as they were, or not at all.
#include "nonzero/plan/plan_cache.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "nonzero/core/error.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

namespace fs = std::filesystem;

class plan_file : public ::testing::Test {
  protected:
    plan_file() {
        std::string name = (fs::temp_directory_path() / "nz_plan_XXXXXX").string();
        dir = mkdtemp(name.data());
        setenv("XDG_CACHE_HOME", dir.c_str(), 1);
        options.tune_s = 1e-5;
    }
    ~plan_file() override { fs::remove_all(dir); }

    [[nodiscard]] std::string path() const { return plan_path<double>(key, on); }
    [[nodiscard]] auto loaded() const { return load_plan<double>(path(), key, on, options); }
    [[nodiscard]] std::string text() const {
        std::ifstream file(path());
        return {std::istreambuf_iterator<char>(file), {}};
    }

    fs::path dir;
    csr<double, host> A = from_rule<double>(40, 30, [](index, index, double u) { return u > 0.7; });
    structure_key key = key_of(view(A));
    plan_options options;
    cpu on{2};
};

TEST_F(plan_file, gives_back_what_was_saved) {
    EXPECT_FALSE(loaded());
    const auto p = make_plan(A, on, options);
    save_plan(path(), key, p, options);
    EXPECT_EQ(path().rfind((dir / "nonzero" / "plan-cpu-").string(), 0), 0U) << path();
    const auto back = loaded();
    ASSERT_TRUE(back);
    EXPECT_EQ(back->why, p.why);
    EXPECT_EQ(back->machine, p.machine);
    EXPECT_EQ(to_text(*back), to_text(p));
    EXPECT_EQ(build(*back, A)->method_name(), p.chosen().method);
}

TEST_F(plan_file, of_other_things_is_not_taken) {
    save_plan(path(), key, make_plan(A, on, options), options);
    const std::string saved = path();
    const auto taken = [&](const structure_key& k, cpu where, const plan_options& o) {
        return load_plan<double>(saved, k, where, o).has_value();
    };
    ASSERT_TRUE(taken(key, on, options));
    EXPECT_FALSE(load_plan<float>(saved, key, on, options));
    EXPECT_FALSE(taken(key, cpu{1}, options));
    structure_key other = key;
    other.pattern ^= 1;
    EXPECT_FALSE(taken(other, on, options));
    other = key, other.distinct_values += 1;
    EXPECT_FALSE(taken(other, on, options));
    other = key, other.shape.cols += 1;
    EXPECT_FALSE(taken(other, on, options));
    for (const plan_options& o :
         {plan_options{.expected_products = 3}, plan_options{.tune = true},
          plan_options{.deterministic = false}, plan_options{.methods = {"csr.serial"}},
          plan_options{.vectors = 8}, plan_options{.storage = value_storage::single}})
        EXPECT_FALSE(taken(key, on, o));
}

TEST_F(plan_file, that_is_corrupt_or_of_another_version_is_ignored) {
    save_plan(path(), key, make_plan(A, on, options), options);
    const std::string good = text(), saved = path();
    const auto replaced = [&](const std::string& what, const std::string& by) {
        std::string other = good;
        const auto at = other.find(what);
        EXPECT_NE(at, std::string::npos) << what;
        return other.replace(at, what.size(), by);
    };
    for (const std::string& bad :
         {std::string(), good.substr(0, good.size() / 2), std::string("[1, 2]"),
          std::string("\x7f\x45\x4c\x46\x01\x00"), std::string("{\"key\": 1}"),
          replaced("\"nz\": \"", "\"nz\": \"9"), replaced("csr.serial\"", "csr.parallel\""),
          replaced("\"measured_s\": 0.0", "\"measured_s\": -1.0"),
          replaced("\"measured_s\": 0.0", "\"measured_s\": \"fast\""),
          replaced("\"candidates\": [", "\"candidates\": [7,"),
          replaced("\"candidates\"", "\"contestants\""),
          replaced("\"declined\": \"\"", "\"declined\": \"it is the first\"")}) {
        std::ofstream(saved, std::ios::binary) << bad;
        EXPECT_FALSE(loaded()) << bad.substr(0, 200);
    }
    std::ofstream(saved) << good;
    EXPECT_TRUE(loaded());
}

TEST_F(plan_file, that_cannot_be_written_says_so_but_a_tuned_plan_goes_on) {
    EXPECT_THROW(save_plan("/proc/nowhere/a.json", key, make_plan(A, on, options), options), error);
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
    options.tune = true;
    EXPECT_GT(make_plan(A, on, options).chosen().measured_s, 0);
}

TEST_F(plan_file, keeps_what_tuning_found) {
    options.tune = true;
    const auto first = make_plan(A, on, options);
    EXPECT_TRUE(fs::exists(path()));
    EXPECT_EQ(to_text(make_plan(A, on, options)),
              to_text(first));  // no time is measured twice alike
    options.cache = false;
    EXPECT_NE(to_text(make_plan(A, on, options)), to_text(first));
    options = {.tune_s = 1e-5};
    fs::remove(path());
    (void)make_plan(A, on, options);
    EXPECT_FALSE(fs::exists(path()));  // an untuned plan is sooner made than read
}

TEST(structure, is_of_the_pattern_and_of_how_values_repeat) {
    auto A = from_rule<double>(50, 60, [](index, index, double u) { return u > 0.5; });
    const structure_key all_different = key_of(view(A));
    EXPECT_EQ(all_different.distinct_values, std::int64_t(A.val.size()));
    EXPECT_FALSE(all_different.in_float);
    EXPECT_EQ(key_of(view(A)), all_different);
    std::reverse(A.val.begin(), A.val.end());
    EXPECT_EQ(key_of(view(A)), all_different);  // other values, as many
    std::fill(A.val.begin(), A.val.end(), 0.5);
    EXPECT_EQ(key_of(view(A)).distinct_values, 1);
    EXPECT_TRUE(key_of(view(A)).in_float);
    EXPECT_EQ(key_of(view(A)).pattern, all_different.pattern);
    A.col_ind.back() += A.col_ind.back() + 1 < A.shape.cols ? 1 : -1;
    EXPECT_NE(key_of(view(A)).pattern, all_different.pattern);
    const auto empty = from_rule<double>(0, 5, [](index, index, double) { return true; });
    EXPECT_EQ(key_of(view(empty)).distinct_values, 0);
}

}  // namespace
}  // namespace nz::test
