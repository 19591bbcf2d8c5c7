// Multigrid over ranks on GPUs beside that over as many ranks on CPUs. Ranks share this machine's
// GPU, by way of the CPU's memory; NCCL joins as many as there are GPUs.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "nonzero/dist/distributed.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/solve.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/files.hpp"
#include "test/gpu_ranks.hpp"
#include "test/systems.hpp"

namespace nz::test {
namespace {

template <class V>
struct problem : linear_system<V> {
    amg_options options = {};
    candidates<V> near = {};
};

template <class V>
problem<V> poisson_in_the_plane() {
    return {manufactured("laplace2d", laplace2d<V>(120, 90)), {.coarse_rows = 60}};
}
template <class V>
problem<V> elasticity(index width = 10) {
    return {manufactured("elasticity3d", elasticity3d<V>(width, width, 20, V(0.3))),
            {.strength = 0, .block = 3},
            rigid_body_modes<V>(elasticity3d_nodes(width, width, 20))};
}

/// Couplings a hundred times as strong along x as along y.
problem<double> anisotropic() {
    auto A = laplace2d<double>(120, 60);
    for (index i = 0; i < A.shape.rows; ++i)
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k) {
            const index apart = std::abs(A.col_ind[k] - i);
            A.val[k] = apart == 0 ? 2.02 : apart == 1 ? -1 : -0.01;
        }
    return {manufactured("anisotropic", std::move(A)), {.coarse_rows = 60}};
}

csr<double, host> with_diagonal_at(csr<double, host> A, index row, double value) {
    for (auto k = A.row_ptr[std::size_t(row)]; k < A.row_ptr[std::size_t(row) + 1]; ++k)
        if (A.col_ind[std::size_t(k)] == row) A.val[std::size_t(k)] = value;
    return A;
}

/// The problem with all its levels made on GPUs, down to the last one.
template <class V>
problem<V> all_on_gpus(problem<V> p) {
    p.options.rows_worth_a_gpu = 0;
    return p;
}

/// A star beside a grid. The star's leaves are in one aggregate: a row of P^T too long for a warp.
problem<double> star_and_grid() {
    const auto grid = laplace2d<double>(200, 200);
    const index leaves = 50000, first = leaves + 1, n = first + grid.shape.rows;
    host_vector<index> row, col;
    host_vector<double> val;
    const auto add = [&](index i, index j, double v) {
        row.push_back(i), col.push_back(j), val.push_back(v);
    };
    add(0, 0, leaves + 1);
    for (index leaf = 1; leaf < first; ++leaf)
        add(leaf, leaf, 2), add(0, leaf, -1), add(leaf, 0, -1);
    for_each_entry(view(grid), 0, grid.shape.rows,
                   [&](index i, index j, double v) { add(first + i, first + j, v); });
    return {manufactured("star and grid", assemble<double>({n, n}, row, col, val)),
            {.strength = 0, .check = false}};
}

template <class V>
struct solved {
    host_vector<V> x, Mb;  ///< whole; what one cycle makes of b
    solve_report report;
    amg_report levels;
};

/// Conjugate gradients with multigrid; on rank 0 what came of it.
template <class V, class B>
void solve_on(B on, const communicator& ranks, const problem<V>& p, solved<V>& all) {
    const auto slice = slice_of(ranks, view(p.A));
    const shares rows = slice.rows;
    candidates<V> own{p.near.count, {}};
    const auto k = std::size_t(p.near.count);
    const auto [first, last] = rows.of(ranks.rank());
    own.val.assign(p.near.val.begin() + first * std::ptrdiff_t(k),
                   p.near.val.begin() + last * std::ptrdiff_t(k));
    const distributed<V, B> A(on, slice);
    const amg<V, B> M(on, slice, p.options, own, &A);
    const vector<V, B> b = from_host(on, slice_of<V>(rows, ranks.rank(), p.b));
    vector_space<V, B> space(on, std::int64_t(b.size()));
    auto x = space.zero(), Mb = space.make();
    M.apply(V(1), b, V(0), Mb);
    const double tol = std::is_same_v<V, float> ? 1e-4 : 1e-8;
    const auto report = cg<V, B>(on, A, M, b, x, {.tol = tol, .max_iter = 100});
    auto whole = joined<V>(ranks, to_host(on, in<V, B>(x))),
         cycle = joined<V>(ranks, to_host(on, in<V, B>(Mb)));
    if (ranks.rank() == 0) all = {std::move(whole), std::move(cycle), report, M.report()};
}

template <class V>
solved<V> solve_on_gpus(int size, const problem<V>& p) {
    solved<V> all;
    on_gpus(size, [&](gpu on, const communicator& ranks) { solve_on<V>(on, ranks, p, all); });
    return all;
}
template <class V>
solved<V> solve_on_cpus(int size, const problem<V>& p) {
    solved<V> all;
    on_ranks(size, [&](const communicator& ranks) {
        solve_on<V>(cpu{.threads = 1, .ranks = &ranks}, ranks, p, all);
    });
    return all;
}

/// It converged, and b - A x is as small as it says.
template <class V>
void expect_solved(const problem<V>& p, const host_vector<V>& x, const solve_report& report,
                   double tol) {
    EXPECT_TRUE(report.converged) << p.name << ": " << report.why;
    const auto r = residual_of<V>(p.A, x, p.b);
    EXPECT_LE(r.norm, 1.01 * tol * r.rhs + r.rounding) << p.name;
}

/// The levels of as many ranks on CPUs, and their iterations to within one.
template <class V>
void expect_as_on_cpus(const problem<V>& p, std::initializer_list<int> sizes) {
    for (const int size : sizes) {
        SCOPED_TRACE(::testing::Message() << p.name << " on " << size << " ranks");
        const auto want = solve_on_cpus(size, p), got = solve_on_gpus(size, p);
        expect_solved(p, got.x, got.report, std::is_same_v<V, float> ? 1e-4 : 1e-8);
        EXPECT_NEAR(double(got.report.iterations), double(want.report.iterations), 1);
        ASSERT_EQ(got.levels.levels.size(), want.levels.levels.size());
        EXPECT_GE(got.levels.levels.size(), 2U);
        EXPECT_EQ(got.levels.direct, want.levels.direct);
        // Coarser ones may differ by what rounding makes of the couplings.
        EXPECT_EQ(got.levels.levels[1].rows, want.levels.levels[1].rows);
        EXPECT_EQ(got.levels.levels[1].nnz, want.levels.levels[1].nnz);
    }
}

class amg_on_gpus : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    }
};

