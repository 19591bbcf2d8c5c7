// Out of memory: the first, the second, ... request of every public call fails. What arrives is
// std::bad_alloc or an nz::error, nothing is leaked, and afterwards the call succeeds.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <functional>
#include <new>
#include <set>

#include "nonzero/formats/oracle.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/graph/metis.hpp"
#include "nonzero/graph/orders.hpp"
#include "nonzero/graph/pagerank.hpp"
#include "nonzero/graph/partition.hpp"
#include "nonzero/graph/reorder.hpp"
#include "nonzero/io/matrix_market/matrix_market.hpp"
#include "nonzero/io/npz.hpp"
#include "nonzero/io/picture.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/matrix/transpose.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/direct/factorization.hpp"
#include "nonzero/solve/direct/sparse_factors.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/krylov/idrs.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/preconditioners/fsai.hpp"
#include "nonzero/solve/preconditioners/gauss_seidel.hpp"
#include "nonzero/solve/preconditioners/ic.hpp"
#include "nonzero/solve/preconditioners/ict.hpp"
#include "nonzero/solve/preconditioners/ilu.hpp"
#include "nonzero/solve/preconditioners/ilut.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "nonzero/solve/preconditioners/matched_diagonal.hpp"
#include "nonzero/solve/preconditioners/mixed_precision.hpp"
#include "nonzero/solve/preconditioners/spai.hpp"
#include "nonzero/solve/saddle/saddle.hpp"
#include "nonzero/solve/solve.hpp"
#include "test/files.hpp"
#include "test/systems.hpp"
#include "test/watched_memory.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

constexpr int threads = 2;
const cpu on{threads};

/// The fault of a call that ran out of memory; empty where there is nothing to object to.
std::string fault_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const std::bad_alloc&) {
        return {};
    } catch (const error&) {
        return {};
    } catch (const std::exception& e) {
        return std::string("it threw what is neither std::bad_alloc nor an nz::error: ") + e.what();
    }
    return {};
}

/// Runs the call with its n-th request for memory failing, for every n that it has.
void survive(const std::string& name, const std::function<void()>& call) {
    SCOPED_TRACE(name);
    omp_set_num_threads(threads);
    call(), call();  // what is kept from call to call is there now
    for (const failing how : {failing::once, failing::from_then_on}) {
        std::int64_t n = 1;
        for (bool failed = true; failed; ++n) {
            const std::int64_t before = pieces_held();
            fail_memory(n, how);
            std::string fault = fault_of(call);
            failed = restore_memory();
            ASSERT_EQ(fault, "") << "request " << n;
            if (pieces_held() > before) {  // or a cache has been filled, which happens once
                const std::int64_t now = pieces_held();
                fail_memory(n, how);
                (void)fault_of(call);
                (void)restore_memory();
                ASSERT_EQ(pieces_held(), now) << "pieces of memory, after request " << n;
            }
            fault.clear();
        }
        EXPECT_GT(n, 2) << "it asks for no memory: nothing was tested";
        call();
    }
}

/// The matrices of the zoo that make layouts ask for different memory; rows that are cut into
/// segments; and many more columns than entries. Few distinct values, each of which is a request,
/// but for the first.
template <class V>
std::vector<zoo_entry<V>> matrices() {
    std::vector<zoo_entry<V>> few;
    for (auto& m : zoo<V>())
        for (const std::string_view name :
             {"empty 0x0", "no entries 7x5", "arrow", "five-point 12x12", "3x3 blocks",
              "64-bit row pointers"})
            if (m.name == name) few.push_back(std::move(m));
    few.push_back({"long rows", "", from_lengths<V>({600, 3, 0, 599}, 700)});
    few.push_back({"wide", "", from_lengths<V>({3, 0, 90, 1}, 3000)});
    for (auto& m : few)
        for (std::size_t k = 0; k < m.A.val.size() && m.name != "arrow"; ++k)
            m.A.val[k] = V(real<V>(1 + k % 5));
    return few;
}

template <class V>
void multiply(const linear_operator<V, cpu>& A) {
    const auto [rows, cols] = A.shape();
    const host_vector<V> x(std::size_t(cols), V(1)), xt(std::size_t(rows), V(1));
    host_vector<V> y(xt.size(), V(1)), yt(x.size(), V(1));
    A.apply(V(1), x, V(0), y);
    A.apply_transposed(transposition::conjugate_transpose, V(1), xt, V(1), yt);
}

