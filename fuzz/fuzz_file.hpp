// The fuzzer's bytes as a file, for readers that take a path.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace nz::fuzz {

/// One file a process and ending, overwritten by every input.
inline std::string file_of(const std::uint8_t* data, std::size_t size,
                           const std::string& ending = "") {
    const std::string path = std::filesystem::temp_directory_path() /
                             ("nonzero-fuzz-" + std::to_string(::getpid()) + ending);
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr || std::fwrite(data, 1, size, file) != size) std::abort();
    std::fclose(file);
    return path;
}

}  // namespace nz::fuzz
