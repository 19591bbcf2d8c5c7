#include "nonzero/plan/machine.hpp"

#include <gtest/gtest.h>

#include "nonzero/core/error.hpp"

namespace nz {
namespace {

TEST(describe_machine, knows_cores_memory_and_simd) {
    const machine_info m = describe_machine();
    EXPECT_GE(m.cores, 1);
    EXPECT_GE(m.memory_bytes, std::int64_t(1) << 20);
    EXPECT_FALSE(m.cpu.empty());
    EXPECT_GE(m.l2_bytes, m.l1d_bytes);
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
