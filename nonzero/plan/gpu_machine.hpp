// Description of a GPU and its speeds, with which the speeds of its kernels are compared.
#pragma once

#include <optional>
#include <vector>

#include "nonzero/core/backend.hpp"
#include "nonzero/plan/machine.hpp"

namespace nz {

/// Facts about a GPU from the CUDA runtime.
struct gpu_info {
    std::string name;
    int compute_capability = 0;  ///< 10 major + minor
    int multiprocessors = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t l2_bytes = 0;
    int driver_version = 0, runtime_version = 0;  ///< 1000 major + 10 minor
    friend bool operator==(const gpu_info&, const gpu_info&) = default;
};

/// Random x[j] a second, of 8-byte elements, where x takes `x_bytes`.
struct gather_rate {
    std::int64_t x_bytes = 0;
    double per_s = 0;
};

struct gpu_speeds {
    bandwidth memory = {};             ///< well beyond the L2 cache
    double l2_read_gbps = 0;           ///< reading a quarter of L2 again and again         [GB/s]
    double launch_s = 0;               ///< an empty kernel, one after the other           [s]
    double latency_s = 0;              ///< a load from L2 that the next one waits for     [s]
    double upload_gbps = 0;            ///< from the CPU's ordinary memory                 [GB/s]
    std::int64_t resident_warps = 0;   ///< warps that the multiprocessors hold at once, at most
    std::vector<gather_rate> gathers;  ///< x from 16 KB by doubling to 512 MB, as memory allows
};

/// A GPU, here or elsewhere.
struct known_gpu {
    gpu_info what;
    gpu_speeds speeds;
};

/// The GPU that `text` tells of, which `nz machine --json` wrote. Throws parse_error, which begins
/// with `name`, where it tells of none, lacks a figure, or no GPU can be so.
known_gpu read_known_gpu(const std::string& text, const std::string& name);

/// Throws unavailable where there is no such GPU.
gpu_info describe_gpu(gpu on);
/// Medians of several runs, in about half a second. Throws unavailable and device_error.
gpu_speeds measure_gpu(gpu on);

/// $XDG_CACHE_HOME/nonzero/machine-<gpu>-<version>.json (~/.cache where that is not set); empty
/// where neither folder is known.
std::string gpu_cache_path(const gpu_info&);
/// Speeds that save_gpu_speeds wrote to the file for this GPU, driver and runtime; nothing where
/// the file is missing, corrupt, or of another.
std::optional<gpu_speeds> load_gpu_speeds(const std::string& path, const gpu_info&);
/// Makes the folder. Throws nz::error where it cannot be written.
void save_gpu_speeds(const std::string& path, const gpu_info&, const gpu_speeds&);

/// From the cache file, or measured, twice or more often (steady.hpp), and kept in it unless the
/// takes never agreed; `fresh` measures in any case. A cache that cannot be written is no error.
/// Throws unavailable and device_error.
gpu_speeds known_gpu_speeds(gpu on, bool fresh = false);

}  // namespace nz
