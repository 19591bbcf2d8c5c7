// Says in one sentence that a compiler is set to an older C++. What every public header includes,
// itself or by another one, before a line of its own.
#pragma once

#if __cplusplus < 201709L  // GCC 10 has this for C++20
#error "nonzero needs C++20: compile with -std=c++20"
// Compilers go on after that, through hundreds of errors, but not after a file that is not there.
#include <C++20, which nonzero needs>
#endif
