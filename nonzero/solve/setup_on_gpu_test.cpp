// Multigrid's setup on a GPU against that on the CPU, bit for bit.
#include <gtest/gtest.h>

#include "nonzero/gen/generate.hpp"
#include "nonzero/solve/amg.hpp"
#include "nonzero/solve/spgemm.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <class V>
class setup_on_gpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    }
    void expect_same(const csr<V, device>& there, const csr<V, host>& want) {
        const auto got = download(gpu{}, there);
        EXPECT_EQ(got.shape, want.shape);
        EXPECT_EQ(got.row_ptr, want.row_ptr);
        EXPECT_EQ(got.col_ind, want.col_ind);
        EXPECT_EQ(got.val, want.val);
    }
};
using real_values = ::testing::Types<float, double>;
TYPED_TEST_SUITE(setup_on_gpu, real_values);

TYPED_TEST(setup_on_gpu, multiplies_and_transposes_every_awkward_matrix) {
    using V = TypeParam;
    for (const auto& [name, bug, A] : zoo<V>()) {
        SCOPED_TRACE(name);
        const auto there = upload(gpu{}, A);
        const auto T = transpose(view(A));
        this->expect_same(transposed(gpu{}, view(there)), T);
        const auto T_there = upload(gpu{}, T);
        const double full = double(A.shape.rows) * double(A.shape.rows);
        if (full < 1e7)
            this->expect_same(spgemm(gpu{}, view(there), view(T_there)),
                              spgemm(cpu{}, view(A), view(T)));
        if (A.shape.cols < 3000)
            this->expect_same(spgemm(gpu{}, view(T_there), view(there)),
                              spgemm(cpu{}, view(T), view(A)));
    }
    const auto A = upload(gpu{}, from_rule<V>(3, 4, [](index, index, double) { return true; }));
    EXPECT_THROW(spgemm(gpu{}, view(A), view(A)), argument_error);
}

TYPED_TEST(setup_on_gpu, coarsens_as_the_cpu_does) {
    using V = TypeParam;
    const gpu on{};
    std::vector<csr<V, host>> problems;
    problems.push_back(laplace3d<V>(31, 30, 29));
    problems.push_back(laplace27<V>(14, 15, 16));
    problems.push_back(circuit<V>(20000, 5, 7, 3));
    problems.push_back(laplace2d<V>(1, 1));
    for (const int reach : {1, 2})
        for (auto A : problems)
            for (int level = 0; level < 3 && A.shape.rows > 0; ++level) {
                const double eps = level == 0 ? 0.08 : 0.02, omega = 0.7;
                const auto there = upload(on, A);
                const auto near = constant_candidate<V>(A.shape.rows);
                const auto graph = strong_couplings(cpu{}, view(A), 1, eps);
                const auto strong = strong_couplings(on, view(there), eps);
                ASSERT_EQ(suitable_reach(on, strong), suitable_reach(graph));
                const auto groups = aggregate(cpu{}, graph, reach);
                const auto groups_there = aggregate(on, strong, reach);
                ASSERT_EQ(groups_there.count, groups.count);
                ASSERT_EQ(to_host<index>(on, groups_there.of), groups.of);
                const auto T = tentative_prolongation(cpu{}, groups, 1, near);
                const auto near_there = from_host(on, std::span<const V>(near.val));
                const auto T_there = tentative_prolongation<V>(on, groups_there, near_there);
                EXPECT_EQ(to_host<V>(on, T_there.coarse), T.coarse.val);
                const auto P = smoothed_prolongation(cpu{}, view(A), 1, eps, omega, groups, T.fine);
                const auto P_there = smoothed_prolongation<V>(on, view(there), strong, omega,
                                                              groups_there, T_there.fine);
                this->expect_same(P_there, P);
                const auto R = transposed(cpu{}, view(P));
                const auto R_there = transposed(on, view(P_there));
                auto C = galerkin_product(cpu{}, view(R), view(A), view(P));
                this->expect_same(galerkin_product(on, view(R_there), view(there), view(P_there)),
                                  C);
                EXPECT_EQ(to_host<V>(on, diagonal_of(on, view(there))),
                          diagonal_of(cpu{}, view(A)));
                EXPECT_EQ(to_host<V>(on, l1_norms(on, view(there))), l1_norms(cpu{}, view(A)));
                A = std::move(C);
            }
}

}  // namespace
}  // namespace nz::test