TEST_F(amg_on_gpus, take_the_iterations_of_cpus_for_poisson) {
    expect_as_on_cpus(poisson_in_the_plane<double>(), {1, 2, 3, 7});
}
TEST_F(amg_on_gpus, take_the_iterations_of_cpus_in_single_precision) {
    expect_as_on_cpus(poisson_in_the_plane<float>(), {1, 3});
}
/// Nodes of three unknowns, which ranks cut: rows move before the first level.
TEST_F(amg_on_gpus, take_the_iterations_of_cpus_for_elasticity) {
    expect_as_on_cpus(elasticity<double>(), {1, 2, 3, 7});
}
/// Levels whose products are planned on a GPU, and so packed.
TEST_F(amg_on_gpus, plan_the_products_of_large_levels) {
    expect_as_on_cpus<double>({manufactured("laplace3d", laplace3d<double>(56, 56, 56))}, {1, 2});
}

TEST_F(amg_on_gpus, make_the_levels_of_cpus_for_poisson) {
    expect_as_on_cpus(all_on_gpus(poisson_in_the_plane<double>()), {1, 2, 3, 4, 7});
    expect_as_on_cpus(all_on_gpus(poisson_in_the_plane<float>()), {1, 3});
}
/// Aggregates over two steps.
TEST_F(amg_on_gpus, make_the_levels_of_cpus_for_poisson_in_space) {
    expect_as_on_cpus<double>({manufactured("laplace3d", laplace3d<double>(24, 22, 26)),
                               {.coarse_rows = 50, .rows_worth_a_gpu = 0}},
                              {1, 2, 3, 4, 7});
    expect_as_on_cpus<double>({manufactured("laplace27", laplace27<double>(24, 22, 26)),
                               {.strength = 0.03, .coarse_rows = 50, .rows_worth_a_gpu = 0}},
                              {2, 4});
}
TEST_F(amg_on_gpus, make_the_levels_of_cpus_for_weak_couplings) {
    expect_as_on_cpus(all_on_gpus(anisotropic()), {1, 2, 3, 4, 7});
}
TEST_F(amg_on_gpus, make_the_levels_of_cpus_for_elasticity) {
    expect_as_on_cpus(all_on_gpus(elasticity<double>()), {1, 2, 3, 4, 7});
    auto without_modes = elasticity<double>();
    without_modes.near = {};
    expect_as_on_cpus(all_on_gpus(without_modes), {3});
}
/// Nodes that are coupled to other ranks' alone, so that they are in no aggregate.
TEST_F(amg_on_gpus, make_the_levels_of_cpus_for_circuits) {
    expect_as_on_cpus<double>({manufactured("circuit", circuit<double>(6000, 5, 7, 3)),
                               {.coarse_rows = 50, .rows_worth_a_gpu = 0}},
                              {1, 2, 3, 7});
}
/// Levels that stay on all ranks below the finest.
TEST_F(amg_on_gpus, make_the_levels_of_cpus_one_after_the_other) {
    expect_as_on_cpus<double>({manufactured("laplace2d", laplace2d<double>(300, 220)),
                               {.coarse_rows = 50, .rows_worth_a_gpu = 0}},
                              {1, 2, 3, 4});
    expect_as_on_cpus<double>({manufactured("laplace3d", laplace3d<double>(44, 46, 48)),
                               {.coarse_rows = 50, .rows_worth_a_gpu = 0}},
                              {2, 3});
    expect_as_on_cpus(all_on_gpus(elasticity<double>(20)), {2});
}
/// Which move to fewer ranks before the first level, so that others have none.
TEST_F(amg_on_gpus, make_levels_where_ranks_have_no_rows) {
    problem<double> p{manufactured("laplace2d", laplace2d<double>(60, 50)),
                      {.coarse_rows = 50, .rows_worth_a_gpu = 0}};
    expect_as_on_cpus(p, {7, 10});
}

