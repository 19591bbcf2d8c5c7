// Long copies between a GPU and ordinary memory, by several threads.
#pragma once

#include <cstddef>

#include "nonzero/core/backend.hpp"

namespace nz {

/// Copies to on.device in on.stream; the caller waits for the stream. False, and nothing copied,
/// where the driver's own way is as good: few bytes, one thread, page-locked memory, or another
/// thread's copy under way.
bool copy_staged(gpu on, const void* from, void* to, std::size_t bytes);
/// The same from on.device; all of it is there when it returns.
bool copy_back_staged(gpu on, const void* from, void* to, std::size_t bytes);

}  // namespace nz
