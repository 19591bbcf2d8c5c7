# ARCHITECTURE.md's table of folders against the disk: every row exists, every folder has its row,
# and every include goes to a folder above its own in the table.
#   cmake -DSOURCE=... -P architecture_test.cmake
cmake_policy(VERSION 3.25)
file(READ ${SOURCE}/ARCHITECTURE.md text)
string(REGEX MATCHALL "\n\\| `[a-z_/]+/`" rows "${text}")
list(LENGTH rows count)
if(count LESS 10)
    message(FATAL_ERROR "ARCHITECTURE.md: found only ${count} folders in the table")
endif()
set(named "")
foreach(row IN LISTS rows)
    string(REGEX REPLACE ".*`([a-z_/]+)/`" "\\1" folder "${row}")
    list(APPEND named ${folder})
    if(NOT IS_DIRECTORY ${SOURCE}/${folder})
        message(FATAL_ERROR "ARCHITECTURE.md names ${folder}/, which is not there")
    endif()
endforeach()
file(GLOB entries RELATIVE ${SOURCE} ${SOURCE}/* ${SOURCE}/nonzero/* ${SOURCE}/nonzero/solve/*)
foreach(entry IN LISTS entries)
    if(IS_DIRECTORY ${SOURCE}/${entry} AND NOT entry MATCHES "^\\.|^(build|carry|dist|nonzero)$"
       AND NOT entry IN_LIST named)
        message(FATAL_ERROR "ARCHITECTURE.md does not name ${entry}/")
    endif()
endforeach()

# A file includes its own folder of the table and those above it: no arrow points down the table.
# The folder of a file is the longest one that its path begins with.
function(layer_of path result)
    set(length 0)
    set(layer 0)
    set(number 0)
    foreach(folder IN LISTS named)
        math(EXPR number "${number} + 1")
        string(LENGTH ${folder} folder_length)
        string(FIND ${path} "${folder}/" at)
        if(at EQUAL 0 AND folder_length GREATER length)
            set(length ${folder_length})
            set(layer ${number})
        endif()
    endforeach()
    set(${result} ${layer} PARENT_SCOPE)
endfunction()
file(GLOB_RECURSE library RELATIVE ${SOURCE} ${SOURCE}/nonzero/*.cpp ${SOURCE}/nonzero/*.hpp
     ${SOURCE}/nonzero/*.cu ${SOURCE}/nonzero/*.cuh)
list(FILTER library EXCLUDE REGEX "_test\\.cpp$|^nonzero/nonzero.hpp$")
foreach(source IN LISTS library)
    layer_of(${source} own)
    file(STRINGS ${SOURCE}/${source} includes REGEX "^#include \"nonzero/")
    foreach(line IN LISTS includes)
        string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" header "${line}")
        layer_of(${header} other)
        if(other EQUAL 0 OR other GREATER own)
            message(FATAL_ERROR "${source} includes ${header}, of a folder below its own in ARCHITECTURE.md")
        endif()
    endforeach()
endforeach()

# A folder that is read at a glance has 40 files at most.
file(GLOB_RECURSE folders LIST_DIRECTORIES true ${SOURCE}/nonzero/* ${SOURCE}/cli/* ${SOURCE}/c/*
     ${SOURCE}/amgx/* ${SOURCE}/python/nonzero/*)
foreach(folder IN LISTS folders)
    if(IS_DIRECTORY ${folder} AND NOT folder MATCHES "__pycache__")
        file(GLOB files LIST_DIRECTORIES false ${folder}/*)
        list(LENGTH files count)
        if(count GREATER 40)
            message(FATAL_ERROR "${folder} has ${count} files; one of their ideas wants its own folder")
        endif()
    endif()
endforeach()

# Headers that take seconds to compile stand behind our own.
set(slow cli/arguments/arguments.cpp nonzero/core/json.cpp)
file(GLOB_RECURSE sources RELATIVE ${SOURCE} ${SOURCE}/nonzero/*.cpp ${SOURCE}/nonzero/*.hpp
     ${SOURCE}/cli/*.cpp ${SOURCE}/cli/*.hpp)
list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
foreach(source IN LISTS sources)
    file(STRINGS ${SOURCE}/${source} includes REGEX "^#include <(CLI|nlohmann)/")
    if(includes AND NOT source IN_LIST slow)
        message(FATAL_ERROR "${source} has ${includes}; use cli/arguments/options.hpp, nonzero/core/json.hpp")
    endif()
endforeach()

# An exception that leaves an OpenMP region ends the process. Loops that may throw, and every one
# that allocates may, are those of nonzero/core/parallel.hpp, which catch and rethrow; a bare region
# stands only where nothing is allocated: in kernels, sweeps and measurements, and where a guard is
# at hand.
set(bare nonzero/core/parallel.hpp nonzero/formats/scatter.hpp nonzero/vector/fused.hpp
         nonzero/vector/fused_columns.hpp
         nonzero/solve/multigrid/pseudo_inverse.cpp nonzero/graph/adjacency.cpp nonzero/graph/partition.cpp
         nonzero/plan/machine.cpp nonzero/plan/plan_cache.cpp)
foreach(format bsr coo csc csr dia ell hll icrs jds jds_ell sell)
    list(APPEND bare nonzero/formats/${format}/${format}.cpp)
endforeach()
list(APPEND bare nonzero/formats/csr/csr_many.cpp nonzero/matrix/ascending.cpp nonzero/formats/packed/spmv/spmv.cpp
     nonzero/formats/packed/spmm/column_major.cpp nonzero/formats/packed/spmm/row_major.cpp)
file(GLOB_RECURSE sources RELATIVE ${SOURCE} ${SOURCE}/nonzero/*.cpp ${SOURCE}/nonzero/*.hpp
     ${SOURCE}/cli/*.cpp)
list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
foreach(source IN LISTS sources)
    file(STRINGS ${SOURCE}/${source} regions REGEX "#pragma omp.*parallel")
    if(regions AND NOT source IN_LIST bare)
        message(FATAL_ERROR "${source} has a bare OpenMP region; use nonzero/core/parallel.hpp")
    endif()
endforeach()

# The order of a matrix is asked where it comes in, and nowhere behind that (nonzero/matrix/).
set(most_callers 6)
set(callers 0)
file(GLOB_RECURSE outside RELATIVE ${SOURCE} ${SOURCE}/python/src/*.cpp ${SOURCE}/petsc/*.cpp)
set(all ${library} ${sources} ${outside})
list(REMOVE_DUPLICATES all)
set(where "")
foreach(source IN LISTS all)
    file(READ ${SOURCE}/${source} text)
    string(REGEX MATCHALL "row_order order_of\\(" declared "${text}")
    string(REGEX MATCHALL "[^a-z_]order_of\\(" named_there "${text}")
    list(LENGTH declared not_called)
    list(LENGTH named_there count)
    math(EXPR count "${count} - ${not_called}")
    math(EXPR callers "${callers} + ${count}")
    if(count GREATER 0)
        string(APPEND where "\n${source}: ${count}")
    endif()
endforeach()
if(callers GREATER most_callers)
    message(FATAL_ERROR "order_of has ${callers} callers, expected at most ${most_callers}:${where}")
endif()
