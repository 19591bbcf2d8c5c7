#include "petsc/petsc.hpp"

namespace nz::petsc {

PetscErrorCode convert(Mat A, MatReuse reuse, Mat* out, PetscErrorCode (*become)(Mat)) {
    Mat B = A;
    PetscFunctionBegin;
    if (reuse == MAT_REUSE_MATRIX) {
        PetscCall(MatCopy(A, *out, SAME_NONZERO_PATTERN));
        PetscFunctionReturn(0);
    }
    if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(become(B));
    *out = B;
    PetscFunctionReturn(0);
}

PetscErrorCode view_of(Mat A, aij_view& view) {
    PetscInt rows = 0, cols = 0;
    const PetscInt *row_ptr = nullptr, *col_ind = nullptr;
    PetscScalar* val = nullptr;
    PetscFunctionBegin;
    PetscCall(MatGetLocalSize(A, &rows, &cols));
    PetscCall(MatSeqAIJGetCSRAndMemType(A, &row_ptr, &col_ind, &val, nullptr));
    const auto nnz = std::size_t(row_ptr[rows]);
    view = {.shape = {rows, cols},
            .row_ptr = std::span(row_ptr, std::size_t(rows) + 1),
            .col_ind = {col_ind, nnz},
            .val = {val, nnz}};
    PetscFunctionReturn(0);
}

PetscErrorCode default_threads(PetscInt& threads) {
    PetscMPIInt ranks = 1;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    threads = ranks > 1 ? 1 : 0;
    PetscFunctionReturn(0);
}

}  // namespace nz::petsc

/// PETSc calls it when it loads the library: the name is made of the file's.
extern "C" PETSC_VISIBILITY_PUBLIC PetscErrorCode PetscDLLibraryRegister_nz_petsc() {
    using namespace nz::petsc;
    PetscFunctionBegin;
    PetscCall(MatRegister(seq_type, create_seqaijnz));
    PetscCall(MatRegister(mpi_type, create_mpiaijnz));
    PetscCall(MatRegisterRootName(root_type, seq_type, mpi_type));
    for (const char* name : {root_type, seq_type})  // for -mat_seqaij_type
        PetscCall(MatSeqAIJRegister(name, convert_to_seqaijnz));
    PetscCall(PCRegister(multigrid_type, create_nzamg));
    PetscFunctionReturn(0);
}
