// What every file of measurements says besides its numbers, and how it comes onto the disk.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "nonzero/core/error.hpp"

namespace nz::cli {

/// A JSON file that appears whole or not at all: it is written beside its place and renamed.
/// `path` empty: nowhere; "-": stdout.
class json_file {
  public:
    /// Opens at once, so that a path that cannot be written is known before an hour of measuring.
    /// Throws argument_error where `path` is neither "-" nor ends in .json: a matrix that was
    /// meant to be measured is not overwritten. Throws device_error where it cannot be written.
    explicit json_file(std::string path);
    ~json_file();
    json_file(const json_file&) = delete;
    json_file& operator=(const json_file&) = delete;

    void write(const nlohmann::json&);  ///< Throws device_error.
    [[nodiscard]] bool wanted() const { return !path_.empty(); }
    [[nodiscard]] bool is_stdout() const { return path_ == "-"; }

  private:
    std::string path_, beside_;
};

/// Version, date and time (UTC), machine, compiler and flags: without them no number is one.
nlohmann::json provenance(const std::string& command);

/// The name of a matrix: its file's, without folder and endings.
std::string matrix_name(const std::string& path);

/// The numbers of a list such as "1,2,4". Throws argument_error unless each is 1 or more and at
/// most max_threads.
std::vector<int> parse_threads(const std::string& list);

}  // namespace nz::cli
