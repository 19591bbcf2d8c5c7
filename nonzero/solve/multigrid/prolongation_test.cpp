// Prolongations: orthonormal within aggregates, exact for the candidates, smoothed as defined.
#include "nonzero/solve/multigrid/prolongation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "nonzero/gen/problems.hpp"
#include "nonzero/matrix/spgemm.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

struct elastic {
    csr<double, host> A = elasticity3d<double>(6, 5, 4, 0.3);
    candidates<double> modes = rigid_body_modes<double>(elasticity3d_nodes(6, 5, 4));
    aggregation<host> groups = aggregate(cpu{}, strong_couplings(cpu{}, view(A), 3, 0));
    tentative<double> T = tentative_prolongation(cpu{}, groups, 3, modes);
    csr<double, host> T_matrix = smoothed_prolongation(cpu{}, view(A), 3, 0, 0, groups, T.fine);
};

TEST(rigid_body_modes, are_not_felt_by_an_elastic_body) {
    // Away from the clamped face nothing resists: rows of nodes that do not touch it sum to zero.
    const elastic e;
    const index n = e.A.shape.rows;
    std::vector<double> row_size(std::size_t(n), 0);
    std::vector<double> felt(std::size_t(n) * 6, 0);
    for_each_entry(view(e.A), 0, n, [&](index i, index j, double v) {
        row_size[std::size_t(i)] += std::abs(v);
        for (std::size_t c = 0; c < 6; ++c)
            felt[std::size_t(i) * 6 + c] += v * e.modes.val[std::size_t(j) * 6 + c];
    });
    for (index i = 0; i < n; ++i) {
        if (i / 3 % 6 == 0) continue;  // a neighbour of the face x = 0
        for (std::size_t c = 0; c < 6; ++c)
            EXPECT_NEAR(felt[std::size_t(i) * 6 + c], 0, 1e-13 * row_size[std::size_t(i)] * 10);
    }
}

/// Springs between random points in the plane, which nothing holds: a stiffness matrix.
csr<double, host> springs(const std::vector<double>& xy) {
    std::vector<index> row, col;
    std::vector<double> val;
    const index nodes = index(xy.size() / 2);
    for (index a = 0; a < nodes; ++a)
        for (index b = a + 1; b < std::min(a + 4, nodes); ++b) {
            const double along[2] = {xy[std::size_t(2 * b)] - xy[std::size_t(2 * a)],
                                     xy[std::size_t(2 * b + 1)] - xy[std::size_t(2 * a + 1)]};
            for (index p = 0; p < 2; ++p)
                for (index q = 0; q < 2; ++q)
                    for (const auto& [i, j] : {std::pair{a, a}, {a, b}, {b, a}, {b, b}}) {
                        row.push_back(2 * i + p), col.push_back(2 * j + q);
                        val.push_back((i == j ? 1 : -1) * along[p] * along[q]);
                    }
        }
    return assemble<double>({2 * nodes, 2 * nodes}, row, col, val);
}

TEST(rigid_body_modes, of_the_plane_are_not_felt_by_springs) {
    const auto xy = random_vector<double>(60, 4);
    const auto K = springs({xy.begin(), xy.end()});
    const auto modes = rigid_body_modes<double>(xy, 2);
    ASSERT_EQ(modes.count, 3);
    ASSERT_EQ(modes.val.size(), 180U);
    std::vector<double> felt(180, 0);
    for_each_entry(view(K), 0, 60, [&](index i, index j, double v) {
        for (std::size_t c = 0; c < 3; ++c)
            felt[std::size_t(i) * 3 + c] += v * modes.val[std::size_t(j) * 3 + c];
    });
    for (const double f : felt) EXPECT_NEAR(f, 0, 1e-13);
}

