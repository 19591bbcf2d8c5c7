// nz::solve over ranks beside nz::solve of the whole matrix: what is tried, what is found, and what
// is said where nothing is.
#include <gtest/gtest.h>

#include <limits>

#include "nonzero/dist/slice.hpp"
#include "nonzero/solve/solve.hpp"
#include "test/systems.hpp"
#include "test/thread_ranks.hpp"

namespace nz::test {
namespace {

using enum krylov_method;
using enum preconditioning;

/// Outcome of a solve: the report and x, or the message of its error.
template <class V>
struct result {
    system_report report;
    host_vector<V> x;
    std::string thrown;

    /// The attempts by name, with why each ended.
    [[nodiscard]] std::vector<std::string> attempts() const {
        std::vector<std::string> all;
        for (const system_report::attempt& a : report.attempts)
            all.push_back(std::string(name_of(a.method)) + ", " +
                          std::string(name_of(a.preconditioner)) + ": " + a.report.why);
        return all;
    }
};

template <class V>
result<V> solved_alone(const linear_system<V>& s, const system_options& o) {
    result<V> all;
    all.x.assign(s.b.size(), V(0));
    try {
        all.report = nz::solve<V>(cpu{1}, view(s.A), s.b, all.x, o);
    } catch (const error& e) {
        all.thrown = e.what();
    }
    return all;
}

/// Rank 0's report and the whole x; what was thrown is the same on all ranks.
template <class V>
result<V> solved_over(int size, const linear_system<V>& s, const system_options& o) {
    result<V> all;
    const auto thrown = thrown_on_ranks(size, [&](const communicator& ranks) {
        const cpu on{.threads = 1, .ranks = &ranks};
        auto slice = slice_of(ranks, view(s.A));
        const auto b = slice_of<V>(slice.rows, ranks.rank(), s.b);
        host_vector<V> x(b.size(), V(0));
        auto report = nz::solve<V>(on, std::move(slice), b, x, o);
        auto whole = joined<V>(ranks, x);
        if (ranks.rank() == 0) all.report = std::move(report), all.x = std::move(whole);
    });
    all.thrown = text_of(thrown.front());
    for (const auto& t : thrown) EXPECT_EQ(text_of(t), all.thrown);
    return all;
}

/// A's entry in that place replaced, or added.
template <class V>
csr<V, host> with_entry(const csr<V, host>& A, index row, index col, V value) {
    host_vector<index> rows{row}, cols{col};
    host_vector<V> val{value};
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, V v) {
        if (i != row || j != col) rows.push_back(i), cols.push_back(j), val.push_back(v);
    });
    return assemble<V>(A.shape, rows, cols, val);
}

/// The matrix without what stands in a row, and, where wanted, in the column.
template <class V>
csr<V, host> without(const csr<V, host>& A, index at, bool column) {
    host_vector<index> rows, cols;
    host_vector<V> val;
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, V v) {
        if (i != at && !(column && j == at)) rows.push_back(i), cols.push_back(j), val.push_back(v);
    });
    return assemble<V>(A.shape, rows, cols, val);
}

/// A minus the sums of its rows on the diagonal: constants are in its null space.
csr<double, host> floating(csr<double, host> A) {
    for (index i = 0; i < A.shape.rows; ++i) {
        double sum = 0;
        const auto first = std::size_t(A.row_ptr[std::size_t(i)]);
        const auto last = std::size_t(A.row_ptr[std::size_t(i) + 1]);
        for (auto k = first; k < last; ++k) sum += A.val[k];
        for (auto k = first; k < last; ++k)
            if (A.col_ind[k] == i) A.val[k] -= sum;
    }
    return A;
}

template <class V>
csr<V, host> negative_of(csr<V, host> A) {
    for (V& v : A.val) v = -v;
    return A;
}

bool is_too_slow(const system_report::attempt& a) { return a.report.status == status::too_slow; }

