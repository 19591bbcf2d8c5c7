# PETSc's own examples, unchanged, with matrices of type nz: docs/experiments/petsc.md has the
# reasons for the choice. They come with Debian's package libpetsc3.18-dev-examples.
file(GLOB petsc_examples /usr/share/petsc/*/share/petsc/examples/src)
if(NOT petsc_examples)
    message(STATUS "PETSc's examples are not installed; the tests with them are left out")
    return()
endif()
list(GET petsc_examples -1 petsc_examples)

# Builds the example once, and compares its output for these arguments. type: the option that
# makes its matrices nz. A last argument ITERATIONS compares the iterations alone.
function(petsc_example name ranks type arguments)
    string(MAKE_C_IDENTIFIER "petsc_${name}" target)
    if(NOT TARGET ${target})
        add_executable(${target} ${petsc_examples}/${name}.c)
        target_link_libraries(${target} PRIVATE PkgConfig::petsc MPI::MPI_C m)
    endif()
    get_property(count GLOBAL PROPERTY petsc_examples_run)
    math(EXPR count "${count} + 1")
    set_property(GLOBAL PROPERTY petsc_examples_run ${count})
    set(test ${target}_${count})
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${test}.run)  # some leave files behind
    list(JOIN mpirun " " started)
    add_test(NAME ${test}
             COMMAND ${CMAKE_COMMAND} "-DMPIRUN=${started} ${ranks}"
                     -DPROGRAM=$<TARGET_FILE:${target}> "-DARGUMENTS=${arguments}"
                     -DLIBRARY=$<TARGET_FILE:nz_petsc> "-DTYPE=${type}" "-DITERATIONS=${ARGN}"
                     -DLOG=${CMAKE_CURRENT_BINARY_DIR}/${test}.run/log
                     -P ${CMAKE_CURRENT_SOURCE_DIR}/same_output.cmake
             WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${test}.run)
endfunction()

# Solvers: -mat_type where the example asks for options, -dm_mat_type where a DM makes the matrix,
# -mat_seqaij_type where the type is fixed.
set(ksp ksp/ksp/tutorials)
foreach(ranks 1 2)
    foreach(solver "-ksp_type cg -pc_type none" "-ksp_type cg -pc_type jacobi"
                   "-ksp_type gmres -pc_type bjacobi" "-ksp_type cg -pc_type nzamg")
        petsc_example(${ksp}/ex2 ${ranks} "-mat_type nz" "-m 40 -n 40 ${solver}" ITERATIONS)
    endforeach()
    foreach(solver "-pc_type jacobi" "-pc_type nzamg")
        petsc_example(${ksp}/ex50 ${ranks} "-dm_mat_type nz"
                      "-da_grid_x 33 -da_grid_y 33 -ksp_converged_reason ${solver}" ITERATIONS)
        petsc_example(${ksp}/ex56 ${ranks} "-mat_type nz"
                      "-ne 7 -alpha 1e-3 -ksp_type cg -ksp_converged_reason ${solver}" ITERATIONS)
    endforeach()
endforeach()
petsc_example(${ksp}/ex56 2 "-mat_seqaij_type nz"
              "-ne 7 -alpha 1e-3 -ksp_type cg -ksp_converged_reason -pc_type gamg" ITERATIONS)
petsc_example(${ksp}/ex29 2 "-dm_mat_type nz"
              "-da_grid_x 17 -da_grid_y 17 -pc_type mg -pc_mg_levels 3 -ksp_monitor_short")
petsc_example(${ksp}/ex43 1 "-mat_seqaij_type nz"
              "-mx 10 -my 10 -stokes_ksp_max_it 20 -stokes_ksp_monitor_short -no_view")
petsc_example(snes/tutorials/ex19 2 "-dm_mat_type nz" "-da_refine 2 -snes_monitor_short -pc_type mg")

# Operations on matrices and products after them.
foreach(row "ex2 1 -mat_type seqaij -rectA" "ex2 2 -mat_type mpiaij -rectB"
            "ex5 1 -mat_type seqaij -rectA" "ex18 2 -mat_type aij -nonlocal_bc"
            "ex37 2 -mat_type mpiaij -mat_block_size 2" "ex93 2" "ex97 2" "ex102 2" "ex109 2"
            "ex132 1" "ex214 2" "ex236 2 -mat_type aij")
    string(REGEX MATCH "^([^ ]+) ([0-9]) ?(.*)$" _ "${row}")
    petsc_example(mat/tests/${CMAKE_MATCH_1} ${CMAKE_MATCH_2} "-mat_seqaij_type nz"
                  "${CMAKE_MATCH_3}")
endforeach()
