// Errors that the library throws, all derived from nz::error. Nothing in the library prints.
#pragma once

#include <cassert>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "nonzero/core/cpp20.hpp"

namespace nz {

/// The base of every exception of this library.
struct error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The caller's argument is wrong: a vector of the wrong length, an unknown method.
struct argument_error : error {
    using error::error;
};

/// A file is wrong. `what()` reads `path:line: what is wrong, and what was expected`.
struct parse_error : error {
    /// @param at_line  of the fault, 1-based; 0 where the file has no lines (`path: what` then)
    parse_error(const std::string& path, std::int64_t at_line, const std::string& what);
    std::int64_t line;
};

/// The machine fails: out of memory, a CUDA error.
struct device_error : error {
    using error::error;
};

/// Memory of the CPU or of a GPU does not suffice.
struct out_of_memory : device_error {
    using device_error::device_error;
};

/// This build or this machine lacks what was asked for: a GPU, a kernel.
struct unavailable : error {
    using error::error;
};

/// A second base of every error that all ranks throw.
struct agreed_error {
    int rank = 0;  ///< where it happened; the first of several
};

}  // namespace nz

/// A broken invariant is our bug; checked in debug, sanitizer and fuzz builds.
#define NZ_ASSERT(condition) assert(condition)
