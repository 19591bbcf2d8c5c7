// Description of the machine and its memory bandwidth, with which every speed is compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nonzero/plan/machine_speeds.hpp"

namespace nz {

/// Facts about the machine from Linux; 0 or empty where it does not tell.
struct machine_info {
    std::string cpu;                ///< the model's name, or the architecture's
    int cores = 0;                  ///< hardware threads this process may run on
    std::int64_t l1d_bytes = 0;     ///< one core's data cache
    std::int64_t l2_bytes = 0;      ///< one instance of the L2 cache
    std::int64_t l3_bytes = 0;      ///< one instance of the L3 cache; 0 without one
    std::int64_t memory_bytes = 0;  ///< memory that this process may use
    std::string simd;               ///< the widest instructions: "AVX-512", "AVX2", "NEON", ...
};
machine_info describe_machine();

/// Memory bandwidth, well beyond the last-level cache. 1 GB = 10^9 bytes.
struct bandwidth {
    double read_gbps = 0;  ///< reading, by a sum over an array                         [GB/s]
    double copy_gbps = 0;  ///< copying, bytes read plus bytes written                  [GB/s]
};

/// The median of several passes, in about a second. threads: 1 or more; throws argument_error.
bandwidth measure_bandwidth(int threads);

/// Speeds of one CPU with a number of threads; in about a sixth of a second.
struct cpu_speeds {
    double region_s = 0;  ///< a parallel region that does nothing                   [s]
    std::vector<machine_speeds::rate_at>
        reads;  ///< bytes a second, of sums over an array of that size
    std::vector<machine_speeds::rate_at>
        gathers;  ///< random x[j] a second, of 8-byte elements, x of that size
};
/// threads: 1 or more; throws argument_error.
cpu_speeds measure_cpu(int threads);

}  // namespace nz
