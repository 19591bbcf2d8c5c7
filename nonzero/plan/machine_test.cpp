#include "nonzero/plan/machine.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "nonzero/core/error.hpp"
#include "nonzero/plan/arm_cores.hpp"

namespace nz {
namespace {

TEST(describe_machine, knows_cores_memory_and_simd) {
    const machine_info m = describe_machine();
    EXPECT_GE(m.cores, 1);
    EXPECT_GE(m.memory_bytes, std::int64_t(1) << 20);
    EXPECT_FALSE(m.cpu.empty());
    EXPECT_GE(m.l2_bytes, m.l1d_bytes);
}

/// As Linux writes it on an arm64: two cores of one kind, one of another.
TEST(arm_cores, names_each_kind_once) {
    const auto told = [](const std::string& text) {
        std::istringstream cpuinfo(text);
        return arm_cores(cpuinfo);
    };
    const std::string v2 =
        "processor\t: 0\nFeatures\t: fp asimd sve2\nCPU implementer\t: 0x41\n"
        "CPU architecture: 8\nCPU part\t: 0xd4f\n\n";
    const std::string other = "CPU implementer\t: 0x99\nCPU part\t: 0x01f\n";
    EXPECT_EQ(told(v2 + v2), "Neoverse-V2");
    EXPECT_EQ(told(v2 + other + v2), "Neoverse-V2 and arm64 core 0x99:0x01f");
    EXPECT_EQ(told("CPU implementer\t: 0x61\nCPU part\t: 0x023\n"), "Apple M1 Firestorm");
    EXPECT_EQ(told("model name\t: AMD EPYC\n"), "");
    EXPECT_EQ(told("CPU implementer\t: none\nCPU part\t: 0x\n"), "");
}

TEST(measure_bandwidth, is_what_memory_could_give) {
    const bandwidth b = measure_bandwidth(1);
    EXPECT_GT(b.read_gbps, 0.1);  // slower than any memory, faster than any: units are right
    EXPECT_LT(b.read_gbps, 1e4);
    EXPECT_GT(b.copy_gbps, 0.1);
    EXPECT_LT(b.copy_gbps, 1e4);
    EXPECT_THROW(measure_bandwidth(0), argument_error);
}

}  // namespace
}  // namespace nz
