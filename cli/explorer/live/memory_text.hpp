// In place of files: one text in memory, which the library's readers read.
#pragma once

#include <string>

namespace nz::cli {

/// From now on every path is that of this text.
void set_text(std::string text);

}  // namespace nz::cli
