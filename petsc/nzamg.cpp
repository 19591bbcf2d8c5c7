// nzamg: nonzero's algebraic multigrid as a preconditioner of PETSc's, over all ranks of its
// matrix.
//
// Values of a matrix that multigrid cannot take set a failed reason, as in PETSc's own
// preconditioners: KSP ends with KSP_DIVERGED_PC_FAILED, and SNES and TS go on with another step.
#include <petsc/private/pcimpl.h>

#include <cmath>
#include <memory>
#include <tuple>
#include <vector>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/mpi.hpp"
#include "nonzero/dist/own_block.hpp"
#include "nonzero/dist/slice.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "petsc/apart.hpp"
#include "petsc/petsc.hpp"

namespace nz::petsc {
namespace {

/// Of options, what levels are made by.
auto settings_of(const amg_options& o, PetscInt threads) {
    return std::tuple(o.cycle, o.smoother, o.degree, o.sweeps, o.strength, o.coarse_rows, o.check,
                      o.block, threads);
}

struct multigrid {
    amg_options options = {};
    PetscInt threads = 0;
    bool keep = true;                      ///< the levels, where values alone are new
    index dimension = 0;                   ///< of the coordinates; 0: none were set
    std::vector<PetscReal> coordinates{};  ///< of this rank's nodes, `dimension` a node
    std::unique_ptr<mpi_ranks> ranks{};    ///< null where there is one
    std::unique_ptr<amg<PetscScalar, cpu>> M{};
    rows_apart apart{};  ///< rows that M leaves out
    // What M was made with, and serves as long as it is so:
    decltype(settings_of({}, 0)) made_by{};
    candidates<PetscScalar> near{};
    std::string failure{};  ///< why M could not be made of this matrix; empty where it was
};

multigrid& multigrid_of(PC pc) { return *static_cast<multigrid*>(pc->data); }

PetscErrorCode set_from_options(PC pc, PetscOptionItems* PetscOptionsObject) {
    static const char* const cycles[] = {"v", "w", "amg_options::cycles", "", nullptr};
    static const char* const smoothers[] = {"chebyshev", "l1_jacobi", "amg_options::smoothers", "",
                                            nullptr};
    multigrid& m = multigrid_of(pc);
    amg_options& o = m.options;
    auto cycle = PetscEnum(o.cycle), smoother = PetscEnum(o.smoother);
    PetscReal strength = o.strength;
    PetscBool check = PetscBool(o.check), keep = PetscBool(m.keep);
    PetscFunctionBegin;
    PetscOptionsHeadBegin(PetscOptionsObject, "nonzero's algebraic multigrid");
    PetscCall(
        PetscOptionsEnum("-pc_nzamg_cycle", "Cycle", nullptr, cycles, cycle, &cycle, nullptr));
    PetscCall(PetscOptionsEnum("-pc_nzamg_smoother", "Smoother", nullptr, smoothers, smoother,
                               &smoother, nullptr));
    PetscCall(PetscOptionsInt("-pc_nzamg_degree", "Degree of the Chebyshev polynomial", nullptr,
                              o.degree, &o.degree, nullptr));
    PetscCall(PetscOptionsInt("-pc_nzamg_sweeps", "Passes of the smoother on each side", nullptr,
                              o.sweeps, &o.sweeps, nullptr));
    PetscCall(PetscOptionsReal("-pc_nzamg_strength", "From which strength couplings count", nullptr,
                               strength, &strength, nullptr));
    PetscCall(PetscOptionsInt("-pc_nzamg_coarse_rows", "Rows that are solved directly", nullptr,
                              o.coarse_rows, &o.coarse_rows, nullptr));
    PetscCall(PetscOptionsBool("-pc_nzamg_check", "Checks that the matrix is symmetric", nullptr,
                               check, &check, nullptr));
    PetscCall(PetscOptionsBool("-pc_nzamg_keep", "Keeps aggregates where values alone are new",
                               nullptr, keep, &keep, nullptr));
    PetscCall(PetscOptionsRangeInt("-pc_nzamg_threads", "Threads of a rank; 0: all", nullptr,
                                   m.threads, &m.threads, nullptr, 0, max_threads));
    PetscOptionsHeadEnd();
    o.cycle = amg_options::cycles(cycle), o.smoother = amg_options::smoothers(smoother);
    o.strength = strength, o.check = check == PETSC_TRUE;
    m.keep = keep == PETSC_TRUE;
    PetscFunctionReturn(0);
}

/// The vectors of a null space, side by side on each of this rank's rows.
PetscErrorCode candidates_of(MatNullSpace space, PetscInt rows, candidates<PetscScalar>& near) {
    PetscBool has_constant = PETSC_FALSE;
    PetscInt count = 0;
    const Vec* vectors = nullptr;
    PetscFunctionBegin;
    PetscCall(MatNullSpaceGetVecs(space, &has_constant, &count, &vectors));
    const auto all = std::size_t(count) + (has_constant == PETSC_TRUE);
    near.count = index(all);
    PetscCall(guarded([&] { near.val.assign(std::size_t(rows) * all, 1); }));
    for (std::size_t c = 0; c < std::size_t(count); ++c) {
        const PetscScalar* values = nullptr;
        PetscCall(VecGetArrayRead(vectors[c], &values));
        for (std::size_t i = 0; i < std::size_t(rows); ++i) near.val[i * all + c] = values[i];
        PetscCall(VecRestoreArrayRead(vectors[c], &values));
    }
    PetscFunctionReturn(0);
}

/// The rigid-body modes of all ranks' nodes, on this rank's rows.
PetscErrorCode rigid_body_candidates(MPI_Comm ranks, const multigrid& m, PetscInt rows,
                                     candidates<PetscScalar>& near) {
    Vec nodes = nullptr;
    MatNullSpace modes = nullptr;
    PetscFunctionBegin;
    PetscCall(VecCreateMPIWithArray(ranks, m.dimension, rows, PETSC_DECIDE, m.coordinates.data(),
                                    &nodes));
    PetscCall(MatNullSpaceCreateRigidBody(nodes, &modes));
    PetscCall(candidates_of(modes, rows, near));
    PetscCall(MatNullSpaceDestroy(&modes));
    PetscCall(VecDestroy(&nodes));
    PetscFunctionReturn(0);
}

/// Vectors that the coarser levels must represent: the near null space of the matrix, or the
/// rigid-body modes where there is a coordinate for each unknown, or none.
PetscErrorCode near_null_space(PC pc, PetscInt rows, index block, candidates<PetscScalar>& near) {
    const multigrid& m = multigrid_of(pc);
    const auto ranks = PetscObjectComm((PetscObject)pc);
    MatNullSpace space = nullptr;
    PetscFunctionBegin;
    PetscCall(MatGetNearNullSpace(pc->pmat, &space));
    if (space != nullptr) {
        PetscCall(candidates_of(space, rows, near));
        PetscFunctionReturn(0);
    }
    int has_coordinates =
        m.dimension > 1 && m.dimension == block && PetscInt(m.coordinates.size()) == rows;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &has_coordinates, 1, MPI_INT, MPI_LAND, ranks));
    if (has_coordinates != 0) PetscCall(rigid_body_candidates(ranks, m, rows, near));
    PetscFunctionReturn(0);
}

