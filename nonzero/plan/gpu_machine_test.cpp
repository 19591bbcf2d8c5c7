// The GPU's speeds where there is a GPU, and their cache file everywhere.
#include "nonzero/plan/gpu_machine.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "nonzero/core/error.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/plan/speeds.hpp"

namespace nz::test {
namespace {

namespace fs = std::filesystem;

class gpu_cache : public ::testing::Test {
  protected:
    gpu_cache() {
        std::string name = (fs::temp_directory_path() / "nz_gpu_XXXXXX").string();
        dir = mkdtemp(name.data());
        setenv("XDG_CACHE_HOME", dir.c_str(), 1);
        path = gpu_cache_path(device);
    }
    ~gpu_cache() override { fs::remove_all(dir); }

    [[nodiscard]] bool loads() const { return load_gpu_speeds(path, device).has_value(); }

    fs::path dir;
    gpu_info device{.name = "A GPU/1", .multiprocessors = 4, .driver_version = 13000};
    gpu_speeds speeds{.memory = {.read_gbps = 1000, .copy_gbps = 900},
                      .l2_read_gbps = 2000,
                      .launch_s = 2.5e-6,
                      .latency_s = 2e-7,
                      .upload_gbps = 10,
                      .resident_warps = 256,
                      .gathers = {{16384, 7e11}, {32768, 6e11}}};
    std::string path;
};

TEST_F(gpu_cache, stands_where_the_desktop_keeps_caches) {
    EXPECT_EQ(path.rfind((dir / "nonzero" / "machine-A_GPU_1-").string(), 0), 0U) << path;
    EXPECT_TRUE(path.ends_with(".json"));
    setenv("XDG_CACHE_HOME", "", 1);
    setenv("HOME", "/home/somebody", 1);
    EXPECT_EQ(gpu_cache_path(device).rfind("/home/somebody/.cache/nonzero/", 0), 0U);
    unsetenv("HOME");
    EXPECT_EQ(gpu_cache_path(device), "");
}

TEST_F(gpu_cache, gives_back_what_was_saved) {
    EXPECT_FALSE(loads());
    save_gpu_speeds(path, device, speeds);
    const auto back = load_gpu_speeds(path, device);
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->memory.read_gbps, 1000);
    EXPECT_EQ(back->memory.copy_gbps, 900);
    EXPECT_EQ(back->l2_read_gbps, 2000);
    EXPECT_EQ(back->launch_s, 2.5e-6);
    EXPECT_EQ(back->latency_s, 2e-7);
    EXPECT_EQ(back->upload_gbps, 10);
    EXPECT_EQ(back->resident_warps, 256);
    ASSERT_EQ(back->gathers.size(), 2U);
    EXPECT_EQ(back->gathers[1].x_bytes, 32768);
    EXPECT_EQ(back->gathers[1].per_s, 6e11);
}

TEST_F(gpu_cache, of_another_driver_is_stale) {
    save_gpu_speeds(path, device, speeds);
    device.driver_version = 13010;
    EXPECT_FALSE(loads());
}

TEST_F(gpu_cache, that_is_corrupt_is_ignored) {
    save_gpu_speeds(path, device, speeds);
    std::string text;
    std::getline(std::ifstream(path), text, '\0');
    const auto replaced = [&](const std::string& what, const std::string& by) {
        std::string other = text;
        const auto at = other.find(what);
        EXPECT_NE(at, std::string::npos) << what;
        return other.replace(at, what.size(), by);
    };
    for (const std::string& bad :
         {std::string(), text.substr(0, text.size() / 2), std::string("[1, 2]"),
          replaced("1000.0", "\"fast\""), replaced("1000.0", "-1"), replaced("32768", "0"),
          replaced("\"read_gbps\"", "\"reads\""), replaced("\"gathers\": [", "\"gathers\": [3,")}) {
        std::ofstream(path) << bad;
        EXPECT_FALSE(loads()) << bad;
    }
    std::ofstream(path) << text;
    EXPECT_TRUE(loads());
}

TEST(known_gpus, are_read_from_what_nz_machine_wrote) {
    for (const std::string gpu : {"h100", "h200"}) {
        const std::string path = NZ_SOURCE_DIR "/bench/results/" + gpu + "/machine.json";
        std::ifstream file(path);
        const std::string text(std::istreambuf_iterator<char>(file), {});
        const known_gpu g = read_known_gpu(text, path);
        EXPECT_NE(g.what.name.find(gpu == "h100" ? "H100" : "H200"), std::string::npos);
        const machine_speeds s = speeds_of(g);
        EXPECT_GT(s.reads.front().per_s, s.reads.back().per_s);
        EXPECT_EQ(s.gathers.size(), g.speeds.gathers.size());
        EXPECT_EQ(s.workers, 64 * g.what.multiprocessors);

        const auto replaced = [&](const std::string& what, const std::string& by) {
            std::string other = text;
            const auto at = other.find("\"" + what + "\": ", other.find("\"gpu\": {"));
            EXPECT_NE(at, std::string::npos) << what;
            return other.replace(at, what.size() + 4, "\"" + what + "\": " + by);
        };
        for (const std::string& bad :
             {std::string(), std::string("[]"), std::string("{}"), text.substr(0, text.size() / 2),
              replaced("l2_bytes", "1e300, \"was\": "), replaced("multiprocessors", "0, \"was\": "),
              replaced("latency_s", "-1, \"was\": "), replaced("x_bytes", "0, \"was\": "),
              replaced("read_gbps", "\"fast\", \"was\": "), replaced("gathers", "{}, \"was\": ")})
            EXPECT_THROW((void)read_known_gpu(bad, "bad.json"), parse_error) << bad;
    }
}

TEST_F(gpu_cache, that_cannot_be_written_says_so) {
    EXPECT_THROW(save_gpu_speeds("/proc/nowhere/a.json", device, speeds), error);
}

TEST_F(gpu_cache, of_a_real_gpu_is_measured_once) {
    if (const std::string why = why_no_gpu(); !why.empty()) {
        EXPECT_THROW((void)known_gpu_speeds(gpu{}), unavailable);
        EXPECT_THROW((void)describe_gpu(gpu{}), unavailable);
        GTEST_SKIP() << why;
    }
    const gpu_info here = describe_gpu(gpu{});
    EXPECT_FALSE(here.name.empty());
    EXPECT_GT(here.multiprocessors, 0);
    EXPECT_GT(here.l2_bytes, 0);
    const gpu_speeds first = known_gpu_speeds(gpu{});
    EXPECT_GT(first.memory.read_gbps, 0);
    EXPECT_GT(first.launch_s, 1e-7);
    EXPECT_LT(first.launch_s, 1e-3);
    EXPECT_GT(first.l2_read_gbps, first.memory.read_gbps / 2);
    EXPECT_GT(first.latency_s, 1e-8);
    EXPECT_LT(first.latency_s, 1e-5);
    EXPECT_GT(first.upload_gbps, 0.1);
    EXPECT_GE(first.resident_warps, 16 * here.multiprocessors);
    ASSERT_GE(first.gathers.size(), 8U);
    EXPECT_EQ(first.gathers[0].x_bytes, 16384);
    // No file keeps takes that never agreed (steady.hpp).
    const auto kept = load_gpu_speeds(gpu_cache_path(here), here);
    if (!kept) GTEST_SKIP() << "this GPU is busy: no file holds what was measured unsteadily";
    EXPECT_EQ(kept->launch_s, first.launch_s);
    EXPECT_EQ(known_gpu_speeds(gpu{}).memory.read_gbps, first.memory.read_gbps);
}

}  // namespace
}  // namespace nz::test
