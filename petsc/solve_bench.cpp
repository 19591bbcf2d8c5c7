// Times the setup and the solve of Poisson's problem, 7 points, n^3 unknowns, by a KSP of the
// options' choice:
//   mpirun -n 2 petsc_solve_bench -n 100 -ksp_type cg -pc_type hypre
// and prints a line of JSON; times in seconds, of the fastest of -rounds. A product is the tenth
// of ten. bench/ranks_bench.py runs it.
#include <petscksp.h>

#include <algorithm>
#include <vector>

#include "nonzero/gen/stencil_rows.hpp"

namespace {

/// This rank's planes of the cube.
PetscErrorCode poisson(PetscInt n, Mat* A) {
    PetscMPIInt rank = 0, ranks = 1;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    const auto all = nz::range{0, nz::offset(n) * n * n};
    const auto first = all.last * rank / ranks, last = all.last * (rank + 1) / ranks;
    const auto own = nz::laplace3d_rows<double>(n, n, n, {first, last});
    std::vector<PetscInt> row_ptr;
    for (std::size_t i = 0; i < own.row_ptr.size(); ++i)
        row_ptr.push_back(PetscInt(own.row_ptr[i]));
    const auto rows = PetscInt(last - first);
    PetscCall(MatCreate(PETSC_COMM_WORLD, A));
    PetscCall(MatSetSizes(*A, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetFromOptions(*A));
    // The one of these that suits the type has an effect.
    PetscCall(MatSeqAIJSetPreallocationCSR(*A, row_ptr.data(), own.col_ind.data(), own.val.data()));
    PetscCall(MatMPIAIJSetPreallocationCSR(*A, row_ptr.data(), own.col_ind.data(), own.val.data()));
    PetscFunctionReturn(0);
}

PetscErrorCode ten_products(Mat A, Vec b, Vec x) {
    PetscFunctionBegin;
    for (int k = 0; k < 10; ++k) PetscCall(MatMult(A, b, x));
    PetscFunctionReturn(0);
}

/// The seconds of f, which all ranks begin and end together.
template <class F>
PetscErrorCode timed(double& best, F f) {
    PetscFunctionBegin;
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    const double start = MPI_Wtime();
    PetscCall(f());
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    best = std::min(best, MPI_Wtime() - start);
    PetscFunctionReturn(0);
}

PetscErrorCode run() {
    PetscInt n = 100, rounds = 3, iterations = 0;
    Mat A = nullptr;
    Vec x = nullptr, b = nullptr;
    double setup = 1e30, solve = 1e30, product = 1e30;
    PetscFunctionBegin;
    PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &n, nullptr));
    PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-rounds", &rounds, nullptr));
    PetscCall(poisson(n, &A));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSet(b, 1));
    PetscCall(MatMult(A, b, x));  // which makes the plan, where there is one
    for (PetscInt r = 0; r < rounds; ++r) {
        KSP ksp = nullptr;
        PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
        PetscCall(KSPSetOperators(ksp, A, A));
        PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
        PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
        PetscCall(KSPSetFromOptions(ksp));
        PetscCall(timed(setup, [&] { return KSPSetUp(ksp); }));
        PetscCall(timed(solve, [&] { return KSPSolve(ksp, b, x); }));
        PetscCall(KSPGetIterationNumber(ksp, &iterations));
        PetscCall(KSPDestroy(&ksp));
        PetscCall(timed(product, [&] { return ten_products(A, b, x); }));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "{\"n\": %" PetscInt_FMT ", \"setup_s\": %.6g, \"solve_s\": %.6g, "
                          "\"iterations\": %" PetscInt_FMT ", \"product_s\": %.6g}\n",
                          n, setup, solve, iterations, product / 10));
    for (Vec* v : {&x, &b}) PetscCall(VecDestroy(v));
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(0);
}

}  // namespace

int main(int argc, char** argv) {
    if (PetscInitialize(&argc, &argv, nullptr, nullptr)) return 1;
    const PetscErrorCode failed = run();
    return PetscFinalize() || failed;
}
