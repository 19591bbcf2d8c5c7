# Compiles several C++ sources as one translation unit, where NONZERO_UNITY is ON: the headers that
# they share are read once, and what they instantiate alike is instantiated once. It is for what
# compiles everything once; who changes one file would compile its neighbours too.
option(NONZERO_UNITY "Compile neighbouring source files together" OFF)
set(nonzero_files_a_unit 16)  # more of them leave nothing to do for a machine of many cores

# Units are cut from the files of one folder of the library or of the command, such as nonzero/io/
# with all that is below. A source with flags of its own stays alone (CMake's rule). So do kernels:
# GCC inlines otherwise in a unit, and half of ELL's products had other machine code. So does
# core/pages.cpp: tests link functions of their own in its place.
function(nonzero_unites target)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    if(NOT NONZERO_UNITY)
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
        cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
        if(NOT source MATCHES "^nonzero/(formats/|vector/|core/pages\\.cpp)"
           AND source MATCHES "^((nonzero|cli)(/[a-z]+)?)/.*\\.cpp$")
            list(APPEND files_of_${CMAKE_MATCH_1} ${source})
            list(APPEND folders ${CMAKE_MATCH_1})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES folders)
    foreach(folder IN LISTS folders)
        list(LENGTH files_of_${folder} count)
        math(EXPR units "(${count} + ${nonzero_files_a_unit} - 1) / ${nonzero_files_a_unit}")
        set(k 0)
        foreach(source IN LISTS files_of_${folder})
            math(EXPR unit "${k} * ${units} / ${count}")
            math(EXPR k "${k} + 1")
            set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${unit})
        endforeach()
    endforeach()
    # Macros of one file end with it.
    set(undefine "")
    foreach(macro IN ITEMS FOR_BACKEND FOR_PLACE FOR_SUBJECT INSTANTIATE INSTANTIATE_FOR
                           INSTANTIATE_OF_REAL INSTANTIATE_ON INSTANTIATE_ON_CPU
                           INSTANTIATE_ON_GPU INSTANTIATE_OVER_RANKS INSTANTIATE_REAL
                           INSTANTIATE_STORED)
        string(APPEND undefine "#undef NZ_${macro}\n")
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON
                          UNITY_BUILD_CODE_AFTER_INCLUDE ${undefine})
endfunction()

if(NONZERO_UNITY)
    # These look at one file. Builds without units hold every file to them.
    target_compile_options(nonzero_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow
                           $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>>)
endif()
