// Incomplete factors and approximate inverses: held against their definitions, and that they help.
#include "nonzero/solve/preconditioners/incomplete.hpp"

#include <atomic>
#include <cstring>
#include <map>

#include "nonzero/core/format.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/preconditioners/fill.hpp"
#include "nonzero/solve/preconditioners/fsai.hpp"
#include "nonzero/solve/preconditioners/gauss_seidel.hpp"
#include "nonzero/solve/preconditioners/ilu_on_gpu.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

template <class T>
using incomplete = solver_test<T>;
TYPED_TEST_SUITE(incomplete, everywhere);

using all_values = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
template <class V>
class incomplete_values : public ::testing::Test {};
TYPED_TEST_SUITE(incomplete_values, all_values);

/// Some dozen operations on numbers of one size, relative.
template <class V>
constexpr double close = 100 * double(std::numeric_limits<real<V>>::epsilon());

template <class V>
double distance(const host_vector<V>& a, const host_vector<V>& b) {
    double sum = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += norm2(a[i] - b[i]), size += norm2(b[i]);
    return std::sqrt(sum / (size > 0 ? size : 1));
}

template <class V>
host_vector<V> applied(const linear_operator<V, cpu>& M, const host_vector<V>& x) {
    host_vector<V> y(x.size(), std::numeric_limits<real<V>>::quiet_NaN());
    M.apply(V(1), x, V(0), y);
    return y;
}

template <class V>
using dense = std::vector<std::vector<V>>;
template <class V>
dense<V> dense_of(const csr<V, host>& A) {
    dense<V> D(std::size_t(A.shape.rows), std::vector<V>(std::size_t(A.shape.cols), V(0)));
    for_each_entry(view(A), 0, A.shape.rows,
                   [&](index i, index j, V v) { D[std::size_t(i)][std::size_t(j)] = v; });
    return D;
}
/// Its diagonal included.
template <class V>
dense<V> dense_of(const triangle<V>& T) {
    auto D = dense_of(T.beside);
    for (std::size_t i = 0; i < D.size(); ++i)
        D[i][i] = T.inverse.empty() ? V(1) : V(1) / T.inverse[i];
    return D;
}
/// The entry of a product.
template <class V>
V entry(const dense<V>& A, const dense<V>& B, std::size_t i, std::size_t j) {
    V sum = 0;
    for (std::size_t k = 0; k < B.size(); ++k) sum += A[i][k] * B[k][j];
    return sum;
}

/// Patterns that make levels of all kinds, above the size from which threads share them.
template <class V>
std::vector<std::pair<std::string, csr<V, host>>> large_matrices() {
    std::vector<std::pair<std::string, csr<V, host>>> all;
    all.emplace_back("laplace3d", rotated(laplace3d<V>(24, 25, 23)));
    all.emplace_back("laplace2d", rotated(laplace2d<V>(130, 90)));
    all.emplace_back("circuit", rotated(circuit<V>(9000, 3, 4, 1)));
    all.emplace_back("one chain", rotated(laplace2d<V>(20000, 1)));
    return all;
}

/// Every row once, behind those that it waits for.
template <class V>
void expect_order(const csr<V, host>& A, triangle_side side, int threads, const std::string& name) {
    const level_schedule schedule(cpu{threads}, side, view(A));
    std::vector<std::atomic<int>> done(std::size_t(A.shape.rows));
    std::atomic<int> too_early = 0;
    const auto row = [&](index i) {
        for_each_entry(view(A), i, i + 1, [&](index, index j, V) {
            const bool waits = side == triangle_side::lower ? j < i : j > i;
            if (waits && done[std::size_t(j)] != 1) ++too_early;
        });
        ++done[std::size_t(i)];
    };
    schedule.run([&](int, level_schedule::chunk c) {
        if (side == triangle_side::lower)
            for (index i = c.first; i < c.last; ++i) row(i);
        else
            for (index i = c.last; i-- > c.first;) row(i);
    });
    EXPECT_EQ(too_early, 0) << name << ", " << threads << " threads";
    EXPECT_TRUE(std::ranges::all_of(done, [](const auto& d) { return d == 1; })) << name;
}

TEST(levels, run_every_row_behind_those_it_waits_for) {
    for (const auto side : {triangle_side::lower, triangle_side::upper}) {
        for (int threads = 1; threads <= 8; ++threads)
            for (const auto& [name, A] : large_matrices<double>())
                expect_order(A, side, threads, name);
        expect_order(random<double>(40000, 40000, 2, 1), side, 3, "random");
        expect_order(powerlaw<double>(20000, 4, 2.2, 1), side, 4, "powerlaw");
        for (const auto& entry : zoo<double>())
            if (entry.A.shape.rows == entry.A.shape.cols)
                expect_order(entry.A, side, 2, entry.name);
    }
}

TEST(levels, are_shared_where_that_pays) {
    const auto threads_of = [](const csr<double, host>& A) {
        return level_schedule(cpu{4}, triangle_side::lower, view(A)).threads();
    };
    EXPECT_EQ(threads_of(laplace3d<double>(40, 40, 40)), 4);
    EXPECT_EQ(threads_of(laplace2d<double>(600, 600)), 4);
    EXPECT_EQ(threads_of(laplace2d<double>(100000, 1)), 1) << "each row waits for the one before";
    EXPECT_EQ(threads_of(laplace2d<double>(30, 30)), 1) << "too small";
}

/// Against substitution, row after row.
TYPED_TEST(incomplete_values, triangles_are_solved_alike_by_any_number_of_threads) {
    using V = TypeParam;
    for (const auto& [name, A] : large_matrices<V>()) {
        factor_report report;
        const auto [L, U] = ilu_factors<V>(cpu{}, ascending(view(A)), {}, 0, report);
        const auto b = random_vector<V>(std::size_t(A.shape.rows), 3);
        for (const triangle<V>* T : {&L, &U}) {
            auto want = b;
            for (index k = 0; k < A.shape.rows; ++k) {
                const index i = T->side == triangle_side::lower ? k : A.shape.rows - 1 - k;
                V& x = want[std::size_t(i)];
                for_each_entry(view(T->beside), i, i + 1,
                               [&](index, index j, V v) { x -= product(v, want[std::size_t(j)]); });
                if (!T->inverse.empty()) x = product(T->inverse[std::size_t(i)], x);
            }
            for (int threads = 1; threads <= 8; ++threads) {
                auto x = b;
                triangular_solver<V>(cpu{threads}, *T).solve(x, x);
                EXPECT_EQ(x, want) << name << ", " << threads << " threads";
            }
        }
    }
}

