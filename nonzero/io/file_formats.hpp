// The kinds of files that matrices are read from.
#pragma once

#include <span>
#include <string_view>

namespace nz {

/// A kind of file that matrices are read from.
struct file_format {
    std::string_view name;                      ///< as users know it
    std::span<const std::string_view> endings;  ///< of such files' names
    bool text;                                  ///< may be gzipped, its name ending in .gz too
    bool written;                               ///< write makes such files, and not only read
};
/// All of them: what read tries, and what help and documents list.
std::span<const file_format> file_formats();

}  // namespace nz