TEST_F(amg_on_gpus, take_rows_of_any_length) {
    expect_as_on_cpus(star_and_grid(), {2});
    expect_as_on_cpus(all_on_gpus(star_and_grid()), {2});
}
TEST_F(amg_on_gpus, take_rows_in_any_order) {
    auto p = all_on_gpus(poisson_in_the_plane<double>());
    const auto ascending = solve_on_gpus(2, p);
    p.A = rows_reversed(std::move(p.A));
    const auto descending = solve_on_gpus(2, p);
    EXPECT_TRUE(same_bits<double>(ascending.Mb, descending.Mb));
    EXPECT_TRUE(same_bits<double>(ascending.x, descending.x));
}
TEST_F(amg_on_gpus, refuse_a_diagonal_that_is_not_positive) {
    auto p = all_on_gpus(poisson_in_the_plane<double>());
    p.options.check = false;  // whose look at the symmetry finds it, too
    for (const index row : {7000, 9000}) p.A = with_diagonal_at(std::move(p.A), row, -1.5);
    const auto thrown = thrown_on_ranks(2, [&](const communicator& ranks) {
        const thread_limit one(cpu{1});
        const gpu_rank mine(ranks, true);
        const auto slice = slice_of(ranks, view(p.A));
        (void)amg<double, gpu>(gpu(mine), slice, p.options);
    });
    for (const auto& t : thrown)
        EXPECT_NE(text_of(t).find("its diagonal is -1.5 in row 7000"), std::string::npos)
            << text_of(t);
}
/// More ranks than a level has rows for, and ranks without any.
TEST_F(amg_on_gpus, go_on_where_ranks_have_no_rows) {
    const problem<double> small{manufactured("laplace2d", laplace2d<double>(2, 2))};
    for (const int size : {1, 7}) {
        const auto got = solve_on_gpus(size, small);
        expect_solved(small, got.x, got.report, 1e-8);
    }
}

