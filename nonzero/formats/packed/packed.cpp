#include "nonzero/formats/packed/packed.hpp"

namespace nz {

template <class V, class S>
estimate packed<V, S>::cost(const matrix_stats& s) {
    // Seventeen matrices of `bench/unseen_matrices.py tune`, EPYC, 1 and 2 threads: within a factor
    // of 1.9 of the times measured, in the mean (of squares) 1.36.
    constexpr double setup_of_entry = 60, setup_of_row = 375;
    return {.matrix_bytes = double(s.packed.bytes),
            .vector_bytes = vector_bytes<V>(s),
            .setup_bytes = setup_of_entry * double(s.nnz) + setup_of_row * double(s.rows)};
}

work packed_warp::work_on_gpu(const matrix_stats& s) {
    // A warp's loads wait for each other: the chunk, then at every four places the columns and x;
    // neighbouring lanes take neighbouring rows, or where rows are long, neighbouring entries.
    const double waits = 2.0 / 4;
    return {
        .sector_requests = double(std::min(s.row_sectors, s.column_sectors)),
        .work_units = waits * double(s.packed.width) + units_of_a_warp * double(s.packed.chunks),
        .critical_units = waits * double(s.packed.max_width) + units_of_a_warp,
        .bypasses_l1 = true};
}

#define NZ_INSTANTIATE(V) template estimate packed<V, host>::cost(const matrix_stats&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
