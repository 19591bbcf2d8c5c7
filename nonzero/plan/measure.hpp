// The one timing harness: interleaved, warmed-up blocks of products, and the median of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace nz {

/// How long one item of work took. All zero where it was interrupted before its first block.
struct timing {
    double median_s = 0;                 ///< of the blocks, a run                      [s]
    double spread = 0;                   ///< (third - first quartile) / median         [1]
    double min_s = 0;                    ///< of the blocks, a run                      [s]
    std::int64_t repeats_per_block = 0;  ///< runs timed together                       [runs]
    std::vector<double> block_s;         ///< every block's time a run, as they came    [s]
};

/// The fewest blocks whose quartiles are not just their extremes.
inline constexpr std::size_t min_blocks = 5;

struct measure_options {
    double seconds = 0.3;  ///< an item may take, warm-up apart; min_blocks are run even so
    /// The least a block takes. Shorter ones drown in what surrounds them: reading the clock takes
    /// 25 ns and waking an OpenMP thread up to 50 us. Longer ones are hit by a neighbour's burst
    /// more often than not.
    double block_s = 2e-3;
    const std::atomic<bool>* interrupted = nullptr;  ///< once true: return what there is
    std::function<double()> now = {};                ///< seconds; empty: the steady clock
};

/// Work that times itself: runs that many times and returns the seconds they took.
using timed_runs = std::function<double(std::int64_t runs)>;

/// Times every item of `work` in blocks that take turns, A B C A B C ..., so that what disturbs
/// the machine disturbs all alike. A block is one untimed run, which fetches back the caches that
/// the item before took, then `repeats_per_block` timed ones. Throws what the work throws, and
/// argument_error where `seconds` or `block_s` is not positive.
std::vector<timing> time_interleaved(std::span<const std::function<void()>> work,
                                     const measure_options& = {});

/// The same for work with a clock of its own, as a GPU's events are. `seconds` of the options are
/// still those of `now`, whatever the work says.
std::vector<timing> time_interleaved(std::span<const timed_runs> work, const measure_options& = {});

}  // namespace nz
