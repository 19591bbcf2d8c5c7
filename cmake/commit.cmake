# nonzero_commit: what is built, for the keys of the cache files; empty where this is no clone of its
# own. CMake runs again after a commit or a checkout: each writes the log of HEAD.
set(nonzero_commit "")
find_package(Git QUIET)
if(Git_FOUND)
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --show-prefix --git-path logs/HEAD
                    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
                    RESULT_VARIABLE no_clone OUTPUT_VARIABLE found ERROR_QUIET)
    # The prefix is empty at the top of a clone, and not where this lies in another project's.
    if(NOT no_clone AND found MATCHES "^\n([^\n]+)\n")
        cmake_path(ABSOLUTE_PATH CMAKE_MATCH_1 BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
                   OUTPUT_VARIABLE head_log)
        if(EXISTS ${head_log})
            set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${head_log})
        endif()
        execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12 --exclude=*
                        WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
                        OUTPUT_VARIABLE nonzero_commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
endif()
