// Ranks whose parts lie on GPUs: products against the oracle, solvers, and which transport is
// taken. Ranks share this machine's GPU, by way of the CPU's memory; NCCL joins as many as there
// are GPUs.
#include <gtest/gtest.h>

#include <cmath>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/exchange.hpp"
#include "nonzero/dist/share_out.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/graph/pagerank.hpp"
#include "nonzero/solve/eigs/eigs.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/solve.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/files.hpp"
#include "test/gpu_ranks.hpp"
#include "test/products.hpp"

namespace nz::test {
namespace {

TEST(gpu_rank, is_refused_where_there_is_no_gpu_or_it_would_be_shared) {
    const int gpus = gpu_count(), ranks_too_many = std::max(gpus, 1) + 1;
    const auto thrown = thrown_on_ranks(
        ranks_too_many, [](const communicator& ranks) { const gpu_rank mine(ranks); });
    const std::string expected = "ranks 0 and " + std::to_string(gpus) + " would share a GPU of ";
    for (const auto& t : thrown) {
        ASSERT_TRUE(t);
        EXPECT_THROW(std::rethrow_exception(t), unavailable);
        if (gpus > 0) {
            EXPECT_EQ(text_of(t).rfind(expected, 0), 0U) << text_of(t);
        }
    }
}

template <class V>
class ranks_on_gpus : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    }
};
using value_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ranks_on_gpus, value_types);

/// op's product, over all ranks: whole on rank 0.
template <class V>
host_vector<V> product_of(gpu on, const communicator& ranks, const distributed<V, gpu>& op,
                          const product_case<V>& c) {
    const bool plain = c.how == transposition::plain;
    const auto x = slice_of<V>(plain ? op.cols() : op.rows(), ranks.rank(), c.x);
    const auto y0 = slice_of<V>(plain ? op.rows() : op.cols(), ranks.rank(), c.y0);
    const auto x_there = to_device<V>(on, x);
    auto y_there = to_device<V>(on, y0);
    op.apply_transposed(c.how, c.alpha, x_there, c.beta, y_there);
    return joined<V>(ranks, to_host<V>(on, y_there));
}

/// A of both kinds: many entries in others' columns, and few.
template <class V>
std::vector<csr<V, host>> matrices() {
    return {from_rule<V>(301, 301, [](index, index, double u) { return u > 0.9; }),
            from_rule<V>(5000, 5000, [](index i, index j, double) { return std::abs(i - j) <= 2; }),
            from_rule<V>(40, 900, [](index, index, double u) { return u > 0.7; }),
            from_rule<V>(3, 3, [](index, index, double) { return true; })};
}

TYPED_TEST(ranks_on_gpus, multiply_like_the_oracle_with_the_same_bits) {
    using V = TypeParam;
    const plan_options both_ways{.transposed = true};
    for (const auto& A : matrices<V>()) {
        const auto cases = product_cases(view(A), {transposition::plain, transposition::transpose});
        for (const int size : {1, 2, 4, 7})
            on_gpus(size, [&](gpu on, const communicator& ranks) {
                const distributed<V, gpu> op(on, slice_of(ranks, view(A)), both_ways);
                for (const auto& c : cases) {
                    const auto y = product_of<V>(on, ranks, op, c),
                               again = product_of<V>(on, ranks, op, c);
                    if (ranks.rank() != 0) continue;
                    EXPECT_TRUE(compare<V>(y, c.want).holds())
                        << A.shape.rows << " rows, " << size << " ranks, op " << int(c.how);
                    EXPECT_TRUE(same_bits<V>(y, again)) << int(c.how);
                }
            });
    }
}

TYPED_TEST(ranks_on_gpus, sum_over_all_ranks_with_the_same_bits) {
    using V = TypeParam;
    const auto x = random_vector<V>(100003, 1), y = random_vector<V>(100003, 2);
    double want = 0, magnitude = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        want += double(x[i]) * double(y[i]);
        magnitude += std::abs(double(x[i]) * double(y[i]));
    }
    // A tree of 17 levels, an element or two a thread, and the ranks' sums.
    const double bound = 24 * double(std::numeric_limits<V>::epsilon()) * magnitude;
    for (const int size : {1, 3, 5})
        on_gpus(size, [&](gpu on, const communicator& ranks) {
            const shares all = equal_shares(index(x.size()), ranks.size());
            vector_space<V, gpu> space(on, all.count(ranks.rank()));
            const auto mine = to_device<V>(on, slice_of<V>(all, ranks.rank(), x));
            const auto other = to_device<V>(on, slice_of<V>(all, ranks.rank(), y));
            const V dot = space.dot(mine, other);
            EXPECT_NEAR(double(dot), want, bound);
            const auto everywhere = gathered(ranks, dot);
            for (const V other_dot : everywhere) EXPECT_EQ(other_dot, dot);
            EXPECT_EQ(space.dot(mine, other), dot);
        });
}

