// Names of ARM's cores, which Linux tells by numbers alone.
#pragma once

#include <istream>
#include <string>

namespace nz {

/// The cores that /proc/cpuinfo tells of, such as "Neoverse-V2", each kind once, in its order; of
/// unknown ones the two numbers. Empty where it tells of none. The numbers are those of the
/// register MIDR_EL1: "CPU implementer" and "CPU part".
std::string arm_cores(std::istream& cpuinfo);

}  // namespace nz
