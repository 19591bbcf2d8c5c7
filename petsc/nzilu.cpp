// nzilu: nonzero's incomplete LU factors as a preconditioner of PETSc's, each rank's of the rows
// and columns that it owns. With an overlap it is the preconditioner of PETSc's asm (-sub_pc_type).
//
// A matrix that has no such factors sets a failed reason, as in PETSc's own preconditioners.
#include <petsc/private/pcimpl.h>

#include <memory>
#include <string>

#include "nonzero/core/threads.hpp"
#include "nonzero/solve/preconditioners/ilu.hpp"
#include "nonzero/solve/preconditioners/ilut.hpp"
#include "petsc/petsc.hpp"

namespace nz::petsc {
namespace {

struct incomplete_lu {
    PetscInt level = 0;
    PetscReal drop = 0;  ///< 0: by level
    PetscReal fill = ilut_options{}.fill;
    PetscInt threads = 0;
    std::unique_ptr<linear_operator<PetscScalar, cpu>> M{};
    std::string told{};     ///< of the factors by level
    std::string failure{};  ///< why M could not be made of this matrix; empty where it was
};

incomplete_lu& factors_of(PC pc) { return *static_cast<incomplete_lu*>(pc->data); }

PetscErrorCode set_from_options(PC pc, PetscOptionItems* PetscOptionsObject) {
    incomplete_lu& f = factors_of(pc);
    PetscFunctionBegin;
    PetscOptionsHeadBegin(PetscOptionsObject, "nonzero's incomplete LU");
    PetscCall(PetscOptionsRangeInt("-pc_factor_levels", "Levels of fill", nullptr, f.level,
                                   &f.level, nullptr, 0, 100));
    PetscCall(PetscOptionsReal("-pc_nzilu_drop",
                               "Share of its row below which an entry is dropped; 0: by level",
                               nullptr, f.drop, &f.drop, nullptr));
    PetscCall(PetscOptionsReal("-pc_nzilu_fill", "Entries of a row of either factor, over A's",
                               nullptr, f.fill, &f.fill, nullptr));
    PetscCall(PetscOptionsRangeInt("-pc_nzilu_threads", "Threads of a rank; 0: all", nullptr,
                                   f.threads, &f.threads, nullptr, 0, max_threads));
    PetscOptionsHeadEnd();
    PetscFunctionReturn(0);
}

/// own: the rows and columns of this rank, which begin at `first`.
void factorize(incomplete_lu& f, const aij_view& own, PetscInt first) {
    const cpu on{.threads = f.threads};
    f.M.reset(), f.told.clear(), f.failure.clear();
    try {
        factor_report report;
        if (f.drop > 0) {
            f.M = ilut(on, ascending(own), {.drop = f.drop, .fill = f.fill}, first);
        } else {
            f.M = ilu(on, own, {.level = f.level}, first, &report);
            f.told = to_text(report);
        }
    } catch (const argument_error& e) {
        f.failure = e.what();
    }
}

PetscErrorCode set_up(PC pc) {
    incomplete_lu& f = factors_of(pc);
    const auto ranks = PetscObjectComm((PetscObject)pc);
    Mat A = nullptr, converted = nullptr, own = nullptr;
    PetscInt rows = 0, cols = 0, first = 0;
    aij_view view;
    PetscFunctionBegin;
    PetscCheck(f.drop >= 0 && f.drop < 1 && f.fill >= 0, ranks, PETSC_ERR_ARG_OUTOFRANGE,
               "nonzero: nzilu: drop is %g and fill %g, expected 0 to 1 and 0 or more",
               double(f.drop), double(f.fill));
    PetscCall(as_aij(pc->pmat, A, converted));
    PetscCall(MatGetSize(A, &rows, &cols));
    PetscCheck(rows == cols, ranks, PETSC_ERR_ARG_WRONG,
               "nonzero: nzilu: the matrix is %" PetscInt_FMT " x %" PetscInt_FMT ", not square",
               rows, cols);
    PetscCall(MatGetOwnershipRange(A, &first, nullptr));
    PetscCall(MatGetDiagonalBlock(A, &own));
    PetscCall(view_of(own, view));
    PetscCall(guarded([&] { factorize(f, view, first); }));
    PetscCall(MatDestroy(&converted));
    int failed = !f.failure.empty();
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_LOR, ranks));
    PetscCall(PCSetFailedReason(pc, PC_NOERROR));
    if (failed != 0) PetscCall(fail(pc, f.failure));
    PetscFunctionReturn(0);
}

PetscErrorCode apply(PC pc, Vec x, Vec y) {
    const auto& M = factors_of(pc).M;
    const PetscScalar* from = nullptr;
    PetscScalar* to = nullptr;
    PetscFunctionBegin;
    if (!M) {  // as MatSolve with a factor that failed
        PetscCall(VecSetInf(y));
        PetscFunctionReturn(0);
    }
    const auto rows = std::size_t(M->shape().rows);
    PetscCall(VecGetArrayRead(x, &from));
    PetscCall(VecGetArray(y, &to));
    PetscCall(guarded([&] { M->apply(1, {from, rows}, 0, {to, rows}); }));
    PetscCall(VecRestoreArray(y, &to));
    PetscCall(VecRestoreArrayRead(x, &from));
    PetscFunctionReturn(0);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
    const incomplete_lu& f = factors_of(pc);
    PetscBool ascii = PETSC_FALSE;
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
    if (!ascii) PetscFunctionReturn(0);
    if (f.drop > 0)
        PetscCall(PetscViewerASCIIPrintf(viewer, "  by threshold: drop %g, fill %g\n",
                                         double(f.drop), double(f.fill)));
    else
        PetscCall(PetscViewerASCIIPrintf(viewer, "  levels of fill: %" PetscInt_FMT "\n", f.level));
    if (!f.failure.empty())
        PetscCall(PetscViewerASCIIPrintf(viewer, "  not set up: %s\n", f.failure.c_str()));
    else if (!f.told.empty())
        PetscCall(PetscViewerASCIIPrintf(viewer, "  first rank: %s\n", f.told.c_str()));
    PetscFunctionReturn(0);
}

PetscErrorCode reset(PC pc) {
    PetscFunctionBegin;
    factors_of(pc).M.reset();
    PetscFunctionReturn(0);
}

PetscErrorCode destroy(PC pc) {
    PetscFunctionBegin;
    delete &factors_of(pc);
    pc->data = nullptr;
    PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode create_nzilu(PC pc) {
    PetscFunctionBegin;
    PetscCall(guarded([&] { pc->data = new incomplete_lu; }));
    PetscCall(default_threads(factors_of(pc).threads));
    pc->ops->setfromoptions = set_from_options;
    pc->ops->setup = set_up;
    pc->ops->apply = apply;
    pc->ops->view = view;
    pc->ops->reset = reset;
    pc->ops->destroy = destroy;
    PetscFunctionReturn(0);
}

}  // namespace nz::petsc
