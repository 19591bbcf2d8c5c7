# matio reads MAT-files. It is loaded at first use, by the name that programs know this version by, so
# that neither the library nor what it needs is started with every nz.
find_path(MATIO_INCLUDE_DIR matio.h)
find_library(MATIO_LIBRARY NAMES libmatio.so)
if(MATIO_INCLUDE_DIR AND MATIO_LIBRARY)
    file(REAL_PATH ${MATIO_LIBRARY} matio_file)
    string(REGEX MATCH "libmatio\\.so(\\.[0-9]+)?" matio_name ${matio_file})
    set_source_files_properties(nonzero/io/matlab.cpp PROPERTIES
                                COMPILE_DEFINITIONS "NZ_MATIO_LIBRARY=\"${matio_name}\"")
    if(NOT MATIO_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
        set_source_files_properties(nonzero/io/matlab.cpp PROPERTIES
                                    COMPILE_OPTIONS "-isystem;${MATIO_INCLUDE_DIR}")
    endif()
else()
    message(STATUS "matio was not found: MAT-files will not be read")
endif()
