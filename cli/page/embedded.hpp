// The files of the pages, as CMake puts them into the command.
#pragma once

#include <string_view>

namespace nz::cli {

extern const std::string_view page_html;  ///< with {{title}}, {{style}}, {{data}} and {{script}}

// In the order in which they are read.
extern const std::string_view report_styles[1];
extern const std::string_view report_scripts[8];
extern const std::string_view explorer_styles[2];
extern const std::string_view explorer_scripts[5];

}  // namespace nz::cli
