#include <gtest/gtest.h>

#include "nonzero/explain/explain.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

/// Rows of `width` entries whose columns are given by a rule.
template <class Column>
csr<double, host> of_width(index rows, index cols, index width, Column column) {
    return from_columns<double>(rows, cols, [&](index i) {
        std::vector<index> c;
        for (index k = 0; k < width; ++k) c.push_back(column(i, k));
        std::sort(c.begin(), c.end());
        return c;
    });
}

l1_hits hits_of(const char* method, const csr<double, host>& A, const l1_model& m) {
    return model_l1(*trace_of<double>(method, view(A)), m);
}

TEST(l1, hits_what_another_warp_of_the_multiprocessor_loaded) {
    // One column: its sector is loaded by the first warp, and found by the others.
    const auto A = of_width(256, 1, 1, [](index, index) { return 0; });
    const l1_hits h = hits_of("ell.row", A, {});
    EXPECT_EQ(h.x_sectors, 8);
    EXPECT_EQ(h.x_hits, 7);
    EXPECT_EQ(h.sectors, 8 + 8 * (4 + 8));
}

TEST(l1, misses_what_does_not_fit) {
    // Each warp gathers 32 lines, twice: the second time they are there if the cache holds them.
    const auto A = of_width(32, 64 * 32, 2, [](index i, index k) { return 64 * i + k; });
    EXPECT_EQ(hits_of("ell.row", A, {}).x_hits, 32);
    EXPECT_EQ(hits_of("ell.row", A, {.bytes = 128}).x_hits, 0);
    EXPECT_EQ(hits_of("ell.row", A, {}).x_sectors, 64);
}

TEST(l1, blocks_of_other_multiprocessors_share_nothing) {
    const auto A = of_width(512, 1, 1, [](index, index) { return 0; });  // two blocks
    const l1_hits two = hits_of("ell.row", A, {});
    EXPECT_EQ(two.x_sectors, 16);
    EXPECT_EQ(two.x_hits, 14);
    const l1_hits one = hits_of("ell.row", A, {.multiprocessors = 1});
    EXPECT_EQ(one.x_sectors, 16);
    EXPECT_EQ(one.x_hits, 15);
}

TEST(l1, refuses_sizes_without_sense) {
    const auto A = of_width(32, 1, 1, [](index, index) { return 0; });
    EXPECT_THROW((void)hits_of("ell.row", A, {.bytes = 64}), argument_error);
    EXPECT_THROW((void)hits_of("ell.row", A, {.multiprocessors = 0}), argument_error);
    EXPECT_THROW((void)hits_of("ell.row", A, {.resident_warps = 0}), argument_error);
    EXPECT_THROW((void)hits_of("ell.row", A, {.most_sectors = 0}), argument_error);
}

std::string bound_of(const char* method, const csr<double, host>& A) {
    const l1_model m;
    return what_binds(explain(*trace_of<double>(method, view(A)), std::int64_t(A.val.size()), m),
                      m);
}

TEST(what_binds, names_the_largest_waste) {
    const auto starts = [](const std::string& text, const char* with) {
        return text.rfind(with, 0) == 0;
    };
    const auto band = of_width(4096, 4096 + 32, 32, [](index i, index k) { return i + k; });
    EXPECT_TRUE(starts(bound_of("csr.scalar", band), "uncoalesced"))
        << bound_of("csr.scalar", band);
    EXPECT_TRUE(starts(bound_of("ell.row", band), "memory")) << bound_of("ell.row", band);
    const auto narrow = of_width(4096, 4098, 2, [](index i, index k) { return i + k; });
    EXPECT_TRUE(starts(bound_of("csr.vector", narrow), "idle lanes"));
    const auto scattered = of_width(4096, 1 << 20, 8, [](index i, index k) {
        return index((i * 8191LL + k * 104729LL) % (1 << 20));
    });
    EXPECT_TRUE(starts(bound_of("ell.row", scattered), "x:")) << bound_of("ell.row", scattered);
    std::vector<index> lengths(100000, 1);
    lengths[0] = 50000;
    EXPECT_TRUE(
        starts(bound_of("csr.scalar", from_lengths<double>(lengths, 50000)), "its longest warp"));
    std::vector<index> ragged;
    for (index i = 0; i < 4096; ++i) ragged.push_back(i % 3 == 0 ? 8 : 2);
    const auto padded = from_lengths<double>(ragged, 64);
    EXPECT_TRUE(starts(bound_of("ell.row", padded), "padding")) << bound_of("ell.row", padded);
    EXPECT_EQ(bound_of("ell.row", csr<double, host>{{0, 0}, {0}, {}, {}}),
              "nothing: it loads nothing");
}

}  // namespace
}  // namespace nz::test
