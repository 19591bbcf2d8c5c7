#include "nonzero/formats/csr/csr_adaptive.hpp"

#include <gtest/gtest.h>

#include "nonzero/formats/registry.hpp"

namespace nz {
namespace {

/// With 2^31 - 1 rows its kernel ended in an illegal instruction (H200).
TEST(csr_adaptive, declines_more_rows_on_a_gpu_than_its_blocks_count) {
    matrix_stats s;
    s.cols = 10;
    s.rows = std::numeric_limits<index>::max();
    const auto& m = find_method<float>("csr.adaptive");
    EXPECT_NE(m.cost_on_gpu(s).declined, "");
    s.rows -= 256;
    EXPECT_EQ(m.cost_on_gpu(s).declined, "");
}

}  // namespace
}  // namespace nz
