# Writes what is built to a header, unless the header says so already.
#   cmake -DSOURCE=folder -DTO=nonzero_commit.hpp [-DTOLD=1a2b3c-dirty] -P write_commit.cmake
cmake_policy(VERSION 3.25)
set(commit "")
set(dirty false)
find_package(Git QUIET)
if(Git_FOUND)
    set(git ${GIT_EXECUTABLE} -C ${SOURCE})
    # The prefix is empty at the top of a clone, and not where this lies in another project's.
    execute_process(COMMAND ${git} rev-parse --show-prefix RESULT_VARIABLE no_clone
                    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT no_clone AND prefix STREQUAL "")
        execute_process(COMMAND ${git} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit
                        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        # What is compiled, files that git does not know included: the lists of sources are globs.
        execute_process(COMMAND ${git} status --porcelain -- CMakeLists.txt CMakePresets.json cmake
                                nonzero cli bench/peers
                        OUTPUT_VARIABLE changes)
        if(changes)
            set(dirty true)
        endif()
    endif()
endif()
if(commit STREQUAL "" AND TOLD MATCHES "^([0-9a-zA-Z.]+)(-dirty)?$")
    set(commit ${CMAKE_MATCH_1})
    if(CMAKE_MATCH_2)
        set(dirty true)
    endif()
endif()
set(text "// Written by cmake/write_commit.cmake.
#pragma once
namespace nz {
inline constexpr const char* built_commit = \"${commit}\";  ///< empty where it is not known
inline constexpr bool built_dirty = ${dirty};  ///< whether the sources differed from it
}  // namespace nz
")
set(before "")
if(EXISTS ${TO})
    file(READ ${TO} before)
endif()
if(NOT before STREQUAL text)
    file(WRITE ${TO} "${text}")
endif()
