#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/gen/problems.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstring>
#include <map>

#include "nonzero/matrix/transpose.hpp"

namespace nz {
namespace {

/// Small parameters for every generator of the table.
std::vector<double> small(const generator<double>& g) {
    static const std::map<std::string, double> values{
        {"n", 3000},    {"nx", 7},      {"ny", 6},         {"nz", 5},
        {"rows", 2000}, {"cols", 3000}, {"side", 3},       {"scale", 9},
        {"per_row", 9}, {"mean", 12.5}, {"half_width", 4}, {"fill", 0.7},
    };
    std::vector<double> p;
    for (const parameter& q : g.parameters)
        p.push_back(values.contains(q.name) ? values.at(q.name) : q.value);
    return p;
}

template <class V>
bool same_bits(const csr<V, host>& A, const csr<V, host>& B) {
    return A.shape == B.shape && A.row_ptr == B.row_ptr && A.col_ind == B.col_ind &&
           A.val.size() == B.val.size() &&
           std::memcmp(A.val.data(), B.val.data(), A.val.size() * sizeof(V)) == 0;
}

std::vector<std::vector<double>> dense(const csr<double, host>& A) {
    std::vector<std::vector<double>> d(std::size_t(A.shape.rows),
                                       std::vector<double>(std::size_t(A.shape.cols), 0.0));
    for_each_entry(view(A), 0, A.shape.rows,
                   [&](index i, index j, double v) { d[std::size_t(i)][std::size_t(j)] = v; });
    return d;
}

/// By Cholesky: every pivot is positive.
bool is_positive_definite(std::vector<std::vector<double>> L) {
    for (std::size_t k = 0; k < L.size(); ++k) {
        if (!(L[k][k] > 0)) return false;
        const double pivot = std::sqrt(L[k][k]);
        for (std::size_t i = k; i < L.size(); ++i) L[i][k] /= pivot;
        for (std::size_t j = k + 1; j < L.size(); ++j)
            for (std::size_t i = j; i < L.size(); ++i) L[i][j] -= L[i][k] * L[j][k];
    }
    return true;
}

class with_threads {
  public:
    explicit with_threads(int n) : before_(omp_get_max_threads()) { omp_set_num_threads(n); }
    ~with_threads() { omp_set_num_threads(before_); }
    with_threads(const with_threads&) = delete;
    with_threads& operator=(const with_threads&) = delete;

