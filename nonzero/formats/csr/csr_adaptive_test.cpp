#include "nonzero/formats/csr/csr_adaptive.hpp"

#include <gtest/gtest.h>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/csr/csr_adaptive.hpp"
#include "nonzero/formats/registry.hpp"
#include "test/zoo.hpp"

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

/// Rows of `lengths` entries in turn.
csr<double, host> with_lengths(const std::vector<index>& lengths, index rows) {
    host_vector<offset> ptr(std::size_t(rows) + 1, 0);
    for (std::size_t i = 0; i < std::size_t(rows); ++i)
        ptr[i + 1] = ptr[i] + lengths[i % lengths.size()];
    csr<double, host> A{{rows, 10000}, offset_vector(ptr), {}, {}};
    A.col_ind.resize(std::size_t(ptr.back()));
    A.val.assign(A.col_ind.size(), 1.0);
    for (std::size_t i = 0; i < std::size_t(rows); ++i)
        for (offset k = ptr[i]; k < ptr[i + 1]; ++k) A.col_ind[std::size_t(k)] = index(k - ptr[i]);
    return A;
}

TEST(csr_adaptive, cuts_the_same_blocks_on_a_gpu_as_on_the_cpu) {
    if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    const auto agrees = [](const csr<double, host>& A, const std::string& name) {
        const auto here = csr_adaptive<double, host>::from(view(A));
        const auto there = download(gpu{}, view(adapt(gpu{}, view(upload(gpu{}, view(A))))));
        EXPECT_EQ(there.capacity, here.capacity) << name;
        EXPECT_EQ(there.block_row, here.block_row) << name;
        EXPECT_EQ(there.block_part, here.block_part) << name;
    };
    for (const auto& z : test::zoo<double>()) agrees(z.A, z.name);
    agrees(with_lengths({0}, 5000), "empty rows");
    agrees(with_lengths({1}, 300000), "rows of one entry");
    agrees(with_lengths({3, 0, 250, 257, 1, 1, 600}, 10000), "long rows among short ones");
    agrees(with_lengths({1500}, 3000), "a row a block");
    agrees(with_lengths({10000, 5}, 40), "parts of long rows");
}

}  // namespace
}  // namespace nz
