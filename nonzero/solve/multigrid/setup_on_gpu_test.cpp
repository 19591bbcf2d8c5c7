// Multigrid's setup on a GPU against that on the CPU, bit for bit.
#include <gtest/gtest.h>

#include <array>

#include "nonzero/gen/problems.hpp"
#include "nonzero/matrix/spgemm.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/multigrid/prolongation.hpp"
#include "nonzero/solve/multigrid/pseudo_inverse.hpp"
#include "test/systems.hpp"

namespace nz::test {
namespace {

template <class V>
class setup_on_gpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    }
    void expect_same(const csr<V, device>& on_device, const csr<V, host>& want) {
        const auto got = download(gpu{}, on_device);
        EXPECT_EQ(got.shape, want.shape);
        EXPECT_EQ(got.row_ptr, want.row_ptr);
        EXPECT_EQ(got.col_ind, want.col_ind);
        EXPECT_EQ(got.val, want.val);
    }
};
using values = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(setup_on_gpu, values);

TYPED_TEST(setup_on_gpu, multiplies_and_transposes_every_awkward_matrix) {
    using V = TypeParam;
    for (const auto& [name, bug, A] : zoo<V>()) {
        SCOPED_TRACE(name);
        const auto on_device = upload(gpu{}, A);
        const auto T = transpose(view(A));
        this->expect_same(transposed(gpu{}, view(on_device)), T);
        const auto T_on_device = upload(gpu{}, T);
        const double full = double(A.shape.rows) * double(A.shape.rows);
        if (full < 1e7)
            this->expect_same(spgemm(gpu{}, view(on_device), view(T_on_device)),
                              spgemm(cpu{}, view(A), view(T)));
        if (A.shape.cols < 3000)
            this->expect_same(spgemm(gpu{}, view(T_on_device), view(on_device)),
                              spgemm(cpu{}, view(T), view(A)));
    }
    const auto A = upload(gpu{}, from_rule<V>(3, 4, [](index, index, double) { return true; }));
    EXPECT_THROW(spgemm(gpu{}, view(A), view(A)), argument_error);
}

/// Rows that fit each of the tables, and some that fit none.
TYPED_TEST(setup_on_gpu, multiplies_rows_of_every_length) {
    using V = TypeParam;
    constexpr index n = 3000;
    const auto A = from_rule<V>(
        n, n, [](index i, index j, double) { return j == i || j == i * 7 % n || j == i * 13 % n; });
    const auto R = from_rule<V>(60, n, [](index i, index j, double) { return j <= i * i / 2; });
    const auto P = from_rule<V>(n, n, [](index i, index j, double) { return j == (i + 1) % n; });
    auto C = galerkin_product(cpu{}, view(R), view(A), view(P));
    std::array<int, 5> found{};
    for (index i = 0; i < 60; ++i) {
        const auto length = C.row_ptr[std::size_t(i) + 1] - C.row_ptr[std::size_t(i)];
        ++found[length <= 24     ? 0U
                : length <= 96   ? 1U
                : length <= 384  ? 2U
                : length <= 1536 ? 3U
                                 : 4U];
    }
    for (const int rows : found) EXPECT_GT(rows, 0);
    const gpu on{};
    const auto R_there = upload(on, R), A_there = upload(on, A), P_there = upload(on, P);
    auto C_there = galerkin_product(on, view(R_there), view(A_there), view(P_there));
    this->expect_same(C_there, C);
    auto other = A;
    for (V& v : other.val) v *= V(3);
    const auto other_there = upload(on, other);
    csr<V, host> AP;
    csr<V, device> AP_there;
    for (int k = 0; k < 2; ++k) {  // the second time by the pattern of A P
        galerkin_values(cpu{}, view(R), view(other), view(P), AP, C);
        galerkin_values(on, view(R_there), view(other_there), view(P_there), AP_there, C_there);
        this->expect_same(C_there, C);
    }
}