  private:
    int before_;
};

template <class V>
csr<V, host> generate_with(int threads, const char* name, const std::vector<double>& p,
                           std::uint64_t seed) {
    const with_threads guard(threads);
    return generate<V>(name, p, seed);
}

TEST(generators, are_named_uniquely_in_order_and_explained) {
    const auto& all = generators<double>();
    for (std::size_t k = 0; k < all.size(); ++k) {
        EXPECT_STRNE(all[k].what, "");
        if (k > 0) {
            EXPECT_LT(std::string(all[k - 1].name), all[k].name);
        }
    }
}

TEST(generators, give_canonical_csr_and_the_same_bits_for_any_number_of_threads) {
    for (const auto& g : generators<double>()) {
        SCOPED_TRACE(g.name);
        const auto p = small(g);
        const auto A = generate_with<double>(1, g.name, p, 5);
        EXPECT_GT(A.val.size(), 100U);
        EXPECT_NO_THROW(validate(view(A)));
        EXPECT_TRUE(same_bits(A, generate_with<double>(3, g.name, p, 5)));
        EXPECT_NE(g.seeded, same_bits(A, generate_with<double>(2, g.name, p, 6)));
    }
}

TEST(generators, give_every_value_type) {
    for (const auto& g : generators<double>()) {
        SCOPED_TRACE(g.name);
        const auto p = small(g);
        const auto A = generate<double>(g.name, p, 5);
        const auto F = generate<float>(g.name, p, 5);
        const auto C = generate<std::complex<double>>(g.name, p, 5);
        EXPECT_EQ(A.col_ind, F.col_ind);
        EXPECT_EQ(A.col_ind, C.col_ind);
        EXPECT_NO_THROW(validate(view(generate<std::complex<float>>(g.name, p, 5))));
        for (std::size_t k = 0; k < A.val.size(); ++k) {
            ASSERT_EQ(float(A.val[k]), F.val[k]);
            ASSERT_EQ(A.val[k], C.val[k].real());
        }
    }
}

TEST(generators, defaults_are_accepted) {
    for (const auto& g : generators<float>()) {
        std::vector<double> p;
        for (const parameter& q : g.parameters) p.push_back(q.value);
        EXPECT_GT(generate<float>(g.name, p).val.size(), 100000U) << g.name;
    }
}

TEST(generate, refuses_what_is_out_of_range) {
    using list = std::vector<double>;
    EXPECT_THROW(generate<double>("laplace", list{1, 2}), argument_error);
    EXPECT_THROW(generate<double>("laplace2d", list{1}), argument_error);
    EXPECT_THROW(generate<double>("laplace2d", list{1.5, 2}), argument_error);
    EXPECT_THROW(generate<double>("laplace2d", list{1e10, 2}), argument_error);
    EXPECT_THROW(generate<double>("laplace2d", list{NAN, 2}), argument_error);
    EXPECT_THROW(laplace2d<double>(0, 4), argument_error);
    EXPECT_THROW(laplace2d<double>(65536, 65536), argument_error);
    EXPECT_THROW(laplace3d<double>(2000, 2000, 2000), argument_error);
    EXPECT_THROW(laplace27<double>(3, -1, 3), argument_error);
    EXPECT_THROW(elasticity3d<double>(1000, 1000, 1000, 0.3), argument_error);
    EXPECT_THROW(elasticity3d<double>(2, 0, 2, 0.3), argument_error);
    EXPECT_THROW(elasticity3d<double>(2, 2147483647, 2, 0.3), argument_error);
    EXPECT_THROW(elasticity3d<double>(2, 2, 2, 0.5), argument_error);
    EXPECT_THROW(banded<double>(5, -1, 1, 0), argument_error);
    EXPECT_THROW(banded<double>(5, 1, NAN, 0), argument_error);
    EXPECT_THROW(random<double>(5, 5, 6, 0), argument_error);
    EXPECT_THROW(powerlaw<double>(5, 2, 2, 0), argument_error);
    EXPECT_THROW(rmat<double>(31, 1, 0.25, 0.25, 0.25, 0), argument_error);
    EXPECT_THROW(rmat<double>(3, 1, 0.5, 0.5, 0.5, 0), argument_error);
    EXPECT_THROW(circuit<double>(5, 1, 5, 0), argument_error);
    EXPECT_THROW(blocks<double>(65536, 65536, 1, 0), argument_error);
}

TEST(generate, refuses_what_memory_cannot_hold) {
    EXPECT_THROW(banded<double>(2147483647, 2147483647, 1, 0), device_error);
    EXPECT_THROW(random<double>(1000000, 2147483647, 2147483647, 0), device_error);
    EXPECT_THROW(circuit<double>(2147483647, 1000, 0, 0), device_error);
    EXPECT_THROW(rmat<double>(30, 2147483647, 0.25, 0.25, 0.25, 0), device_error);
}

TEST(laplace2d, is_the_five_point_stencil) {
    const std::vector<std::vector<double>> want{{4, -1, 0, -1, 0, 0},  {-1, 4, -1, 0, -1, 0},
                                                {0, -1, 4, 0, 0, -1},  {-1, 0, 0, 4, -1, 0},
                                                {0, -1, 0, -1, 4, -1}, {0, 0, -1, 0, -1, 4}};
    EXPECT_EQ(dense(laplace2d<double>(3, 2)), want);
}

TEST(laplace3d, is_the_sum_of_three_second_differences) {
    const index x = 3, y = 4, z = 2;
    const auto d = dense(laplace3d<double>(x, y, z));
    for (index i = 0; i < x * y * z; ++i)
        for (index j = 0; j < x * y * z; ++j) {
            const int away = std::abs(i % x - j % x) + std::abs(i / x % y - j / x % y) +
                             std::abs(i / x / y - j / x / y);
            EXPECT_EQ(d[std::size_t(i)][std::size_t(j)], away == 0 ? 6 : away == 1 ? -1 : 0);
        }
}

TEST(laplace27, reaches_across_corners) {
    const index x = 3, y = 4, z = 3;
    const auto d = dense(laplace27<double>(x, y, z));
    for (index i = 0; i < x * y * z; ++i)
        for (index j = 0; j < x * y * z; ++j) {
            const int away = std::max({std::abs(i % x - j % x), std::abs(i / x % y - j / x % y),
                                       std::abs(i / x / y - j / x / y)});
            EXPECT_EQ(d[std::size_t(i)][std::size_t(j)], away == 0 ? 26 : away == 1 ? -1 : 0);
        }
    EXPECT_EQ(std::count(d[16].begin(), d[16].end(), -1.0), 26);  // (1, 1, 1) is inside
}

TEST(elasticity3d, is_symmetric_to_the_last_bit_and_positive_definite) {
    const auto A = elasticity3d<double>(3, 2, 2, 0.3);
    EXPECT_EQ(A.shape, (shape{81, 81}));
    EXPECT_TRUE(same_bits(A, transpose(view(A))));
    EXPECT_TRUE(is_positive_definite(dense(A)));
}

/// The error of a sum of 81 products whose factors are rounded themselves, relative to the sum of
/// their sizes: at most 100 roundings on the way to each (Higham 2002, section 3.1).
constexpr double rounding = 100 * std::numeric_limits<double>::epsilon();

/// Away from the clamped face, moving the whole body costs nothing, and neither does turning it:
/// the strain of u = (-y, x, 0) is zero.
TEST(elasticity3d, gives_no_force_for_a_rigid_motion) {
    const index nx = 4, ny = 3, nz = 2;
    const auto A = elasticity3d<double>(nx, ny, nz, 0.25);
    for (index i = 0; i < A.shape.rows; ++i) {
        if (i / 3 % nx == 0) continue;  // these nodes touch the clamped ones
        double moved[3] = {}, turned = 0, size = 0;
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k) {
            const index node = A.col_ind[k] / 3, unknown = A.col_ind[k] % 3;
            const double x = node % nx + 1, y = node / nx % (ny + 1);
            const double rotation[3] = {-y, x, 0};
            moved[unknown] += A.val[k];
            turned += A.val[k] * rotation[unknown];
            size += std::abs(A.val[k]) * (nx + ny);
        }
        for (const double force : moved) EXPECT_LE(std::abs(force), rounding * size);
        EXPECT_LE(std::abs(turned), rounding * size);
    }
}

/// A bar pulled along x, free to shrink across: u = x, v = -nu y, w = -nu z has stress 1 along x
/// and none other, so the forces are on the far face and are its area shared among its nodes.
TEST(elasticity3d, pulls_a_bar_as_hooke_says) {
    const index nx = 3, ny = 1, nz = 1;
    const double nu = 0.3;
    const auto A = elasticity3d<double>(nx, ny, nz, nu);
    for (index i = 0; i < A.shape.rows; ++i) {
        const index node = i / 3;
        if (node % nx == 0) continue;
        double force = 0, size = 0;
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k) {
            const index other = A.col_ind[k] / 3;
            const double u[3] = {double(other % nx + 1), -nu * (other / nx % 2),
                                 -nu * (other / nx / 2)};
            force += A.val[k] * u[A.col_ind[k] % 3];
            size += std::abs(A.val[k] * u[A.col_ind[k] % 3]);
        }
        const bool far = node % nx == nx - 1;
        EXPECT_NEAR(force, far && i % 3 == 0 ? 0.25 : 0, rounding * size) << i;
    }
}

