// Pointers of AmgX's callers, which lie on the host or on a GPU.
#pragma once

#include <cstddef>

namespace nz::amgx {

/// The GPU in whose memory this lies; -1: none, it is the host's.
int device_of(const void* pointer);
/// The GPU that is current for the caller's thread; 0 where there is none.
int current_device();
/// From one place to another, each on the host or on a GPU; returns when it is done. Throws
/// failure with BAD_PARAMETERS where one lies on another GPU than `device`.
void copy_anywhere(int device, const void* from, void* to, std::size_t bytes);
/// Locks the host's pages, so that copies to a GPU go faster; nothing without one.
void pin(void* at, std::size_t bytes);
void unpin(void* at);

}  // namespace nz::amgx
