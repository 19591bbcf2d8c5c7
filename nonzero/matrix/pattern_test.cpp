// One number tells a pattern, on the CPU as on a GPU.
#include "nonzero/matrix/pattern.hpp"

#include <gtest/gtest.h>

#include "nonzero/core/format.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/gen/generate.hpp"

namespace nz {
namespace {

std::uint64_t hash_of(const csr<double, host>& A, int threads = 1) {
    return pattern_hash(cpu{threads}, A.row_ptr, A.col_ind);
}

/// Of few and of many entries, also where the last warp's run is not full.
std::vector<csr<double, host>> some_matrices() {
    std::vector<csr<double, host>> all;
    for (const index n : {1, 3, 45, 64, 100, 700}) all.push_back(laplace2d<double>(n, n + 1));
    return all;
}

TEST(pattern_hash, does_not_depend_on_threads) {
    for (const auto& A : some_matrices()) EXPECT_EQ(hash_of(A, 1), hash_of(A, 3));
}

TEST(pattern_hash, tells_rows_columns_and_places_apart) {
    const auto A = laplace2d<double>(9, 9);
    auto B = A;
    std::swap(B.col_ind[3], B.col_ind[4]);
    EXPECT_NE(hash_of(A), hash_of(B));
    const csr<double, host> first{{2, 2}, offset_vector({0, 1, 1}), {0}, {1.0}},
        second{{2, 2}, offset_vector({0, 0, 1}), {0}, {1.0}};
    EXPECT_NE(hash_of(first), hash_of(second));
}

TEST(pattern_hash, is_the_same_on_a_gpu) {
    if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    for (const auto& A : some_matrices()) {
        const auto there = upload(gpu{}, view(A));
        EXPECT_EQ(pattern_hash(gpu{}, there.row_ptr, there.col_ind), hash_of(A)) << A.val.size();
    }
}

}  // namespace
}  // namespace nz
