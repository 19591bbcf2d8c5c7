# `cpack -G DEB` in the build folder: a .deb of the command, its pages and completion, the libraries
# of C++ and C and their headers; nonzero-mpi, of what the command opens under mpirun, so that the
# first does not depend on MPI; and nonzero-amgx. What the files need dpkg-shlibdeps finds. What is
# PETSc's is in none.
set(CPACK_PACKAGE_NAME nonzero)
set(CPACK_PACKAGE_VENDOR "The nonzero authors")
set(CPACK_PACKAGE_CONTACT "The nonzero authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL Unspecified)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME nonzero)
# Loaded at first use, if they are there.
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_RECOMMENDS libmetis5)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SUGGESTS
    "nonzero-mpi, libmatio11, libfmt-dev, libpng-dev, libzip-dev, zlib1g-dev, pkg-config")
if(TARGET nonzero_mpi)
    list(APPEND CPACK_COMPONENTS_ALL mpi)
    set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "nonzero (= ${PROJECT_VERSION})")
    set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS openmpi-bin)
endif()
if(NONZERO_AMGX)
    # Its own package, as its header and library have the names of AmgX's.
    list(APPEND CPACK_COMPONENTS_ALL amgx)
    set(CPACK_DEBIAN_AMGX_PACKAGE_DEPENDS "nonzero (= ${PROJECT_VERSION})")
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
include(CPack)
