#include "petsc/apart.hpp"

#include <algorithm>
#include <cmath>

namespace nz::petsc {
namespace {

/// 1 for each of the rank's rows that stands apart, else 0: PETSc tells other ranks numbers.
std::vector<PetscScalar> marks_of(const aij_view& own, PetscInt first, rows_apart& apart) {
    std::vector<PetscScalar> marks(std::size_t(own.shape.rows), 0);
    for (std::size_t i = 0; i < marks.size(); ++i) {
        PetscScalar diagonal = 0;
        bool alone = true;
        for (auto k = std::size_t(own.row_ptr[i]); k < std::size_t(own.row_ptr[i + 1]); ++k) {
            const bool on_diagonal = own.col_ind[k] == first + PetscInt(i);
            if (on_diagonal) diagonal += own.val[k];
            alone = alone && (on_diagonal || own.val[k] == 0);
        }
        if (!alone || !std::isfinite(diagonal)) continue;
        marks[i] = 1;
        apart.rows.push_back(i);
        apart.factors.push_back(diagonal == 0 ? 1 : 1 / diagonal);
    }
    return marks;
}

/// The columns that the rank's rows have beside its own, ascending, and the marks of their rows.
struct others {
    std::vector<PetscInt> columns{};
    std::vector<PetscScalar> marks{};
};

PetscErrorCode ask_others(Mat whole, const std::vector<PetscScalar>& marks, others& to) {
    Mat off_diagonal = nullptr;
    const PetscInt* columns = nullptr;
    PetscInt count = 0;
    Vec all = nullptr, here = nullptr;
    IS from = nullptr;
    VecScatter scatter = nullptr;
    PetscFunctionBegin;
    PetscCall(MatMPIAIJGetSeqAIJ(whole, nullptr, &off_diagonal, &columns));
    PetscCall(MatGetSize(off_diagonal, nullptr, &count));
    PetscCall(guarded([&] {
        to.columns.assign(columns, columns + count);
        to.marks.resize(std::size_t(count));
    }));
    const auto ranks = PetscObjectComm((PetscObject)whole);
    PetscCall(
        VecCreateMPIWithArray(ranks, 1, PetscInt(marks.size()), PETSC_DECIDE, marks.data(), &all));
    PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, count, to.marks.data(), &here));
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, count, columns, PETSC_USE_POINTER, &from));
    PetscCall(VecScatterCreate(all, from, here, nullptr, &scatter));
    PetscCall(VecScatterBegin(scatter, all, here, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter, all, here, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterDestroy(&scatter));
    PetscCall(ISDestroy(&from));
    PetscCall(VecDestroy(&here));
    PetscCall(VecDestroy(&all));
    PetscFunctionReturn(0);
}

/// The matrix that set_rows_apart returns in `kept`.
csr<PetscScalar, host> without(const aij_view& own, PetscInt first,
                               const std::vector<PetscScalar>& marks, const others& other) {
    const auto is_apart = [&](PetscInt column) {
        const PetscInt j = column - first;
        if (j >= 0 && std::size_t(j) < marks.size()) return marks[std::size_t(j)] != 0;
        const auto at = std::lower_bound(other.columns.begin(), other.columns.end(), column);
        return at != other.columns.end() && *at == column &&
               other.marks[std::size_t(at - other.columns.begin())] != 0;
    };
    csr<PetscScalar, host> kept;
    kept.shape = own.shape;
    host_vector<offset> row_ptr{0};
    for (std::size_t i = 0; i < marks.size(); ++i) {
        PetscScalar diagonal = 0;
        for (auto k = std::size_t(own.row_ptr[i]); k < std::size_t(own.row_ptr[i + 1]); ++k) {
            const PetscInt j = own.col_ind[k];
            if (marks[i] != 0 && j == first + PetscInt(i)) diagonal += own.val[k];
            if (marks[i] != 0 || is_apart(j)) continue;
            kept.col_ind.push_back(j), kept.val.push_back(own.val[k]);
        }
        if (marks[i] != 0) {
            kept.col_ind.push_back(first + PetscInt(i));
            kept.val.push_back(diagonal > 0 ? diagonal : 1);
        }
        row_ptr.push_back(offset(kept.val.size()));
    }
    kept.row_ptr = offset_vector(row_ptr);
    return kept;
}

}  // namespace

PetscErrorCode set_rows_apart(Mat whole, const aij_view& own, PetscInt first, rows_apart& apart,
                              csr<PetscScalar, host>& kept) {
    const auto ranks = PetscObjectComm((PetscObject)whole);
    PetscMPIInt size = 1;
    std::vector<PetscScalar> marks;
    others other;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(ranks, &size));
    PetscCall(guarded([&] { apart = {}, marks = marks_of(own, first, apart); }));
    int some = !apart.rows.empty();
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_LOR, ranks));
    apart.somewhere = some != 0;
    if (!apart.somewhere) PetscFunctionReturn(0);
    if (size > 1) PetscCall(ask_others(whole, marks, other));
    PetscCall(guarded([&] { kept = without(own, first, marks, other); }));
    PetscFunctionReturn(0);
}

void leave_out(const rows_apart& apart, candidates<PetscScalar>& near) {
    const auto count = std::size_t(near.count);
    for (const std::size_t i : apart.rows)
        std::fill_n(near.val.begin() + std::ptrdiff_t(i * count), count, PetscScalar(0));
}

void multiply(const rows_apart& apart, const PetscScalar* x, PetscScalar* y) {
    for (std::size_t k = 0; k < apart.rows.size(); ++k)
        y[apart.rows[k]] = apart.factors[k] * x[apart.rows[k]];
}

}  // namespace nz::petsc
