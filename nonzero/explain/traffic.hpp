// How much the warps of a GPU kernel ask of the memory, counted from the kernel's trace.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "nonzero/formats/kernel_trace.hpp"

namespace nz {

/// Loads, or stores, added up.
struct request_counts {
    std::int64_t requests = 0;    ///< instructions of warps
    std::int64_t sectors = 0;     ///< different sectors of each request
    std::int64_t lanes = 0;       ///< lanes that take part in each request
    std::int64_t used_bytes = 0;  ///< of different elements of each request              [bytes]

    [[nodiscard]] std::int64_t moved_bytes() const { return sectors * matrix_stats::sector_bytes; }
    [[nodiscard]] double sectors_a_request() const;  ///< 0 where there is none
    [[nodiscard]] double lanes_a_request() const;    ///< 0 where there is none
    [[nodiscard]] double used_of_moved() const;      ///< 0 to 1; 1 where nothing is moved
    request_counts& operator+=(const request_counts&);
    friend bool operator==(const request_counts&, const request_counts&) = default;
};

/// Traffic of some warps.
struct traffic {
    std::array<request_counts, array_roles> loads = {};  ///< by what the elements are
    /// By the bytes of a lane's load, 1 to 32, as a profiler tells loads apart; not by texture.
    std::array<request_counts, 6> loads_by_width = {};
    request_counts stores = {};

    std::int64_t warps = 0;             ///< launched
    std::int64_t working_warps = 0;     ///< of those that load or store anything
    std::int64_t busiest_requests = 0;  ///< loads and stores of the busiest warp
    std::int64_t waited_requests = 0;   ///< the same if each working warp had its block's busiest's

    [[nodiscard]] const request_counts& of(array_role r) const { return loads[std::size_t(r)]; }
    [[nodiscard]] request_counts all_loads() const;
    [[nodiscard]] std::int64_t requests() const;  ///< loads and stores
    /// The requests of the busiest warp over those of the mean working one; 1 where none works.
    [[nodiscard]] double warp_imbalance() const;
    /// Of blocks whose warps keep their places until the last of them ends: the warps that are
    /// resident over those that work. 1 where none works.
    [[nodiscard]] double block_imbalance() const;
    traffic& operator+=(const traffic&);
    friend bool operator==(const traffic&, const traffic&) = default;
};

struct kernel_traffic {
    std::string_view kernel;  ///< its name in the source
    traffic of;
};

/// Traffic of one warp. Throws argument_error where there is no such warp.
traffic traffic_of_warp(const kernel_trace&, std::int64_t warp);
/// Traffic of all warps, for each kernel, the launches of one kernel together. Computed in
/// parallel, the same for any number of threads (0: all). Where `interrupted` is set by another
/// thread or a signal it returns soon, and what it returns means nothing.
std::vector<kernel_traffic> traffic_of(const kernel_trace&, int threads = 0,
                                       const std::atomic<bool>* interrupted = nullptr);
/// The kernels together.
traffic total(const std::vector<kernel_traffic>&);

}  // namespace nz
