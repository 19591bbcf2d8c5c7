# What `cmake --install` puts where, for find_package(nonzero) from outside the tree.
include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/nonzero)
install(TARGETS nonzero EXPORT nonzero)
install(DIRECTORY nonzero DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*_test.hpp" EXCLUDE)
install(EXPORT nonzero NAMESPACE nonzero:: FILE nonzeroTargets.cmake DESTINATION ${config_dir})
configure_package_config_file(cmake/nonzeroConfig.cmake.in nonzeroConfig.cmake
                              INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(nonzeroConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nonzeroConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/nonzeroConfigVersion.cmake DESTINATION ${config_dir})
if(TARGET nz)
    install(TARGETS nz)
endif()
