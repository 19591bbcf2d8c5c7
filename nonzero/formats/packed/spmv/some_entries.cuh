// A matrix whose rows are runs of another's entries, made on a GPU.
#pragma once

#include "nonzero/core/gpu/device_steps.cuh"
#include "nonzero/formats/csr/csr.hpp"

namespace nz {
namespace {

constexpr int lanes_of_run = 8;

/// Row i of `to` takes A's entries from start[i] on.
template <class V>
struct copied_run {
    csr<V, device_view> A, to;
    const offset* start;
    index* column;
    V* val;
    __device__ void operator()(std::int64_t thread) const {
        const auto i = std::size_t(thread / lanes_of_run);
        const offset first = to.row_ptr[i], count = to.row_ptr[i + 1] - first, from = start[i];
        for (offset k = thread % lanes_of_run; k < count; k += lanes_of_run)
            column[first + k] = A.col_ind.ptr[from + k], val[first + k] = A.val.ptr[from + k];
    }
};

/// length[i] entries of A from start[i] on, for each row i. length: one element more, which is read
/// and does not count; it becomes where rows begin. Waits for the GPU.
template <class V>
csr<V, device> some_entries(gpu on, const csr<V, device_view>& A, const device_array<offset>& start,
                            device_array<offset>& length) {
    const auto rows = std::int64_t(length.size()) - 1;
    offset entries = 0;
    csr<V, device> B{{index(rows), A.shape.cols}, row_pointers(on, length, entries), {}, {}};
    B.col_ind = device_array<index>(on, std::size_t(entries));
    B.val = device_array<V>(on, std::size_t(entries));
    launch_each(on, rows * lanes_of_run,
                copied_run<V>{A, view(B), start.data(), B.col_ind.data(), B.val.data()});
    return B;
}

}  // namespace
}  // namespace nz
