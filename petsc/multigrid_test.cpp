// The preconditioner nzamg, on as many ranks as the test is started with.
#include <gtest/gtest.h>
#include <petscts.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nonzero/dist/mpi.hpp"
#include "nonzero/dist/own_block.hpp"
#include "nonzero/dist/slice.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "petsc/testing.hpp"

namespace nz::petsc {
namespace {

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
        own = std::make_unique<amg<double>>(cpu{.threads = 1, .ranks = &all},
                                            slice_from(all, rows_of(view(A), {first, last})));
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

/// The Laplacian of a plane, couplings in x times `x`.
host_matrix stretched(double x) {
    const index n = 24;
    host_matrix A = laplace2d<double>(n, n);
    for (index i = 0; i < A.shape.rows; ++i)
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            A.val[k] = A.col_ind[k] == i ? 2 + 2 * x : std::abs(A.col_ind[k] - i) == 1 ? -x : -1;
    return A;
}

/// Its values become those of another matrix of the same pattern.
void set_values(Mat M, const host_matrix& A) {
    PetscInt first = 0, last = 0;
    MUST(MatGetOwnershipRange(M, &first, &last));
    for (PetscInt i = first; i < last; ++i) {
        const auto k = A.row_ptr[std::size_t(i)];
        const auto count = PetscInt(A.row_ptr[std::size_t(i) + 1] - k);
        MUST(MatSetValues(M, 1, &i, count, A.col_ind.data() + k, A.val.data() + k, INSERT_VALUES));
    }
    MUST(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
    MUST(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
}

/// On this rank: its rows, and nzamg's product with ones of a matrix that has had other values
/// before.
struct own_product {
    range rows;
    std::vector<double> y;
};
own_product product_after(const host_matrix& before, const host_matrix& A) {
    Mat M = over_ranks(before, 1, "nz");
    KSP ksp = solver_of(M);
    PC pc = nullptr;
    Vec x, y;
    EXPECT_EQ(0, KSPSetUp(ksp));
    set_values(M, A);
    EXPECT_EQ(0, KSPSetOperators(ksp, M, M));
    EXPECT_EQ(0, KSPSetUp(ksp));
    EXPECT_EQ(0, KSPGetPC(ksp, &pc));
    EXPECT_EQ(0, MatCreateVecs(M, &x, &y));
    EXPECT_EQ(0, VecSet(x, 1));
    EXPECT_EQ(0, PCApply(pc, x, y));
    const PetscScalar* out = nullptr;
    PetscInt first = 0, last = 0;
    EXPECT_EQ(0, MatGetOwnershipRange(M, &first, &last));
    EXPECT_EQ(0, VecGetArrayRead(y, &out));
    own_product product{{first, last}, {out, out + (last - first)}};
    EXPECT_EQ(0, VecRestoreArrayRead(y, &out));
    for (Vec* v : {&x, &y}) EXPECT_EQ(0, VecDestroy(v));
    EXPECT_EQ(0, KSPDestroy(&ksp));
    EXPECT_EQ(0, MatDestroy(&M));
    return product;
}

TEST(nzamg, keeps_its_levels_where_values_alone_are_new) {
    const host_matrix along_x = stretched(100), along_y = stretched(0.01);
    const auto [share, kept] = product_after(along_x, along_y);
    MUST(PetscOptionsSetValue(nullptr, "-pc_nzamg_keep", "0"));
    const auto anew = product_after(along_x, along_y).y;
    MUST(PetscOptionsClearValue(nullptr, "-pc_nzamg_keep"));
    // The aggregates of a fresh setup lie along the other axis.
    EXPECT_NE(kept, anew);
    EXPECT_EQ(anew, product_after(along_y, along_y).y);

    // As nonzero's own, given these values.
    const mpi_ranks all(PETSC_COMM_WORLD);
    const std::vector<double> ones(kept.size(), 1);
    std::vector<double> expected(kept.size());
    if (ranks() == 1) {
        amg<double> M(along_x, cpu{});
        M.take_values(along_y);
        M.apply(1, ones, 0, expected);
    } else {
        const auto slice = [&, own = share](const host_matrix& A) {
            return slice_from(all, rows_of(view(A), own));
        };
        amg<double> M(cpu{.threads = 1, .ranks = &all}, slice(along_x));
        M.take_values(slice(along_y));
        M.apply(1, ones, 0, expected);
    }
    EXPECT_EQ(expected, kept);
}

TEST(nzamg, is_made_anew_for_coordinates_that_come_later) {
    const index n = 7;
    Mat A = over_ranks(elasticity3d<double>(n, n, n, 0.3), 3, "nz");
    host_vector<double> xyz = elasticity3d_nodes(n, n, n);
    PetscInt first = 0, last = 0;
    MUST(MatGetOwnershipRange(A, &first, &last));
    MUST(PetscOptionsSetValue(nullptr, "-pc_nzamg_coarse_rows", "100"));
    KSP ksp = solver_of(A);
    const PetscInt of_translations = iterations(ksp, A);
    PC pc = nullptr;
    MUST(KSPGetPC(ksp, &pc));
    MUST(PCSetCoordinates(pc, 3, (last - first) / 3, xyz.data() + first));
    MUST(MatScale(A, 2));
    MUST(KSPSetOperators(ksp, A, A));
    EXPECT_LT(iterations(ksp, A), of_translations);
    MUST(PetscOptionsClearValue(nullptr, "-pc_nzamg_coarse_rows"));
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

/// A value by which a matrix that multigrid suits becomes one that it does not.
struct fault {
    std::string name;
    double value;      ///< of an entry of the first row
    PetscInt beside;   ///< the diagonal; 0: on it
    std::string word;  ///< of the message
};
void PrintTo(const fault& f, std::ostream* out) { *out << f.name; }

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const fault all_faults[] = {
    {"nan", nan, 1, "nan"},
    {"nan_on_the_diagonal", nan, 0, "nan"},
    {"infinity", HUGE_VAL, 0, "inf"},
    {"negative_diagonal", -6, 0, "diagonal"},
    {"zero_diagonal", 0, 0, "diagonal"},
    {"unsymmetric", -0.5, 1, "symmetric"},
};

class faults : public ::testing::TestWithParam<fault> {
  protected:
    /// Spoils A on the last rank only, or mends it.
    static void set(Mat A, double value, PetscInt beside) {
        PetscInt first = 0, last = 0;
        MUST(MatGetOwnershipRange(A, &first, &last));
        if (rank() == ranks() - 1) {
            MUST(MatSetValue(A, first, first + beside, value, INSERT_VALUES));
        }
        MUST(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        MUST(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    }
};

TEST_P(faults, are_a_reason_to_fail_from_which_a_program_goes_on) {
    const fault& f = GetParam();
    Mat A = over_ranks(laplace3d<double>(8, 8, 8), 1, "nz");
    KSP ksp = solver_of(A);
    PC pc = nullptr;
    Vec x, b;
    MUST(KSPGetPC(ksp, &pc));
    MUST(MatCreateVecs(A, &x, &b));
    MUST(VecSet(b, 1));
    (void)iterations(ksp, A);
    set(A, f.value, f.beside);
    KSPConvergedReason reason = KSP_CONVERGED_RTOL;
    PCFailedReason failed = PC_NOERROR;
    MUST(KSPSetOperators(ksp, A, A));
    MUST(KSPSolve(ksp, b, x));
    MUST(KSPGetConvergedReason(ksp, &reason));
    EXPECT_EQ(KSP_DIVERGED_PC_FAILED, reason);
    MUST(PCGetFailedReason(pc, &failed));
    EXPECT_NE(PC_NOERROR, failed);
    EXPECT_NE(std::string::npos, viewed((PetscObject)pc).find(f.word)) << viewed((PetscObject)pc);
    MUST(PCApply(pc, b, x));  // no crash, and nothing to be taken for a result
    PetscReal norm = 0;
    MUST(VecNorm(x, NORM_2, &norm));
    EXPECT_FALSE(std::isfinite(norm));

    set(A, f.beside == 0 ? 6 : -1, f.beside);
    MUST(KSPSetOperators(ksp, A, A));
    EXPECT_LT(iterations(ksp, A), 14);
    for (Vec* v : {&x, &b}) MUST(VecDestroy(v));
    MUST(KSPDestroy(&ksp));
    MUST(MatDestroy(&A));
}

TEST_P(faults, are_errors_where_a_program_asks_for_that) {
    const fault& f = GetParam();
    Mat A = over_ranks(laplace3d<double>(8, 8, 8), 1, "nz");
    set(A, f.value, f.beside);
    KSP ksp = solver_of(A);
    MUST(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
    {
        caught_error caught;
        EXPECT_EQ(PETSC_ERR_LIB, KSPSetUp(ksp));
        EXPECT_NE(std::string::npos, caught.message.find("nonzero: amg: ")) << caught.message;
        EXPECT_NE(std::string::npos, caught.message.find(f.word)) << caught.message;
    }
    MUST(KSPDestroy(&ksp));
    MUST(MatDestroy(&A));
}
INSTANTIATE_TEST_SUITE_P(nz, faults, ::testing::ValuesIn(all_faults),
                         [](const auto& of) { return of.param.name; });

TEST(nzamg, finds_what_is_not_finite_where_symmetry_is_not_checked) {
    Mat A = over_ranks(laplace3d<double>(8, 8, 8), 1, "nz");
    PetscInt first = 0;
    MUST(MatGetOwnershipRange(A, &first, nullptr));
    MUST(MatSetValue(A, first, first + 1, nan, INSERT_VALUES));
    MUST(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    MUST(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    MUST(PetscOptionsSetValue(nullptr, "-pc_nzamg_check", "0"));
    KSP ksp = solver_of(A);
    MUST(PetscOptionsClearValue(nullptr, "-pc_nzamg_check"));
    PC pc = nullptr;
    PCFailedReason failed = PC_NOERROR;
    MUST(KSPSetUp(ksp));
    MUST(KSPGetPC(ksp, &pc));
    MUST(PCGetFailedReason(pc, &failed));
    EXPECT_NE(PC_NOERROR, failed);
    MUST(KSPDestroy(&ksp));
    MUST(MatDestroy(&A));
}

TEST(nzamg, misused_is_an_error_of_petscs) {
    Mat A = over_ranks(laplace3d<double>(8, 8, 8), 1, "nz");
    MUST(PetscOptionsSetValue(nullptr, "-pc_nzamg_degree", "0"));
    KSP ksp = solver_of(A);
    MUST(PetscOptionsClearValue(nullptr, "-pc_nzamg_degree"));
    {
        caught_error caught;
        EXPECT_EQ(PETSC_ERR_LIB, KSPSetUp(ksp));
        EXPECT_NE(std::string::npos, caught.message.find("nonzero: amg: ")) << caught.message;
    }
    MUST(KSPDestroy(&ksp));
    MUST(MatDestroy(&A));
}

/// u' = 30 u - L u on a line, of which a step of the implicit Euler method that is too long has a
/// Jacobian with a negative diagonal.
PetscErrorCode growth(TS, PetscReal, Vec u, Vec udot, Vec residual, void* matrix) {
    PetscFunctionBegin;
    PetscCall(MatMultAdd(static_cast<Mat>(matrix), u, udot, residual));
    PetscCall(VecAXPY(residual, -30, u));
    PetscFunctionReturn(0);
}
PetscErrorCode growth_jacobian(TS, PetscReal, Vec, Vec, PetscReal shift, Mat J, Mat P,
                               void* matrix) {
    PetscFunctionBegin;
    PetscCall(MatCopy(static_cast<Mat>(matrix), P, SAME_NONZERO_PATTERN));
    PetscCall(MatShift(P, shift - 30));
    PetscCheck(J == P, PETSC_COMM_SELF, PETSC_ERR_PLIB, "one matrix was given");
    PetscFunctionReturn(0);
}

TEST(nzamg, lets_time_stepping_go_on_with_a_shorter_step) {
    Mat L = over_ranks(laplace2d<double>(60, 1), 1, "nz"), J = nullptr;
    MUST(MatDuplicate(L, MAT_COPY_VALUES, &J));
    Vec u;
    MUST(MatCreateVecs(L, &u, nullptr));
    MUST(VecSet(u, 1));
    TS ts = nullptr;
    SNES snes = nullptr;
    KSP ksp = nullptr;
    PC pc = nullptr;
    MUST(TSCreate(PETSC_COMM_WORLD, &ts));
    MUST(TSSetType(ts, TSBEULER));
    MUST(TSSetIFunction(ts, nullptr, growth, L));
    MUST(TSSetIJacobian(ts, J, J, growth_jacobian, L));
    MUST(TSSetTimeStep(ts, 0.1));
    MUST(TSSetMaxTime(ts, 0.2));
    MUST(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
    MUST(TSSetMaxSNESFailures(ts, -1));
    MUST(TSGetSNES(ts, &snes));
    MUST(SNESGetKSP(snes, &ksp));
    MUST(KSPSetType(ksp, KSPCG));
    MUST(KSPGetPC(ksp, &pc));
    MUST(PCSetType(pc, "nzamg"));
    MUST(TSSolve(ts, u));
    TSConvergedReason reason = TS_DIVERGED_NONLINEAR_SOLVE;
    PetscInt failures = 0;
    PetscReal time = 0, largest = 0;
    MUST(TSGetConvergedReason(ts, &reason));
    MUST(TSGetSNESFailures(ts, &failures));
    MUST(TSGetTime(ts, &time));
    MUST(VecNorm(u, NORM_INFINITY, &largest));
    EXPECT_GT(reason, 0);
    EXPECT_GT(failures, 0) << "the first step was not too long";
    EXPECT_GE(time, 0.2);
    EXPECT_GT(largest, 10);
    MUST(TSDestroy(&ts));
    MUST(VecDestroy(&u));
    for (Mat* M : {&J, &L}) MUST(MatDestroy(M));
}

/// How rows may come to have nothing beside the diagonal.
struct boundary {
    std::string name;
    bool columns_too;
    PetscBool keep;   ///< the pattern, with zeros
    double diagonal;  ///< of those rows
};
void PrintTo(const boundary& b, std::ostream* out) { *out << b.name; }

class boundaries : public ::testing::TestWithParam<boundary> {};

/// Iterations of GMRES until |b - A x| has fallen by 1e-10, b a product with A.
PetscInt gmres_iterations(Mat A) {
    Vec x, b, r;
    PetscInt count = 0;
    PetscReal norm = 0, residual = 1;
    KSPConvergedReason reason = KSP_DIVERGED_NULL;
    KSP ksp = solver_of(A);
    EXPECT_EQ(0, KSPSetType(ksp, KSPGMRES));
    EXPECT_EQ(0, KSPSetPCSide(ksp, PC_RIGHT));
    EXPECT_EQ(0, MatCreateVecs(A, &x, &b));
    EXPECT_EQ(0, VecDuplicate(b, &r));
    EXPECT_EQ(0, VecSetRandom(x, nullptr));
    EXPECT_EQ(0, MatMult(A, x, b));
    EXPECT_EQ(0, KSPSolve(ksp, b, x));
    EXPECT_EQ(0, KSPGetConvergedReason(ksp, &reason));
    EXPECT_GT(reason, 0);
    EXPECT_EQ(0, KSPGetIterationNumber(ksp, &count));
    EXPECT_EQ(0, MatResidual(A, b, x, r));
    EXPECT_EQ(0, VecNorm(b, NORM_2, &norm));
    EXPECT_EQ(0, VecNorm(r, NORM_2, &residual));
    EXPECT_LE(residual, 1.01e-10 * norm);
    for (Vec* v : {&x, &b, &r}) EXPECT_EQ(0, VecDestroy(v));
    EXPECT_EQ(0, KSPDestroy(&ksp));
    return count;
}

/// Of the whole matrix's rows, those of a face and some within: on every rank there are some.
std::vector<PetscInt> rows_to_zero(Mat A) {
    std::vector<PetscInt> rows;
    PetscInt first = 0, last = 0;
    EXPECT_EQ(0, MatGetOwnershipRange(A, &first, &last));
    for (PetscInt i = first; i < last; ++i)
        if (i % 12 == 0 || i % 101 == 7) rows.push_back(i);
    return rows;
}

void expect_as_good_as_without_columns(const host_matrix& A, PetscInt block, const boundary& how) {
    Mat with = over_ranks(A, block, "nz"), M = over_ranks(A, block, "nz");
    const auto rows = rows_to_zero(M);
    const auto count = PetscInt(rows.size());
    MUST(MatZeroRowsColumns(with, count, rows.data(), A.val[0], nullptr, nullptr));
    MUST(MatSetOption(M, MAT_KEEP_NONZERO_PATTERN, how.keep));
    if (how.columns_too)
        MUST(MatZeroRowsColumns(M, count, rows.data(), how.diagonal, nullptr, nullptr));
    else
        MUST(MatZeroRows(M, count, rows.data(), how.diagonal, nullptr, nullptr));
    EXPECT_LE(gmres_iterations(M), gmres_iterations(with) + 2);
    for (Mat* each : {&with, &M}) MUST(MatDestroy(each));
}

TEST_P(boundaries, take_as_many_iterations_as_without_their_columns) {
    MUST(PetscOptionsSetValue(nullptr, "-pc_nzamg_coarse_rows", "100"));
    expect_as_good_as_without_columns(laplace3d<double>(12, 7, 6), 1, GetParam());
    expect_as_good_as_without_columns(elasticity3d<double>(4, 4, 3, 0.3), 3, GetParam());
    MUST(PetscOptionsClearValue(nullptr, "-pc_nzamg_coarse_rows"));
}
const boundary all_boundaries[] = {
    {"rows", false, PETSC_FALSE, 1},
    {"rows_keeping", false, PETSC_TRUE, 1},
    {"rows_of_a_scale", false, PETSC_TRUE, 1e6},
    {"rows_of_zeros", false, PETSC_TRUE, 0},
    {"negative", false, PETSC_TRUE, -2},
    {"columns_too", true, PETSC_TRUE, 1},
    {"zeros_and_columns", true, PETSC_TRUE, 0},
};
INSTANTIATE_TEST_SUITE_P(nz, boundaries, ::testing::ValuesIn(all_boundaries),
                         [](const auto& of) { return of.param.name; });

TEST(nzamg, takes_cg_with_boundary_rows_whose_columns_are_there_where_x_is_right_on_them) {
    Mat A = over_ranks(laplace3d<double>(12, 11, 10), 1, "nz");
    Vec x, b;
    MUST(MatCreateVecs(A, &x, &b));
    MUST(VecSet(b, 1));
    MUST(VecSet(x, 3));
    const auto rows = rows_to_zero(A);
    MUST(MatZeroRows(A, PetscInt(rows.size()), rows.data(), 1, x, b));  // b is 3 there
    KSP ksp = solver_of(A);
    KSPConvergedReason reason = KSP_DIVERGED_NULL;
    PetscInt count = 0;
    MUST(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    MUST(KSPSolve(ksp, b, x));
    MUST(KSPGetConvergedReason(ksp, &reason));
    MUST(KSPGetIterationNumber(ksp, &count));
    EXPECT_GT(reason, 0);
    EXPECT_LT(count, 14);
    MUST(KSPDestroy(&ksp));
    for (Vec* v : {&x, &b}) MUST(VecDestroy(v));
    MUST(MatDestroy(&A));
}

TEST(nzamg, takes_a_matrix_of_nothing_but_such_rows) {
    for (const double value : {0.0, 4.0, -4.0}) {
        Mat A = over_ranks(laplace3d<double>(9, 9, 9), 1, "nz");
        MUST(MatScale(A, 0));
        MUST(MatShift(A, value));
        Vec x, y;
        PC pc = nullptr;
        MUST(MatCreateVecs(A, &x, &y));
        MUST(VecSet(x, 1));
        KSP ksp = solver_of(A);
        MUST(KSPGetPC(ksp, &pc));
        MUST(KSPSetUp(ksp));
        MUST(PCApply(pc, x, y));
        MUST(VecSet(x, value == 0 ? 1 : 1 / value));
        PetscBool equal = PETSC_FALSE;
        MUST(VecEqual(x, y, &equal));
        EXPECT_TRUE(equal) << value;
        MUST(KSPDestroy(&ksp));
        for (Vec* v : {&x, &y}) MUST(VecDestroy(v));
        MUST(MatDestroy(&A));
    }
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
