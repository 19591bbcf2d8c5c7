#include "nonzero/matrix/pattern.hpp"

#include <functional>

#include "nonzero/core/parallel.hpp"

namespace nz {

std::uint64_t pattern_hash(cpu on, const offset_span& row_ptr, std::span<const index> col_ind) {
    const int threads = thread_count(on);
    const auto rows = parallel_reduce(
        threads, std::int64_t(row_ptr.size()), std::uint64_t(0), std::plus<>(),
        [&](std::int64_t i) {
            return pattern_part(~std::uint64_t(i), std::uint64_t(row_ptr[std::size_t(i)]));
        });
    return rows +
           parallel_reduce(
               threads, std::ssize(col_ind), std::uint64_t(0), std::plus<>(), [&](std::int64_t k) {
                   return pattern_part(std::uint64_t(k), std::uint32_t(col_ind[std::size_t(k)]));
               });
}

}  // namespace nz
