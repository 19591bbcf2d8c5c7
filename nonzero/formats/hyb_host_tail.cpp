#include "nonzero/formats/hyb_host_tail.hpp"

namespace nz {

std::string hyb_host_tail_trip::declined_on_gpu(const matrix_stats& s) {
    // x and y travel at some 5 GB/s, a thousandth of what the GPU reads at: up to this size the
    // trip takes 0.05 ms, beyond it is 50 to 200 times slower than the whole product on the GPU.
    constexpr std::int64_t longest_trip = 50000;
    if (s.max_row_nnz() <= split_width_of(s) || 2 * s.rows + s.cols <= longest_trip) return {};
    return "x, y and y again, " + std::to_string(2 * s.rows + s.cols) +
           " elements, would travel between GPU and host in every product";
}

}  // namespace nz