/// M M^H of n rows, of rank `rank`, and I more.
template <class V>
csr<V, host> gram(index n, index rank, V more) {
    const auto M =
        from_rule<V>(n, rank, [](index i, index j, double u) { return i == j || u > 0.8; });
    auto A = spgemm(cpu{}, view(M), view(adjoint(cpu{}, view(M))));
    const auto A_view = view(A);
    for (index i = 0; i < n; ++i)
        for (auto k = std::size_t(A_view.row_ptr[i]); k < std::size_t(A_view.row_ptr[i + 1]); ++k)
            if (A.col_ind[k] == i) A.val[k] += more;
    return A;
}

TYPED_TEST(setup_on_gpu, inverts_as_the_cpu_does) {
    using V = TypeParam;
    for (const index n : {1, 2, 31, 150, 512}) {
        const auto A = gram<V>(n, n, V(1));
        const auto on_device = upload(gpu{}, A);
        this->expect_same(regular_inverse(gpu{}, view(on_device)), pseudo_inverse(cpu{}, view(A)));
    }
}

TYPED_TEST(setup_on_gpu, leaves_to_the_cpu_what_is_singular_or_large) {
    using V = TypeParam;
    for (const auto& A : {gram<V>(40, 30, V(0)), gram<V>(513, 513, V(1)), csr<V, host>{}}) {
        const auto on_device = upload(gpu{}, A);
        EXPECT_EQ(regular_inverse(gpu{}, view(on_device)).shape, (shape{0, 0})) << A.shape.rows;
    }
}

/// A problem's matrix and what its first level is made with.
template <class V>
struct problem {
    csr<V, host> A;
    index block = 1;
    candidates<V> near = {};
};

template <class V>
std::vector<problem<V>> problems() {
    std::vector<problem<V>> all;
    for (auto A : {laplace3d<V>(31, 30, 29), laplace27<V>(14, 15, 16), circuit<V>(20000, 5, 7, 3),
                   laplace2d<V>(1, 1)})
        all.push_back({rotated(A), 1, candidates<V>::constant(A.shape.rows)});
    all.push_back(
        {elasticity3d<V>(9, 8, 7, 0.3), 3, rigid_body_modes<V>(elasticity3d_nodes(9, 8, 7))});
    // A candidate twice leaves zeros.
    auto A = laplace3d<V>(12, 11, 10);
    candidates<V> twice{2, host_vector<V>(std::size_t(A.shape.rows) * 2, V(1))};
    all.push_back({A, 1, twice});
    // Blocks of whose nodes some have no neighbours.
    all.push_back({circuit<V>(5000, 5, 7, 3), 2, {1, host_vector<V>(5000, V(1))}});
    return all;
}

