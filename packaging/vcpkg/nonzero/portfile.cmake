# An overlay port: vcpkg install nonzero --overlay-ports=packaging/vcpkg
get_filename_component(source "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
vcpkg_check_features(OUT_FEATURE_OPTIONS options FEATURES tools NONZERO_CLI)
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(SOURCE_PATH "${source}"
                      OPTIONS ${options} -DNONZERO_CUDA=OFF -DNONZERO_TESTS=OFF -DNONZERO_MATIO=OFF
                              "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/nonzero)
if("tools" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES nz AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${source}/LICENSE")
