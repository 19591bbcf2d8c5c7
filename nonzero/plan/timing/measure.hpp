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
    double median_s = 0;                 ///< median over the blocks, a run             [s]
    double spread = 0;                   ///< (third - first quartile) / median         [1]
    double min_s = 0;                    ///< least over the blocks, a run              [s]
    std::int64_t repeats_per_block = 0;  ///< runs timed together                       [runs]
    std::vector<double> block_s;         ///< every block's time a run, as they came    [s]
};

/// The fewest blocks whose quartiles are not just their extremes.
inline constexpr std::size_t min_blocks = 5;

struct measure_options {
    double seconds = 0.3;  ///< an item may take, warm-up apart; min_blocks are run even so
    /// The least time of a block. Shorter blocks are lost in the noise of reading the clock and of
    /// waking OpenMP's threads. Most longer blocks are hit by other processes.
    double block_s = 2e-3;
    /// Runs before each block that are not timed. A last-level cache may take in a matrix only when
    /// it has been walked several times. With one such run, a method timed twice in a row, or last,
    /// looked faster than it was (docs/decisions/measuring.md).
    std::int64_t warm_up_runs = 5;
    const std::atomic<bool>* interrupted = nullptr;  ///< once true: return what there is
    std::function<double()> now = {};                ///< seconds; empty: the steady clock
};

/// Work that times itself: runs that many times and returns the seconds they took.
using timed_runs = std::function<double(std::int64_t runs)>;

/// Times every item of `work` in blocks that take turns, A B C A B C ..., so that what disturbs
/// the machine disturbs all alike. A block is `warm_up_runs` untimed runs, which fetch back the
/// caches that the item before took, then `repeats_per_block` timed ones. Throws what the work
/// throws, and argument_error where `seconds` or `block_s` is not positive or `warm_up_runs`
/// negative.
std::vector<timing> time_interleaved(std::span<const std::function<void()>> work,
                                     const measure_options& = {});

/// The same for work with a clock of its own, as a GPU's events are. `seconds` of the options are
/// still those of `now`, whatever the work says.
std::vector<timing> time_interleaved(std::span<const timed_runs> work, const measure_options& = {});

}  // namespace nz