template <class V>
class every_value : public ::testing::Test {};
using values = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(every_value, values);

TYPED_TEST(every_value, plans_and_builds) {
    using V = TypeParam;
    for (const auto& m : matrices<V>()) {
        SCOPED_TRACE(m.name);
        survive("plan, build, multiply",
                [&] { multiply(*build(make_plan(m.A, on, {.transposed = true}), m.A)); });
        survive("update_values", [&] {
            const auto p = make_plan(m.A, on);
            auto op = build(p, m.A);
            update_values(op, p, view(m.A));
        });
    }
}

TYPED_TEST(every_value, builds_by_every_method) {
    using V = TypeParam;
    for (const auto& m : matrices<V>())
        for (const method<V>& by : methods<V>()) {
            if (by.on_cpu == nullptr) continue;
            SCOPED_TRACE(m.name);
            try {
                (void)build(by, on, view(m.A));
            } catch (const argument_error&) {
                continue;  // it declines
            }
            survive(std::string(by.name), [&] { multiply(*build(by, on, view(m.A))); });
        }
}

TYPED_TEST(every_value, makes_matrices) {
    using V = TypeParam;
    const auto A = from_lengths<V>({40, 1, 0, 33, 90}, 100);
    csr<V, host> mixed = A;  // rows to sort, short and long
    std::reverse(mixed.col_ind.begin(), mixed.col_ind.begin() + 40);
    std::reverse(mixed.col_ind.begin() + 41, mixed.col_ind.begin() + 74);
    survive("canonical", [&] { (void)canonical(view(mixed)); });
    survive("transpose", [&] { (void)transpose(view(A)); });
    survive("assemble", [&] {
        std::vector<index> row, col;
        for (index k = 0; k < 200; ++k) row.push_back(k % 3), col.push_back(k * 7 % 50);
        (void)assemble<V>({3, 50}, row, col, host_vector<V>(row.size(), V(1)));
    });
    survive("generators", [] {
        (void)laplace2d<V>(5, 4), (void)laplace27<V>(3, 3, 3), (void)random<V>(20, 30, 4, 1);
        (void)elasticity3d<V>(2, 2, 2, 0.3), (void)powerlaw<V>(50, 3, 2.5, 1);
        (void)rmat<V>(5, 3, 0.5, 0.2, 0.2, 1), (void)circuit<V>(60, 2, 3, 1);
        (void)banded<V>(20, 3, 0.5, 1), (void)blocks<V>(6, 3, 2, 1);
    });
}

TYPED_TEST(every_value, reads_and_writes) {
    using V = TypeParam;
    const scratch_folder folder;
    const auto A = from_lengths<V>({3, 0, 90, 1}, 100);
    for (const std::string name : {"a.mtx", "a.mtx.gz", "a.npz"}) {
        const std::string path = folder.file(name);
        survive("write " + name, [&] { write(path, view(A)); });
        const std::size_t files = folder.files();
        survive("read " + name, [&] { (void)read<V>(path, {.threads = threads}); });
        survive("inspect " + name, [&] { (void)inspect(path); });
        EXPECT_EQ(folder.files(), files) << "a file that failed is left";
    }
    const host_vector<V> x(100, V(2));
    survive("write a vector", [&] { write_vector<V>(folder.file("x.mtx"), x); });
    survive("read a vector", [&] { (void)read_vector<V>(folder.file("x.mtx")); });
    survive("picture", [&] { write_png(folder.file("a.png"), spy(view(A), 20, 10)); });
}

TEST(memory, gives_out_while_a_plan_is_tuned) {
    const auto A = laplace2d<double>(6, 5);
    survive("tuned plan", [&] {
        (void)build(make_plan(A, on,
                              {.tune = true,
                               .cache = false,
                               .methods = {"csr.static", "ell.row"},
                               .tune_s = 1e-9}),
                    A);
    });
}

struct solved {
    csr<double, host> A = laplace2d<double>(12, 11);
    std::unique_ptr<linear_operator<double, cpu>> op = build(make_plan(A, on), A);
    host_vector<double> b = host_vector<double>(std::size_t(A.shape.rows), 1.0);
};