/// Regular systems of every kind, and such as are singular with b a product of A.
template <class V>
std::vector<linear_system<V>> solvable_systems() {
    std::vector<linear_system<V>> all = definite_systems<V>();
    for (auto& s : indefinite_systems<V>()) all.push_back(std::move(s));
    for (auto& s : general_systems<V>()) all.push_back(std::move(s));
    // Which only the iterations see.
    all.push_back(manufactured("indefinite, its diagonal positive",
                               rotated(shifted(laplace2d<V>(21, 17), real<V>(1.7)))));
    all.push_back(manufactured("negative definite", negative_of(rotated(laplace2d<V>(17, 9)))));
    all.push_back({"no rows", {{0, 0}, {0}, {}, {}}, {}});
    all.push_back(manufactured("two rows", rotated(laplace2d<V>(2, 1))));
    all.push_back({"b is zero", laplace2d<V>(9, 9), host_vector<V>(81, V(0))});
    if constexpr (!is_complex<V>)
        all.push_back(manufactured("floating", floating(laplace2d<V>(13, 11))));
    return all;
}

template <class V>
class solve_over_ranks : public ::testing::Test {};
using value_types = ::testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(solve_over_ranks, value_types);

TYPED_TEST(solve_over_ranks, finds_by_the_same_attempts_what_one_process_finds) {
    using V = TypeParam;
    int pairs = 0, compared = 0;
    for (const auto& s : solvable_systems<V>()) {
        const auto alone = solved_alone(s, {});
        ASSERT_TRUE(alone.report.converged()) << s.name << alone.thrown;
        for (const int size : {2, 3, 5}) {
            SCOPED_TRACE(s.name + ", " + std::to_string(size) + " ranks");
            const auto got = solved_over(size, s, {});
            ++pairs;
            EXPECT_EQ(got.thrown, "");
            if (!got.thrown.empty()) continue;
            EXPECT_TRUE(got.report.converged()) << got.report.result().report.why;
            // A probe's factors are those of each rank's own rows, and a pace is kept by one
            // process more often: either may end otherwise.
            const auto& one = alone.report.attempts;
            if (got.report.attempts.front().report.status == one.front().report.status &&
                std::ranges::none_of(one, is_too_slow)) {
                EXPECT_EQ(got.attempts(), alone.attempts());
                ++compared;
            }
            EXPECT_EQ(got.report.negated, alone.report.negated);
            const auto r = residual_of<V>(s.A, got.x, s.b);
            EXPECT_LE(r.norm, 1.01 * solve_options::default_tol<V> * double(r.rhs) + r.rounding);
        }
    }
    EXPECT_GT(compared, pairs / 2);
}

/// By the first rank, with the same factors as one process has.
TYPED_TEST(solve_over_ranks, finds_by_the_direct_solver_what_one_process_finds) {
    using V = TypeParam;
    system_options o;
    o.method = direct;
    for (const auto& s : solvable_systems<V>()) {
        if (s.name == "floating") continue;  // singular
        const auto alone = solved_alone(s, o);
        for (const int size : {1, 2, 3, 5}) {
            SCOPED_TRACE(s.name + ", " + std::to_string(size) + " ranks");
            const auto got = solved_over(size, s, o);
            EXPECT_EQ(got.thrown, "");
            if (!got.thrown.empty()) continue;
            EXPECT_EQ(got.attempts(), alone.attempts());
            const auto& a = got.report.result();
            EXPECT_TRUE(got.report.converged()) << a.report.why;
            ASSERT_TRUE(a.forecast && a.factors);
            EXPECT_EQ(a.factors->entries, alone.report.result().factors->entries);
            EXPECT_EQ(a.forecast->is_cholesky, alone.report.result().forecast->is_cholesky);
            const auto r = residual_of<V>(s.A, got.x, s.b);
            EXPECT_LE(r.norm, 1.01 * solve_options::default_tol<V> * double(r.rhs) + r.rounding);
        }
    }
}

TEST(solve_over_ranks_of, what_the_first_rank_cannot_factorize_is_refused_by_all) {
    system_options o;
    o.method = direct, o.most_factor_bytes = 10;
    const auto s = manufactured("", convected(laplace2d<double>(13, 11)));
    for (const int size : {2, 3})
        EXPECT_NE(solved_over(size, s, o).thrown.find("of the first rank"), std::string::npos);
    o.most_factor_bytes = 2e4;  // holds A
    for (const int size : {2, 3})
        EXPECT_NE(solved_over(size, s, o).thrown.find("the factors of A would take"),
                  std::string::npos);
    o.most_factor_bytes = {};
    const auto singular = without(s.A, 100, false);
    const auto alone = solved_alone<double>({"", singular, s.b}, o);
    EXPECT_NE(alone.thrown, "");
    for (const int size : {2, 3})
        EXPECT_EQ(solved_over<double>(size, {"", singular, s.b}, o).thrown, alone.thrown);
}

