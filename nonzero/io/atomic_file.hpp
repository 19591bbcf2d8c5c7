// A file that appears under its name only when it is complete.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace nz {

/// Written under a temporary name beside the target, which commit() replaces. Without commit the
/// target stays as it was and the temporary file is removed. Everything throws nz::error,
/// `path: reason`, where the file system refuses, or a folder, pipe or device has that name. "-" is
/// standard output, which gets what is written at once.
class atomic_file {
  public:
    explicit atomic_file(std::string path);
    atomic_file(const atomic_file&) = delete;
    atomic_file& operator=(const atomic_file&) = delete;
    ~atomic_file();

    void write(std::span<const char> bytes);
    void commit();
    /// For a library that wants to write the file by itself, before commit(). Empty for "-".
    [[nodiscard]] const std::string& temporary_name() const { return temporary_; }

  private:
    [[noreturn]] void fail() const;

    std::string path_, temporary_;
    int fd_;
    int slot_;  ///< in the list of unfinished files
};

/// Removes this process's temporary files that are not committed: for what ends the process without
/// unwinding, such as a handler of SIGTERM. Async-signal-safe. Of more than 64 such files at a
/// time, the later ones stay.
void remove_unfinished_files() noexcept;

}  // namespace nz
