// How much memory there is, and a refusal of what exceeds it before it is allocated.
#pragma once

#include <cstdint>
#include <string>

namespace nz {

/// Main memory, or less where a control group allows less; 0 where the system does not say.
std::int64_t memory_bytes();

/// Throws device_error, saying what is needed and what there is, where `bytes` exceed the memory:
/// an allocation alone would succeed, and the system would end the process later.
void expect_memory(const std::string& what, double bytes);

}  // namespace nz
