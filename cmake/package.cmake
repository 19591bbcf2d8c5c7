# `cpack -G DEB` in the build folder: one .deb of the command, its pages and completion, the library
# and its headers. What the files need dpkg-shlibdeps finds.
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
# Loaded at first use, if they are there.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libmetis5)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "libmatio11, libfmt-dev, libpng-dev, libzip-dev, zlib1g-dev, pkg-config")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
include(CPack)