/// Levels by the sum rule, as Saad has them: lev_ij = min over k of lev_ik + lev_kj + 1.
std::vector<std::vector<int>> levels_by_sums(const csr<double, host>& A) {
    constexpr int none = 1000000;
    const auto n = std::size_t(A.shape.rows);
    std::vector<std::vector<int>> level(n, std::vector<int>(n, none));
    for_each_entry(view(A), 0, A.shape.rows,
                   [&](index i, index j, double) { level[std::size_t(i)][std::size_t(j)] = 0; });
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < i; ++k)
            for (std::size_t j = k + 1; j < n; ++j)
                level[i][j] = std::min(level[i][j], level[i][k] + level[k][j] + 1);
    return level;
}

TEST(fill, is_that_of_the_sum_rule) {
    for (const auto& A : {random<double>(70, 70, 3, 1), random<double>(40, 40, 2, 5),
                          laplace2d<double>(9, 8), circuit<double>(80, 3, 2, 1)}) {
        const auto sums = levels_by_sums(A);
        for (int level = 0; level <= 4; ++level) {
            const auto F = filled(cpu{}, ascending(view(A)), level);
            for (std::size_t i = 0; i < sums.size(); ++i) {
                std::vector<index> want;
                for (std::size_t j = 0; j < sums.size(); ++j)
                    if (i == j || sums[i][j] <= level) want.push_back(index(j));
                const std::vector<index> got(F.rows.col_ind.begin() + F.ptr[i],
                                             F.rows.col_ind.begin() + F.ptr[i + 1]);
                EXPECT_EQ(got, want) << "row " << i << ", level " << level;
                EXPECT_EQ(F.rows.col_ind[std::size_t(F.diagonal[i])], index(i));
            }
        }
    }
}

TYPED_TEST(incomplete_values, ilu_with_all_fill_is_lu) {
    using V = TypeParam;
    for (const auto& A : {rotated(convected(laplace2d<V>(9, 8))), circuit<V>(80, 3, 2, 1)}) {
        factor_report report;
        const auto M = ilu(cpu{}, view(A), {.level = 100}, 0, &report);
        const auto x = random_vector<V>(std::size_t(A.shape.rows), 1);
        const auto Ax = applied(*build(find_method<V>("csr.serial"), cpu{}, view(A)), x);
        EXPECT_LE(distance(applied(*M, Ax), x), 100 * close<V>);
        EXPECT_EQ(report.shifted_pivots, 0);
        EXPECT_GT(report.fill, 1);
    }
}

TYPED_TEST(incomplete_values, ic_with_all_fill_is_cholesky) {
    using V = TypeParam;
    for (const auto& A : {rotated(laplace2d<V>(9, 8)), rotated(elasticity3d<V>(2, 2, 2, 0.3))}) {
        factor_report report;
        const auto M = ic(cpu{}, view(A), {.level = 100}, 0, &report);
        const auto x = random_vector<V>(std::size_t(A.shape.rows), 1);
        const auto Ax = applied(*build(find_method<V>("csr.serial"), cpu{}, view(A)), x);
        EXPECT_LE(distance(applied(*M, Ax), x), 100 * close<V>);
        EXPECT_EQ(report.shift, 0);
    }
}

/// (L U)_ij = a_ij wherever L or U has an entry.
template <class V>
void expect_factors(const csr<V, host>& A, const triangle<V>& L, const triangle<V>& U, double added,
                    const std::string& name) {
    // Columns of U, as maps from rows.
    std::vector<std::map<index, V>> column(std::size_t(A.shape.cols));
    const auto add = [&](index i, index j, V v) { column[std::size_t(j)][i] = v; };
    for_each_entry(view(U.beside), 0, A.shape.rows, add);
    for (index i = 0; i < A.shape.rows; ++i) add(i, i, V(1) / U.inverse[std::size_t(i)]);
    std::vector<std::map<index, V>> a(std::size_t(A.shape.rows));
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, V v) {
        a[std::size_t(i)][j] = i == j ? v * V(real<V>(1 + added)) : v;
    });
    double worst = 0;
    for (index i = 0; i < A.shape.rows; ++i) {
        std::map<index, V> row{{i, L.inverse.empty() ? V(1) : V(1) / L.inverse[std::size_t(i)]}};
        for_each_entry(view(L.beside), i, i + 1, [&](index, index j, V v) { row[j] = v; });
        const auto check = [&](index j) {
            V sum = 0;
            double size = 0;
            for (const auto& [k, l] : row)
                if (const auto u = column[std::size_t(j)].find(k);
                    u != column[std::size_t(j)].end())
                    sum += l * u->second, size += std::sqrt(norm2(l) * norm2(u->second));
            const auto at = a[std::size_t(i)].find(j);
            const V want = at == a[std::size_t(i)].end() ? V(0) : at->second;
            if (size > 0) worst = std::max(worst, std::sqrt(norm2(sum - want)) / size);
        };
        for (const auto& [j, l] : row) check(j);
        for_each_entry(view(U.beside), i, i + 1, [&](index, index j, V) { check(j); });
    }
    EXPECT_LE(worst, close<V>) << name;
}

TYPED_TEST(incomplete_values, factors_have_a_on_their_pattern) {
    using V = TypeParam;
    for (const auto& [name, A] : large_matrices<V>())
        for (const int level : {0, 1}) {
            factor_report report;
            const auto C = convected(A);
            const auto [L, U] =
                ilu_factors<V>(cpu{4}, ascending(view(C)), {.level = level}, 0, report);
            EXPECT_EQ(report.shifted_pivots, 0);
            expect_factors(C, L, U, 0, "ilu of " + name);
            const auto l = ic_factor<V>(cpu{4}, ascending(view(A)), {.level = level}, 0, report);
            const triangle<V> u{triangle_side::upper, adjoint(cpu{}, l.beside), l.inverse};
            expect_factors(A, l, u, report.shift, "ic of " + name);
        }
}

