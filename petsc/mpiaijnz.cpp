// mpiaijnz: PETSc's AIJ over ranks, whose two blocks on each rank are of type seqaijnz.
//
// PETSc's own product over ranks stays: while the scatter of x is under way, the block on the
// diagonal multiplies, then the block off it. Each of them does so by its own plan.
#include <petsc/private/matimpl.h>

#include "petsc/petsc.hpp"

namespace nz::petsc {
namespace {

/// MATMPIAIJ's end of assembly, kept as PETSc does not export it by name.
PetscErrorCode (*aij_assembly_end)(Mat, MatAssemblyType) = nullptr;

/// Converts both blocks in place, so that A's pointers to them stay valid.
PetscErrorCode convert_blocks(Mat A, MatType type) {
    Mat blocks[2] = {nullptr, nullptr};
    PetscFunctionBegin;
    PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], nullptr));
    for (Mat& block : blocks)
        if (block != nullptr && block->assembled)
            PetscCall(MatConvert(block, type, MAT_INPLACE_MATRIX, &block));
    PetscFunctionReturn(0);
}

/// Every way to fill a matrix ends here, and some of them make the blocks anew.
PetscErrorCode assembly_end(Mat A, MatAssemblyType mode) {
    PetscFunctionBegin;
    PetscCall(aij_assembly_end(A, mode));
    if (mode == MAT_FINAL_ASSEMBLY) PetscCall(convert_blocks(A, seq_type));
    PetscFunctionReturn(0);
}

PetscErrorCode become_mpiaij(Mat A) {
    PetscBool plain = PETSC_FALSE;
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJ, &plain));
    if (plain) PetscFunctionReturn(0);
    A->ops->assemblyend = aij_assembly_end;
    PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATMPIAIJ));
    PetscCall(convert_blocks(A, MATSEQAIJ));
    PetscFunctionReturn(0);
}

PetscErrorCode become_mpiaijnz(Mat A);

PetscErrorCode convert_to_mpiaij(Mat A, MatType, MatReuse reuse, Mat* out) {
    return convert(A, reuse, out, become_mpiaij);
}

PetscErrorCode convert_to_mpiaijnz(Mat A, MatType, MatReuse reuse, Mat* out) {
    return convert(A, reuse, out, become_mpiaijnz);
}

PetscErrorCode become_mpiaijnz(Mat A) {
    PetscBool already = PETSC_FALSE, plain = PETSC_FALSE;
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare((PetscObject)A, mpi_type, &already));
    if (already) PetscFunctionReturn(0);
    PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJ, &plain));
    // Other types derived from AIJ have operations of their own.
    if (!plain) PetscCall(MatConvert(A, MATMPIAIJ, MAT_INPLACE_MATRIX, &A));
    if (aij_assembly_end == nullptr) aij_assembly_end = A->ops->assemblyend;
    A->ops->assemblyend = assembly_end;
    PetscCall(PetscObjectChangeTypeName((PetscObject)A, mpi_type));
    PetscCall(convert_blocks(A, seq_type));
    for (const char* name :
         {"MatConvert_mpiaij_mpiaijnz_C", "MatConvert_mpiaij_nz_C", "MatConvert_mpiaijnz_nz_C"})
        PetscCall(PetscObjectComposeFunction((PetscObject)A, name, convert_to_mpiaijnz));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_mpiaijnz_mpiaij_C",
                                         convert_to_mpiaij));
    PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode create_mpiaijnz(Mat A) {
    PetscFunctionBegin;
    PetscCall(MatSetType(A, MATMPIAIJ));
    PetscCall(become_mpiaijnz(A));
    PetscFunctionReturn(0);
}

}  // namespace nz::petsc
