// Standard input as a file that can be read from any place, several times.
#pragma once

#include <string>

namespace nz {

/// Where what a path names can be opened: for "-" a file that holds all of standard input, which is
/// read to its end when it is first asked for and kept until the process ends; else the path
/// itself. Throws parse_error where standard input cannot be read, error where there is no space.
std::string place_of(const std::string& path);

}  // namespace nz