/// Whether nodes of `block` unknowns are coupled, by A's dense form; unknowns count from `first`
/// on.
template <class V>
std::vector<std::vector<bool>> coupled_nodes(const csr<V, host>& A, index block, index first) {
    const auto nodes = std::size_t((first + A.shape.rows - 1) / block + 1);
    std::vector<std::vector<bool>> coupled(nodes, std::vector<bool>(nodes, false));
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, V) {
        coupled[std::size_t((first + i) / block)][std::size_t((first + j) / block)] = true;
    });
    return coupled;
}

TYPED_TEST(incomplete_values, coupled_nodes_are_stored_whole) {
    using V = TypeParam;
    const auto A = random<V>(61, 61, 2, 3);
    const auto dense_A = dense_of(A);
    for (const index block : {2, 3, 5, 8, 64})
        for (const index first : {0, 1, 64}) {
            const auto whole = in_whole_nodes(cpu{3}, ascending(view(A)), block, first);
            const auto coupled = coupled_nodes(A, block, first);
            std::vector<std::vector<bool>> stored(61, std::vector<bool>(61, false));
            for_each_entry(whole.view(), 0, 61, [&](index i, index j, V v) {
                stored[std::size_t(i)][std::size_t(j)] = true;
                EXPECT_EQ(v, dense_A[std::size_t(i)][std::size_t(j)]);
            });
            for (index i = 0; i < 61; ++i)
                for (index j = 0; j < 61; ++j)
                    EXPECT_EQ(
                        stored[std::size_t(i)][std::size_t(j)],
                        coupled[std::size_t((first + i) / block)][std::size_t((first + j) / block)])
                        << block << ", " << first << ": " << i << ", " << j;
        }
}

/// Diffusion of `block` species on a square, each by itself, and reactions of each with the next
/// within a node; a node's unknowns follow each other.
template <class V>
csr<V, host> reacting(index points, index block, V strength) {
    const auto D = laplace2d<V>(points, points);
    const index n = D.shape.rows * block;
    std::vector<std::map<index, V>> rows(static_cast<std::size_t>(n));
    for_each_entry(view(D), 0, D.shape.rows, [&](index i, index j, V v) {
        for (index s = 0; s < block; ++s) rows[std::size_t(i * block + s)][j * block + s] = v;
    });
    for (index i = 0; i + 1 < n; ++i) {
        if ((i + 1) % block == 0) continue;
        rows[std::size_t(i)][i + 1] = strength, rows[std::size_t(i) + 1][i] = -strength;
    }
    csr<V, host> A{{n, n}, {}, {}, {}};
    host_vector<offset> ptr{0};
    for (const auto& row : rows) {
        for (const auto& [j, v] : row) A.col_ind.push_back(j), A.val.push_back(v);
        ptr.push_back(std::ssize(A.val));
    }
    A.row_ptr = offset_vector(ptr);
    return A;
}

TYPED_TEST(incomplete_values, factors_in_blocks_have_a_on_whole_nodes) {
    using V = TypeParam;
    for (const index block : {2, 3, 8})
        for (const int level : {0, 1}) {
            const incomplete_options in_blocks{.level = level, .block = block};
            const auto A = reacting<V>(7, block, V(3));
            factor_report report;
            const auto [L, U] = ilu_factors<V>(cpu{2}, ascending(view(A)), in_blocks, 0, report);
            EXPECT_EQ(report.shifted_pivots, 0);
            const std::string name = fmt::format("blocks of {}, level {}", block, level);
            expect_factors(A, L, U, 0, name);
            // A node of the grid beside the diagonal block: all its unknowns, at level 0 those of
            // A's neighbours alone.
            const auto grid = filled(cpu{}, ascending(laplace2d<V>(7, 7)), level);
            EXPECT_EQ(report.entries, grid.ptr.back() * block * block) << name;
            const auto B = elasticity3d<V>(2, 3, 2, 0.3);
            const auto l = ic_factor<V>(cpu{2}, ascending(view(B)), in_blocks, 0, report);
            const triangle<V> u{triangle_side::upper, adjoint(cpu{}, l.beside), l.inverse};
            expect_factors(B, l, u, report.shift, "ic, " + name);
        }
}

TYPED_TEST(incomplete, blocks_spare_iterations_where_unknowns_of_a_node_react) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto s = manufactured<V>("reacting", reacting<V>(40, 4, V(4)));
    const auto op = this->operator_of(s.A);
    const auto b = this->to_backend(s.b);
    const auto iterations = [&](index block) {
        const auto M =
            ilu(this->on_, view(s.A),
                {.block = block, .solves = incomplete_options::triangular_solves::exact});
        auto x = this->to_backend(host_vector<V>(s.b.size(), V(0)));
        const auto r = bicgstab<V, B>(this->on_, *op, *M, b, x, {.tol = this->tol});
        EXPECT_TRUE(r.converged) << block << ": " << r.why;
        return r.iterations;
    };
    EXPECT_LT(4 * iterations(4), 3 * iterations(1));
}

TEST(blocks, of_no_such_size_are_refused) {
    const auto A = laplace2d<double>(4, 4);
    for (const index block : {0, -1, 65}) {
        const incomplete_options o{.block = block};
        EXPECT_THROW((void)ilu(cpu{}, view(A), o), argument_error);
        EXPECT_THROW((void)ic(cpu{}, view(A), o), argument_error);
        EXPECT_THROW((void)fsai(cpu{}, view(A), o), argument_error);
        EXPECT_THROW((void)spai(cpu{}, view(A), o), argument_error);
    }
}

TYPED_TEST(incomplete_values, any_number_of_threads_gives_the_same_bits) {
    using V = TypeParam;
    for (const auto& [name, A] : large_matrices<V>()) {
        const auto x = random_vector<V>(std::size_t(A.shape.rows), 1);
        std::vector<host_vector<V>> first;
        for (const int threads : {1, 2, 3, 8}) {
            const cpu on{threads};
            std::vector<host_vector<V>> now;
            for (const int level : {0, 1}) {
                now.push_back(applied(*ilu(on, view(A), {.level = level}), x));
                now.push_back(applied(*ic(on, view(A), {.level = level}), x));
                const auto G = fsai_factor(on, ascending(view(A)), {.level = level});
                now.emplace_back(G.val.begin(), G.val.end());
                factor_report report;
                now.push_back(
                    spai_inverse(on, ascending(view(A)), {.level = level}, 0, report).val);
            }
            factor_report report;
            const auto [L, U] = ilu_factors<V>(on, ascending(view(A)), {}, 0, report);
            now.push_back(approximate_inverse(on, L).val);
            now.push_back(approximate_inverse(on, U).val);
            if (threads == 1) first = now;
            EXPECT_EQ(now, first) << name << ", " << threads << " threads";
        }
    }
}