TEST(banded, fills_its_band) {
    const auto A = banded<double>(50, 3, 1, 1);
    EXPECT_EQ(A.val.size(), 50U * 7 - 2 * (3 + 2 + 1));
    const auto B = banded<double>(50, 3, 0, 1);
    EXPECT_EQ(B.val.size(), 50U);
    for_each_entry(view(A), 0, 50, [](index i, index j, double v) {
        EXPECT_LE(std::abs(i - j), 3);
        EXPECT_LE(std::abs(v), 1);
    });
    EXPECT_EQ(banded<double>(4, 2147483647, 1, 1).val.size(), 16U);
}

TEST(random, has_rows_of_one_length_and_columns_everywhere) {
    for (const index per_row : {0, 1, 9, 10, 11, 19, 20}) {
        const index rows = 4000, cols = 20;
        const auto A = random<double>(rows, cols, per_row, 3);
        ASSERT_NO_THROW(validate(view(A)));
        std::vector<int> seen(std::size_t(cols), 0);
        for (const index j : A.col_ind) ++seen[std::size_t(j)];
        for (index i = 0; i < rows; ++i)
            ASSERT_EQ(A.row_ptr[std::size_t(i) + 1] - A.row_ptr[std::size_t(i)], per_row);
        const double p = double(per_row) / cols, mean = rows * p;
        for (const int n : seen)  // five standard deviations of a binomial
            EXPECT_NEAR(n, mean, 5 * std::sqrt(mean * (1 - p)));
    }
}

TEST(powerlaw, has_the_tail_and_the_mean) {
    const index n = 200000;
    const auto A = powerlaw<float>(n, 10, 3, 7);  // P(length >= l) = (5 / l)^2
    std::int64_t above = 0;
    for (index i = 0; i < n; ++i)
        above += A.row_ptr[std::size_t(i) + 1] - A.row_ptr[std::size_t(i)] >= 50;
    EXPECT_NEAR(double(above), n * 0.01, 5 * std::sqrt(n * 0.01) + 0.02 * n * 0.01);
    EXPECT_NEAR(double(A.val.size()) / n, 10, 0.5);
}

