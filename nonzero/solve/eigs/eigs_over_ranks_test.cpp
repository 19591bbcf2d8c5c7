#include <gtest/gtest.h>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/own_block.hpp"
#include "nonzero/gen/generate.hpp"
#include "nonzero/solve/eigs/eigs.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "test/files.hpp"
#include "test/thread_ranks.hpp"

namespace nz::test {
namespace {

/// Rank 0's result, with the whole vectors, one after the other.
eigs_options::result<double> eigs_over(int size, const csr<double, host>& A,
                                       const eigs_options& options, bool with_jacobi = false) {
    eigs_options::result<double> all;
    on_ranks(size, [&](const communicator& ranks) {
        const cpu on{.threads = 1, .ranks = &ranks};
        auto slice = slice_of(ranks, view(A));
        const auto M = with_jacobi ? jacobi(cpu{1}, view(own_block(slice, ranks.rank()))) : nullptr;
        const distributed<double, cpu> op(on, std::move(slice));
        const auto own = eigs<double, cpu>(on, op, options, M.get());
        host_vector<double> vectors;
        for (std::size_t k = 0; k < own.values.size(); ++k) {
            const auto mine = own.vectors.empty() ? std::span<const double>() : own.vector(k);
            const auto v = joined<double>(ranks, mine);
            vectors.insert(vectors.end(), v.begin(), v.end());
        }
        if (ranks.rank() == 0) all = {own.values, std::move(vectors), own.report};
    });
    return all;
}

TEST(eigs_over_ranks, are_those_of_one_process) {
    const auto A = laplace3d<double>(8, 9, 11);
    for (const bool with_jacobi : {false, true})
        for (const auto which : {eigs_options::ends::smallest, eigs_options::ends::largest}) {
            if (with_jacobi && which == eigs_options::ends::largest) continue;
            const eigs_options o{.count = 4, .which = which};
            const auto want = eigs_over(1, A, o, with_jacobi);
            ASSERT_TRUE(want.report.converged);
            for (const int size : {2, 5}) {
                const auto got = eigs_over(size, A, o, with_jacobi);
                const auto again = eigs_over(size, A, o, with_jacobi);
                EXPECT_TRUE(got.report.converged) << got.report.why;
                EXPECT_TRUE(same_bits<double>(got.vectors, again.vectors));
                ASSERT_EQ(got.values.size(), 4U);
                for (std::size_t k = 0; k < 4; ++k) {
                    // An eigenvalue is within the residual of a Ritz value.
                    EXPECT_NEAR(
                        got.values[k], want.values[k],
                        2 * o.tol.value_or(solve_options::default_tol<double>) * got.report.norm);
                    const auto v = got.vector(k);
                    double norm2 = 0;
                    for (const double e : v) norm2 += e * e;
                    EXPECT_NEAR(norm2, 1, 1e-12);
                }
            }
        }
}

TEST(eigs_over_ranks, of_both_ends_are_orthonormal_in_every_scale) {
    host_vector<index> at;
    host_vector<double> ones, three;
    for (index i = 0; i < 40; ++i) at.push_back(i), ones.push_back(1), three.push_back(i % 3 - 1);
    const std::vector<std::pair<std::string, csr<double, host>>> matrices{
        {"identity", assemble<double>({40, 40}, at, at, ones)},
        {"three values", assemble<double>({40, 40}, at, at, three)},
        {"path", laplace2d<double>(17, 1)}};
    for (const auto& [name, A] : matrices)
        for (const auto which : {eigs_options::ends::magnitude, eigs_options::ends::both})
            for (const int power : {0, -1000, 1000}) {
                auto scaled = A;
                for (double& v : scaled.val) v = std::ldexp(v, power);
                const eigs_options o{.count = 6, .which = which};
                const auto want = eigs_over(1, A, o);
                for (const int size : {2, 5}) {
                    const auto got = eigs_over(size, scaled, o);
                    EXPECT_TRUE(got.report.converged) << name << got.report.why;
                    ASSERT_EQ(got.values.size(), 6U) << name;
                    for (std::size_t a = 0; a < 6; ++a) {
                        EXPECT_NEAR(std::abs(std::ldexp(got.values[a], -power)),
                                    std::abs(want.values[a]), 4e-8)
                            << name << ", " << power;
                        EXPECT_LE(got.report.residuals[a], o.tol_of<double>()) << name;
                        for (std::size_t b = 0; b <= a; ++b) {
                            double sum = 0;
                            for (std::size_t i = 0; i < got.vector(a).size(); ++i)
                                sum += got.vector(a)[i] * got.vector(b)[i];
                            EXPECT_NEAR(sum, a == b, 1e-12) << name << ", " << power;
                        }
                    }
                }
            }
}

TEST(eigs_over_ranks, more_ranks_than_rows_and_fewer_rows_than_pairs) {
    const auto A = laplace2d<double>(3, 1);
    const auto got = eigs_over(5, A, {.count = 6});
    ASSERT_EQ(got.values.size(), 3U);
    for (int k = 0; k < 3; ++k)  // 4 - 2 cos(k pi / 4)
        EXPECT_NEAR(got.values[std::size_t(k)], 4 - 2 * std::cos((k + 1) * M_PI / 4), 1e-7);
}

TEST(eigs_over_ranks, all_stop_where_one_rank_is_told_to) {
    const auto A = laplace2d<double>(30, 30);
    std::vector<std::string> why(3);
    on_ranks(3, [&](const communicator& ranks) {
        const cpu on{.threads = 1, .ranks = &ranks};
        const distributed<double, cpu> op(on, slice_of(ranks, view(A)));
        eigs_options o{.count = 3};
        if (ranks.rank() == 1) o.monitor = [](const eigs_options::progress&) { return false; };
        why[std::size_t(ranks.rank())] = eigs<double, cpu>(on, op, o).report.why;
    });
    for (const std::string& w : why) EXPECT_EQ(w, "stopped by the caller");
}

TEST(eigs_over_ranks, ranks_that_disagree_about_options_are_told) {
    const auto A = laplace2d<double>(4, 4);
    for (const auto& t : thrown_on_ranks(2, [&](const communicator& ranks) {
             const cpu on{.threads = 1, .ranks = &ranks};
             const distributed<double, cpu> op(on, slice_of(ranks, view(A)));
             (void)eigs<double, cpu>(on, op, {.count = ranks.rank() + 1});
         }))
        EXPECT_EQ(text_of(t), "eigs: rank 1 was given other arguments than rank 0");
}

}  // namespace
}  // namespace nz::test