TYPED_TEST(setup_on_gpu, coarsens_as_the_cpu_does) {
    using V = TypeParam;
    const gpu on{};
    for (const int distance : {1, 2})
        for (auto& [A, block, near] : problems<V>())
            for (int level = 0; level < 3 && A.shape.rows > 0; ++level) {
                SCOPED_TRACE(::testing::Message()
                             << A.shape.rows << " rows in blocks of " << block);
                const double eps = level == 0 ? 0.08 : 0.02;
                constexpr double omega = 0.7;
                const auto on_device = upload(on, A);
                const auto graph = strong_couplings(cpu{}, view(A), block, eps);
                const auto strong = strong_couplings(on, view(on_device), block, eps);
                ASSERT_EQ(suitable_distance(on, strong), suitable_distance(cpu{}, graph));
                const auto groups = aggregate(cpu{}, graph, distance);
                const auto groups_on_device = aggregate(on, strong, distance);
                ASSERT_EQ(groups_on_device.count, groups.count);
                ASSERT_EQ(to_host<index>(on, groups_on_device.of), groups.of);
                if constexpr (is_complex<V>) {
                    if (block == 1) {
                        const auto x = phases(cpu{}, view(A), groups);
                        EXPECT_EQ(to_host<V>(on, phases(on, view(on_device), groups_on_device)), x);
                        if (near.count == 1) near.val = x;
                    }
                }
                auto T = tentative_prolongation(cpu{}, groups, block, near);
                const candidates<V, device> near_on_device{
                    near.count, from_host(on, std::span<const V>(near.val))};
                const auto T_on_device =
                    tentative_prolongation(on, groups_on_device, block, near_on_device);
                EXPECT_EQ(to_host<V>(on, T_on_device.fine.val), T.fine.val);
                EXPECT_EQ(to_host<V>(on, T_on_device.coarse.val), T.coarse.val);
                const auto P =
                    smoothed_prolongation(cpu{}, view(A), block, eps, omega, groups, T.fine);
                const auto P_on_device = smoothed_prolongation(
                    on, view(on_device), block, strong, omega, groups_on_device, T_on_device.fine);
                this->expect_same(P_on_device, P);
                const auto R = adjoint(cpu{}, view(P));
                const auto R_on_device = adjoint(on, view(P_on_device));
                auto C = galerkin_product(cpu{}, view(R), view(A), view(P));
                auto C_on_device =
                    galerkin_product(on, view(R_on_device), view(on_device), view(P_on_device));
                const auto d = real_diagonal_of<V>(cpu{}, view(A));
                const auto d_on_device = real_diagonal_of<V>(on, view(on_device));
                mend_diagonal<V>(cpu{}, view(R), d, C.shape.rows, C);
                mend_diagonal<V>(on, view(R_on_device), in<real<V>, gpu>(d_on_device), C.shape.rows,
                                 C_on_device);
                this->expect_same(C_on_device, C);
                const auto too_few = offset(C.val.size()) - 1;
                EXPECT_EQ(galerkin_product(on, view(R_on_device), view(on_device),
                                           view(P_on_device), too_few)
                              .shape.rows,
                          0);
                EXPECT_EQ(to_host<V>(on, diagonal_of(on, view(on_device))),
                          diagonal_of(cpu{}, view(A)));
                EXPECT_EQ(to_host<real<V>>(on, l1_norms(on, view(on_device))),
                          l1_norms(cpu{}, view(A)));
                A = std::move(C), block = near.count, near = std::move(T.coarse);
            }
}

/// Rows of blocks whose patterns differ, entries of explicit zero, and isolated nodes.
TYPED_TEST(setup_on_gpu, finds_the_strong_couplings_of_blocks_as_the_cpu_does) {
    using V = TypeParam;
    const gpu on{};
    auto A = circuit<V>(6000, 5, 7, 3);
    for (std::size_t k = 0; k < A.val.size(); k += 5) A.val[k] = V(0);
    const auto on_device = upload(on, A);
    for (const index block : {1, 2, 3, 8})
        for (const double eps : {0.0, 0.1}) {
            const auto want = strong_couplings(cpu{}, view(A), block, eps);
            const auto got = strong_couplings(on, view(on_device), block, eps);
            ASSERT_EQ(got.nodes(), want.nodes());
            const auto col = to_host<index>(on, got.col_ind);
            const auto strong = to_host<char>(on, got.strong);
            host_vector<index> ptr(std::size_t(got.nodes()) + 1);
            if (block > 1) copy_to_host(on, got.row_ptr.ptr, ptr.data(), ptr.size() * 4);
            for (index i = 0; i < want.nodes(); ++i) {
                std::vector<index> mine;
                const auto first =
                    block > 1 ? offset(ptr[std::size_t(i)]) : A.row_ptr[std::size_t(i)];
                const auto last =
                    block > 1 ? offset(ptr[std::size_t(i) + 1]) : A.row_ptr[std::size_t(i) + 1];
                for (auto k = std::size_t(first); k < std::size_t(last); ++k)
                    if (strong[k]) mine.push_back(col[k]);
                const auto neighbours = want.neighbours(i);
                ASSERT_EQ(mine, std::vector<index>(neighbours.begin(), neighbours.end()))
                    << i << " in blocks of " << block;
            }
        }
    EXPECT_THROW(strong_couplings(on, view(on_device), 7, 0.1), argument_error);
}

}  // namespace
}  // namespace nz::test
