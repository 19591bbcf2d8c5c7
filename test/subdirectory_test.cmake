# Configures test/consumer with SOURCE as a subdirectory, under WORK, and reads what would be compiled
# how: to build it would be the whole library a second time.
#   cmake -DSOURCE=... -DWORK=... -DCOMPILER=... -DGENERATOR=... -P subdirectory_test.cmake
cmake_policy(VERSION 3.25)
function(configure folder)
    execute_process(
        COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE}/test/consumer -B ${WORK}/${folder}
                -DNONZERO_SOURCE=${SOURCE} -DNONZERO_CUDA=OFF -DCMAKE_CXX_COMPILER=${COMPILER}
                -DCMAKE_EXPORT_COMPILE_COMMANDS=ON ${ARGN}
        RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT code EQUAL 0)
        message(FATAL_ERROR "configuring ${folder} failed:\n${output}")
    endif()
endfunction()
# The commands that compile sources of the library (of nonzero: ON) or of the consumer.
function(commands folder of_nonzero result)
    file(STRINGS ${WORK}/${folder}/compile_commands.json all REGEX "\"command\":")
    if(of_nonzero)
        list(FILTER all INCLUDE REGEX " ${SOURCE}/nonzero/[^ ]*[.]cpp")
    else()
        list(FILTER all INCLUDE REGEX " ${SOURCE}/test/consumer/main[.]cpp")
    endif()
    if(NOT all)
        message(FATAL_ERROR "${folder}: nothing is compiled")
    endif()
    set(${result} "${all}" PARENT_SCOPE)
endfunction()
function(expect_flag folder of_nonzero flag wanted)
    commands(${folder} ${of_nonzero} all)
    foreach(command IN LISTS all)
        string(FIND "${command}" " ${flag} " at)
        if((wanted AND at EQUAL -1) OR (NOT wanted AND at GREATER -1))
            message(FATAL_ERROR "${folder}: expected ${flag} (${wanted}) in ${command}")
        endif()
    endforeach()
endfunction()

file(REMOVE_RECURSE ${WORK})
unset(ENV{CXXFLAGS})
unset(ENV{CMAKE_BUILD_TYPE})
# Without a build type the library is compiled for speed, and the consumer as it has it.
configure(plain)
expect_flag(plain ON -O3 ON)
expect_flag(plain ON -DNDEBUG ON)
expect_flag(plain OFF -O3 OFF)
# Whoever says something is heard.
configure(own_flags -DCMAKE_CXX_FLAGS=-Og)
expect_flag(own_flags ON -Og ON)
expect_flag(own_flags ON -O3 OFF)
configure(debug -DCMAKE_BUILD_TYPE=Debug)
expect_flag(debug ON -O3 OFF)

execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/plain --target help
                OUTPUT_VARIABLE targets COMMAND_ERROR_IS_FATAL ANY)
if(targets MATCHES "conformance_test|cli_test")
    message(FATAL_ERROR "a subproject builds nonzero's tests")
endif()
