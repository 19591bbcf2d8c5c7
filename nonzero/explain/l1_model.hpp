// A model of a GPU's first-level cache, through which a kernel's trace is sent.
#pragma once

#include "nonzero/formats/kernel_trace.hpp"
#include "nonzero/plan/gpu_machine.hpp"

namespace nz {

/// The model: the multiprocessors take the blocks of a launch in turn; each holds some warps
/// at once, which issue one request after the other in turn, and has a cache of its own that
/// replaces the line used longest ago. A line has 128 bytes, of which sectors of 32 bytes are
/// loaded one by one. Stores, and loads that bypass L1, leave it alone; loads by texture go
/// through it. No real cache is like that: theirs are not fully associative, and warps do not take
/// turns.
struct l1_model {
    std::int64_t bytes = std::int64_t(256) << 10;  ///< of each, less shared memory     [bytes]
    int multiprocessors = 132;
    int resident_warps = 64;  ///< of each, at most
    /// From so many sectors on that a multiprocessor has asked for, no more of it is looked at;
    /// shared between the launches where there are several.
    std::int64_t most_sectors = std::int64_t(1) << 19;

    /// Of a GPU; the defaults are an H100's and an H200's. The sizes are those that the CUDA C++
    /// Programming Guide lists by compute capability.
    static l1_model of(const gpu_info&);
};

/// Requests to the first-level caches, and their hits.
struct l1_hits {
    std::int64_t sectors = 0, hits = 0;      ///< of all loads
    std::int64_t x_sectors = 0, x_hits = 0;  ///< of those of x

    [[nodiscard]] double rate() const;    ///< 0 to 1; 0 where nothing is asked for
    [[nodiscard]] double x_rate() const;  ///< the same of x
};

/// Of up to three multiprocessors: that of each launch's first block, those of the blocks at a
/// third and at two thirds. Deterministic. Throws argument_error unless bytes is 128 at least, and
/// the others are 1 at least.
l1_hits model_l1(const kernel_trace&, const l1_model&);

}  // namespace nz
