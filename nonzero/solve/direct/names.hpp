// The names of the libraries that factorize, in the order of their enum.
#pragma once

#include <string_view>

namespace nz {

inline constexpr std::string_view direct_solver_names[] = {"eigen",   "cholmod", "umfpack",
                                                           "pardiso", "klu",     "auto"};

}  // namespace nz
