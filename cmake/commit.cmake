# The target nonzero_commit writes nonzero_commit.hpp in every build, where what it says has changed:
# the commit, and whether the sources differ from it. They are those of the build, not of the last
# run of CMake.
set(NONZERO_COMMIT "" CACHE STRING
    "The commit of sources that lie in no clone, as in 1a2b3c or 1a2b3c-dirty")
set(nonzero_generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
set(write_commit ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}
                 -DTO=${nonzero_generated}/nonzero_commit.hpp -DTOLD=${NONZERO_COMMIT}
                 -P ${CMAKE_CURRENT_LIST_DIR}/write_commit.cmake)
add_custom_target(nonzero_commit BYPRODUCTS ${nonzero_generated}/nonzero_commit.hpp
                  COMMAND ${write_commit} VERBATIM
                  COMMENT "Writing nonzero_commit.hpp where the commit is another")

# Lets this source file of `target` include nonzero_commit.hpp.
function(nonzero_knows_commit target source)
    add_dependencies(${target} nonzero_commit)
    set_source_files_properties(${source} PROPERTIES INCLUDE_DIRECTORIES ${nonzero_generated})
endfunction()
