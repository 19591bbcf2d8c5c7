#include "nonzero/formats/hyb/hyb_host_tail.hpp"

namespace nz {

std::string hyb_host_tail_trip::declined_on_gpu(const matrix_stats& s) {
    // Ten matrices of 74,752 rows and more ran 70 to 218 times slower than the best kernel (H200,
    // double); memplus, of 17,758 rows, stayed below 50.
    constexpr std::int64_t longest_trip = 50000;
    if (s.max_row_nnz() <= split_width_of(s) || 2 * s.rows + s.cols <= longest_trip) return {};
    return "x, y and y again, " + std::to_string(2 * s.rows + s.cols) +
           " elements, would travel between GPU and host in every product";
}

work hyb_host_tail_trip::work_on_gpu(const matrix_stats& s) {
    work w = work_of_thread_a_row(s);
    // Three copies and two waits for the GPU take as long as some ten launches each.
    if (s.max_row_nnz() > split_width_of(s)) w.launches = 50;
    return w;
}

}  // namespace nz
