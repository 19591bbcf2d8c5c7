/* Solves a 2-D Poisson problem: a PETSc program like any other, which knows nothing of nonzero.
 *   mpirun -n 2 petsc_example -mat_type nz -pc_type nzamg -dll_append path/libnz_petsc.so */
#include <petscksp.h>

static PetscErrorCode poisson(PetscInt n, Mat *A) {
    PetscInt first, last, row;
    PetscFunctionBeginUser;
    PetscCall(MatCreate(PETSC_COMM_WORLD, A));
    PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
    PetscCall(MatSetFromOptions(*A)); /* here -mat_type nz is heard */
    PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
    PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
    PetscCall(MatGetOwnershipRange(*A, &first, &last));
    for (row = first; row < last; ++row) {
        const PetscInt x = row % n, y = row / n;
        PetscCall(MatSetValue(*A, row, row, 4, INSERT_VALUES));
        if (x > 0) PetscCall(MatSetValue(*A, row, row - 1, -1, INSERT_VALUES));
        if (x < n - 1) PetscCall(MatSetValue(*A, row, row + 1, -1, INSERT_VALUES));
        if (y > 0) PetscCall(MatSetValue(*A, row, row - n, -1, INSERT_VALUES));
        if (y < n - 1) PetscCall(MatSetValue(*A, row, row + n, -1, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
    PetscInt n = 100, iterations;
    PetscReal error;
    Mat A;
    Vec x, b;
    KSP ksp;

    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
    PetscCall(poisson(n, &A));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSet(x, 1));
    PetscCall(MatMult(A, x, b));

    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPSetFromOptions(ksp)); /* and here -pc_type nzamg */
    PetscCall(KSPSolve(ksp, b, x));

    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(VecShift(x, -1));
    PetscCall(VecNorm(x, NORM_INFINITY, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "error %.1e, iterations %" PetscInt_FMT "\n",
                          (double)error, iterations));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFinalize());
    return error < 1e-4 ? 0 : 1;
}
