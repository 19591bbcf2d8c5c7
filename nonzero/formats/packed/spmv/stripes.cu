#include "nonzero/formats/packed/spmv/stripes.hpp"

#include "nonzero/formats/packed/spmv/some_entries.cuh"

namespace nz {
namespace {

/// The start and the number of each row's entries between two columns.
struct entries_between {
    device_offset_span row_ptr;
    const index* column;
    index least, end;
    offset *start, *length;
    __device__ void operator()(std::int64_t i) const {
        const offset first = row_ptr[std::size_t(i)], last = row_ptr[std::size_t(i) + 1];
        start[i] = first + first_at_least(column + first, last - first, least);
        length[i] = first_at_least(column + start[i], last - start[i], end);
    }
};

}  // namespace

template <class V>
csr<V, device> columns_between(gpu on, const csr<V, device_view>& A, index first, index last) {
    const device_guard guard(on);
    const auto rows = std::size_t(A.shape.rows);
    device_array<offset> start(on, rows), length(on, rows + 1);
    fill_bytes(on, length, 0);
    launch_each(
        on, A.shape.rows,
        entries_between{A.row_ptr, A.col_ind.ptr, first, last, start.data(), length.data()});
    return some_entries(on, A, start.data(), length);
}

template csr<float, device> columns_between(gpu, const csr<float, device_view>&, index, index);
template csr<double, device> columns_between(gpu, const csr<double, device_view>&, index, index);

}  // namespace nz
