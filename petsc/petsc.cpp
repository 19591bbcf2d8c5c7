#include "petsc/petsc.hpp"

#include <petsc/private/pcimpl.h>

#include "nonzero/plan/speeds.hpp"
#include "petsc/types.hpp"

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

PetscErrorCode as_aij(Mat A, Mat& aij, Mat& copy) {
    PetscMPIInt ranks = 1;
    PetscBool is_aij = PETSC_FALSE;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &ranks));
    const char* const type = ranks > 1 ? MATMPIAIJ : MATSEQAIJ;
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, type, &is_aij));
    copy = nullptr;
    if (!is_aij) PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &copy));
    aij = is_aij ? A : copy;
    PetscFunctionReturn(0);
}

PetscErrorCode fail(PC pc, const std::string& why) {
    const char* const text = why.empty() ? "on another rank" : why.c_str();
    PetscFunctionBegin;
    PetscCheck(!pc->erroriffailure, PetscObjectComm((PetscObject)pc), PETSC_ERR_LIB, "nonzero: %s",
               text);
    PetscCall(PetscInfo(pc, "nonzero: %s\n", text));
    PetscCall(PCSetFailedReason(pc, PC_SETUP_ERROR));
    PetscFunctionReturn(0);
}

PetscErrorCode default_threads(PetscInt& threads) {
    PetscMPIInt ranks = 1;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    threads = ranks > 1 ? 1 : 0;
    PetscFunctionReturn(0);
}

namespace {

/// The ranks of a node would disturb each other where all of them measured how fast it is at their
/// first plan: one does so for all, who then find it in nonzero's cache.
PetscErrorCode measure_once_a_node() {
    PetscMPIInt ranks = 1, rank = 0;
    MPI_Comm node = MPI_COMM_NULL;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    if (ranks == 1) PetscFunctionReturn(0);
    PetscCallMPI(
        MPI_Comm_split_type(PETSC_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    PetscCallMPI(MPI_Comm_rank(node, &rank));
    if (rank == 0) PetscCall(guarded([] { static_cast<void>(speeds_of(cpu{.threads = 1})); }));
    PetscCallMPI(MPI_Barrier(node));
    PetscCallMPI(MPI_Comm_free(&node));
    PetscFunctionReturn(0);
}

}  // namespace
}  // namespace nz::petsc

const void* nz_petsc_version_function() {
    return reinterpret_cast<const void*>(&PetscGetVersionNumber);
}

PetscErrorCode nz_petsc_register_types() {
    using namespace nz::petsc;
    PetscFunctionBegin;
    PetscCall(MatRegister(seq_type, create_seqaijnz));
    PetscCall(MatRegister(mpi_type, create_mpiaijnz));
    PetscCall(MatRegisterRootName(root_type, seq_type, mpi_type));
    for (const char* name : {root_type, seq_type})  // for -mat_seqaij_type
        PetscCall(MatSeqAIJRegister(name, convert_to_seqaijnz));
    PetscCall(PCRegister(multigrid_type, create_nzamg));
    PetscCall(PCRegister(incomplete_lu_type, create_nzilu));
    PetscCall(register_events());
    PetscCall(measure_once_a_node());
    PetscFunctionReturn(0);
}
