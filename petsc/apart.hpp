// Rows of a matrix that multigrid leaves out: those without an entry beside the diagonal's, which
// PETSc makes of Dirichlet boundaries (MatZeroRows, MatZeroRowsColumns), and those of zeros.
#pragma once

#include <vector>

#include "nonzero/solve/multigrid/prolongation.hpp"
#include "petsc/petsc.hpp"

namespace nz::petsc {

/// Of this rank. On them M multiplies by 1 / a_ii, or by 1 where a_ii is 0; on all others it is
/// what it is of the matrix without these rows and their columns. That is symmetric, and of a
/// matrix with the columns still there as good: it has the eigenvalues of a product with the exact
/// inverse.
struct rows_apart {
    bool somewhere = false;              ///< on some rank there is one
    std::vector<std::size_t> rows{};     ///< from the rank's first on
    std::vector<PetscScalar> factors{};  ///< of each
};

/// Finds them. whole: of type aij, over all ranks; own: this rank's rows of it, from `first` on.
/// kept, where there is one on some rank: own without what stands beside the diagonal in these rows
/// and columns, 1 for their diagonal where it is not positive. Called by all ranks.
PetscErrorCode set_rows_apart(Mat whole, const aij_view& own, PetscInt first, rows_apart& apart,
                              csr<PetscScalar, host>& kept);

/// Makes the candidates 0 there, so that no coarser level sees the rows.
void leave_out(const rows_apart& apart, candidates<PetscScalar>& near);

/// y = M x there.
void multiply(const rows_apart& apart, const PetscScalar* x, PetscScalar* y);

}  // namespace nz::petsc