/// Kershaw's matrix, definite, whose incomplete factor has a negative pivot: here many of them,
/// joined.
template <class V>
csr<V, host> kershaw(index copies) {
    constexpr int block[4][4] = {{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
    host_vector<index> row, col;
    host_vector<V> val;
    const auto add = [&](index i, index j, double v) {
        row.push_back(i), col.push_back(j), val.push_back(V(real<V>(v)));
    };
    for (index c = 0; c < copies; ++c) {
        for (index i = 0; i < 4; ++i)
            for (index j = 0; j < 4; ++j)
                if (block[i][j] != 0) add(4 * c + i, 4 * c + j, block[i][j]);
        if (c > 0) add(4 * c, 4 * c - 1, 0.01), add(4 * c - 1, 4 * c, 0.01);
    }
    return assemble<V>({4 * copies, 4 * copies}, row, col, val);
}

template <class V>
void expect_same(const csr<V, device>& got, const csr<V, host>& want, gpu on) {
    EXPECT_EQ(to_host<index>(on, got.col_ind), want.col_ind);
    EXPECT_EQ(to_host<V>(on, got.val), want.val);
    EXPECT_EQ(got.shape, want.shape);
}

TYPED_TEST(incomplete, factors_made_on_a_gpu_are_those_of_the_cpu) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    if constexpr (std::is_same_v<B, gpu> && is_built<B>) {
        auto matrices = large_matrices<V>();
        matrices.emplace_back("elasticity", elasticity3d<V>(9, 8, 7, 0.3));
        matrices.emplace_back("one row", laplace2d<V>(1, 1));
        for (const auto& [name, M] : matrices) {
            SCOPED_TRACE(name);
            const auto A = convected(M);
            factor_report report;
            const auto [L, U] = ilu_factors<V>(cpu{}, ascending(view(A)), {}, 0, report);
            const auto made =
                factored_on_gpu(this->on_, upload(this->on_, A),
                                std::sqrt(std::numeric_limits<real<V>>::epsilon()), A.shape.rows);
            ASSERT_TRUE(made);
            expect_same(made->lower.beside, L.beside, this->on_);
            expect_same(made->upper.beside, U.beside, this->on_);
            EXPECT_EQ(to_host<V>(this->on_, made->upper.inverse), U.inverse);
            EXPECT_EQ(made->shifted_pivots, 0);
            EXPECT_EQ(made->zero_row, -1);
            EXPECT_EQ(made->overflowing_row, -1);
            expect_same(approximate_inverse(this->on_, made->lower), approximate_inverse(cpu{}, L),
                        this->on_);
            expect_same(approximate_inverse(this->on_, made->upper), approximate_inverse(cpu{}, U),
                        this->on_);
        }
    } else if (std::is_same_v<B, gpu>) {
        GTEST_SKIP() << "built without CUDA";
    }
}

TYPED_TEST(incomplete, factoring_on_a_gpu_leaves_to_the_cpu_what_it_cannot) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    if constexpr (std::is_same_v<B, gpu> && is_built<B>) {
        const auto chain = laplace2d<V>(3000, 1);
        EXPECT_FALSE(factored_on_gpu(this->on_, upload(this->on_, chain), 1e-3, 2999));
        EXPECT_TRUE(factored_on_gpu(this->on_, upload(this->on_, chain), 1e-3, 3000));
        const auto hole = csr<V, host>{{2, 2}, {0, 2, 3}, {0, 1, 0}, {V(1), V(2), V(3)}};
        EXPECT_FALSE(factored_on_gpu(this->on_, upload(this->on_, hole), 1e-3, 2));
    } else if (std::is_same_v<B, gpu>) {
        GTEST_SKIP() << "built without CUDA";
    }
}

/// By substitution, row after row; NaNs, and numbers whose bits say "not known yet", go through.
TYPED_TEST(incomplete, exact_solves_are_those_of_the_cpu) {
    using V = typename TypeParam::V;
    const incomplete_options exact{.solves = incomplete_options::triangular_solves::exact};
    auto matrices = large_matrices<V>();
    matrices.emplace_back("27 points", laplace27<V>(12, 11, 10));
    matrices.emplace_back("elasticity", elasticity3d<V>(9, 8, 7, 0.3));
    matrices.emplace_back("one row", laplace2d<V>(1, 1));
    for (const auto& [name, M] : matrices)
        for (const int level : {0, 1}) {
            SCOPED_TRACE(name + ", level " + std::to_string(level));
            const auto A = convected(M);
            const auto here = ilu(cpu{}, view(A), {.level = level});
            auto there_options = exact;
            there_options.level = level;
            const auto there = ilu(this->on_, view(A), there_options);
            auto b = random_vector<V>(std::size_t(A.shape.rows), 3);
            const auto got = [&](const host_vector<V>& x) {
                auto y = this->to_backend(host_vector<V>(x.size(), V(7)));
                there->apply(V(1), this->to_backend(x), V(0), y);
                return this->here(y);
            };
            const auto want = applied(*here, b), first = got(b);
            EXPECT_LE(distance(first, want), close<V>);
            EXPECT_EQ(got(b), first) << "another time";
            std::memset(static_cast<void*>(&b[b.size() / 2]), 0xff, sizeof(V));
            const auto with_nan = got(b), expected = applied(*here, b);
            for (std::size_t i = 0; i < b.size(); ++i)
                EXPECT_EQ(with_nan[i] != with_nan[i], expected[i] != expected[i]) << i;
            EXPECT_EQ(got(random_vector<V>(b.size(), 3)), first) << "behind a NaN";
        }
}