/// Throws argument_error on all ranks where a value is not finite.
void expect_finite(const communicator& ranks, const aij_view& own, PetscInt first) {
    agree(&ranks, [&] {
        for_each_entry(own, 0, own.shape.rows, [&](index i, index, PetscScalar v) {
            if (!std::isfinite(v))
                throw argument_error("amg: a value of the matrix is " + std::to_string(v) +
                                     " in row " + std::to_string(first + i));
        });
    });
}

/// This rank's rows of a matrix: from `first` on with all columns, or the whole matrix.
struct own_rows {
    const aij_view& A;
    PetscInt first;
};

/// Called by all ranks.
void make_levels(multigrid& m, MPI_Comm comm, const own_rows& own, const amg_options& options,
                 candidates<PetscScalar> near) {
    m.M.reset();
    m.ranks = std::make_unique<mpi_ranks>(comm);
    expect_finite(*m.ranks, own.A, own.first);
    const cpu on{.threads = m.threads, .ranks = m.ranks->size() == 1 ? nullptr : m.ranks.get()};
    if (on.ranks == nullptr)
        m.M = std::make_unique<amg<PetscScalar, cpu>>(own.A, on, options, near);
    else
        m.M = std::make_unique<amg<PetscScalar>>(
            on, slice_from(*m.ranks, rows_of(own.A, {0, own.A.shape.rows})), options, near);
    m.made_by = settings_of(options, m.threads), m.near = std::move(near);
}

/// Gives M the values, whose pattern is said to be the old one. False where it must be made anew.
/// Called by all ranks.
bool take_values(multigrid& m, const own_rows& own) {
    expect_finite(*m.ranks, own.A, own.first);
    try {
        if (m.ranks->size() == 1)
            m.M->take_values(own.A);
        else
            m.M->take_values(slice_from(*m.ranks, rows_of(own.A, {0, own.A.shape.rows})));
        return true;
    } catch (const argument_error&) {  // the setup tells why
        return false;
    } catch (...) {
        m.M.reset();  // which has lost its values
        throw;
    }
}