TEST(rigid_body_modes, refuses_what_are_no_coordinates) {
    EXPECT_THROW(rigid_body_modes<double>(std::vector<double>(4)), argument_error);
    EXPECT_THROW(rigid_body_modes<double>(std::vector<double>(3), 2), argument_error);
    for (const index dimension : {-3, 0, 1, 4})
        EXPECT_THROW(rigid_body_modes<double>(std::vector<double>(12), dimension), argument_error);
    for (const double wrong :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        EXPECT_THROW(rigid_body_modes<double>(std::vector<double>{0, 0, 0, 1, wrong, 1}),
                     argument_error);
    EXPECT_TRUE(rigid_body_modes<double>(std::span<const double>{}).val.empty());
}

TEST(tentative_prolongation, has_orthonormal_columns) {
    const elastic e;
    const auto I = spgemm(cpu{}, view(transpose(view(e.T_matrix))), view(e.T_matrix));
    for_each_entry(view(I), 0, I.shape.rows, [&](index i, index j, double v) {
        EXPECT_NEAR(v, i == j, 100 * std::numeric_limits<double>::epsilon()) << i << ' ' << j;
    });
}

TEST(tentative_prolongation, gives_the_candidates_back) {
    const elastic e;
    for (std::size_t c = 0; c < 6; ++c) {
        std::vector<double> got(std::size_t(e.A.shape.rows), 0);
        for_each_entry(view(e.T_matrix), 0, e.A.shape.rows, [&](index i, index j, double v) {
            got[std::size_t(i)] += v * e.T.coarse.val[std::size_t(j) * 6 + c];
        });
        for (std::size_t i = 0; i < got.size(); ++i)
            EXPECT_NEAR(got[i], e.modes.val[i * 6 + c],
                        1e3 * std::numeric_limits<double>::epsilon());
    }
}

TEST(tentative_prolongation, leaves_zeros_where_candidates_depend) {
    const auto A = laplace2d<double>(12, 12);
    const auto groups = aggregate(cpu{}, strong_couplings(cpu{}, view(A), 1, 0));
    candidates<double> twice{2, host_vector<double>(288, 1.0)};  // the constant, twice
    const auto T = tentative_prolongation(cpu{}, groups, 1, twice);
    for (std::size_t i = 0; i < 144; ++i) {
        EXPECT_GT(T.fine.val[2 * i], 0);
        EXPECT_EQ(T.fine.val[2 * i + 1], 0);
    }
}

TEST(smoothed_prolongation, is_one_step_of_jacobi_on_the_tentative_one) {
    const elastic e;
    const double omega = 0.4;
    const auto P = smoothed_prolongation(cpu{}, view(e.A), 3, 0, omega, e.groups, e.T.fine);
    validate(view(P));
    const auto AT = spgemm(cpu{}, view(e.A), view(e.T_matrix));
    const auto d = diagonal_of(cpu{}, view(e.A));
    const auto cols = std::size_t(P.shape.cols);
    std::vector<double> want(std::size_t(P.shape.rows) * cols, 0), got = want, size = want;
    const auto at = [&](index i, index j) { return std::size_t(i) * cols + std::size_t(j); };
    for_each_entry(view(e.T_matrix), 0, P.shape.rows,
                   [&](index i, index j, double v) { want[at(i, j)] += v; });
    for_each_entry(view(AT), 0, P.shape.rows, [&](index i, index j, double v) {
        want[at(i, j)] -= omega / d[std::size_t(i)] * v;
    });
    for_each_entry(view(P), 0, P.shape.rows,
                   [&](index i, index j, double v) { got[at(i, j)] += v; });
    for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], want[k], 1e-13);
}

TEST(smoothed_prolongation, refuses_more_columns_than_can_be_numbered) {
    const auto A = laplace2d<double>(4, 4);
    const aggregation<host> many{1 << 30, host_vector<index>(16, 0)};
    const candidates<double> four{4, host_vector<double>(64, 1.0)};
    EXPECT_THROW((void)smoothed_prolongation(cpu{}, view(A), 1, 0, 0.5, many, four),
                 argument_error);
}

TEST(smoothed_prolongation, keeps_constants_where_rows_sum_to_zero) {
    // Anisotropic, so that weak couplings are dropped and lumped: inside, P still gives the
    // constant.
    auto A = laplace2d<double>(20, 20);
    const auto A_view = view(A);
    for (index i = 0; i < 400; ++i)
        for (auto k = std::size_t(A_view.row_ptr[std::size_t(i)]);
             k < std::size_t(A_view.row_ptr[std::size_t(i) + 1]); ++k)
            A.val[k] = A.col_ind[k] == i ? 2.02 : std::abs(A.col_ind[k] - i) == 1 ? -1 : -0.01;
    const auto groups = aggregate(cpu{}, strong_couplings(cpu{}, view(A), 1, 0.08));
    const auto T = tentative_prolongation(cpu{}, groups, 1, candidates<double>::constant(400));
    const auto P = smoothed_prolongation(cpu{}, view(A), 1, 0.08, 0.66, groups, T.fine);
    std::vector<double> got(400, 0);
    for_each_entry(view(P), 0, 400, [&](index i, index j, double v) {
        got[std::size_t(i)] += v * T.coarse.val[std::size_t(j)];
    });
    for (index y = 1; y < 19; ++y)
        for (index x = 1; x < 19; ++x)
            EXPECT_NEAR(got[std::size_t(y * 20 + x)], 1, 1e-13) << x << ' ' << y;
}

TEST(smoothed_prolongation, is_the_same_for_any_number_of_threads) {
    const auto A = laplace3d<double>(24, 24, 24);
    const auto make = [&](cpu on) {
        const auto groups = aggregate(on, strong_couplings(on, view(A), 1, 0.08));
        const auto T =
            tentative_prolongation(on, groups, 1, candidates<double>::constant(A.shape.rows));
        return smoothed_prolongation(on, view(A), 1, 0.08, 0.66, groups, T.fine);
    };
    const auto once = make({.threads = 1});
    for (const int threads : {2, 5}) {
        const auto again = make({.threads = threads});
        EXPECT_EQ(once.row_ptr, again.row_ptr);
        EXPECT_EQ(once.col_ind, again.col_ind);
        EXPECT_EQ(once.val, again.val);
    }
}

}  // namespace
}  // namespace nz::test