TYPED_TEST(incomplete, ic_is_shifted_where_a_pivot_is_below_the_least) {
    using V = typename TypeParam::V;
    const auto line = laplace2d<V>(50, 1);  // 4 on the diagonal: the least pivot is near 3.73
    factor_report above, below;
    (void)ic(this->on_, view(line), {.least_pivot = 0.9}, 0, &above);
    (void)ic(this->on_, view(line), {.least_pivot = 0.95}, 0, &below);
    EXPECT_EQ(above.shift, 0);
    EXPECT_GT(below.shift, 0);
}

TYPED_TEST(incomplete, ic_is_shifted_until_it_exists) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto s = manufactured<V>("", rotated(kershaw<V>(200)));
    factor_report report;
    const auto M = ic(this->on_, view(s.A), {}, 0, &report);
    EXPECT_GE(report.shift, 1e-3);
    EXPECT_LE(report.shift, 1);
    EXPECT_NE(to_text(report).find("of its diagonal added"), std::string::npos);
    const auto op = this->operator_of(s.A);
    auto x = this->to_backend(host_vector<V>(s.b.size(), V(0)));
    const auto r = cg<V, B>(this->on_, *op, *M, this->to_backend(s.b), x, {.tol = this->tol});
    EXPECT_TRUE(r.converged) << r.why;
}

/// (M T)_ij is that of the identity on the pattern of T.
TYPED_TEST(incomplete_values, approximate_inverses_invert_on_the_pattern) {
    using V = TypeParam;
    const auto A = rotated(convected(circuit<V>(200, 3, 2, 1)));
    factor_report report;
    const auto [L, U] = ilu_factors<V>(cpu{}, ascending(view(A)), {.level = 1}, 0, report);
    for (const triangle<V>* T : {&L, &U}) {
        const auto M = approximate_inverse(cpu{}, *T);
        EXPECT_NO_THROW(validate(view(M)));
        EXPECT_EQ(M.val.size(), T->beside.val.size() + std::size_t(A.shape.rows));
        const auto m = dense_of(M), t = dense_of(*T);
        for_each_entry(view(M), 0, A.shape.rows, [&](index i, index j, V) {
            EXPECT_LE(std::abs(entry(m, t, std::size_t(i), std::size_t(j)) - V(real<V>(i == j))),
                      close<V>);
        });
    }
}

TYPED_TEST(incomplete_values, fsai_has_ones_on_the_diagonal_of_gag) {
    using V = TypeParam;
    for (const auto& A : {rotated(laplace2d<V>(11, 12)), rotated(elasticity3d<V>(3, 2, 2, 0.3)),
                          rotated(circuit<V>(150, 3, 2, 1)), rotated(kershaw<V>(30))})
        for (const int level : {0, 1}) {
            const auto G = fsai_factor(cpu{}, ascending(view(A)), {.level = level});
            EXPECT_NO_THROW(validate(view(G)));
            const auto g = dense_of(G), a = dense_of(A), h = dense_of(adjoint(cpu{}, G));
            dense<V> ga(g);
            for (std::size_t i = 0; i < g.size(); ++i)
                for (std::size_t j = 0; j < g.size(); ++j) ga[i][j] = entry(g, a, i, j);
            for (std::size_t i = 0; i < g.size(); ++i)
                EXPECT_LE(std::abs(entry(ga, h, i, i) - V(1)), 10 * close<V>);
            for_each_entry(view(G), 0, A.shape.rows, [&](index i, index j, V v) {
                EXPECT_LE(j, i);
                const auto at = ga[std::size_t(i)][std::size_t(j)];
                if (j == i) {
                    EXPECT_GT(std::real(v), 0);
                } else {
                    EXPECT_LE(std::abs(at), 100 * close<V>);
                }
            });
        }
}

/// A, its row `at` without entries, or without that on the diagonal.
template <class V>
csr<V, host> without(const csr<V, host>& A, index at, bool whole_row) {
    host_vector<index> row, col;
    host_vector<V> val;
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, V v) {
        if (i == at && (whole_row || j == at)) return;
        row.push_back(i), col.push_back(j), val.push_back(v);
    });
    return assemble<V>(A.shape, row, col, val);
}

/// The rest of e_i, e_i - m_i A, is orthogonal to the rows of A that m_i takes.
TYPED_TEST(incomplete_values, spai_leaves_the_least_of_the_identity) {
    using V = TypeParam;
    for (const auto& A : {rotated(convected(laplace2d<V>(11, 12))), circuit<V>(150, 3, 2, 1),
                          rotated(elasticity3d<V>(3, 2, 2, 0.3))})
        for (const int level : {0, 1}) {
            factor_report report;
            const auto M = spai_inverse(cpu{}, ascending(view(A)), {.level = level}, 0, report);
            EXPECT_NO_THROW(validate(view(M)));
            EXPECT_EQ(report.entries, std::ssize(M.val));
            const auto m = dense_of(M), a = dense_of(A);
            for (std::size_t i = 0; i < m.size(); ++i) {
                std::vector<V> left(m.size());
                double row = 0;
                for (std::size_t j = 0; j < m.size(); ++j) {
                    left[j] = V(real<V>(i == j)) - entry(m, a, i, j);
                    row += norm2(m[i][j]);
                }
                for_each_entry(view(M), index(i), index(i) + 1, [&](index, index k, V) {
                    V sum = 0;
                    double size = 0;
                    for (std::size_t j = 0; j < m.size(); ++j) {
                        const V v = a[std::size_t(k)][j];
                        sum += left[j] * conjugated(transposition::conjugate_transpose, v);
                        size += norm2(v);
                    }
                    EXPECT_LE(std::abs(sum), close<V> * (std::sqrt(size) + size * std::sqrt(row)));
                });
            }
        }
}

