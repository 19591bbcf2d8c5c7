# Whether libnz_petsc.so is built: by default where pkg-config finds a PETSc that suits it, one of
# real numbers in double precision and 32-bit indices.
find_package(PkgConfig REQUIRED)
pkg_check_modules(petsc QUIET IMPORTED_TARGET petsc>=3.18)
find_file(petsc_settings petscconf.h HINTS ${petsc_INCLUDE_DIRS} NO_DEFAULT_PATH)
set(petsc_suits OFF)
if(petsc_settings AND PROJECT_IS_TOP_LEVEL AND NOT NONZERO_SANITIZE AND NOT SKBUILD)
    file(STRINGS ${petsc_settings} other_numbers
         REGEX "define PETSC_USE_(COMPLEX|64BIT_INDICES|REAL_SINGLE|REAL___FLOAT128|REAL___FP16) ")
    if(NOT other_numbers)
        set(petsc_suits ON)
    endif()
endif()
option(NONZERO_PETSC "Build libnz_petsc.so, nonzero as types of PETSc's" ${petsc_suits})