TEST(memory, gives_out_in_solvers) {
    const solved s;
    const solve_options few{.max_iter = 8};
    survive("cg", [&] {
        host_vector<double> x(s.b.size(), 0.0);
        (void)cg<double, cpu>(on, *s.op, *jacobi(on, view(s.A)), s.b, x, few);
    });
    survive("bicgstab", [&] {
        host_vector<double> x(s.b.size(), 0.0);
        (void)bicgstab<double, cpu>(on, *s.op, *block_jacobi(on, view(s.A), 4), s.b, x, few);
    });
    survive("gmres", [&] {
        host_vector<double> x(s.b.size(), 0.0);
        gmres_options o;
        o.max_iter = 8, o.restart = 4;
        (void)gmres<double, cpu>(on, *s.op, *gauss_seidel(on, view(s.A)), s.b, x, o);
    });
    survive("ilu", [&] {
        host_vector<double> x(s.b.size(), 0.0);
        (void)bicgstab<double, cpu>(on, *s.op, *ilu(on, view(s.A), {.level = 1}), s.b, x, few);
    });
    survive("ic", [&] {
        host_vector<double> x(s.b.size(), 0.0);
        (void)cg<double, cpu>(on, *s.op, *ic(on, view(s.A), {.level = 1}), s.b, x, few);
    });
    survive("fsai", [&] {
        host_vector<double> x(s.b.size(), 0.0);
        (void)cg<double, cpu>(on, *s.op, *fsai(on, view(s.A), {.level = 1}), s.b, x, few);
    });
    survive("fgmres", [&] {
        host_vector<double> x(s.b.size(), 0.0);
        gmres_options o;
        o.max_iter = 8, o.restart = 4, o.flexible = true;
        (void)gmres<double, cpu>(on, *s.op, *jacobi(on, view(s.A)), s.b, x, o);
    });
    survive("idrs", [&] {
        host_vector<double> x(s.b.size(), 0.0);
        (void)idrs<double, cpu>(on, *s.op, *jacobi(on, view(s.A)), s.b, x, few);
    });
    survive("saddle", [&] {
        const auto K = mixed2d<double>(4, 3);
        (void)saddle<double, cpu>(on, ascending(view(K)), saddle_form::triangular);
    });
    survive("spai", [&] {
        host_vector<double> x(s.b.size(), 0.0);
        (void)bicgstab<double, cpu>(on, *s.op, *spai(on, view(s.A), {.level = 1}), s.b, x, few);
    });
    survive("ict", [&] {
        host_vector<double> x(s.b.size(), 0.0);
        (void)cg<double, cpu>(on, *s.op, *ict(on, ascending(view(s.A))), s.b, x, few);
    });
    survive("why_not_definite", [&] {
        auto B = s.A;
        B.val[1] = 7;
        if (why_not_definite(view(B)).empty()) throw std::logic_error("7 is not seen");
    });
    survive("rounded_to_single", [&] { (void)rounded_to_single(on, view(s.A)); });
}

/// Requests of nonzero itself: those of Eigen and of C libraries, by malloc, do not fail here.
TEST(memory, gives_out_in_direct_solvers) {
    using enum factor_forecast::libraries;
    const auto definite = laplace2d<double>(9, 8), general = convected(definite);
    const auto indefinite = shifted(definite, 1.7);  // LU after a Cholesky factorization failed
    const host_vector<double> b(72, 1.0);
    for (const auto* A : {&definite, &general, &indefinite})
        for (const auto by : {eigen, cholmod, umfpack, pardiso, klu}) {
            if (!why_no(by).empty() || (by == cholmod && A != &definite)) continue;
            survive("factorization by " + std::string(name_of(by)), [&] {
                host_vector<double> x(b.size(), 0.0);
                (void)factorization(view(*A), 0, by).solve(b, x);
            });
        }
    survive("nz::solve by direct", [&] {
        host_vector<double> x(b.size(), 0.0);
        system_options o;
        o.method = krylov_method::direct;
        (void)nz::solve<double>(on, view(general), b, x, o);
    });
}

