// --device gpu as its users meet it: refused in one line where there is no GPU, and measured,
// validated and explained where there is one.
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/registry.hpp"
#include "test/command.hpp"

namespace nz::test {
namespace {

using nlohmann::json;

class device : public command {
  protected:
    device() {
        setenv("XDG_CACHE_HOME", dir.c_str(), 1);
        std::string text = "%%MatrixMarket matrix coordinate real general\n300 300 600\n";
        for (int i = 1; i <= 300; ++i)
            text += std::to_string(i) + ' ' + std::to_string(i) + " 2.5\n" + std::to_string(i) +
                    ' ' + std::to_string(i % 300 + 1) + " -1.25\n";
        write("A.mtx", text);
    }
};

TEST_F(device, gpu_where_there_is_none_exits_4_in_one_line) {
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    for (const char* arguments :
         {"bench A.mtx --device gpu", "bench A.mtx --device gpu --cold --json A.json",
          "study A.mtx --device gpu", "spmv A.mtx --device gpu", "plan A.mtx --device gpu",
          "bench absent --device gpu"}) {
        const auto [code, out, err] = nz(arguments);
        EXPECT_EQ(code, 4) << arguments;
        EXPECT_EQ(out, "") << arguments;
        EXPECT_EQ(err.rfind("nz: ", 0), 0U) << err;
        EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    }
    EXPECT_FALSE(fs::exists(dir / "A.json"));
    unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(device, machine_says_why_there_is_none) {
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    const auto [code, out, err] = nz("machine --threads 1 --json");
    EXPECT_EQ(code, 0) << err;
    EXPECT_NE(std::string(json::parse(out)["gpu"]["none"]), "");
    EXPECT_NE(nz("machine --threads 1").out.find("\ngpu     none: "), std::string::npos);
    unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(device, options_that_contradict_exit_2) {
    for (const char* arguments :
         {"bench A.mtx --device tpu", "bench A.mtx --cold", "bench A.mtx --graph",
          "bench A.mtx --chain", "bench A.mtx --device gpu --graph --chain",
          "bench A.mtx --device gpu --graph --cold", "bench A.mtx --device gpu --threads 2",
          "study A.mtx --device gpu --threads 2", "spmv A.mtx --device gpu --threads 2"})
        EXPECT_EQ(nz(arguments).code, 2) << arguments;
}

class real_device : public device {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    }
};

TEST_F(real_device, bench_measures_and_validates) {
    for (const std::string cold : {"", " --cold"}) {
        const auto [code, out, err] =
            nz("bench A.mtx --device gpu --seconds 0.001 --json A.json" + cold);
        ASSERT_EQ(code, 0) << err;
        const json j = json::parse(slurp(dir / "A.json"));
        EXPECT_EQ(j["device"], "gpu");
        EXPECT_EQ(j["caches"], cold.empty() ? "hot" : "cold");
        EXPECT_FALSE(std::string(j["gpu"]["name"]).empty());
        int measured = 0;
        for (const json& row : j["rows"]) {
            SCOPED_TRACE(row.dump());
            EXPECT_EQ(row["backend"], "gpu");
            if (row.contains("declined")) continue;
            ++measured;
            EXPECT_EQ(row["validated"], true);
            EXPECT_GT(row["repeats_per_block"], cold.empty() ? 20 : 2);
            EXPECT_GT(row["upload_s"], 0.0);
            EXPECT_NEAR(row["gflops"], 2 * 600 / double(row["median_s"]) * 1e-9, 1e-9);
            EXPECT_NEAR(row["share_of_read_bandwidth"],
                        double(row["gbps"]) / double(j["bandwidth"][0]["read_gbps"]), 1e-9);
        }
        EXPECT_GT(measured, 10);
        EXPECT_NE(out.find("launches"), std::string::npos);
    }
}

TEST_F(real_device, study_validates_every_row) {
    const auto [code, out, err] = nz("study A.mtx A.mtx --device gpu --seconds 0.5 --json A.json");
    EXPECT_EQ(code, 0) << err;
    const json j = json::parse(slurp(dir / "A.json"));
    EXPECT_EQ(j["validated"], j["of"]);
    EXPECT_GT(j["of"], 20);
    EXPECT_TRUE(out.ends_with("results validated\n")) << out;
}

TEST_F(real_device, spmv_gives_what_the_cpu_gives) {
    ASSERT_EQ(nz("spmv A.mtx -o cpu.mtx --method csr.serial").code, 0);
    ASSERT_EQ(nz("spmv A.mtx -o gpu.mtx --device gpu --method csr.scalar").code, 0);
    EXPECT_EQ(slurp(dir / "cpu.mtx"), slurp(dir / "gpu.mtx"));  // sums of two exact products
    EXPECT_EQ(nz("spmv A.mtx --device gpu --method csr.serial").code, 1);
}

TEST_F(real_device, plan_chooses_builds_and_is_measured) {
    const auto planned = nz("plan A.mtx --device gpu --json");
    ASSERT_EQ(planned.code, 0) << planned.err;
    const json p = json::parse(planned.out);
    EXPECT_GT(p["candidates"][0]["predicted_s"], 0.0);
    const auto [code, out, err] =
        nz("bench A.mtx --device gpu --plan --methods csr.scalar,csr.vector --seconds 0.001 --json "
           "A.json");
    ASSERT_EQ(code, 0) << err;
    const json j = json::parse(slurp(dir / "A.json"));
    // It is planned from a CSR on the GPU, so among the methods that are built there.
    const auto best =
        std::find_if(p["candidates"].begin(), p["candidates"].end(), [](const json& c) {
            return find_method<double>(std::string(c["method"])).from_device != nullptr;
        });
    ASSERT_NE(best, p["candidates"].end());
    EXPECT_EQ(j["plan"]["matrices"][0]["chosen"], (*best)["method"]);
    EXPECT_NE(nz("spmv A.mtx --device gpu").out.find(std::string(p["chosen"])), std::string::npos);
}

TEST_F(real_device, machine_keeps_the_gpus_figures) {
    json first = json::parse(nz("machine --threads 1 --json").out)["gpu"];
    json again = json::parse(nz("machine --threads 1 --json").out)["gpu"];
    first.erase("clocks"), again.erase("clocks");  // which rise and fall
    EXPECT_EQ(first, again);
    EXPECT_GE(first["gathers"].size(), 8U);
    EXPECT_EQ(nz("machine --threads 1 --fresh").code, 0);
}

}  // namespace
}  // namespace nz::test
