// Memory that gives out where a test wants it to, and counts what is held.
#pragma once

#include <cstdint>

namespace nz::test {

/// Failures: of one request for memory and none after it, or of all from it on.
enum class failing { once, from_then_on };

/// From now on the n-th request for memory, of any thread, counted from 1, throws std::bad_alloc.
void fail_memory(std::int64_t n, failing);
/// No request fails any more. Returns whether a request failed.
bool restore_memory();
/// Pieces of memory that were asked for, by new or as pages, and not given back.
std::int64_t pieces_held();
/// The most bytes held at once since the last call, beyond those held then.
std::int64_t most_bytes_held();

}  // namespace nz::test