TYPED_TEST(incomplete_values, spai_has_the_pattern_asked_for) {
    using V = TypeParam;
    const auto A = without(convected(laplace2d<V>(6, 7)), 5, false);  // row 5 without its diagonal
    factor_report report;
    const auto M = spai_inverse(cpu{}, ascending(view(A)), {}, 0, report);
    EXPECT_EQ(M.val.size(), A.val.size() + 1);
    const auto m = dense_of(M), a = dense_of(A);
    for_each_entry(view(M), 0, 42, [&](index i, index j, V) {
        EXPECT_TRUE(i == j || a[std::size_t(i)][std::size_t(j)] != V(0));
    });
    const auto B = elasticity3d<V>(4, 4, 4, 0.3);
    for (const int level : {0, 1}) {
        const auto N =
            spai_inverse(cpu{}, ascending(view(B)), {.level = level, .longest_row = 9}, 0, report);
        for (std::size_t i = 0; i < std::size_t(B.shape.rows); ++i)
            EXPECT_EQ(N.row_ptr[i + 1] - N.row_ptr[i], 9);
    }
    // Rows that are not told apart, and sizes that squares of do not fit.
    const auto ones = csr<V, host>{{2, 2}, {0, 2, 4}, {0, 1, 0, 1}, {V(1), V(1), V(1), V(1)}};
    const auto P = spai_inverse(cpu{}, ascending(view(ones)), {}, 0, report);
    for (const V v : P.val) EXPECT_TRUE(std::isfinite(std::abs(v)));
    const auto large = real<V>(std::sqrt(std::numeric_limits<real<V>>::max()));
    const auto sizes = csr<V, host>{{2, 2}, {0, 1, 2}, {0, 1}, {V(large), V(1 / large)}};
    const auto S = spai_inverse(cpu{}, ascending(view(sizes)), {}, 0, report);
    EXPECT_NEAR(double(std::abs(S.val[0] * large)), 1, close<V>);
    EXPECT_NEAR(double(std::abs(S.val[1] / large)), 1, close<V>);
}

/// Columns of the factor by the definition, all of them dense: what is dropped, and what is kept.
template <class V>
dense<V> ict_by_definition(const csr<V, host>& A, const ilut_options& o, double shift) {
    const auto a = dense_of(A);
    const std::size_t n = a.size();
    const auto most = std::size_t(std::ceil(o.fill * double(A.val.size()) / double(n)));
    std::vector<double> root(n);
    for (std::size_t i = 0; i < n; ++i) root[i] = std::sqrt(double(std::real(a[i][i])));
    dense<V> L(n, std::vector<V>(n, V(0)));
    for (std::size_t k = 0; k < n; ++k) {
        double norm = 0, pivot = 1 + shift;
        std::vector<std::pair<index, V>> column;
        for (std::size_t i = 0; i < n; ++i) norm += norm2(a[i][k] / real<V>(root[i] * root[k]));
        for (std::size_t j = 0; j < k; ++j) pivot -= norm2(L[k][j]);
        for (std::size_t i = k + 1; i < n; ++i) {
            V v = a[i][k] / real<V>(root[i] * root[k]);
            for (std::size_t j = 0; j < k; ++j)
                v -= L[i][j] * conjugated(transposition::conjugate_transpose, L[k][j]);
            v /= real<V>(std::sqrt(pivot));
            if (std::abs(v) >= o.drop * std::sqrt(norm)) column.emplace_back(index(i), v);
        }
        std::ranges::stable_sort(column, std::greater(),
                                 [](const auto& e) { return std::abs(e.second); });
        column.resize(std::min(column.size(), most));
        for (const auto& [i, v] : column) L[std::size_t(i)][k] = v;
        L[k][k] = V(real<V>(std::sqrt(pivot)));
    }
    for (std::size_t i = 0; i < n; ++i)
        for (V& v : L[i]) v *= real<V>(root[i]);
    return L;
}

/// Values without two of one size in a column, so that rounding does not choose between them.
template <class V>
csr<V, host> of_many_sizes(csr<V, host> A) {
    for (index i = 0; i < A.shape.rows; ++i)
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k) {
            const index j = A.col_ind[k];
            const auto at = double(std::min(i, j) * 37 + std::max(i, j) * 101);
            A.val[k] *= i == j ? real<V>(1.5) : real<V>(0.75 + 0.25 * std::sin(at));
        }
    return A;
}

TYPED_TEST(incomplete_values, ict_is_that_of_the_definition) {
    using V = TypeParam;
    for (const auto& A : {of_many_sizes(rotated(laplace2d<V>(9, 8))),
                          of_many_sizes(rotated(circuit<V>(90, 3, 2, 1)))})
        for (const auto& o : {ilut_options{.drop = 0.02, .fill = 3},
                              {.drop = 0, .fill = 0.6},
                              {.drop = 0, .fill = 100},
                              {.drop = 0.5, .fill = 1}}) {
            factor_report report;
            const auto got = dense_of(ict_factor(ascending(view(A)), o, 0, report));
            EXPECT_EQ(report.shift, 0);
            const auto want = ict_by_definition(A, o, 0);
            for (std::size_t i = 0; i < got.size(); ++i)
                for (std::size_t j = 0; j <= i; ++j)
                    EXPECT_LE(std::abs(got[i][j] - want[i][j]), close<V> * std::abs(want[i][i]))
                        << i << " " << j << ", drop " << o.drop << ", fill " << o.fill;
        }
}

TYPED_TEST(incomplete, ict_is_shifted_until_it_exists) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto s = manufactured<V>("", rotated(kershaw<V>(200)));
    factor_report report;
    const auto M = ict(this->on_, ascending(view(s.A)), {.drop = 0, .fill = 0.25}, 0, &report);
    EXPECT_GE(report.shift, 1e-3);
    EXPECT_LE(report.shift, 1);
    EXPECT_NE(to_text(report).find("of its diagonal added"), std::string::npos);
    const auto op = this->operator_of(s.A);
    auto x = this->to_backend(host_vector<V>(s.b.size(), V(0)));
    const auto r = cg<V, B>(this->on_, *op, *M, this->to_backend(s.b), x, {.tol = this->tol});
    EXPECT_TRUE(r.converged) << r.why;
}

TEST(fsai_rows, are_no_longer_than_asked_for) {
    const auto A = elasticity3d<double>(4, 4, 4, 0.3);
    for (const int level : {0, 1}) {
        const auto G = fsai_factor(cpu{}, ascending(view(A)), {.level = level, .longest_row = 9});
        for (std::size_t i = 0; i < std::size_t(A.shape.rows); ++i) {
            EXPECT_LE(G.row_ptr[i + 1] - G.row_ptr[i], 9);
            EXPECT_EQ(G.col_ind[std::size_t(G.row_ptr[i + 1]) - 1], index(i));
        }
    }
}

