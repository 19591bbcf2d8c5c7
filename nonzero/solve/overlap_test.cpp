// Schwarz methods over ranks: the blocks and the operators against their definitions, and that they
// help.
#include "nonzero/solve/overlap.hpp"

#include <gtest/gtest.h>

#include "nonzero/dist/own_backend.hpp"
#include "nonzero/solve/preconditioners/ilu.hpp"
#include "nonzero/solve/solve.hpp"
#include "test/systems.hpp"
#include "test/thread_ranks.hpp"

namespace nz::test {
namespace {

template <class V>
using dense = std::vector<std::vector<V>>;

template <class V>
dense<V> dense_of(const csr<V, host>& A) {
    dense<V> D(std::size_t(A.shape.rows), std::vector<V>(std::size_t(A.shape.cols), V(0)));
    for_each_entry(view(A), 0, A.shape.rows,
                   [&](index i, index j, V v) { D[std::size_t(i)][std::size_t(j)] = v; });
    return D;
}

/// The rows that `overlap` steps lead to from a range, found in the whole matrix.
template <class V>
std::vector<index> rows_around(const dense<V>& A, range own, int overlap) {
    std::vector<char> is_in(A.size(), 0);
    for (auto i = own.first; i < own.last; ++i) is_in[std::size_t(i)] = 1;
    for (int step = 0; step < overlap; ++step) {
        auto next = is_in;
        for (std::size_t i = 0; i < A.size(); ++i)
            for (std::size_t j = 0; j < A.size(); ++j)
                if (is_in[i] != 0 && A[i][j] != V(0)) next[j] = 1;
        is_in = next;
    }
    std::vector<index> rows;
    for (std::size_t i = 0; i < A.size(); ++i)
        if (is_in[i] != 0) rows.push_back(index(i));
    return rows;
}

/// x = A^-1 b by elimination with pivots.
template <class V>
std::vector<V> dense_solution(dense<V> A, std::vector<V> b) {
    const std::size_t n = b.size();
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t p = k;
        for (std::size_t i = k; i < n; ++i)
            if (std::abs(A[i][k]) > std::abs(A[p][k])) p = i;
        std::swap(A[p], A[k]), std::swap(b[p], b[k]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const V f = A[i][k] / A[k][k];
            for (std::size_t j = k; j < n; ++j) A[i][j] -= f * A[k][j];
            b[i] -= f * b[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] -= A[k][j] * b[j];
        b[k] /= A[k][k];
    }
    return b;
}

/// The definition, with exact inverses of the blocks.
template <class V>
std::vector<V> schwarz_by_definition(const dense<V>& A, const shares& rows, int overlap,
                                     schwarz_sum how, std::span<const V> x) {
    std::vector<std::vector<index>> blocks;
    std::vector<double> count(x.size(), 0);
    for (int r = 0; r < rows.parts(); ++r) {
        blocks.push_back(rows_around(A, rows.of(r), overlap));
        for (const index i : blocks.back()) ++count[std::size_t(i)];
    }
    std::vector<V> y(x.size(), V(0));
    for (int r = 0; r < rows.parts(); ++r) {
        const auto& block = blocks[std::size_t(r)];
        const auto weight = [&](index i) {
            return V(how == schwarz_sum::symmetric ? 1 / std::sqrt(count[std::size_t(i)]) : 1);
        };
        dense<V> D;
        std::vector<V> b;
        for (const index i : block) {
            b.push_back(weight(i) * x[std::size_t(i)]);
            D.emplace_back();
            for (const index j : block) D.back().push_back(A[std::size_t(i)][std::size_t(j)]);
        }
        const auto z = dense_solution(D, b);
        for (std::size_t k = 0; k < block.size(); ++k) {
            const bool is_own = block[k] >= rows.of(r).first && block[k] < rows.of(r).last;
            if (how == schwarz_sum::symmetric || is_own)
                y[std::size_t(block[k])] += weight(block[k]) * z[k];
        }
    }
    return y;
}

template <class V>
std::vector<csr<V, host>> small_matrices() {
    std::vector<csr<V, host>> all;
    all.push_back(rotated(convected(laplace2d<V>(8, 9))));
    all.push_back(rotated(convected(laplace3d<V>(4, 3, 5))));
    all.push_back(rotated(convected(circuit<V>(60, 3, 2, 1))));
    all.push_back(laplace2d<V>(3, 1));
    return all;
}

template <class V>
class schwarz_values : public ::testing::Test {};
using value_types = ::testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(schwarz_values, value_types);

TYPED_TEST(schwarz_values, blocks_are_what_steps_lead_to) {
    using V = TypeParam;
    for (const auto& A : small_matrices<V>())
        for (const int size : {1, 2, 3, 5})
            for (int overlap = 0; overlap <= 3; ++overlap) {
                const auto D = dense_of(A);
                on_ranks(size, [&](const communicator& ranks) {
                    const auto slice = slice_of(ranks, view(A));
                    const range own = slice.rows.of(ranks.rank());
                    const auto block = overlapping(ranks, slice, overlap);
                    const auto want = rows_around(D, own, overlap);
                    EXPECT_TRUE(std::ranges::equal(block.rows, want));
                    EXPECT_EQ(block.before,
                              std::ranges::count_if(want, [&](index i) { return i < own.first; }));
                    EXPECT_NO_THROW(validate(view(block.A)));
                    const auto got = dense_of(block.A);
                    ASSERT_EQ(got.size(), want.size());
                    for (std::size_t i = 0; i < want.size(); ++i)
                        for (std::size_t j = 0; j < want.size(); ++j)
                            EXPECT_EQ(got[i][j], D[std::size_t(want[i])][std::size_t(want[j])]);
                });
            }
}

TYPED_TEST(schwarz_values, operators_are_those_of_the_definition) {
    using V = TypeParam;
    for (const auto& A : small_matrices<V>())
        for (const int size : {1, 2, 3, 5})
            for (const int overlap : {0, 1, 2})
                for (const auto how : {schwarz_sum::restricted, schwarz_sum::symmetric}) {
                    const auto x = random_vector<V>(std::size_t(A.shape.rows), 1);
                    on_ranks(size, [&](const communicator& ranks) {
                        const cpu on{.threads = 1, .ranks = &ranks};
                        const auto slice = slice_of(ranks, view(A));
                        const auto block = overlapping(ranks, slice, overlap);
                        auto inverse = ilu<V>(alone(on), view(block.A), {.level = 100});
                        const auto M = schwarz<V>(on, slice.rows, block, how, std::move(inverse));
                        const auto mine = slice_of<V>(slice.rows, ranks.rank(), x);
                        host_vector<V> y(mine.size()), again(mine.size());
                        M->apply(V(1), mine, V(0), y);
                        M->apply(V(1), mine, V(0), again);
                        EXPECT_EQ(y, again);
                        const auto want =
                            schwarz_by_definition<V>(dense_of(A), slice.rows, overlap, how, x);
                        const auto first = std::size_t(slice.rows.of(ranks.rank()).first);
                        for (std::size_t i = 0; i < y.size(); ++i)
                            EXPECT_LE(std::abs(y[i] - want[first + i]),
                                      1e-12 * (1 + std::abs(want[first + i])));
                    });
                }
}

struct run {
    std::int64_t iterations = 0;
    host_vector<double> x;
    std::string thrown;
};

run solved(int size, const linear_system<double>& s, krylov_method m, preconditioning p,
           int overlap) {
    run all;
    const auto thrown = thrown_on_ranks(size, [&](const communicator& ranks) {
        const cpu on{.threads = 1, .ranks = &ranks};
        auto slice = slice_of(ranks, view(s.A));
        const auto b = slice_of<double>(slice.rows, ranks.rank(), s.b);
        host_vector<double> x(b.size(), 0.0);
        system_options o;
        o.method = m, o.preconditioner = p, o.overlap = overlap;
        const auto report = nz::solve<double>(on, std::move(slice), b, x, o);
        EXPECT_TRUE(report.converged()) << report.result().report.why;
        auto whole = joined<double>(ranks, x);
        if (ranks.rank() == 0)
            all.iterations = report.result().report.iterations, all.x = std::move(whole);
    });
    all.thrown = text_of(thrown.front());
    return all;
}

TEST(schwarz_of, an_overlap_saves_iterations_and_has_the_same_bits_each_time) {
    using enum krylov_method;
    using enum preconditioning;
    const auto definite = manufactured("", laplace2d<double>(60, 60));
    const auto general = manufactured("", convected(laplace2d<double>(60, 60)));
    for (const auto& [m, p] :
         {std::pair(cg, ic), {cg, ict}, {cg, fsai}, {gmres, ilu}, {bicgstab, ilu}, {gmres, ilut}})
        for (const int size : {2, 3, 4}) {
            const auto& s = m == cg ? definite : general;
            std::vector<std::int64_t> iterations;
            for (const int overlap : {0, 1, 2}) {
                const auto first = solved(size, s, m, p, overlap);
                EXPECT_EQ(first.thrown, "");
                EXPECT_EQ(solved(size, s, m, p, overlap).x, first.x);
                iterations.push_back(first.iterations);
            }
            const auto name = std::string(name_of(m)) + ", " + std::string(name_of(p)) + ", " +
                              std::to_string(size) + " ranks: " + std::to_string(iterations[0]) +
                              " " + std::to_string(iterations[1]) + " " +
                              std::to_string(iterations[2]);
            if (std::getenv("NZ_TELL") != nullptr) std::puts(name.c_str());
            EXPECT_LE(iterations[1], iterations[0]) << name;
            EXPECT_LT(iterations[2], iterations[0]) << name;
        }
}

TEST(schwarz_of, what_does_not_suit_is_told_by_all_ranks) {
    using enum krylov_method;
    using enum preconditioning;
    auto s = manufactured("", convected(laplace2d<double>(12, 12)));
    EXPECT_EQ(solved(3, s, gmres, ilu, 11).thrown, "solve: overlap is 11, expected 0 to 10");
    EXPECT_EQ(solved(3, s, gmres, ilu, -1).thrown, "solve: overlap is -1, expected 0 to 10");
    s.A.val[std::size_t(s.A.row_ptr[100])] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(solved(3, s, gmres, ilu, 1).thrown,
              "solve: A is not finite in row 100 (counted from 0)");
}

}  // namespace
}  // namespace nz::test
