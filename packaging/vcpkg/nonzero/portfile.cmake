# An overlay port of the clone that it lies in:
#   vcpkg install nonzero --overlay-ports=packaging/vcpkg
# In a registry, vcpkg_from_github or vcpkg_from_git takes the place of the next line.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES command NONZERO_CLI cuda NONZERO_CUDA)
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
                      OPTIONS ${features} -DNONZERO_TESTS=OFF -DNONZERO_PETSC=OFF -DNONZERO_C=OFF
                              -DNONZERO_MATIO=OFF "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME nonzero CONFIG_PATH lib/cmake/nonzero)
if("command" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES nz AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
