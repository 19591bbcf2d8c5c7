// Functions of libnz_petsc_types.so that libnz_petsc.so finds by their names.
#pragma once

#include <petscsystypes.h>

extern "C" {
/// Registers the types with PETSc.
[[gnu::visibility("default")]] PetscErrorCode nz_petsc_register_types();
/// Where PetscGetVersionNumber is when it is called from there.
[[gnu::visibility("default")]] const void* nz_petsc_version_function();
}
