// Shared by the types of libnz_petsc.so: their names, how they see PETSc's arrays, and how an
// exception becomes an error of PETSc's.
#pragma once

#include <petscmat.h>
#include <petscpc.h>

#include <new>
#include <string>

#include "nonzero/core/error.hpp"
#include "nonzero/formats/csr/csr.hpp"

namespace nz::petsc {

static_assert(std::is_same_v<PetscScalar, double> && std::is_same_v<PetscInt, index>,
              "libnz_petsc needs a PETSc of real numbers in double precision and 32-bit indices");

using aij_view = csr<PetscScalar, host_view>;

inline constexpr const char* root_type = "nz";       ///< one of the next two, by the ranks
inline constexpr const char* seq_type = "seqaijnz";  ///< PETSc asks for parents by this prefix
inline constexpr const char* mpi_type = "mpiaijnz";
inline constexpr const char* multigrid_type = "nzamg";
inline constexpr const char* incomplete_lu_type = "nzilu";

/// Constructors, as MatRegister and PCRegister take them.
PetscErrorCode create_seqaijnz(Mat);
PetscErrorCode create_mpiaijnz(Mat);
PetscErrorCode create_nzamg(PC);
PetscErrorCode create_nzilu(PC);
/// Registers the events that -log_view lists beyond PETSc's.
PetscErrorCode register_events();
/// Converter, as MatConvert and -mat_seqaij_type call it.
PetscErrorCode convert_to_seqaijnz(Mat, MatType, MatReuse, Mat*);

/// Converter, as MatConvert asks for it, where `become` changes a matrix's type in place.
PetscErrorCode convert(Mat A, MatReuse reuse, Mat* out, PetscErrorCode (*become)(Mat));

/// The arrays of a matrix of type seqaij or one derived from it, borrowed until it changes.
PetscErrorCode view_of(Mat A, aij_view& view);

/// aij: A itself where it is of type aij or one derived from it, else a copy that is. copy: that
/// one, which the caller destroys, or null.
PetscErrorCode as_aij(Mat A, Mat& aij, Mat& copy);

/// Tells PETSc that there is no preconditioner of this matrix. why: empty where another rank knows.
PetscErrorCode fail(PC pc, const std::string& why);

/// Threads that a rank takes where no option says: 1 where several ranks run, which have a core
/// each; 0, all that OpenMP offers, where one does.
PetscErrorCode default_threads(PetscInt& threads);

/// Calls f, and makes what it throws an error of PETSc's with the same message: no exception
/// passes through PETSc, which is C.
template <class F>
PetscErrorCode guarded(F f) noexcept {
    try {
        f();
    } catch (const out_of_memory& e) {
        SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "nonzero: %s", e.what());
    } catch (const std::bad_alloc&) {
        SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "nonzero: out of memory");
    } catch (const std::exception& e) {
        SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "nonzero: %s", e.what());
    }
    return 0;
}

}  // namespace nz::petsc
