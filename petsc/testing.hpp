// Shared by the tests of libnz_petsc.so.
#pragma once

#include <gtest/gtest.h>
#include <petscmat.h>
#include <petscviewer.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "nonzero/formats/csr/csr.hpp"

namespace nz::petsc {

/// Ends the test where a call of PETSc's fails.
#define MUST(call) ASSERT_EQ(PetscErrorCode(0), (call))

inline PetscMPIInt ranks() {
    PetscMPIInt size = 1;
    MPI_Comm_size(PETSC_COMM_WORLD, &size);
    return size;
}
inline PetscMPIInt rank() {
    PetscMPIInt own = 0;
    MPI_Comm_rank(PETSC_COMM_WORLD, &own);
    return own;
}

using host_matrix = csr<double, host>;

/// This rank's rows of A, in blocks of `block` unknowns, as a PETSc matrix.
inline Mat over_ranks(const host_matrix& A, PetscInt block, const char* type) {
    Mat M = nullptr;
    PetscInt first = 0, last = 0;
    EXPECT_EQ(0, MatCreate(PETSC_COMM_WORLD, &M));
    EXPECT_EQ(0, MatSetSizes(M, PETSC_DECIDE, PETSC_DECIDE, A.shape.rows, A.shape.cols));
    EXPECT_EQ(0, MatSetBlockSize(M, block));
    EXPECT_EQ(0, MatSetType(M, type));
    EXPECT_EQ(0, MatSetUp(M));
    EXPECT_EQ(0, MatSetOption(M, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    EXPECT_EQ(0, MatGetOwnershipRange(M, &first, &last));
    for (PetscInt i = first; i < last; ++i) {
        const auto k = A.row_ptr[std::size_t(i)];
        const auto count = PetscInt(A.row_ptr[std::size_t(i) + 1] - k);
        EXPECT_EQ(0, MatSetValues(M, 1, &i, count, A.col_ind.data() + k, A.val.data() + k,
                                  INSERT_VALUES));
    }
    EXPECT_EQ(0, MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
    EXPECT_EQ(0, MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
    return M;
}

/// PETSc's view of an object in all detail; on each rank that shares it.
inline std::string viewed(PetscObject object) {
    MPI_Comm comm = PetscObjectComm(object);
    PetscMPIInt sharing = 1;
    MPI_Comm_size(comm, &sharing);
    const std::string path =
        ::testing::TempDir() + "petsc_test_view." + (sharing > 1 ? "all" : std::to_string(rank()));
    PetscViewer viewer = nullptr;
    EXPECT_EQ(0, PetscViewerASCIIOpen(comm, path.c_str(), &viewer));
    EXPECT_EQ(0, PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO_DETAIL));
    EXPECT_EQ(0, PetscObjectView(object, viewer));
    EXPECT_EQ(0, PetscViewerDestroy(&viewer));
    MPI_Barrier(comm);
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    MPI_Barrier(comm);
    std::filesystem::remove(path);
    return text;
}

/// While it lives, PETSc's errors are kept in place of being printed.
struct caught_error {
    caught_error() { PetscPushErrorHandler(keep, this); }
    ~caught_error() { PetscPopErrorHandler(); }
    caught_error(const caught_error&) = delete;
    caught_error& operator=(const caught_error&) = delete;
    static PetscErrorCode keep(MPI_Comm, int, const char*, const char*, PetscErrorCode code,
                               PetscErrorType type, const char* text, void* context) {
        if (type == PETSC_ERROR_INITIAL) static_cast<caught_error*>(context)->message = text;
        return code;
    }
    std::string message;  ///< of the first
};

}  // namespace nz::petsc