/// whole: the matrix over all ranks; A: this rank's rows of it.
PetscErrorCode set_up_of(PC pc, Mat whole, Mat A) {
    multigrid& m = multigrid_of(pc);
    const auto ranks = PetscObjectComm((PetscObject)pc);
    PetscInt rows = 0, cols = 0, block = 1, first = 0;
    aij_view view;
    csr<PetscScalar, host> kept;
    candidates<PetscScalar> near;
    const auto apart_before = m.apart.rows;
    PetscFunctionBegin;
    PetscCall(MatGetSize(whole, &rows, &cols));
    PetscCheck(rows == cols, ranks, PETSC_ERR_ARG_WRONG,
               "nonzero: amg: the matrix is %" PetscInt_FMT " x %" PetscInt_FMT ", not square",
               rows, cols);
    PetscCall(view_of(A, view));
    PetscCall(MatGetBlockSize(pc->pmat, &block));
    PetscCall(MatGetOwnershipRange(whole, &first, nullptr));
    PetscCall(near_null_space(pc, view.shape.rows, block, near));
    amg_options options = m.options;
    options.block = block;
    PetscCall(guarded([&] { options.validate(); }));
    PetscCall(set_rows_apart(whole, view, first, m.apart, kept));
    if (m.apart.somewhere) {
        view = nz::view(kept);
        PetscCall(guarded([&] {
            if (near.count == 0)
                near = candidates<PetscScalar>::constant(view.shape.rows, block, first);
            leave_out(m.apart, near);
        }));
    }
    int keeps = m.keep && m.M && pc->setupcalled && pc->flag == SAME_NONZERO_PATTERN &&
                m.made_by == settings_of(options, m.threads) && m.apart.rows == apart_before &&
                m.near.count == near.count && m.near.val == near.val;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &keeps, 1, MPI_INT, MPI_LAND, ranks));
    PetscCall(guarded([&] {
        m.failure.clear();
        try {
            const own_rows own{view, first};
            if (keeps == 0 || !take_values(m, own))
                make_levels(m, ranks, own, options, std::move(near));
        } catch (const argument_error& e) {  // of the values: all else was checked before
            m.M.reset(), m.failure = e.what();
        }
    }));
    PetscCall(PCSetFailedReason(pc, PC_NOERROR));
    if (!m.failure.empty()) PetscCall(fail(pc, m.failure));
    PetscFunctionReturn(0);
}

/// A matrix of another type than AIJ is converted, for the time of the setup.
PetscErrorCode set_up(PC pc) {
    Mat A = nullptr, converted = nullptr, own = nullptr;
    PetscMPIInt ranks = 1;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
    PetscCall(as_aij(pc->pmat, A, converted));
    if (ranks > 1) PetscCall(MatMPIAIJGetLocalMat(A, MAT_INITIAL_MATRIX, &own));
    PetscCall(set_up_of(pc, A, ranks > 1 ? own : A));
    PetscCall(MatDestroy(&own));
    PetscCall(MatDestroy(&converted));
    PetscFunctionReturn(0);
}

PetscErrorCode apply(PC pc, Vec x, Vec y) {
    const multigrid& m = multigrid_of(pc);
    const auto& M = m.M;
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
    PetscCall(guarded([&] {
        M->apply(1, {from, rows}, 0, {to, rows});
        multiply(m.apart, from, to);
    }));
    PetscCall(VecRestoreArray(y, &to));
    PetscCall(VecRestoreArrayRead(x, &from));
    PetscFunctionReturn(0);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
    const multigrid& m = multigrid_of(pc);
    PetscBool ascii = PETSC_FALSE;
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
    if (!ascii) PetscFunctionReturn(0);
    std::string levels;
    PetscCall(guarded([&] {
        levels = m.M                 ? to_text(m.M->report())
                 : m.failure.empty() ? "not set up\n"
                                     : "not set up: " + m.failure + "\n";
    }));
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s", levels.c_str()));
    PetscFunctionReturn(0);
}

PetscErrorCode reset(PC pc) {
    PetscFunctionBegin;
    multigrid_of(pc).M.reset();
    multigrid_of(pc).ranks.reset();
    PetscFunctionReturn(0);
}

PetscErrorCode destroy(PC pc) {
    PetscFunctionBegin;
    delete &multigrid_of(pc);
    pc->data = nullptr;
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSetCoordinates_C", nullptr));
    PetscFunctionReturn(0);
}

PetscErrorCode set_coordinates(PC pc, PetscInt dimension, PetscInt nodes, PetscReal* xyz) {
    multigrid& m = multigrid_of(pc);
    PetscFunctionBegin;
    PetscCall(guarded([&] {
        m.coordinates.assign(xyz, xyz + std::size_t(dimension) * std::size_t(nodes));
        m.dimension = dimension;
    }));
    PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode create_nzamg(PC pc) {
    PetscFunctionBegin;
    PetscCall(guarded([&] { pc->data = new multigrid; }));
    PetscCall(default_threads(multigrid_of(pc).threads));
    pc->ops->setfromoptions = set_from_options;
    pc->ops->setup = set_up;
    pc->ops->apply = apply;
    pc->ops->applytranspose = apply;  // multigrid is symmetric
    pc->ops->view = view;
    pc->ops->reset = reset;
    pc->ops->destroy = destroy;
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSetCoordinates_C", set_coordinates));
    PetscFunctionReturn(0);
}

}  // namespace nz::petsc
