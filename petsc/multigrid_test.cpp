// The preconditioner nzamg, on as many ranks as the test is started with.
#include <gtest/gtest.h>
#include <petscksp.h>

#include <string>
#include <vector>

#include "nonzero/dist/mpi.hpp"
#include "nonzero/dist/solve/amg.hpp"
#include "nonzero/gen/generate.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "petsc/testing.hpp"

namespace nz::petsc {
namespace {

using host_matrix = csr<double, host>;

/// This rank's rows of A, in blocks of `block` unknowns, as a PETSc matrix.
Mat over_ranks(const host_matrix& A, PetscInt block, const char* type) {
    Mat M = nullptr;
    PetscInt first = 0, last = 0;
    EXPECT_EQ(0, MatCreate(PETSC_COMM_WORLD, &M));
    EXPECT_EQ(0, MatSetSizes(M, PETSC_DECIDE, PETSC_DECIDE, A.shape.rows, A.shape.cols));
    EXPECT_EQ(0, MatSetBlockSize(M, block));
    EXPECT_EQ(0, MatSetType(M, type));
    EXPECT_EQ(0, MatSetUp(M));
    EXPECT_EQ(0, MatSetOption(M, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    EXPECT_EQ(0, MatGetOwnershipRange(M, &first, &last));
    for (PetscInt i = first; i < last; ++i) {
        const auto k = A.row_ptr[std::size_t(i)];
        const auto count = PetscInt(A.row_ptr[std::size_t(i) + 1] - k);
        EXPECT_EQ(0, MatSetValues(M, 1, &i, count, A.col_ind.data() + k, A.val.data() + k,
                                  INSERT_VALUES));
    }
    EXPECT_EQ(0, MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
    EXPECT_EQ(0, MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
    return M;
}

/// A KSP of conjugate gradients with nzamg for A.
KSP solver_of(Mat A) {
    KSP ksp = nullptr;
    PC pc = nullptr;
    EXPECT_EQ(0, KSPCreate(PETSC_COMM_WORLD, &ksp));
    EXPECT_EQ(0, KSPSetOperators(ksp, A, A));
    EXPECT_EQ(0, KSPSetType(ksp, KSPCG));
    EXPECT_EQ(0, KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 200));
    EXPECT_EQ(0, KSPGetPC(ksp, &pc));
    EXPECT_EQ(0, PCSetType(pc, "nzamg"));
    EXPECT_EQ(0, KSPSetFromOptions(ksp));
    return ksp;
}

/// Solves A x = A 1 and expects ones; the iterations.
PetscInt iterations(KSP ksp, Mat A) {
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
    EXPECT_EQ(0, VecDestroy(&x));
    EXPECT_EQ(0, VecDestroy(&b));
    return count;
}

TEST(nzamg, is_the_multigrid_of_all_ranks) {
    const host_matrix A = laplace3d<double>(12, 11, 10);
    Mat M = over_ranks(A, 1, "nz");
    KSP ksp = solver_of(M);
    PC pc = nullptr;
    Vec x, y;
    MUST(MatCreateVecs(M, &x, &y));
    MUST(VecSetRandom(x, nullptr));
    MUST(KSPSetUp(ksp));
    MUST(KSPGetPC(ksp, &pc));
    MUST(PCApply(pc, x, y));

    // The same by nonzero alone.
    PetscInt first = 0, last = 0;
    MUST(MatGetOwnershipRange(M, &first, &last));
    const auto rows = std::size_t(last - first);
    const mpi_ranks all(PETSC_COMM_WORLD);
    std::unique_ptr<linear_operator<double, cpu>> own;
    if (ranks() == 1)
        own = std::make_unique<amg<double, cpu>>(A, cpu{});
    else
        own = std::make_unique<distributed_amg<double>>(
            cpu{.threads = 1, .ranks = &all}, slice_from(all, rows_of(view(A), {first, last})));
    std::vector<double> expected(rows);
    const PetscScalar *in = nullptr, *out = nullptr;
    MUST(VecGetArrayRead(x, &in));
    MUST(VecGetArrayRead(y, &out));
    own->apply(1, {in, rows}, 0, expected);
    EXPECT_EQ(expected, std::vector<double>(out, out + rows));
    MUST(VecRestoreArrayRead(y, &out));
    MUST(VecRestoreArrayRead(x, &in));
    for (Vec* v : {&x, &y}) MUST(VecDestroy(v));
    MUST(KSPDestroy(&ksp));
    MUST(MatDestroy(&M));
}

TEST(nzamg, takes_as_many_iterations_on_several_ranks_and_shows_its_levels) {
    Mat A = over_ranks(laplace3d<double>(16, 16, 16), 1, "nz");
    KSP ksp = solver_of(A);
    PC pc = nullptr;
    EXPECT_LT(iterations(ksp, A), 14);
    MUST(KSPGetPC(ksp, &pc));
    const std::string text = viewed((PetscObject)pc);
    EXPECT_NE(std::string::npos, text.find("operator complexity")) << text;
    EXPECT_NE(std::string::npos, text.find("4096")) << text;  // rows of all ranks
    MUST(KSPDestroy(&ksp));
    MUST(MatDestroy(&A));
}

TEST(nzamg, is_set_up_anew_for_new_values) {
    Mat A = over_ranks(laplace3d<double>(12, 12, 12), 1, "nz");
    KSP ksp = solver_of(A);
    const PetscInt before = iterations(ksp, A);
    MUST(MatScale(A, 1e6));  // M of the old values would leave the iterations as they are
    MUST(MatShift(A, 1e9));  // but not beside this diagonal
    MUST(KSPSetOperators(ksp, A, A));
    EXPECT_LT(iterations(ksp, A), before);
    MUST(KSPDestroy(&ksp));
    MUST(MatDestroy(&A));
}

TEST(nzamg, takes_any_type_that_converts_to_aij) {
    Mat A = over_ranks(laplace3d<double>(9, 9, 9), 1, "nz");
    Mat B = over_ranks(laplace3d<double>(9, 9, 9), 1, MATBAIJ);
    KSP of_A = solver_of(A), of_B = solver_of(B);
    EXPECT_EQ(iterations(of_A, A), iterations(of_B, B));
    for (KSP* ksp : {&of_A, &of_B}) MUST(KSPDestroy(ksp));
    for (Mat* M : {&A, &B}) MUST(MatDestroy(M));
}

TEST(nzamg, takes_the_near_null_space_or_coordinates) {
    const index n = 7;
    Mat A = over_ranks(elasticity3d<double>(n, n, n, 0.3), 3, "nz");
    host_vector<double> xyz = elasticity3d_nodes(n, n, n);
    PetscInt first = 0, last = 0;
    MUST(MatGetOwnershipRange(A, &first, &last));
    // Three ranks' blocks would be solved directly otherwise.
    MUST(PetscOptionsSetValue(nullptr, "-pc_nzamg_coarse_rows", "100"));
    KSP plain = solver_of(A), with_coordinates = solver_of(A), with_modes = nullptr;
    const PetscInt of_translations = iterations(plain, A);

    PC pc = nullptr;
    MUST(KSPGetPC(with_coordinates, &pc));
    MUST(PCSetCoordinates(pc, 3, (last - first) / 3, xyz.data() + first));
    const PetscInt of_coordinates = iterations(with_coordinates, A);
    EXPECT_LT(of_coordinates, of_translations);

    Vec nodes = nullptr;
    MatNullSpace modes = nullptr;
    MUST(VecCreateMPIWithArray(PETSC_COMM_WORLD, 3, last - first, PETSC_DECIDE, xyz.data() + first,
                               &nodes));
    MUST(MatNullSpaceCreateRigidBody(nodes, &modes));
    MUST(MatSetNearNullSpace(A, modes));
    with_modes = solver_of(A);
    const PetscInt of_modes = iterations(with_modes, A);
    EXPECT_LT(of_modes, of_translations);
    EXPECT_LE(std::abs(of_modes - of_coordinates), 1);

    MUST(PetscOptionsClearValue(nullptr, "-pc_nzamg_coarse_rows"));
    MUST(MatNullSpaceDestroy(&modes));
    MUST(VecDestroy(&nodes));
    for (KSP* ksp : {&plain, &with_coordinates, &with_modes}) MUST(KSPDestroy(ksp));
    MUST(MatDestroy(&A));
}

TEST(nzamg, refuses_what_is_not_symmetric_with_an_error_of_petscs) {
    Mat A = over_ranks(laplace3d<double>(8, 8, 8), 1, "nz");
    PetscInt first = 0, last = 0;
    MUST(MatGetOwnershipRange(A, &first, &last));
    MUST(MatSetValue(A, first, first + 1, -0.5, INSERT_VALUES));  // on every rank
    MUST(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    MUST(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    KSP ksp = solver_of(A);
    {
        caught_error caught;
        EXPECT_EQ(PETSC_ERR_LIB, KSPSetUp(ksp));
        EXPECT_NE(std::string::npos, caught.message.find("nonzero: amg: ")) << caught.message;
        EXPECT_NE(std::string::npos, caught.message.find("symmetric")) << caught.message;
    }
    MUST(KSPDestroy(&ksp));
    MUST(MatDestroy(&A));
}

/// Zeros on one side, as an assembly that inserts element by element leaves them.
TEST(nzamg, calls_a_matrix_symmetric_by_its_values) {
    Mat A = over_ranks(laplace3d<double>(8, 8, 8), 1, "nz");
    PetscInt first = 0, last = 0;
    MUST(MatGetOwnershipRange(A, &first, &last));
    for (const PetscInt col : {PetscInt(100), PetscInt(411)})
        MUST(MatSetValue(A, first, col, 0, INSERT_VALUES));
    MUST(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    MUST(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    KSP ksp = solver_of(A);
    EXPECT_LE(iterations(ksp, A), 30);
    MUST(KSPDestroy(&ksp));
    MUST(MatDestroy(&A));
}

}  // namespace
}  // namespace nz::petsc
