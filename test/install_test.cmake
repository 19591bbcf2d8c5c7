# Installs the build tree BUILD of SOURCE under WORK and builds and runs test/consumer against it;
# then configures the same consumer with SOURCE as a subdirectory (building it would be the whole
# library a second time).
function(run what)
    execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
    if(NOT code EQUAL 0)
        message(FATAL_ERROR "${what} failed:\n${out}")
    endif()
    set(output "${out}" PARENT_SCOPE)
endfunction()

set(consumer ${SOURCE}/test/consumer)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run("install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run("find_package" ${CMAKE_COMMAND} -G ${GENERATOR} -S ${consumer} -B ${WORK}/installed
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}")
run("build" ${CMAKE_COMMAND} --build ${WORK}/installed)
run("the consumer" ${WORK}/installed/consumer)
if(NOT output STREQUAL "3 3 9\n")
    message(FATAL_ERROR "the consumer printed '${output}', expected '3 3 9'")
endif()
file(GLOB_RECURSE tests ${WORK}/prefix/include/*_test.hpp)
if(tests)
    message(FATAL_ERROR "test headers were installed: ${tests}")
endif()

run("add_subdirectory" ${CMAKE_COMMAND} -G ${GENERATOR} -S ${consumer} -B ${WORK}/subdirectory
    -DNONZERO_SOURCE=${SOURCE} -DNONZERO_CUDA=OFF -DCMAKE_CXX_COMPILER=${COMPILER})
run("its targets" ${CMAKE_COMMAND} --build ${WORK}/subdirectory --target help)
if(output MATCHES "conformance_test|cli_test")
    message(FATAL_ERROR "a subproject builds nonzero's tests")
endif()
