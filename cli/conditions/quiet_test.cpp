// Messages on results that a busy machine gave.
#include "cli/conditions/quiet.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nz::cli {
namespace {

benchmark_result result(const char* method, int threads, double median_s, double spread) {
    benchmark_result r;
    r.method = method, r.threads = threads, r.matrix_bytes = 1e6;
    r.time.median_s = median_s, r.time.spread = spread;
    return r;
}

std::string note(const std::vector<benchmark_result>& results) {
    std::vector<const benchmark_result*> all;
    for (const benchmark_result& r : results) all.push_back(&r);
    return busy_note(all);
}

TEST(quiet, says_nothing_of_steady_results) {
    EXPECT_EQ(note({}), "");
    EXPECT_EQ(note({result("csr.static", 1, 1e-3, 0.5), result("csr.static", 2, 0.6e-3, 0.1)}), "");
    EXPECT_EQ(busy_note(10, 8, 2), "");
}

TEST(quiet, says_how_many_times_spread_too_far) {
    const auto far = result("ell.row", 2, 1e-3, 0.51);
    EXPECT_EQ(
        note({far, result("csr.static", 1, 1e-3, 0.1)}),
        "The machine was busy: 1 of 2 times have a spread above half their median (~). Measure "
        "again when nothing else runs.");
    EXPECT_EQ(doubtful(far, "3.1"), "~3.1");
    EXPECT_EQ(doubtful(result("ell.row", 2, 1e-3, 0.5), "3.1"), "3.1");
}

TEST(quiet, says_that_several_threads_are_far_slower_than_one) {
    EXPECT_EQ(note({result("csr.static", 1, 1e-3, 0.1), result("csr.static", 2, 2e-3, 0.1)}),
              "The machine was busy: csr.static takes 2.0 times as long on 2 threads as on one. "
              "Measure again when nothing else runs.");
    // Threads may be slower at a short product, and other methods have their own reasons.
    EXPECT_EQ(note({result("csr.static", 1, 1e-5, 0.1), result("csr.static", 2, 2e-5, 0.1)}), "");
    EXPECT_EQ(note({result("ell.row", 1, 1e-3, 0.1), result("ell.row", 2, 2e-3, 0.1)}), "");
    EXPECT_NE(busy_note(10, 6, 2).find("2 threads together read 6.0 GB/s, one alone 10.0"),
              std::string::npos);
}

}  // namespace
}  // namespace nz::cli
