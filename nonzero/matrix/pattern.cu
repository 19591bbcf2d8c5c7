#include "nonzero/core/gpu/device_steps.cuh"
#include "nonzero/matrix/pattern.hpp"

namespace nz {
namespace {

struct row_part {
    device_offset_span row_ptr;
    __device__ std::uint64_t operator()(std::int64_t i) const {
        return pattern_part(~std::uint64_t(i), std::uint64_t(row_ptr[std::size_t(i)]));
    }
};
struct entry_part {
    const index* col;
    __device__ std::uint64_t operator()(std::int64_t k) const {
        return pattern_part(std::uint64_t(k), std::uint32_t(col[k]));
    }
};

/// Adds the parts of `count` positions, a run of them a thread, and of a warp's runs one number:
/// what is added to one place waits for what was added before. Whole warps.
template <class Part>
struct add_parts {
    Part part;
    std::int64_t count, threads;
    unsigned long long* sum;
    __device__ void operator()(std::int64_t t) const {
        unsigned long long mine = 0;
        for (std::int64_t k = t; k < count; k += threads) mine += part(k);
        mine = warp_sum(mine);
        if (t % warp_size == 0) atomicAdd(sum, mine);
    }
};
template <class Part>
void add_all(gpu on, const Part& part, std::size_t count, unsigned long long* sum) {
    // Short runs where they are few: a thread waits for memory in each of its steps.
    constexpr std::int64_t least_run = 4, most_run = 64, enough_threads = 1 << 16;
    const auto n = std::int64_t(count);
    const std::int64_t wanted = std::max(n / most_run, std::min(n / least_run, enough_threads));
    const std::int64_t threads = (wanted / warp_size + 1) * warp_size;
    launch_each(on, threads, add_parts<Part>{part, n, threads, sum});
}

}  // namespace

void add_pattern_hash(gpu on, const device_offset_span& row_ptr, device_span<index> col_ind,
                      unsigned long long* sum) {
    add_all(on, row_part{row_ptr}, row_ptr.size(), sum);
    add_all(on, entry_part{col_ind.data()}, col_ind.size(), sum);
}

std::uint64_t pattern_hash(gpu on, const device_offset_span& row_ptr, device_span<index> col_ind) {
    const device_guard guard(on);
    device_array<unsigned long long> sum(on, 1);
    fill_bytes(on, sum, 0);
    add_pattern_hash(on, row_ptr, col_ind, sum.data());
    return read_back(on, sum.data());
}

}  // namespace nz