TYPED_TEST(incomplete, each_spares_iterations_of_cg) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    for (const auto& s : definite_systems<V>()) {
        const auto op = this->operator_of(s.A);
        const auto b = this->to_backend(s.b);
        const auto iterations = [&](const linear_operator<V, B>& M, const char* what) {
            auto x = this->to_backend(host_vector<V>(s.b.size(), V(0)));
            const auto r = cg<V, B>(this->on_, *op, M, b, x, {.tol = this->tol});
            EXPECT_TRUE(r.converged) << what << " on " << s.name << ": " << r.why;
            const auto left = residual_of(s.A, this->here(x), s.b);
            EXPECT_LE(left.norm, this->tol * double(left.rhs) + left.rounding) << s.name;
            return r.iterations;
        };
        const auto by_diagonal = iterations(*jacobi(this->on_, view(s.A)), "jacobi");
        const auto A = view(s.A);
        const auto none_worse = by_diagonal + 1;
        const auto first = iterations(*ic(this->on_, A), "ic(0)");
        const auto second = iterations(*ic(this->on_, A, {.level = 2}), "ic(2)");
        const auto by_size = iterations(*ict(this->on_, ascending(A)), "ict");
        if constexpr (std::is_same_v<B, cpu>) {  // on a GPU these are applied approximately
            EXPECT_LE(by_size, first) << s.name;
            EXPECT_LE(first, none_worse) << s.name;
            EXPECT_LE(second, first + 1) << s.name;
        }
        EXPECT_LE(iterations(*fsai(this->on_, A), "fsai"), none_worse) << s.name;
        EXPECT_LE(iterations(*fsai(this->on_, A, {.level = 1}), "fsai 1"), none_worse) << s.name;
        // Of elasticity an inverse on the factor's pattern is not near enough.
        const auto approximately = iterations(
            *ic(this->on_, A, {.solves = incomplete_options::triangular_solves::approximate}),
            "ic, approximate");
        if (s.name != "elasticity3d") {
            EXPECT_LE(approximately, none_worse) << s.name;
        }
    }
}

TYPED_TEST(incomplete, ilu_spares_iterations_of_bicgstab) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    for (const auto& s : {manufactured<V>("2d", rotated(convected(laplace2d<V>(31, 17)))),
                          manufactured<V>("3d", rotated(convected(laplace3d<V>(13, 9, 11)))),
                          manufactured<V>("circuit", convected(circuit<V>(500, 3, 4, 1)))}) {
        const auto op = this->operator_of(s.A);
        const auto b = this->to_backend(s.b);
        const auto iterations = [&](const linear_operator<V, B>& M, const char* what) {
            auto x = this->to_backend(host_vector<V>(s.b.size(), V(0)));
            const auto r = bicgstab<V, B>(this->on_, *op, M, b, x, {.tol = this->tol});
            EXPECT_TRUE(r.converged) << what << " on " << s.name << ": " << r.why;
            return r.iterations;
        };
        const auto by_diagonal = iterations(*jacobi(this->on_, view(s.A)), "jacobi");
        const auto A = view(s.A);
        EXPECT_LT(iterations(*ilu(this->on_, A), "ilu(0)"), by_diagonal) << s.name;
        EXPECT_LT(iterations(*ilu(this->on_, A, {.level = 2}), "ilu(2)"), by_diagonal) << s.name;
        EXPECT_LE(iterations(*spai(this->on_, A), "spai(0)"), by_diagonal) << s.name;
        EXPECT_LT(iterations(*spai(this->on_, A, {.level = 1}), "spai(1)"), by_diagonal) << s.name;
        EXPECT_LE(iterations(*ilu(this->on_, A,
                                  {.solves = incomplete_options::triangular_solves::approximate}),
                             "ilu, approximate"),
                  by_diagonal)
            << s.name;
    }
}

