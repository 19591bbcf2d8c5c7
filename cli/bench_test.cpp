// nz bench and nz study as their users meet them: what the JSON says, and what Ctrl-C leaves.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands/bench_input.hpp"
#include "nonzero/formats/registry.hpp"

namespace nz::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A folder of its own for every test, with a matrix in it, and the command to run there.
class measuring : public testing::Test {
  protected:
    measuring() {
        std::string name = (fs::temp_directory_path() / "nz_bench_XXXXXX").string();
        dir = mkdtemp(name.data());
        setenv("XDG_CACHE_HOME", dir.c_str(), 1);
        std::ofstream A(dir / "A.mtx");
        A << "%%MatrixMarket matrix coordinate real general\n300 300 898\n";
        for (int i = 1; i <= 300; ++i) {
            A << i << ' ' << i << " 2.5\n" << i << ' ' << i % 300 + 1 << " -1.25\n";
            if (i > 1 && i < 300) A << i << " 1 0.1\n";
        }
    }
    ~measuring() override { fs::remove_all(dir); }

    [[nodiscard]] int run(const std::string& command) const {
        const int status = std::system(
            ("cd '" + dir.string() + "' && " + command + " >out 2>err </dev/null").c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    [[nodiscard]] int nz(const std::string& arguments) const {
        return run("'" NZ_COMMAND "' " + arguments);
    }
    [[nodiscard]] std::string text(const std::string& file) const {
        std::ifstream in(dir / file);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    [[nodiscard]] json parsed(const std::string& file) const { return json::parse(text(file)); }

    fs::path dir;
};

TEST_F(measuring, bench_takes_several_vectors_in_either_order) {
    for (const std::string order : {"row", "column"}) {
        ASSERT_EQ(
            nz("bench A.mtx --methods csr.serial,packed.warp --threads 1 --vectors 3 --order " +
               order + " --seconds 0.001 --json A.json"),
            0)
            << text("err");
        const json j = parsed("A.json");
        EXPECT_EQ(j["vectors"], 3);
        EXPECT_EQ(j["order"], order);
        ASSERT_EQ(j["rows"].size(), 2);
        for (const json& row : j["rows"]) EXPECT_TRUE(row["validated"]) << row["method"];
    }
}

TEST_F(measuring, bench_json_has_everything_and_its_numbers_agree) {
    ASSERT_EQ(nz("bench A.mtx --methods csr.* --threads 1,2 --seconds 0.001 --json A.json"), 0)
        << text("err");
    const json j = parsed("A.json");
    for (const char* key : {"command", "nz", "date", "compiler", "flags", "machine", "type"})
        EXPECT_TRUE(j.contains(key)) << key;
    EXPECT_EQ(j["interrupted"], false);
    EXPECT_EQ(j["bandwidth"].size(), 2U);
    EXPECT_EQ(j["matrices"][0]["name"], "A");
    const double nnz = j["matrices"][0]["nnz"];
    EXPECT_EQ(nnz, 898);
    std::size_t expected = 0;
    for (const method<double>& m : methods<double>())
        if (m.layout() == "csr" && m.on_cpu != nullptr) expected += m.name == "csr.serial" ? 1 : 2;
    ASSERT_EQ(j["rows"].size(), expected);
    for (const json& row : j["rows"]) {
        SCOPED_TRACE(row.dump());
        const double t = row["median_s"];
        const double moved = double(row["matrix_bytes"]) + double(row["vector_bytes"]);
        EXPECT_NEAR(row["gflops"], 2 * nnz / t * 1e-9, 1e-9);
        EXPECT_NEAR(row["gbps"], moved / t * 1e-9, 1e-9);
        EXPECT_EQ(row["vector_bytes"], 8 * 600);
        EXPECT_LE(row["error_bounds"], 1.0);
        EXPECT_GE(row["block_s"].size(), 5U);
        const int threads = row["threads"];
        for (const json& b : j["bandwidth"])
            if (b["threads"] == threads) {
                EXPECT_NEAR(row["share_of_read_bandwidth"],
                            double(row["gbps"]) / double(b["read_gbps"]), 1e-9);
            }
        EXPECT_NE(text("out").find(std::string(row["method"])), std::string::npos);
    }
}

TEST_F(measuring, bench_says_what_built_it_and_what_it_is_measured_against) {
    ASSERT_EQ(nz("bench A.mtx --methods csr.serial --seconds 0.001 --json A.json"), 0);
    const json j = parsed("A.json");
    ASSERT_TRUE(j.contains("commit") && j.contains("dirty"));
    EXPECT_EQ(j["commit"].is_null(), j["dirty"].is_null());
    EXPECT_EQ(j["baselines"], json::array());
    EXPECT_FALSE(j.contains("gpu"));  // which had no part in it
    const int code = nz("bench A.mtx --peers --methods csr.serial --seconds 0.001 --json A.json");
    if (code != 0) {
        EXPECT_EQ(code, 4);  // a build without them
        EXPECT_NE(text("err").find("NONZERO_PEERS"), std::string::npos) << text("err");
        return;
    }
    bool eigen = false;
    const json baselines = parsed("A.json")["baselines"];
    for (const json& library : baselines) {
        eigen = eigen || library["name"] == "Eigen";
        const std::string version = library["version"];
        EXPECT_EQ(std::count(version.begin(), version.end(), '.'), 2) << version;
    }
    EXPECT_TRUE(eigen);
}

TEST_F(measuring, bench_tiles_a_matrix_and_makes_its_values_distinct) {
    const auto matrix = [&](const std::string& options) {
        const int code =
            nz("bench A.mtx --methods csr.serial --seconds 0.001 --json A.json " + options);
        EXPECT_EQ(code, 0) << text("err");
        const json j = parsed("A.json");
        EXPECT_EQ(j["rows"].at(0)["validated"], true);
        return j["matrices"].at(0);
    };
    const json as_it_is = matrix("");
    EXPECT_EQ(as_it_is["tile"], 1);
    EXPECT_EQ(as_it_is["distinct_values"], 3);
    EXPECT_EQ(as_it_is.value("class", "in_llc"), "in_llc");  // of a cache that Linux knows
    EXPECT_EQ(matrix("--distinct")["distinct_values"], 898);
    EXPECT_FALSE(parsed("A.json").contains("storage"));
    EXPECT_EQ(matrix("--distinct --storage single")["distinct_values"], 898);
    EXPECT_EQ(parsed("A.json")["storage"], "single");
    for (const char* entries : {"1e4", "10000"}) {
        const json tiled = matrix(std::string("--tile ") + entries);
        EXPECT_EQ(tiled["tile"], 12);
        EXPECT_EQ(tiled["rows"], 12 * 300);
        EXPECT_EQ(tiled["nnz"], 12 * 898);
        EXPECT_EQ(tiled["distinct_values"], 3);
        EXPECT_EQ(tiled["csr_bytes"], 12 * 898 * 12 + (12 * 300 + 1) * 4);
    }
    for (const char* type : {"float", "double", "cfloat", "cdouble"}) {
        const json both = matrix(std::string("--tile 1e4 --distinct --seed 7 --type ") + type);
        EXPECT_EQ(both["nnz"], both["distinct_values"]) << type;
        EXPECT_EQ(both["tile"], 12);
    }
}

TEST(bench_input, classes_are_by_the_cache_and_by_the_values) {
    const cli::cache_level l2{"l2", 1000}, llc{"llc", 1000}, unknown{"llc", 0};
    EXPECT_EQ(cli::matrix_class(1000, true, l2), "in_l2");
    EXPECT_EQ(cli::matrix_class(1001, false, l2), "beyond_l2");
    EXPECT_EQ(cli::matrix_class(1001, true, l2), "beyond_l2_distinct");
    EXPECT_EQ(cli::matrix_class(1001, true, llc), "beyond_llc_distinct");
    EXPECT_EQ(cli::matrix_class(1001, true, unknown), "");
}

TEST_F(measuring, bench_refuses_tiles_that_no_matrix_has) {
    for (const char* entries : {"0", "-1", "1.5", "nan", "inf", "1e13", "many"})
        EXPECT_EQ(nz(std::string("bench A.mtx --tile ") + entries), 2) << entries;
    EXPECT_EQ(nz("bench A.mtx --tile 1e12"), 2);  // 3.3e11 rows
    EXPECT_NE(text("err").find("rows"), std::string::npos) << text("err");
    EXPECT_EQ(nz("bench A.mtx --seed 2"), 2);  // of what?
}

TEST_F(measuring, bench_plan_stands_beside_the_methods_and_its_ratios_agree) {
    ASSERT_EQ(nz("bench A.mtx --plan --methods csr.balanced,csr.serial --threads 1,2 --seconds "
                 "0.001 --json A.json"),
              0)
        << text("err");
    const json j = parsed("A.json");
    ASSERT_EQ(j["plan"]["matrices"].size(), 2U);
    double product = 1;
    for (const json& p : j["plan"]["matrices"]) {
        double plan_s = 0, best_s = 1e9;
        for (const json& row : j["rows"]) {
            const bool planned = row["method"] == "plan";
            if (planned != row.contains("chosen")) FAIL() << row.dump();
            if (planned && row["threads"] == p["threads"]) {
                plan_s = row["median_s"];
                EXPECT_EQ(row["chosen"], p["chosen"]);
                EXPECT_GT(row["setup_s"], 0.0);
            }
            if (!planned && (row["threads"] == p["threads"] || row["method"] == "csr.serial"))
                best_s = std::min(best_s, double(row["median_s"]));
        }
        EXPECT_EQ(find_method<double>(std::string(p["chosen"])).deterministic, true);
        EXPECT_DOUBLE_EQ(p["over_method"], best_s / plan_s);
        EXPECT_FALSE(p.contains("over_peer"));  // there was none
        product *= double(p["over_method"]);
    }
    EXPECT_NEAR(j["plan"]["geometric_means"]["over_method"], std::sqrt(product), 1e-12);
    EXPECT_NE(text("out").find("plan: "), std::string::npos);
    const std::string out = text("out");
    EXPECT_NE(out.find("geometric mean"), std::string::npos);
    // Without a baseline there is nothing to say of one.
    EXPECT_NE(out.find("fast as the best deterministic method\nmeasured it is\n"),
              std::string::npos)
        << out;
    EXPECT_EQ(out.find("best baseline"), std::string::npos);
    EXPECT_EQ(out.find("setup in products"), std::string::npos);
    EXPECT_EQ(nz("bench A.mtx --methods csr.serial --seconds 0.001 --json A.json"), 0);
    EXPECT_FALSE(parsed("A.json").contains("plan"));
}

TEST_F(measuring, bench_takes_every_type) {
    for (const auto& [type, value, flops] :
         {std::tuple("float", 4, 2), std::tuple("cfloat", 8, 8), std::tuple("cdouble", 16, 8)}) {
        ASSERT_EQ(nz(std::string("bench A.mtx --methods csr.serial --seconds 0.001 --json - ") +
                     "--type " + type),
                  0)
            << text("err");
        const json j = parsed("out");  // and nothing else on stdout
        const json& row = j["rows"].at(0);
        EXPECT_EQ(row["vector_bytes"], value * 600);
        EXPECT_NEAR(row["gflops"], flops * 898 / double(row["median_s"]) * 1e-9, 1e-9);
    }
}

TEST_F(measuring, bench_refuses_what_it_does_not_know) {
    EXPECT_EQ(nz("bench A.mtx --methods csr.nonsense"), 2);
    EXPECT_EQ(nz("bench A.mtx --methods nonsense.*"), 2);
    EXPECT_EQ(nz("bench A.mtx --threads 1,,2"), 2);
    EXPECT_EQ(nz("bench A.mtx --threads 0"), 2);
    EXPECT_EQ(nz("bench A.mtx --seconds 0"), 2);
    EXPECT_EQ(nz("bench A.mtx --type quad"), 2);
    EXPECT_EQ(nz("bench --json A.mtx A.mtx"), 2);  // would overwrite the matrix
    EXPECT_NE(text("A.mtx"), "");
    EXPECT_EQ(nz("bench A.mtx --methods csr.serial --json nowhere/A.json"), 4);
}

TEST_F(measuring, an_unreadable_file_does_not_cost_what_came_before) {
    EXPECT_EQ(nz("bench A.mtx absent.mtx --methods csr.serial --seconds 0.001 --json A.json"), 3);
    EXPECT_EQ(parsed("A.json")["rows"].size(), 1U);
    EXPECT_NE(text("err").find("absent.mtx"), std::string::npos);
}

TEST_F(measuring, ctrl_c_leaves_what_is_measured) {
    // --foreground: else timeout signals the process and its group, and a second Ctrl-C kills nz.
    EXPECT_EQ(run("timeout --foreground --preserve-status --signal=INT 5 '" NZ_COMMAND
                  "' bench A.mtx A.mtx --methods csr.serial,csr.static --threads 1 --seconds 100 "
                  "--json A.json"),
              130)
        << text("err");
    const json j = parsed("A.json");
    EXPECT_EQ(j["interrupted"], true);
    ASSERT_EQ(j["rows"].size(), 2U);
    for (const json& row : j["rows"]) EXPECT_GT(row["median_s"], 0.0);
    EXPECT_NE(text("out").find("csr.static"), std::string::npos);
}

TEST_F(measuring, study_validates_every_result_and_its_charts_agree) {
    ASSERT_EQ(nz("study A.mtx A.mtx --threads 1,2 --seconds 0.1 --json A.json"), 0) << text("err");
    const json j = parsed("A.json");
    std::size_t measured = 0;
    double sum = 0;
    for (const json& r : j["results"]) {
        if (!r.contains("median_s")) continue;
        ++measured;
        EXPECT_EQ(r["validated"], true) << r.dump();
        EXPECT_NEAR(r["efficiency"], double(r["speed_up"]) / double(r["threads"]), 1e-9);
        if (r["method"] == "csr.balanced" && r["threads"] == 2) sum += double(r["gflops"]);
        if (r["method"] == "csr.serial") {
            EXPECT_DOUBLE_EQ(r["speed_up"], 1);
        }
    }
    EXPECT_EQ(j["validated"], measured);
    EXPECT_EQ(j["of"], measured);
    bool seen = false;
    for (const json& m : j["by_threads"]) {
        if (m["method"] != "csr.balanced" || m["threads"] != 2) continue;
        seen = true;
        EXPECT_EQ(m["matrices"], 2);
        EXPECT_NEAR(m["mean_gflops"], sum / 2, 1e-9);
        EXPECT_NEAR(m["mean_efficiency"], double(m["mean_speed_up"]) / 2, 1e-9);
    }
    EXPECT_TRUE(seen);
    const std::string n = std::to_string(measured);
    EXPECT_NE(text("out").find("\n" + n + " of " + n + " results validated\n"), std::string::npos)
        << text("out");
}

/// Of the results on the first matrix, the least median among those that pass.
template <class Passes>
double least_median(const json& j, Passes passes) {
    double least = std::numeric_limits<double>::infinity();
    for (const json& r : j["results"])
        if (r.contains("median_s") && passes(r)) least = std::min(least, double(r["median_s"]));
    return least;
}

TEST_F(measuring, study_says_what_its_results_say) {
    fs::copy(dir / "A.mtx", dir / "a b.mtx");
    ASSERT_EQ(nz("study 'a b.mtx' --threads 1,2 --seconds 0.1 --json A.json"), 0) << text("err");
    const json j = parsed("A.json");
    ASSERT_EQ(j["lessons"].size(), 1U);
    const json& l = j["lessons"][0];
    const double all = least_median(j, [](const json&) { return true; });
    const auto is = [](const json& r, const json& method, int threads) {
        return r["method"] == method && r["threads"] == threads;
    };
    const double fastest =
        least_median(j, [&](const json& r) { return is(r, l["fastest"], l["threads"]); });
    const double plain = least_median(j, [&](const json& r) { return is(r, "csr.static", 2); });
    const double classic = least_median(
        j, [](const json& r) { return !std::string(r["method"]).starts_with("packed."); });
    const double planned = least_median(j, [&](const json& r) {
        return is(r, l["planned"], std::string(l["planned"]).ends_with("serial") ? 1 : 2);
    });
    EXPECT_EQ(fastest, all);
    EXPECT_DOUBLE_EQ(l["over_plain_csr"], plain / all);
    EXPECT_DOUBLE_EQ(l["over_classic"], classic / all);
    EXPECT_DOUBLE_EQ(l["plan_over_fastest"], all / planned);
    // The first row and the last have 2 entries, the others 3.
    EXPECT_NE(std::string(l["why"]).find("(2 to 3 entries, 3.0 in the mean)"), std::string::npos)
        << l["why"];
    ASSERT_EQ(nz("plan 'a b.mtx' --threads 2 --json"), 0) << text("err");
    EXPECT_EQ(parsed("out")["chosen"], l["planned"]);
}

TEST_F(measuring, study_takes_a_matrix_without_entries) {
    std::ofstream(dir / "E.mtx") << "%%MatrixMarket matrix coordinate real general\n5 5 0\n";
    ASSERT_EQ(nz("study E.mtx --threads 1,2 --seconds 0.1 --json E.json"), 0) << text("err");
    EXPECT_EQ(parsed("E.json")["lessons"].at(0)["why"], "it has no entries");
    EXPECT_EQ(text("out").find("nan"), std::string::npos) << text("out");
}

TEST_F(measuring, study_prints_lines_of_80_characters_and_commands_that_run) {
    fs::copy(dir / "A.mtx", dir / "a b's.mtx");
    ASSERT_EQ(nz("study \"a b's.mtx\" A.mtx A.mtx A.mtx A.mtx A.mtx A.mtx A.mtx A.mtx --threads "
                 "1,2,3 --seconds 0.1"),
              0)
        << text("err");
    std::istringstream out(text("out"));
    std::string line;
    std::vector<std::string> commands;
    bool next = false;
    while (std::getline(out, line)) {
        if (next) commands.push_back(line);
        if (!next) {
            EXPECT_LE(line.size(), 80U) << line;
        }
        next = next || line == "Try next";
    }
    ASSERT_EQ(commands.size(), 3U);
    for (const std::string& command : commands)
        EXPECT_EQ(run(command), 0) << command << text("err");
}

}  // namespace
}  // namespace nz::test
