// The preconditioner nzilu, on as many ranks as the test is started with.
#include <gtest/gtest.h>
#include <petscksp.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nonzero/gen/problems.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/solve/preconditioners/ilu.hpp"
#include "nonzero/solve/preconditioners/ilut.hpp"
#include "petsc/testing.hpp"

namespace nz::petsc {
namespace {

/// Options that PETSc has while it lives.
class option_set {
  public:
    option_set(std::initializer_list<std::pair<std::string, std::string>> options)
        : options_(options) {
        for (const auto& [name, value] : options_)
            EXPECT_EQ(0, PetscOptionsSetValue(nullptr, name.c_str(), value.c_str()));
    }
    ~option_set() {
        for (const auto& [name, value] : options_)
            EXPECT_EQ(0, PetscOptionsClearValue(nullptr, name.c_str()));
    }
    option_set(const option_set&) = delete;
    option_set& operator=(const option_set&) = delete;

  private:
    std::vector<std::pair<std::string, std::string>> options_;
};

/// Convection and diffusion on a plane: not symmetric.
host_matrix convection(index nx, index ny) {
    host_matrix A = laplace2d<double>(nx, ny);
    for (index i = 0; i < A.shape.rows; ++i)
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            if (A.col_ind[k] > i) A.val[k] = -0.2;
    return A;
}

/// A's rows and columns first to last - 1.
host_matrix own_block(const host_matrix& A, PetscInt first, PetscInt last) {
    host_vector<index> row, col;
    host_vector<double> val;
    for (index i = first; i < last; ++i)
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            if (const index j = A.col_ind[k]; j >= first && j < last)
                row.push_back(i - first), col.push_back(j - first), val.push_back(A.val[k]);
    return assemble<double>({last - first, last - first}, row, col, val);
}

KSP gmres_with(Mat A, const char* preconditioner) {
    KSP ksp = nullptr;
    PC pc = nullptr;
    EXPECT_EQ(0, KSPCreate(PETSC_COMM_WORLD, &ksp));
    EXPECT_EQ(0, KSPSetOperators(ksp, A, A));
    EXPECT_EQ(0, KSPSetType(ksp, KSPGMRES));
    EXPECT_EQ(0, KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 500));
    EXPECT_EQ(0, KSPGetPC(ksp, &pc));
    EXPECT_EQ(0, PCSetType(pc, preconditioner));
    EXPECT_EQ(0, KSPSetFromOptions(ksp));
    return ksp;
}

/// Solves A x = A 1 and expects ones; the iterations.
PetscInt iterations_with(Mat A, const char* preconditioner) {
    KSP ksp = gmres_with(A, preconditioner);
    Vec x, b;
    PetscInt count = 0;
    PetscReal error = 1;
    KSPConvergedReason reason = KSP_DIVERGED_NULL;
    EXPECT_EQ(0, MatCreateVecs(A, &x, &b));
    EXPECT_EQ(0, VecSet(x, 1));
    EXPECT_EQ(0, MatMult(A, x, b));
    EXPECT_EQ(0, KSPSolve(ksp, b, x));
    EXPECT_EQ(0, KSPGetIterationNumber(ksp, &count));
    EXPECT_EQ(0, KSPGetConvergedReason(ksp, &reason));
    EXPECT_GT(reason, 0);
    EXPECT_EQ(0, VecShift(x, -1));
    EXPECT_EQ(0, VecNorm(x, NORM_INFINITY, &error));
    EXPECT_LT(error, 1e-6);  // the residual fell by 1e-10, and the condition is about 1e3
    for (Vec* v : {&x, &b}) EXPECT_EQ(0, VecDestroy(v));
    EXPECT_EQ(0, KSPDestroy(&ksp));
    return count;
}

/// This rank's elements of a product of nzilu of A with ones.
std::vector<double> product_of_nzilu(const host_matrix& A, const char* type, PetscInt& first,
                                     PetscInt& last) {
    Mat M = over_ranks(A, 1, type);
    KSP ksp = gmres_with(M, "nzilu");
    PC pc = nullptr;
    Vec x, y;
    const PetscScalar* out = nullptr;
    EXPECT_EQ(0, MatGetOwnershipRange(M, &first, &last));
    EXPECT_EQ(0, MatCreateVecs(M, &x, &y));
    EXPECT_EQ(0, VecSet(x, 1));
    EXPECT_EQ(0, KSPSetUp(ksp));
    EXPECT_EQ(0, KSPGetPC(ksp, &pc));
    EXPECT_EQ(0, PCApply(pc, x, y));
    EXPECT_EQ(0, VecGetArrayRead(y, &out));
    std::vector<double> product(out, out + (last - first));
    EXPECT_EQ(0, VecRestoreArrayRead(y, &out));
    for (Vec* v : {&x, &y}) EXPECT_EQ(0, VecDestroy(v));
    EXPECT_EQ(0, KSPDestroy(&ksp));
    EXPECT_EQ(0, MatDestroy(&M));
    return product;
}

TEST(nzilu, has_the_factors_of_the_own_rows_and_columns) {
    const host_matrix A = convection(17, 13);
    PetscInt first = 0, last = 0;
    const auto expect = [&](const auto& make) {
        for (const char* type : {"nz", "aij", "baij"}) {
            const auto product = product_of_nzilu(A, type, first, last);
            const host_matrix own = own_block(A, first, last);
            const auto M = make(own);
            const std::vector<double> ones(product.size(), 1);
            std::vector<double> y(product.size());
            M->apply(1, ones, 0, y);
            EXPECT_EQ(y, product) << type;
        }
    };
    for (const int level : {0, 1, 2}) {
        const option_set options{{"-pc_factor_levels", std::to_string(level)}};
        expect([&](const host_matrix& own) { return ilu(cpu{}, view(own), {.level = level}); });
    }
    const option_set options{{"-pc_nzilu_drop", "1e-3"}, {"-pc_nzilu_fill", "2"}};
    expect([&](const host_matrix& own) {
        return ilut(cpu{}, ascending(view(own)), {.drop = 1e-3, .fill = 2});
    });
}

TEST(nzilu, spares_iterations_and_takes_other_types) {
    Mat A = over_ranks(convection(40, 40), 1, "nz"), B = over_ranks(convection(40, 40), 1, "baij");
    const PetscInt without = iterations_with(A, "none"), with = iterations_with(A, "nzilu");
    EXPECT_LT(2 * with, without);
    EXPECT_EQ(iterations_with(B, "nzilu"), with);
    {
        const option_set options{{"-pc_factor_levels", "2"}};
        const PetscInt with_fill = iterations_with(A, "nzilu");
        EXPECT_LE(with_fill, with);
        // Over several ranks what the blocks leave out counts for more than their factors.
        if (ranks() == 1) {
            EXPECT_LT(with_fill, with);
        }
    }
    const option_set options{{"-sub_pc_type", "nzilu"}, {"-pc_asm_overlap", "2"}};
    EXPECT_LE(iterations_with(A, "asm"), with);
    MUST(MatDestroy(&B));
    MUST(MatDestroy(&A));
}

/// PETSc's ILU(k) of the same rows is the same preconditioner.
TEST(nzilu, takes_as_many_iterations_as_petscs_own) {
    Mat A = over_ranks(convection(40, 40), 1, "aij");
    for (const char* level : {"0", "1"}) {
        const option_set options{{"-pc_factor_levels", level}, {"-sub_pc_factor_levels", level}};
        const PetscInt own = iterations_with(A, "nzilu"), theirs = iterations_with(A, "bjacobi");
        EXPECT_LE(std::abs(own - theirs), 1) << "level " << level;
    }
    MUST(MatDestroy(&A));
}

TEST(nzilu, fails_with_a_reason_from_which_a_program_goes_on) {
    Mat A = over_ranks(convection(12, 12), 1, "nz");
    PetscInt first = 0;
    MUST(MatGetOwnershipRange(A, &first, nullptr));
    const auto set = [&](double value) {  // on the last rank alone
        if (rank() == ranks() - 1) {
            MUST(MatSetValue(A, first, first, value, INSERT_VALUES));
        }
        MUST(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        MUST(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    };
    KSP ksp = gmres_with(A, "nzilu");
    PC pc = nullptr;
    Vec x, b;
    MUST(KSPGetPC(ksp, &pc));
    MUST(MatCreateVecs(A, &x, &b));
    MUST(VecSet(b, 1));
    set(std::numeric_limits<double>::quiet_NaN());
    KSPConvergedReason reason = KSP_CONVERGED_RTOL;
    PCFailedReason failed = PC_NOERROR;
    MUST(KSPSetUp(ksp));
    MUST(PCGetFailedReason(pc, &failed));
    EXPECT_NE(PC_NOERROR, failed);
    MUST(KSPSolve(ksp, b, x));
    MUST(KSPGetConvergedReason(ksp, &reason));
    EXPECT_LT(reason, 0);
    set(4);
    MUST(KSPSetOperators(ksp, A, A));
    MUST(KSPSolve(ksp, b, x));
    MUST(KSPGetConvergedReason(ksp, &reason));
    EXPECT_GT(reason, 0);
    for (Vec* v : {&x, &b}) MUST(VecDestroy(v));
    MUST(KSPDestroy(&ksp));
    MUST(MatDestroy(&A));
}

TEST(nzilu, misused_is_an_error_of_petscs) {
    Mat A = over_ranks(convection(8, 8), 1, "nz");
    const option_set options{{"-pc_nzilu_drop", "2"}};
    KSP ksp = gmres_with(A, "nzilu");
    {
        caught_error caught;
        EXPECT_EQ(PETSC_ERR_ARG_OUTOFRANGE, KSPSetUp(ksp));
        EXPECT_NE(std::string::npos, caught.message.find("nzilu: drop is 2")) << caught.message;
    }
    MUST(KSPDestroy(&ksp));
    MUST(MatDestroy(&A));
}

TEST(nzilu, shows_its_factors) {
    Mat A = over_ranks(convection(8, 8), 1, "nz");
    const option_set options{{"-pc_factor_levels", "1"}};
    KSP ksp = gmres_with(A, "nzilu");
    PC pc = nullptr;
    MUST(KSPSetUp(ksp));
    MUST(KSPGetPC(ksp, &pc));
    const std::string text = viewed((PetscObject)pc);
    EXPECT_NE(std::string::npos, text.find("levels of fill: 1")) << text;
    EXPECT_NE(std::string::npos, text.find("entries")) << text;
    MUST(KSPDestroy(&ksp));
    MUST(MatDestroy(&A));
}

}  // namespace
}  // namespace nz::petsc
