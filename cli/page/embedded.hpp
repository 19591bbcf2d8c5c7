// The files that CMake puts into the command: the pages' own, and what an H200 measured.
#pragma once

#include <string_view>

namespace nz::cli {

extern const std::string_view page_html;  ///< with {{title}}, {{style}}, {{data}} and {{script}}

// In the order in which they are read.
extern const std::string_view report_styles[1];
extern const std::string_view report_scripts[9];
extern const std::string_view explorer_styles[2];
extern const std::string_view explorer_scripts[7];

/// Output of `nz machine --json` on a machine with an H200.
extern const std::string_view machine_of_an_h200;

}  // namespace nz::cli
