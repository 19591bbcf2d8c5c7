// Provenance of every file of measurements, beside its numbers, and how it is written.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nonzero/core/json.hpp"
#include "nonzero/io/atomic_file.hpp"
#include "nonzero/plan/gpu_machine.hpp"

namespace nz::cli {

/// Where a command's JSON goes: nowhere ("" as path), to stdout ("-"), or to a file that appears
/// whole or not at all.
class json_file {
  public:
    /// Opens at once, so that a path that cannot be written is known before an hour of measuring.
    /// Throws argument_error where `path` is neither "-" nor ends in .json: a matrix that was
    /// meant to be measured is not overwritten. Throws error where it cannot be written.
    explicit json_file(const std::string& path);

    void write(const nz::json&);  ///< Once. Throws error.
    [[nodiscard]] bool is_stdout() const { return is_stdout_; }

  private:
    bool is_stdout_;
    std::unique_ptr<atomic_file> file_;
};

/// Throws now what writing to `path` would throw after the work: argument_error where its name has
/// none of these endings, error where the file system refuses. Nothing where `path` is empty, or
/// "-", which is stdout.
void expect_writable(const std::string& path, std::span<const std::string_view> endings);
/// Throws argument_error where several of the paths of what a command writes are "-".
void expect_one_to_stdout(std::initializer_list<std::string_view> paths);
inline constexpr std::string_view vector_endings[] = {".mtx", ".mtx.gz"};
inline constexpr std::string_view matrix_endings[] = {".mtx", ".mtx.gz", ".npz", ".petsc"};
inline constexpr std::string_view any_ending[] = {""};

/// The nz::error that `write` throws, or null: a result that cannot be written is shown all the
/// same, and the error thrown then, by throw_if.
[[nodiscard]] std::exception_ptr fault_of(const std::function<void()>& write);
void throw_if(const std::exception_ptr& fault);

/// Version, commit, whether the sources differed from it, date and time (UTC), machine, compiler
/// and flags: without them no number is one. With `on_gpu` the first GPU as well.
nz::json provenance(const std::string& command, bool on_gpu = false);

/// Facts about the GPU from CUDA, and its driver and its clocks now where NVML answers.
nz::json gpu_json(const gpu_info&);

/// The name of a matrix: its file's, without folder and endings.
std::string matrix_name(const std::string& path);

/// An argument as a shell takes it.
std::string quoted(const std::string& argument);

/// The numbers of a list such as "1,2,4". Throws argument_error unless each is 1 or more and at
/// most max_threads.
std::vector<int> parse_threads(const std::string& list);

}  // namespace nz::cli
