// Times MatMult of AIJ against that of type nz, one after the other in one process:
//   mpirun -n 2 petsc_product_bench -dll_append path/libnz_petsc.so -matrix poisson -n 100
// and prints a line of JSON; times in seconds. bench/ranks_bench.py runs it.
// -matrix: poisson (7 points, n^3 unknowns) or elasticity (3 n (n + 1)^2 unknowns). -distinct: no
// two of their values are equal.
// -log_view lists what the setup of nz took, as MatNzSetUp.
#include <petscksp.h>

#include <algorithm>
#include <vector>

#include "nonzero/gen/distinct.hpp"
#include "nonzero/gen/problems.hpp"

namespace {

using host_matrix = nz::csr<double, nz::host>;

/// This rank's rows of A.
PetscErrorCode over_ranks(const host_matrix& A, PetscInt block, Mat* M) {
    PetscInt first = 0, last = 0;
    std::vector<PetscInt> row_ptr{0};
    PetscFunctionBegin;
    Vec layout = nullptr;
    PetscCall(VecCreate(PETSC_COMM_WORLD, &layout));
    PetscCall(VecSetSizes(layout, PETSC_DECIDE, A.shape.rows));
    PetscCall(VecSetBlockSize(layout, block));
    PetscCall(VecSetUp(layout));
    PetscCall(VecGetOwnershipRange(layout, &first, &last));
    PetscCall(VecDestroy(&layout));
    const nz::offset start = A.row_ptr[std::size_t(first)];
    for (PetscInt i = first; i < last; ++i)
        row_ptr.push_back(PetscInt(A.row_ptr[std::size_t(i) + 1] - start));
    PetscCall(MatCreate(PETSC_COMM_WORLD, M));
    PetscCall(MatSetSizes(*M, last - first, last - first, A.shape.rows, A.shape.cols));
    PetscCall(MatSetBlockSize(*M, block));
    PetscCall(MatSetType(*M, MATAIJ));
    const PetscInt* const col_ind = A.col_ind.data() + start;
    const PetscScalar* const val = A.val.data() + start;
    // The one of these that suits the type has an effect.
    PetscCall(MatSeqAIJSetPreallocationCSR(*M, row_ptr.data(), col_ind, val));
    PetscCall(MatMPIAIJSetPreallocationCSR(*M, row_ptr.data(), col_ind, val));
    PetscFunctionReturn(0);
}

/// MatMult or MatMultTranspose.
using product = PetscErrorCode (*)(Mat, Vec, Vec);

/// best: the least so far of the seconds of a product, in runs of ten.
PetscErrorCode time_product(product multiply, Mat A, Vec x, Vec y, double& best) {
    PetscFunctionBegin;
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    const double start = MPI_Wtime();
    for (int k = 0; k < 10; ++k) PetscCall(multiply(A, x, y));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    best = std::min(best, (MPI_Wtime() - start) / 10);
    PetscFunctionReturn(0);
}

PetscErrorCode run() {
    char matrix[32] = "poisson";
    PetscInt n = 100;
    PetscMPIInt ranks = 1;
    PetscBool distinct = PETSC_FALSE;
    Mat A = nullptr, B = nullptr;
    Vec x, y;
    PetscFunctionBegin;
    PetscCall(PetscOptionsGetString(nullptr, nullptr, "-matrix", matrix, sizeof matrix, nullptr));
    PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &n, nullptr));
    PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-distinct", &distinct, nullptr));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    const bool elastic = std::string(matrix) == "elasticity";
    {
        host_matrix whole =
            elastic ? nz::elasticity3d<double>(n, n, n, 0.3) : nz::laplace3d<double>(n, n, n);
        if (distinct) nz::make_distinct(std::span(whole.val), 1);
        PetscCall(over_ranks(whole, elastic ? 3 : 1, &A));
    }
    PetscCall(MatConvert(A, "nz", MAT_INITIAL_MATRIX, &B));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSet(x, 1));

    PetscCall(MatMult(A, x, y));
    const double start = MPI_Wtime();
    PetscCall(MatMult(B, x, y));
    const double first_product = MPI_Wtime() - start;
    double of_aij = 1e30, of_nz = 1e30, transposed_of_aij = 1e30, transposed_of_nz = 1e30;
    for (int k = 0; k < 10; ++k) {
        PetscCall(time_product(MatMult, A, x, y, of_aij));
        PetscCall(time_product(MatMult, B, x, y, of_nz));
        PetscCall(time_product(MatMultTranspose, A, x, y, transposed_of_aij));
        PetscCall(time_product(MatMultTranspose, B, x, y, transposed_of_nz));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "{\"matrix\": \"%s\", \"n\": %" PetscInt_FMT
                          ", \"distinct\": %s, \"ranks\": %d, "
                          "\"aij_s\": %.6g, \"nz_s\": %.6g, \"aij_transposed_s\": %.6g, "
                          "\"nz_transposed_s\": %.6g, \"first_product_s\": %.6g}\n",
                          matrix, n, distinct ? "true" : "false", ranks, of_aij, of_nz,
                          transposed_of_aij, transposed_of_nz, first_product));
    for (Vec* v : {&x, &y}) PetscCall(VecDestroy(v));
    for (Mat* M : {&A, &B}) PetscCall(MatDestroy(M));
    PetscFunctionReturn(0);
}

}  // namespace

int main(int argc, char** argv) {
    if (PetscInitialize(&argc, &argv, nullptr, nullptr)) return 1;
    const PetscErrorCode failed = run();
    return PetscFinalize() || failed;
}
