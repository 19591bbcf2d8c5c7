// Multigrid over ranks: iterations that hardly grow with the number of ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/entries.hpp"
#include "nonzero/dist/own_block.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "test/systems.hpp"
#include "test/thread_ranks.hpp"

namespace nz::test {
namespace {

using system = linear_system<double>;

/// This rank's rows of values that all have, `width` a row.
host_vector<double> own_part(const host_vector<double>& all, range rows, std::size_t width = 1) {
    const auto at = all.begin();
    return {at + rows.first * std::ptrdiff_t(width), at + rows.last * std::ptrdiff_t(width)};
}

struct solved {
    host_vector<double> x, Mb;  ///< whole; what one cycle makes of b
    solve_report report;
    amg_report levels;
};

/// Conjugate gradients with multigrid, to 1e-8, over that number of ranks.
solved solve_over(int size, const system& s, const amg_options& o = {},
                  const candidates<double>& near = {}) {
    solved all;
    on_ranks(size, [&](const communicator& ranks) {
        const cpu on{.threads = 1, .ranks = &ranks};
        const auto slice = slice_of(ranks, view(s.A));
        const range rows = slice.rows.of(ranks.rank());
        const candidates<double> own{near.count, near.count == 0
                                                     ? host_vector<double>()
                                                     : own_part(near.val, rows, near.count)};
        const distributed<double, cpu> A(on, slice);
        const amg<double> M(on, slice, o, own, &A);
        const auto b = own_part(s.b, rows);
        host_vector<double> x(b.size(), 0), Mb(b.size());
        M.apply(1, b, 0, Mb);
        const auto report = cg<double, cpu>(on, A, M, b, x, {.tol = 1e-8, .max_iter = 200});
        auto whole = joined<double>(ranks, x), cycle = joined<double>(ranks, Mb);
        if (ranks.rank() == 0) all = {std::move(whole), std::move(cycle), report, M.report()};
    });
    return all;
}

/// Iterations, after a look at the residual.
std::int64_t iterations(const solved& got, const system& s) {
    EXPECT_TRUE(got.report.converged) << s.name << ": " << got.report.why;
    const auto r = residual_of<double>(s.A, got.x, s.b);
    EXPECT_LE(r.norm, 1.01e-8 * r.rhs + r.rounding) << s.name;
    return got.report.iterations;
}

/// At most 3 iterations more than one rank takes, on 2 to 16 ranks.
void expect_few_more(const system& s, const amg_options& o = {},
                     const candidates<double>& near = {}) {
    const auto alone = iterations(solve_over(1, s, o, near), s);
    for (const int size : {2, 4, 7, 16}) {
        const auto got = solve_over(size, s, o, near);
        EXPECT_LE(iterations(got, s), alone + 3) << s.name << " on " << size << " ranks";
    }
}

TEST(amg_over_ranks, of_poisson_in_the_plane) {
    expect_few_more(manufactured("laplace2d", laplace2d<double>(180, 150)));
}
TEST(amg_over_ranks, of_poisson_in_space) {
    expect_few_more(manufactured("laplace3d", laplace3d<double>(32, 32, 32)));
}
TEST(amg_over_ranks, of_elasticity_with_its_modes) {
    const auto modes = rigid_body_modes<double>(elasticity3d_nodes(12, 12, 24));
    expect_few_more(manufactured("elasticity3d", elasticity3d<double>(12, 12, 24, 0.3)),
                    {.strength = 0, .block = 3}, modes);
}

TEST(amg_over_ranks, of_elasticity_with_what_they_find) {
    const auto s = manufactured("elasticity3d", elasticity3d<double>(8, 8, 24, 0.3));
    expect_few_more(s, {.block = 0});
    expect_few_more(s, {.block = 0, .adaptive_candidates = 3});
    for (const int size : {1, 3, 16}) {
        const auto found = solve_over(size, s, {.block = 0}),
                   told = solve_over(size, s, {.block = 3});
        EXPECT_EQ(found.levels.block, 3);
        EXPECT_EQ(found.Mb, told.Mb);
        const auto more = solve_over(size, s, {.block = 0, .adaptive_candidates = 3});
        EXPECT_LT(iterations(more, s), iterations(found, s));
        EXPECT_EQ(more.Mb, solve_over(size, s, {.block = 0, .adaptive_candidates = 3}).Mb);
    }
}

/// Conjugate gradients with multigrid of a hermitian matrix, to 1e-8.
TEST(amg_over_ranks, of_complex_values) {
    using complex = std::complex<double>;
    const auto s = manufactured("rotated", rotated(laplace3d<complex>(24, 24, 24)));
    std::int64_t alone = 0;
    for (const int size : {1, 2, 3}) {
        host_vector<complex> whole;
        solve_report report;
        on_ranks(size, [&](const communicator& ranks) {
            const cpu on{.threads = 1, .ranks = &ranks};
            const auto slice = slice_of(ranks, view(s.A));
            const range rows = slice.rows.of(ranks.rank());
            const distributed<complex, cpu> A(on, slice);
            const amg<complex> M(on, slice, {}, {}, &A);
            const host_vector<complex> b(s.b.begin() + rows.first, s.b.begin() + rows.last);
            host_vector<complex> x(b.size(), complex(0));
            const auto mine = cg<complex, cpu>(on, A, M, b, x, {.tol = 1e-8, .max_iter = 200});
            auto all = joined<complex>(ranks, x);
            if (ranks.rank() == 0) whole = std::move(all), report = mine;
        });
        EXPECT_TRUE(report.converged) << report.why;
        const auto r = residual_of<complex>(s.A, whole, s.b);
        EXPECT_LE(r.norm, 1.01e-8 * r.rhs + r.rounding);
        if (size == 1) alone = report.iterations;
        EXPECT_LE(report.iterations, alone + 3) << size;
    }
    EXPECT_LT(alone, 15);
}

/// One rank sets up what a process alone does.
TEST(amg_over_ranks, of_one_rank_are_those_of_one_process) {
    for (const auto& A : {laplace3d<double>(20, 20, 20), elasticity3d<double>(9, 8, 7, 0.3)}) {
        const amg_options o{.block = A.shape.rows == 8000 ? 1 : 3};
        const auto s = manufactured("system", csr<double, host>(A));
        const auto over_one = solve_over(1, s, o).levels;
        const amg<double, cpu> M(A, cpu{.threads = 1}, o);
        ASSERT_EQ(over_one.levels.size(), M.report().levels.size());
        for (std::size_t l = 0; l < over_one.levels.size(); ++l) {
            EXPECT_EQ(over_one.levels[l].rows, M.report().levels[l].rows);
            EXPECT_EQ(over_one.levels[l].nnz, M.report().levels[l].nnz);
            EXPECT_EQ(over_one.levels[l].spectral_radius, M.report().levels[l].spectral_radius);
        }
    }
}

TEST(amg_over_ranks, have_the_same_bits_in_every_run) {
    const auto s = manufactured("laplace2d", laplace2d<double>(90, 70));
    for (const int size : {3, 5}) {
        const auto once = solve_over(size, s, {.coarse_rows = 50});
        const auto again = solve_over(size, s, {.coarse_rows = 50});
        EXPECT_GE(once.levels.levels.size(), 3U);
        EXPECT_EQ(once.Mb, again.Mb);
        EXPECT_EQ(once.x, again.x);
        EXPECT_EQ(once.report.history, again.report.history);
    }
}

/// Of a small matrix, whose rows move to fewer ranks first, and of one whose rows stay.
TEST(amg_over_ranks, take_rows_in_any_order) {
    for (const index width : {20, 120}) {
        auto s = manufactured("laplace2d", laplace2d<double>(width, 90));
        const auto ascending = solve_over(3, s, {.coarse_rows = 60});
        s.A = rows_reversed(std::move(s.A));
        const auto descending = solve_over(3, s, {.coarse_rows = 60});
        EXPECT_EQ(ascending.Mb, descending.Mb);
        EXPECT_EQ(ascending.x, descending.x);
    }
}

TEST(amg_over_ranks, of_every_cycle_are_symmetric_and_positive) {
    const auto A = laplace3d<double>(16, 16, 16);
    for (const auto cycle : {amg_options::cycles::v, amg_options::cycles::w})
        for (const auto smoother :
             {amg_options::smoothers::chebyshev, amg_options::smoothers::l1_jacobi}) {
            const amg_options o{.cycle = cycle, .smoother = smoother, .coarse_rows = 20};
            const system s{"x", A, random_vector<double>(4096, 1)};
            const system t{"y", A, random_vector<double>(4096, 2)};
            const auto Mx = solve_over(3, s, o).Mb, My = solve_over(3, t, o).Mb;
            const auto dot = [](const auto& a, const auto& b) {
                return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
            };
            EXPECT_NEAR(dot(s.b, My), dot(t.b, Mx), 1e-12 * std::sqrt(dot(s.b, s.b) * dot(My, My)));
            EXPECT_GT(dot(s.b, Mx), 0);
        }
}

/// The rows of A in ranges that the caller chooses; what each rank throws.
std::vector<std::exception_ptr> thrown_for(
    const shares& rows, const csr<double, host>& A, const amg_options& o,
    const std::function<void(int, candidates<double>&)>& near,
    const std::function<void(const solve_report&)>& check) {
    return thrown_on_ranks(rows.parts(), [&](const communicator& ranks) {
        const cpu on{.threads = 1, .ranks = &ranks};
        const matrix_slice<double> slice{rows, rows, rows_of(view(A), rows.of(ranks.rank()))};
        candidates<double> own;
        near(ranks.rank(), own);
        const amg<double> M(on, slice, o, own);
        const distributed<double, cpu> product(on, slice);
        const host_vector<double> b(std::size_t(slice.own.shape.rows), 1);
        host_vector<double> x(b.size(), 0);
        check(cg<double, cpu>(on, product, M, b, x, {.tol = 1e-8, .max_iter = 100}));
    });
}
void no_candidates(int, candidates<double>&) {}

TEST(amg_over_ranks, go_on_where_ranks_have_no_rows_or_parts_of_nodes) {
    const auto few_iterations = [](const solve_report& r) {
        EXPECT_TRUE(r.converged) << r.why;
        EXPECT_LE(r.iterations, 30);
    };
    const auto expect_none = [&](const shares& rows, const csr<double, host>& A, index block) {
        for (const auto& t : thrown_for(rows, A, {.block = block, .coarse_rows = 100},
                                        no_candidates, few_iterations))
            EXPECT_EQ(text_of(t), "");
    };
    const auto A = laplace2d<double>(60, 50);
    expect_none({{0, 0, 1500, 1500, 1510, 3000, 3000}}, A, 1);
    expect_none({{0, 0, 0, 3000}}, A, 1);
    expect_none({{0, 0, 1, 2, 3, 3, 4}}, laplace2d<double>(2, 2), 1);
    expect_none({{0, 0, 0}}, csr<double, host>{{0, 0}, {0}, {}, {}}, 1);
    const auto elastic = elasticity3d<double>(8, 8, 8, 0.3);
    expect_none({{0, 601, 1100, elastic.shape.rows}}, elastic, 3);
}

TEST(amg_over_ranks, throw_on_all_what_one_rank_throws) {
    const shares rows{{0, 100, 200, 300}};
    const auto A = laplace2d<double>(20, 15);
    const auto unused = [](const solve_report&) { ADD_FAILURE() << "set up"; };
    const auto expect_all = [&](const csr<double, host>& given, const amg_options& o,
                                const std::function<void(int, candidates<double>&)>& near,
                                const std::string& what) {
        const auto thrown = thrown_for(rows, given, o, near, unused);
        for (const auto& t : thrown) {
            ASSERT_TRUE(t) << what;
            EXPECT_EQ(text_of(t), text_of(thrown.front()));
            EXPECT_NE(text_of(t).find(what), std::string::npos) << text_of(t);
            EXPECT_THROW(std::rethrow_exception(t), argument_error);
        }
    };
    auto negative = A, lopsided = A;
    for (auto k = A.row_ptr[170]; k < A.row_ptr[171]; ++k)
        if (A.col_ind[std::size_t(k)] == 170) negative.val[std::size_t(k)] = -4;
    lopsided.val[std::size_t(A.row_ptr[250])] *= 2;
    expect_all(negative, {}, no_candidates, "its diagonal is -4 in row 170");
    expect_all(lopsided, {}, no_candidates, "not symmetric");
    expect_all(A, {.degree = 0}, no_candidates, "degree is below 1");
    expect_all(A, {.precision = value_storage::single}, no_candidates, "cycles are exact");
    expect_all(A, {.block = 7}, no_candidates, "not whole blocks");
    const auto too_few = [](int rank, candidates<double>& near) {
        near = {2, host_vector<double>(rank == 1 ? 199 : 200, 1)};
    };
    expect_all(A, {}, too_few, "candidates");
    const auto another = [](int rank, candidates<double>& near) {
        near = {rank + 1, host_vector<double>(std::size_t(100 * (rank + 1)), 1)};
    };
    expect_all(A, {}, another, "rank 1 was given other arguments than rank 0");
}

}  // namespace
}  // namespace nz::test
