# A program of PETSc's own, unchanged, must print with matrices of type nz what it prints with AIJ,
# but for the names of the types. With ITERATIONS it is the iterations that must be the same, to
# within one. That nonzero multiplied at all PETSc's log says.
#   cmake -DMPIRUN=... -DPROGRAM=... -DARGUMENTS=... -DLIBRARY=... -DTYPE=... -P same_output.cmake
cmake_policy(VERSION 3.25)
separate_arguments(mpirun UNIX_COMMAND "${MPIRUN}")
separate_arguments(arguments UNIX_COMMAND "${ARGUMENTS}")

function(run options result)
    set(ENV{PETSC_OPTIONS} "-dll_append ${LIBRARY} ${options}")
    execute_process(COMMAND ${mpirun} ${PROGRAM} ${arguments} OUTPUT_VARIABLE output
                    ERROR_VARIABLE errors RESULT_VARIABLE code)
    if(NOT code EQUAL 0)
        message(FATAL_ERROR "${PROGRAM} ${ARGUMENTS}, with ${options}:\n${output}${errors}")
    endif()
    string(REGEX REPLACE "(seq|mpi)aijnz" "\\1aij" output "${output}")
    set(${result} "${output}" PARENT_SCOPE)
endfunction()

file(GLOB logs ${LOG}.*)
file(REMOVE ${LOG} ${logs})
run("" aij)
run("${TYPE} -info ${LOG}:mat" nz)

file(GLOB logs ${LOG}.*)
set(plans "")
foreach(log IN LISTS logs)
    file(STRINGS ${log} lines REGEX "nonzero: ")
    list(APPEND plans ${lines})
endforeach()
if(NOT plans)
    message(FATAL_ERROR "${PROGRAM}: no matrix was multiplied by nonzero")
endif()

if(ITERATIONS)
    foreach(of IN ITEMS aij nz)
        if(NOT ${of} MATCHES "iterations ([0-9]+)")
            message(FATAL_ERROR "${PROGRAM}: no iterations in\n${${of}}")
        endif()
        set(${of}_iterations ${CMAKE_MATCH_1})
    endforeach()
    math(EXPR more "${nz_iterations} - ${aij_iterations}")
    if(more LESS -1 OR more GREATER 1)
        message(FATAL_ERROR
                "${PROGRAM}: ${aij_iterations} iterations with AIJ, ${nz_iterations} with nz")
    endif()
elseif(NOT aij STREQUAL nz)
    message(FATAL_ERROR "${PROGRAM} ${ARGUMENTS} printed with AIJ\n${aij}\nand with nz\n${nz}")
endif()
