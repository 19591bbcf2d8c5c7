// Cache of nz between runs: the machine's speeds, renewed where they are absurd or the user says.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "test/command.hpp"

namespace nz::test {
namespace {

using nlohmann::json;

constexpr const char* two_by_two =
    "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n";

class cache : public command {
  protected:
    cache() {
        setenv("XDG_CACHE_HOME", (dir / "cache").c_str(), 1);
        write("A.mtx", two_by_two);
    }
    ~cache() override { setenv("XDG_CACHE_HOME", NZ_TEST_CACHE, 1); }

    [[nodiscard]] fs::path speeds() const {
        if (!fs::exists(dir / "cache")) return {};
        for (const auto& entry : fs::directory_iterator(dir / "cache" / "nonzero"))
            if (entry.path().filename().string().rfind("machine-cpu-1-", 0) == 0) return entry;
        return {};
    }
    /// The file's content once a measurement was steady; empty where the machine is too busy.
    [[nodiscard]] std::string measured() const {
        for (int k = 0; k < 10 && speeds().empty(); ++k)
            EXPECT_EQ(nz("plan A.mtx --threads 1").code, 0);
        return speeds().empty() ? "" : slurp(speeds());
    }
};

constexpr const char* too_busy = "the machine is too busy for any measurement to be steady";

TEST_F(cache, of_the_machine_is_taken_as_it_is_until_it_is_renewed) {
    const std::string first = measured();
    if (first.empty()) GTEST_SKIP() << too_busy;
    EXPECT_EQ(nz("plan A.mtx --threads 1").code, 0);
    EXPECT_EQ(slurp(speeds()), first);
    for (const char* renewing : {"plan A.mtx --threads 1 --fresh", "machine --threads 1 --fresh"}) {
        const std::string known = measured();
        EXPECT_EQ(nz(renewing).code, 0);
        EXPECT_TRUE(speeds().empty() || slurp(speeds()) != known) << renewing;
    }
}

TEST_F(cache, of_a_machine_that_cannot_be_is_measured_again) {
    const std::string first = measured();
    if (first.empty()) GTEST_SKIP() << too_busy;
    const auto absurd = [&](const char* what, const json& by) {
        json all = json::parse(first);
        EXPECT_TRUE(all["kept"].contains(what));
        if (all["kept"][what].is_array()) {
            for (json& rate : all["kept"][what]) rate[1] = by;
        } else {
            all["kept"][what] = by;
        }
        return all.dump(1) + "\n";
    };
    for (const std::string& bad :
         {absurd("gathers", 25e6), absurd("gathers", 1e15), absurd("reads", 1e3),
          absurd("launch_s", 7.0), absurd("step_s", 1e-3), absurd("convert_bytes_per_s", 1e3)}) {
        std::ofstream(speeds()) << bad;
        EXPECT_EQ(nz("plan A.mtx --threads 1").code, 0);
        EXPECT_TRUE(speeds().empty() || slurp(speeds()) != bad) << bad;
        if (measured().empty()) GTEST_SKIP() << too_busy;
    }
}

TEST_F(command, writes_no_users_cache_in_tests) {
    write("A.mtx", two_by_two);
    // With the environment that tests have, and a home where something would be seen.
    const std::string home = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
    setenv("HOME", dir.c_str(), 1);
    EXPECT_EQ(nz("plan A.mtx --threads 1 --tune").code, 0);
    setenv("HOME", home.c_str(), 1);
    EXPECT_FALSE(fs::exists(dir / ".cache"));
    EXPECT_FALSE(fs::is_empty(fs::path(NZ_TEST_CACHE) / "nonzero"));
}

}  // namespace
}  // namespace nz::test
