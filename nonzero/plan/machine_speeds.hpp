// Speeds of a machine, from which the time of a product is predicted.
#pragma once

#include <vector>

#include "nonzero/core/backend.hpp"

namespace nz {

/// The speeds of a CPU with a number of threads, or of a GPU.
struct machine_speeds {
    /// A rate at a working set of `bytes`. It falls from cache to cache.
    struct rate_at {
        double bytes = 0;  ///< the size of the working set
        double per_s = 0;
        friend bool operator==(const rate_at&, const rate_at&) = default;
    };

    double launch_s = 0;  ///< a kernel, or a parallel region, that does nothing       [s]
    double unit_s = 0;    ///< one work unit of one worker (estimate::work_units)      [s]
    double out_of_cache_factor = 1;  ///< a work unit that reads beyond the last cache, over unit_s
    double workers = 1;              ///< threads, or the warps that a GPU holds at once
    double lanes = 1;                ///< nonzeros that a worker takes with one work unit
    bool units_load_x = false;       ///< a work unit includes a load of x from L1
    std::vector<rate_at> reads;      ///< bytes a second, by the size of what is read
    std::vector<rate_at> gathers;    ///< loads of x[j] a second, by the size of x
    double evicting_bytes = 0;       ///< a product that reads more evicts x from L1; 0: none
    double l1_bytes = 0;             ///< bytes of x that L1 holds; 0: all that rows share
    double convert_bytes_per_s = 0;  ///< bytes of CSR that the CPU converts into a layout
    double upload_bytes_per_s = 0;   ///< from the CPU to the GPU; 0 on the CPU
    double memory_bytes = 0;         ///< memory that layouts may take; 0: not known         [bytes]
};

/// Measured in about half a second the first time on this machine, again and up to twice that where
/// takes do not agree (steady.hpp). Kept for the process, and in a file unless they never agreed.
/// `fresh` measures in any case.
machine_speeds speeds_of(cpu on, bool fresh = false);
/// The same from known_gpu_speeds. Throws unavailable where there is no such GPU.
machine_speeds speeds_of(gpu on, bool fresh = false);

}  // namespace nz
