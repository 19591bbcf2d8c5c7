// Shared by the tests of libnz_petsc.so.
#pragma once

#include <gtest/gtest.h>
#include <petscsys.h>
#include <petscviewer.h>

#include <filesystem>
#include <fstream>
#include <string>

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