/// The complaint of f; empty where it has none.
template <class F>
std::string why(F f) {
    try {
        f();
    } catch (const argument_error& e) {
        return e.what();
    }
    return "";
}
TYPED_TEST(incomplete_values, refuse_what_they_cannot_factor_and_say_where) {
    using V = TypeParam;
    const auto A = rotated(laplace2d<V>(6, 5));
    const auto expect = [](const std::string& got, const std::string& part) {
        EXPECT_NE(got.find(part), std::string::npos) << got;
    };
    const auto wide = random<V>(3, 4, 2, 1);
    expect(why([&] { (void)ilu(cpu{}, view(wide)); }), "ilu: A is 3 x 4, expected");
    expect(why([&] { (void)ic(cpu{}, view(wide)); }), "ic: A is 3 x 4");
    expect(why([&] { (void)fsai(cpu{}, view(wide)); }), "fsai: A is 3 x 4");
    expect(why([&] { (void)spai(cpu{}, view(wide)); }), "spai: A is 3 x 4, expected");
    expect(why([&] { (void)ict(cpu{}, ascending(view(wide))); }), "ict: A is 3 x 4");
    for (const int level : {-1, 101}) {
        expect(why([&] { (void)ilu(cpu{}, view(A), {.level = level}); }), "ilu: level is");
        expect(why([&] { (void)ic(cpu{}, view(A), {.level = level}); }), "ic: level is");
        expect(why([&] { (void)fsai(cpu{}, view(A), {.level = level}); }), "fsai: level is");
        expect(why([&] { (void)spai(cpu{}, view(A), {.level = level}); }), "spai: level is");
    }
    expect(why([&] { (void)ilu(cpu{}, view(A), {.least_pivot = -1}); }), "least_pivot is -1");
    expect(why([&] { (void)ic(cpu{}, view(A), {.least_pivot = 2}); }), "ic: least_pivot is 2");
    expect(why([&] { (void)fsai(cpu{}, view(A), {.longest_row = 0}); }), "longest_row is 0");
    expect(why([&] { (void)spai(cpu{}, view(A), {.longest_row = 0}); }), "longest_row is 0");
    expect(why([&] { (void)ict(cpu{}, ascending(view(A)), {.drop = -1}); }), "ict: drop is not");
    expect(why([&] { (void)ict(cpu{}, ascending(view(A)), {.fill = -1}); }), "or fill is negative");
    const auto empty_row = without(A, 7, true);
    expect(why([&] { (void)spai(cpu{}, view(empty_row), {}, 100); }), "row 107 (counted from 0)");
    expect(why([&] { (void)ict(cpu{}, ascending(view(empty_row))); }), "row ");
    expect(why([&] { (void)ilu(cpu{}, view(empty_row), {}, 100); }), "A is zero in row 107");
    expect(why([&] { (void)ic(cpu{}, view(empty_row)); }), "row ");
    expect(why([&] { (void)fsai(cpu{}, view(empty_row)); }), "row ");
    auto wrong = A;
    wrong.val[11] = std::numeric_limits<real<V>>::quiet_NaN();
    expect(why([&] { (void)ilu(cpu{}, view(wrong), {}, 100); }), "A is not finite in row 103 ");
    expect(why([&] { (void)ic(cpu{}, view(wrong)); }), "A is not finite: row ");
    expect(why([&] { (void)fsai(cpu{}, view(wrong)); }), "A is not finite: row ");
    expect(why([&] { (void)spai(cpu{}, view(wrong), {}, 100); }), "A is not finite in row 103 ");
    expect(why([&] { (void)ict(cpu{}, ascending(view(wrong))); }), "A is not finite: row ");
    const auto C = convected(A);
    expect(why([&] { (void)ict(cpu{}, ascending(view(C))); }), "ict: A is not ");
    expect(why([&] { (void)ic(cpu{}, view(C)); }), "ic: A is not ");
    expect(why([&] { (void)fsai(cpu{}, view(C)); }), "fsai: A is not ");
    // Symmetric, its diagonal positive, and far from definite.
    const auto I = csr<V, host>{{2, 2}, {0, 2, 4}, {0, 1, 0, 1}, {V(1), V(9e3), V(9e3), V(1)}};
    expect(why([&] { (void)ic(cpu{}, view(I), {}, 5); }), "ic: there is no factor");
    expect(why([&] { (void)ict(cpu{}, ascending(view(I)), {}, 5); }), "ict: there is no factor");
    expect(why([&] { (void)fsai(cpu{}, view(I), {}, 5); }), "seen in row 6 ");
    // 1 / 1e-38 times 1e38 is beyond float; 1e-300 and 1e300 beyond double.
    const auto huge = V(std::numeric_limits<real<V>>::max() / 4);
    const auto O = csr<V, host>{
        {2, 2}, {0, 2, 4}, {0, 1, 0, 1}, {V(real<V>(1e-3)), huge * real<V>(1e-6), huge, V(1)}};
    expect(why([&] { (void)ilu(cpu{}, view(O), {.least_pivot = 1e-30}); }), "overflows in row ");
    const auto none = csr<V, host>{{0, 0}, {0}, {}, {}};
    EXPECT_EQ(ilu(cpu{}, view(none))->shape(), (nz::shape{0, 0}));
    EXPECT_EQ(ic(cpu{}, view(none))->shape(), (nz::shape{0, 0}));
    EXPECT_EQ(fsai(cpu{}, view(none))->shape(), (nz::shape{0, 0}));
    EXPECT_EQ(spai(cpu{}, view(none))->shape(), (nz::shape{0, 0}));
    EXPECT_EQ(ict(cpu{}, ascending(view(none)))->shape(), (nz::shape{0, 0}));
}

/// A diagonal entry that is missing is filled in; a pivot that stays zero is shifted and told.
TYPED_TEST(incomplete_values, ilu_shifts_small_pivots_and_tells) {
    using V = TypeParam;
    factor_report report;
    const auto filled_in = without(convected(rotated(laplace2d<V>(6, 5))), 7, false);
    const auto M = ilu(cpu{}, view(filled_in), {.level = 100}, 0, &report);
    EXPECT_EQ(report.shifted_pivots, 0) << "elimination fills the entry";
    const auto x = random_vector<V>(30, 1);
    const auto Ax = applied(*build(find_method<V>("csr.serial"), cpu{}, view(filled_in)), x);
    EXPECT_LE(distance(applied(*M, Ax), x), 100 * close<V>);
    const auto first = without(laplace2d<V>(6, 5), 0, false);
    (void)ilu(cpu{}, view(first), {}, 40, &report);
    EXPECT_EQ(report.shifted_pivots, 1);
    EXPECT_EQ(report.first_shifted, 40);
    EXPECT_NE(to_text(report).find("1 pivots shifted, first in row 40"), std::string::npos);
    // Singular: the last pivot is zero but for rounding.
    const auto ones = csr<V, host>{{2, 2}, {0, 2, 4}, {0, 1, 0, 1}, {V(1), V(1), V(1), V(1)}};
    const auto N = ilu(cpu{}, view(ones), {}, 0, &report);
    EXPECT_EQ(report.first_shifted, 1);
    for (const V y : applied(*N, host_vector<V>(2, V(1)))) EXPECT_TRUE(std::isfinite(norm2(y)));
}

TYPED_TEST(incomplete, faults_are_told_on_every_backend) {
    using V = typename TypeParam::V;
    auto A = laplace3d<V>(7, 6, 5);
    factor_report report;
    // The first pivot vanishes: it is shifted, and told.
    for (offset k = A.row_ptr[0]; k < A.row_ptr[1]; ++k)
        if (A.col_ind[std::size_t(k)] == 0) A.val[std::size_t(k)] = V(0);
    (void)ilu(this->on_, view(A), {}, 100, &report);
    EXPECT_EQ(report.shifted_pivots, 1);
    EXPECT_EQ(report.first_shifted, 100);
    for (offset k = A.row_ptr[17]; k < A.row_ptr[18]; ++k) A.val[std::size_t(k)] = V(0);
    const auto expect = [&](const char* part) {
        const std::string got = why([&] { (void)ilu(this->on_, view(A)); });
        EXPECT_NE(got.find(part), std::string::npos) << got;
    };
    expect("A is zero in row 17");
    A.val[std::size_t(A.row_ptr[17])] = std::numeric_limits<real<V>>::infinity();
    expect("A is not finite in row 17");
    const auto none = csr<V, host>{{0, 0}, {0}, {}, {}};
    for (const auto how : {incomplete_options::triangular_solves::exact,
                           incomplete_options::triangular_solves::approximate})
        EXPECT_EQ(ilu(this->on_, view(none), {.solves = how})->shape(), (nz::shape{0, 0}));
}

}  // namespace
}  // namespace nz::test
