// Starts PETSc as a user does who asks for the library by an option, then the tests, on every rank.
#include <gtest/gtest.h>
#include <petscsys.h>

#include <cstdlib>

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    setenv("PETSC_OPTIONS", "-dll_append " NZ_PETSC_LIBRARY, 1);
    if (PetscInitialize(&argc, &argv, nullptr, nullptr)) return 1;
    PetscMPIInt rank = 0;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    if (rank > 0) delete listeners.Release(listeners.default_xml_generator());  // one file will do
    int failed = RUN_ALL_TESTS();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
    return PetscFinalize() || failed != 0;
}