TEST(memory, gives_out_in_preconditioners_behind_a_matching) {
    const auto A = convected(laplace2d<double>(9, 8));
    const auto op = build(make_plan(A, on), A);
    const host_vector<double> b(72, 1.0);
    const auto solve_with = [&](const std::unique_ptr<linear_operator<double, cpu>>& M) {
        host_vector<double> x(b.size(), 0.0);
        gmres_options o;
        o.max_iter = 4;
        (void)gmres<double, cpu>(on, *op, *M, b, x, o);
    };
    survive("ilut", [&] { solve_with(ilut(on, ascending(view(A)))); });
    survive("matching", [&] { solve_with(matched_diagonal(on, ascending(view(A)))); });
}

TEST(memory, gives_out_in_multigrid) {
    const auto A = laplace2d<double>(12, 11);
    for (const int distance : {1, 2})
        survive("amg", [&] {
            const amg<double, cpu> M(A, on, {.aggregation_distance = distance, .coarse_rows = 5});
            host_vector<double> b(std::size_t(A.shape.rows), 1.0), x(b.size());
            M.apply(1, b, 0, x);
        });
    const auto E = elasticity3d<double>(2, 2, 2, 0.3);
    const auto modes = rigid_body_modes<double>(elasticity3d_nodes(2, 2, 2));
    survive("amg of blocks",
            [&] { const amg<double, cpu> M(E, on, {.block = 3, .coarse_rows = 6}, modes); });
}

TEST(memory, gives_out_in_searches_of_eigenvalues_and_graphs) {
    const auto A = laplace2d<double>(7, 6);
    survive("eigs", [&] {
        const auto op = build(make_plan(A, on), A);
        (void)eigs<double, cpu>(on, *op, {.count = 2, .max_products = 20});
    });
    survive("pagerank", [&] {
        (void)pagerank<double>(on, view(A), pagerank_options::links::row_links_to_column);
    });
    survive("bisection", [&] { (void)bisect(on, adjacency_of(view(A)), {.max_products = 20}); });
    survive("reverse Cuthill-McKee", [&] {
        const auto order = reverse_cuthill_mckee(adjacency_of(view(A)));
        (void)reordered(view(A), order);
    });
    if (!why_no_metis().empty()) return;
    survive("METIS", [&] { (void)metis_order(adjacency_of(view(A)), 3); });
}

/// The plan for A with the methods that take most memory first.
template <class V>
plan<V, cpu> largest_first(const csr<V, host>& A) {
    auto p = make_plan(A, on, {.methods = {"ell.row", "coo.segmented", "csr.static"}});
    std::sort(p.candidates.begin(), p.candidates.end(),
              [](const auto& a, const auto& b) { return a.matrix_bytes > b.matrix_bytes; });
    return p;
}

TEST(memory, gives_out_and_the_next_smaller_method_is_built) {
    const auto A = laplace2d<double>(12, 11);
    const auto p = largest_first(A);
    ASSERT_GT(p.candidates[0].matrix_bytes, p.candidates[1].matrix_bytes);
    ASSERT_GT(p.candidates[1].matrix_bytes, p.candidates[2].matrix_bytes);
    const host_vector<double> x(std::size_t(A.shape.cols), 1.0);
    host_vector<double> want(std::size_t(A.shape.rows)), y(want.size());
    build(p, A)->apply(1, x, 0, want);
    std::set<std::string> built;
    bool failed = true;
    for (std::int64_t n = 1; failed; ++n) {
        fail_memory(n, failing::once);
        const auto op = build(p, A);
        failed = restore_memory();
        EXPECT_EQ(op->method_name() == p.chosen().method, !failed) << "request " << n;
        built.insert(std::string(op->method_name()));
        op->apply(1, x, 0, y);
        EXPECT_EQ(y, want);
    }
    EXPECT_EQ(built, (std::set<std::string>{p.candidates[0].method, p.candidates[1].method}));
}

TEST(memory, gives_out_for_all_methods_and_the_last_failure_is_thrown) {
    const auto A = laplace2d<double>(12, 11);
    const auto p = largest_first(A);
    fail_memory(1, failing::from_then_on);
    const auto attempt = [&] { (void)build(p, A); };
    bool thrown = false;
    try {
        attempt();
    } catch (const std::bad_alloc&) {
        thrown = true;
    }
    restore_memory();
    EXPECT_TRUE(thrown);
}

}  // namespace
}  // namespace nz::test
