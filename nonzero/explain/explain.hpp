// Bottleneck of a GPU kernel on a matrix: its traffic, and a sentence about it.
#pragma once

#include "nonzero/explain/l1_model.hpp"
#include "nonzero/explain/traffic.hpp"

namespace nz {

struct explanation {
    std::string_view method;
    std::vector<kernel_traffic> kernels;  ///< one by one
    traffic all;                          ///< together
    l1_hits l1;                           ///< by the model
    std::size_t layout_bytes = 0;
    std::int64_t nnz = 0;

    /// Sectors of all requests, loads and stores.                                        [bytes]
    [[nodiscard]] double moved_bytes() const;
    /// Bytes that the caches behind L1 deliver, by the model: sectors of loads that miss L1, and
    /// sectors stored.                                                                 [bytes]
    [[nodiscard]] double bytes_beyond_l1() const;
    /// Loads of values for each nonzero: more than 1 where padding is read, less where one value
    /// serves several entries.
    [[nodiscard]] double places_a_nonzero() const;
    /// Of columns, values and x: lanes that take part in the mean request, 0 to 32.
    [[nodiscard]] double lanes() const;
    /// The busiest warp's requests over those that each warp would issue if all places for warps
    /// of the GPU had an equal share: above 1 the GPU waits for one warp.
    [[nodiscard]] double tail(const l1_model&) const;
};

/// One pass over the trace, and the model's sample. `nnz` is the matrix's own. Where `interrupted`
/// is set meanwhile it returns soon, and what it returns means nothing.
explanation explain(const kernel_trace&, std::int64_t nnz, const l1_model&, int threads = 0,
                    const std::atomic<bool>* interrupted = nullptr);

/// The waste that is largest, in one sentence, or that there is none to speak of. It compares
/// counts, not times.
std::string what_binds(const explanation&, const l1_model&);

}  // namespace nz