TYPED_TEST(ranks_on_gpus, solve_as_one_gpu_does) {
    using V = TypeParam;
    const auto A = laplace2d<V>(60, 50);
    const host_vector<V> b(std::size_t(A.shape.rows), V(1));
    const double tol = std::is_same_v<V, float> ? 1e-3 : 1e-8;
    system_options o;
    o.tol = tol, o.method = krylov_method::cg, o.preconditioner = preconditioning::jacobi;
    std::int64_t alone = 0;
    for (const int size : {1, 2, 3})
        on_gpus(size, [&](gpu on, const communicator& ranks) {
            auto slice = slice_of(ranks, view(A));
            const shares rows = slice.rows;
            const auto mine = slice_of<V>(rows, ranks.rank(), b);
            host_vector<V> x(mine.size(), V(0));
            const auto report = nz::solve<V, gpu>(on, std::move(slice), mine, x, o);
            EXPECT_TRUE(report.converged()) << report.result().report.why;
            const auto whole = joined<V>(ranks, x);
            if (ranks.rank() != 0) return;
            const auto r =
                reference_product<V>(transposition::plain, V(-1), view(A), whole, V(1), b);
            double rest2 = 0;
            for (const auto& value : r.y) rest2 += double(std::norm(value));
            EXPECT_LE(std::sqrt(rest2), 1.01 * tol * std::sqrt(double(b.size())));
            const auto taken = report.result().report.iterations;
            if (size == 1) alone = taken;
            EXPECT_NEAR(double(taken), double(alone), 3);
        });
}

/// The eigenvalues of a Laplacian, with every copy, by multigrid and by polynomials.
TYPED_TEST(ranks_on_gpus, find_the_eigenpairs_of_one_gpu) {
    using V = TypeParam;
    const auto A = laplace3d<V>(9, 9, 9);
    const double tol = std::is_same_v<V, float> ? 1e-4 : 1e-8;
    const auto angle = [](int k) { return 2 * std::cos(k * M_PI / 10); };
    for (const auto which : {eigs_options::ends::smallest, eigs_options::ends::largest})
        for (const int size : {1, 3})
            on_gpus(size, [&](gpu on, const communicator& ranks) {
                const auto slice = slice_of(ranks, view(A));
                const distributed<V, gpu> op(on, slice);
                const amg<V, gpu> M(on, slice, {.coarse_rows = 100}, {}, &op);
                const bool is_smallest = which == eigs_options::ends::smallest;
                const auto search = [&] {
                    return eigs<V, gpu>(on, op, {.count = 4, .which = which, .tol = tol},
                                        is_smallest ? &M : nullptr);
                };
                const auto got = search();
                EXPECT_TRUE(got.report.converged) << got.report.why;
                ASSERT_EQ(got.values.size(), 4U);
                const double sign = is_smallest ? -1 : 1, bound = 2 * tol * got.report.norm;
                EXPECT_NEAR(got.values[0], 6 + sign * 3 * angle(1), bound);
                for (std::size_t k = 1; k < 4; ++k)
                    EXPECT_NEAR(got.values[k], 6 + sign * (2 * angle(1) + angle(2)), bound);
                EXPECT_TRUE(same_bits<V>(got.vectors, search().vectors));
            });
}

TYPED_TEST(ranks_on_gpus, rank_a_graph_like_one_process) {
    using V = TypeParam;
    const auto G = rmat<V>(9, 4, 0.57, 0.19, 0.19, 3);  // with nodes that have no links
    const pagerank_options options{.tol = std::is_same_v<V, float> ? 1e-5 : 1e-10};
    for (const auto direction : {pagerank_options::links::row_links_to_column,
                                 pagerank_options::links::column_links_to_row}) {
        const auto want = pagerank<V, cpu>(cpu{1}, view(G), direction, options);
        for (const int size : {1, 2, 5})
            on_gpus(size, [&](gpu on, const communicator& ranks) {
                const auto graph = pagerank_graph<V, gpu>(on, slice_of(ranks, view(G)), direction);
                const auto own = graph.rank(options), again = graph.rank(options);
                EXPECT_TRUE(own.report.converged);
                EXPECT_TRUE(same_bits<V>(own.rank, again.rank));
                const auto rank = joined<V>(ranks, own.rank);
                if (ranks.rank() != 0) return;
                double difference = 0;
                for (std::size_t i = 0; i < want.rank.size(); ++i)
                    difference += std::abs(double(rank[i]) - double(want.rank[i]));
                EXPECT_LE(difference, 2 * want.report.error_bound(0.85) + options.tol);
            });
    }
}

TEST(nccl, joins_ranks_with_a_gpu_each) {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    const auto A = laplace2d<double>(300, 300);
    on_ranks(gpu_count(), [&](const communicator& ranks) {
        const gpu_rank mine(ranks);
        const gpu on = mine;
        if (mine.transport() != "NCCL") GTEST_SKIP() << "no NCCL here";
        const distributed<double, gpu> op(on, slice_of(ranks, view(A)));
        const auto cases = product_cases(view(A), {transposition::plain});
        for (const auto& c : cases) {
            const auto y = product_of<double>(on, ranks, op, c);
            if (ranks.rank() != 0) continue;
            EXPECT_TRUE(compare<double>(y, c.want).holds());
        }
        const host_vector<double> ones(std::size_t(op.shape().rows), 1);
        const auto b = to_device<double>(on, ones);
        auto x = to_device<double>(on, host_vector<double>(ones.size()));
        const auto report = cg<double, gpu>(on, op, b, x);
        EXPECT_TRUE(report.converged) << report.why;
    });
}

}  // namespace
}  // namespace nz::test
