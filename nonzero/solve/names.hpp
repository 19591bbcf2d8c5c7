// The names of methods and preconditioners, in the order of their enums.
#pragma once

#include <string_view>

namespace nz {

inline constexpr std::string_view krylov_method_names[] = {
    "cg", "minres", "bicgstab", "gmres", "direct", "fgmres", "idrs", "refine"};
inline constexpr std::string_view preconditioning_names[] = {
    "none", "jacobi", "block-jacobi", "sgs",    "amg",  "matching", "ilut",
    "ilu",  "ic",     "fsai",         "saddle", "spai", "ict"};

}  // namespace nz
