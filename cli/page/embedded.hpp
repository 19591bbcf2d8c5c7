// The files of this folder, as CMake puts them into the command.
#pragma once

#include <string_view>

namespace nz::cli {

extern const std::string_view page_html;  ///< with {{style}}, {{data}} and {{script}} in it
extern const std::string_view page_css;
extern const std::string_view page_scripts[7];  ///< in the order in which they are read

}  // namespace nz::cli