TEST_F(amg_on_gpus, have_the_same_bits_in_every_run) {
    for (const auto& p :
         {poisson_in_the_plane<double>(), elasticity<double>(),
          all_on_gpus(poisson_in_the_plane<double>()), all_on_gpus(elasticity<double>())}) {
        const auto once = solve_on_gpus(3, p), again = solve_on_gpus(3, p);
        EXPECT_TRUE(same_bits<double>(once.Mb, again.Mb)) << p.name;
        EXPECT_TRUE(same_bits<double>(once.x, again.x)) << p.name;
        EXPECT_EQ(once.report.history, again.report.history) << p.name;
    }
}

TEST_F(amg_on_gpus, of_every_cycle_are_symmetric_and_positive) {
    const auto dot = [](const auto& a, const auto& b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    const auto A = laplace3d<double>(16, 16, 16);
    for (const auto cycle : {amg_options::cycles::v, amg_options::cycles::w})
        for (const auto smoother :
             {amg_options::smoothers::chebyshev, amg_options::smoothers::l1_jacobi}) {
            const amg_options o{.cycle = cycle, .smoother = smoother, .coarse_rows = 20};
            const problem<double> s{{"x", A, random_vector<double>(4096, 1)}, o};
            const problem<double> t{{"y", A, random_vector<double>(4096, 2)}, o};
            const auto Mx = solve_on_gpus(3, s).Mb, My = solve_on_gpus(3, t).Mb;
            EXPECT_NEAR(dot(s.b, My), dot(t.b, Mx), 1e-12 * std::sqrt(dot(s.b, s.b) * dot(My, My)));
            EXPECT_GT(dot(s.b, Mx), 0);
        }
}

TEST_F(amg_on_gpus, precondition_a_solve_over_ranks) {
    const auto p = poisson_in_the_plane<double>();
    system_options o;
    o.tol = 1e-8, o.preconditioner = preconditioning::amg;
    for (const int size : {1, 3})
        on_gpus(size, [&](gpu on, const communicator& ranks) {
            auto slice = slice_of(ranks, view(p.A));
            const auto b = slice_of<double>(slice.rows, ranks.rank(), p.b);
            host_vector<double> x(b.size(), 0);
            const auto report = nz::solve<double, gpu>(on, std::move(slice), b, x, o);
            EXPECT_EQ(report.result().method, krylov_method::cg);
            EXPECT_EQ(report.result().preconditioner, preconditioning::amg);
            const auto whole = joined<double>(ranks, x);
            if (ranks.rank() == 0)
                expect_solved(p, whole, report.result().report, o.tol_of<double>());
        });
}

TEST_F(amg_on_gpus, run_over_nccl_where_ranks_have_a_gpu_each) {
    const problem<double> p{manufactured("laplace3d", laplace3d<double>(32, 32, 32))};
    solved<double> got;
    bool ran = false;
    on_ranks(gpu_count(), [&](const communicator& ranks) {
        const thread_limit one(cpu{1});
        const gpu_rank mine(ranks);
        if (mine.transport() != "NCCL") return;
        solve_on<double>(gpu(mine), ranks, p, got);
        if (ranks.rank() == 0) ran = true;
    });
    if (!ran) GTEST_SKIP() << "no NCCL here";
    expect_solved(p, got.x, got.report, 1e-8);
    const auto want = solve_on_cpus(gpu_count(), p);
    EXPECT_NEAR(double(got.report.iterations), double(want.report.iterations), 1);
}

}  // namespace
}  // namespace nz::test