TEST(solve_over_ranks_of, takes_multigrid_as_one_process_does) {
    const auto s = manufactured("laplace", laplace2d<double>(120, 100));
    const auto alone = solved_alone(s, {});
    for (const int size : {2, 4}) {
        const auto got = solved_over(size, s, {});
        EXPECT_EQ(got.report.result().preconditioner, amg);
        EXPECT_LE(got.report.result().report.iterations,
                  alone.report.result().report.iterations + 3);
    }
}

TEST(solve_over_ranks_of, saddle_points_refuses_what_needs_the_whole_matrix) {
    const auto s = manufactured("stokes", stokes2d<double>(8, 7));
    system_options o;
    o.preconditioner = saddle;
    EXPECT_NE(solved_over(2, s, o).thrown.find("saddle: not over ranks"), std::string::npos);
    o.preconditioner = {}, o.method = refine;
    EXPECT_NE(solved_over(2, s, o).thrown.find("not over ranks"), std::string::npos);
    for (const auto m : {fgmres, idrs}) {
        o.method = m;
        const auto got = solved_over(3, manufactured("laplace", laplace2d<double>(20, 17)), o);
        ASSERT_EQ(got.thrown, "");
        EXPECT_TRUE(got.report.converged()) << got.report.result().report.why;
    }
}

/// Systems that nothing solves, or that are no systems.
std::vector<linear_system<double>> unsolvable_systems() {
    const auto A = laplace2d<double>(13, 11);
    const host_vector<double> b(143, 1);
    const auto zero = assemble<double>({143, 143}, host_vector<index>{100}, host_vector<index>{100},
                                       host_vector<double>{0.0});
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinite = std::numeric_limits<double>::infinity();
    return {
        {"floating, b no product", floating(A), b},
        {"NaN on the diagonal", with_entry(A, 100, 100, nan), b},
        {"NaN beside it", with_entry(A, 100, 101, nan), b},
        {"infinite on the diagonal", with_entry(A, 100, 100, infinite), b},
        {"zero on the diagonal", with_entry(A, 100, 100, 0.0), b},
        {"negative on the diagonal", with_entry(A, 100, 100, -4.0), b},
        {"an empty row", without(A, 100, false), b},
        {"an empty row and column", without(A, 100, true), b},
        {"not symmetric across ranks", with_entry(A, 3, 140, 1.0), b},
        {"not symmetric, of a negative diagonal", negative_of(with_entry(A, 3, 140, 1.0)), b},
        {"zero", zero, b},
        {"b has a NaN", A, host_vector<double>(143, nan)},
        {"wide", random<double>(143, 150, 5, 1), b},
    };
}

TEST(solve_over_ranks_of, systems_without_a_solution_says_what_one_process_says) {
    std::vector<system_options> all(1);
    for (const auto p : {none, jacobi, block_jacobi, gauss_seidel, amg, ilu, ic, fsai})
        all.emplace_back().preconditioner = p;
    for (const auto m : {cg, minres, bicgstab, gmres}) all.emplace_back().method = m;
    for (const auto& s : unsolvable_systems())
        for (system_options o : all) {
            o.max_iter = 600;
            auto alone = solved_alone(s, o);
            std::erase_if(alone.report.attempts, is_too_slow);  // a pace that it keeps more often
            for (const int size : {2, 5}) {
                SCOPED_TRACE(s.name + ", " + std::to_string(size) + " ranks, " +
                             std::string(o.method ? name_of(*o.method) : "any") + ", " +
                             std::string(o.preconditioner ? name_of(*o.preconditioner) : "any"));
                auto got = solved_over(size, s, o);
                std::erase_if(got.report.attempts, is_too_slow);
                EXPECT_EQ(got.thrown, alone.thrown);
                if (!got.thrown.empty() || !alone.thrown.empty()) continue;
                EXPECT_EQ(got.report.converged(), alone.report.converged());
                EXPECT_EQ(got.attempts(), alone.attempts());
            }
        }
}

}  // namespace
}  // namespace nz::test