TEST(rmat, prefers_the_upper_left) {
    const auto A = rmat<float>(12, 8, 0.57, 0.19, 0.19, 1);
    std::int64_t quadrant[4] = {};
    for_each_entry(view(A), 0, A.shape.rows,
                   [&](index i, index j, float) { ++quadrant[2 * (i >> 11) + (j >> 11)]; });
    EXPECT_GT(quadrant[0], 2 * quadrant[1]);
    EXPECT_GT(quadrant[1], 2 * quadrant[3]);
    EXPECT_NEAR(double(quadrant[1]), double(quadrant[2]), 5 * std::sqrt(double(quadrant[1])));
    EXPECT_LT(A.val.size(), 8U << 12);
    EXPECT_EQ(rmat<float>(0, 5, 0.25, 0.25, 0.25, 1).val.size(), 1U);
}

TEST(circuit, is_symmetric_dominant_and_has_rails) {
    const index n = 4000, rails = 3;
    const auto A = circuit<double>(n, 2, rails, 1);
    const auto T = transpose(view(A));
    EXPECT_TRUE(same_bits(A, T));
    for (index i = 0; i < n; ++i) {
        double diagonal = 0, beside = 0;
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            (A.col_ind[k] == i ? diagonal : beside) += std::abs(A.val[k]);
        ASSERT_GT(diagonal, beside);
        if (i < rails) {
            EXPECT_GT(A.row_ptr[std::size_t(i) + 1] - A.row_ptr[std::size_t(i)], 60);
        }
    }
}

/// Counts of the positive and of the negative pivots of Gauss's elimination, rows in their order.
std::pair<index, index> signs_of_pivots(std::vector<std::vector<double>> A) {
    std::pair<index, index> count;
    for (std::size_t k = 0; k < A.size(); ++k) {
        ++(A[k][k] > 0 ? count.first : count.second);
        for (std::size_t i = k + 1; i < A.size(); ++i)
            for (std::size_t j = A.size(); j-- > k;) A[i][j] -= A[i][k] / A[k][k] * A[k][j];
    }
    return count;
}

TEST(saddle_points, are_symmetric_and_regular_with_a_negative_eigenvalue_for_each_cell) {
    for (const auto& [A, cells] :
         {std::pair(stokes2d<double>(5, 4), 20), std::pair(stokes2d<double>(1, 2), 2),
          std::pair(stokes3d<double>(3, 2, 4), 24), std::pair(mixed2d<double>(4, 5), 20),
          std::pair(mixed2d<double>(1, 1), 1)}) {
        EXPECT_TRUE(same_bits(A, transpose(view(A))));
        const auto [positive, negative] = signs_of_pivots(dense(A));
        EXPECT_EQ(negative, cells);
        EXPECT_EQ(positive, A.shape.rows - cells);
    }
    // A velocity of 1 everywhere along x flows through: -Laplace and divergence see but the walls.
    const auto A = stokes2d<double>(6, 5);
    const auto D = dense(A);
    for (std::size_t i = 0; i < D.size(); ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < 30; ++j) sum += D[i][j];
        const bool is_inside = i < 30 && i % 6 != 0 && i >= 6 && i < 24;
        const bool is_cell = i >= 30 + 24 && (i - 54) % 6 != 0;
        if (is_inside || is_cell) {
            EXPECT_EQ(sum, 0) << i;
        }
    }
    EXPECT_THROW(stokes2d<double>(4, 1), argument_error);
    EXPECT_THROW(stokes3d<double>(4, 4, 0), argument_error);
    EXPECT_THROW(mixed2d<double>(0, 4), argument_error);
    EXPECT_THROW(mixed2d<double>(30000, 30000), argument_error);
}

TEST(blocks, are_dense_and_aligned) {
    const index n = 40, side = 3, per_row = 5;
    const auto A = blocks<double>(n, side, per_row, 1);
    ASSERT_EQ(A.val.size(), std::size_t(n * side) * std::size_t(per_row * side));
    for (index i = 0; i < n * side; ++i)
        for (index k = 0; k < per_row * side; ++k) {
            const index row = i * per_row * side, first = i / side * side * per_row * side;
            const index j = A.col_ind[std::size_t(row + k)];
            EXPECT_EQ(j % side, k % side);
            EXPECT_EQ(j, A.col_ind[std::size_t(first + k)]);
        }
}

}  // namespace
}  // namespace nz
