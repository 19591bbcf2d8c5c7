#include "nonzero/matrix/device_steps.cuh"
#include "nonzero/matrix/pattern.hpp"

namespace nz {
namespace {

struct add_row_parts {
    device_offset_span row_ptr;
    unsigned long long* sum;
    __device__ void operator()(std::int64_t i) const {
        atomicAdd(sum, (unsigned long long)(pattern_part(~std::uint64_t(i),
                                                         std::uint64_t(row_ptr[std::size_t(i)]))));
    }
};
/// A run of entries a thread, so that few add to one place.
struct add_entry_parts {
    static constexpr std::int64_t run = 64;
    const index* col;
    std::int64_t entries, threads;
    unsigned long long* sum;
    __device__ void operator()(std::int64_t t) const {
        std::uint64_t mine = 0;
        for (std::int64_t k = t; k < entries; k += threads)
            mine += pattern_part(std::uint64_t(k), std::uint32_t(col[k]));
        atomicAdd(sum, (unsigned long long)(mine));
    }
};

}  // namespace

std::uint64_t pattern_hash(gpu on, const device_offset_span& row_ptr, device_span<index> col_ind) {
    const device_guard guard(on);
    device_array<unsigned long long> sum(on, 1);
    fill_bytes(on, sum, 0);
    launch_each(on, std::int64_t(row_ptr.size()), add_row_parts{row_ptr, sum.data()});
    const auto entries = std::int64_t(col_ind.size());
    const std::int64_t threads = (entries + add_entry_parts::run - 1) / add_entry_parts::run;
    launch_each(on, threads, add_entry_parts{col_ind.data(), entries, threads, sum.data()});
    return read_back(on, sum.data());
}

}  // namespace nz
