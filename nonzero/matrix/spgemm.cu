// Products of sparse matrices, and transposes, on a GPU.
#include "nonzero/matrix/spgemm.cuh"
#include "nonzero/matrix/spgemm.hpp"

namespace nz {
namespace {

template <class V>
int smallest_table(const csr<V, device_view>& A, const csr<V, device_view>& B) {
    const double left = double(A.val.size()) / std::max(A.shape.rows, 1);
    const double right = double(B.val.size()) / std::max(B.shape.rows, 1);
    const double products = left * right;  // a row, of which some fall together
    return products < 48 ? 1 : products < 4000 ? 2 : 3;
}

struct row_of_entry {
    device_offset_span ptr;
    index* to;
    __device__ void operator()(std::int64_t i) const {
        for (offset k = ptr[i]; k < ptr[i + 1]; ++k) to[k] = index(i);
    }
};
struct count_up {
    std::int32_t* to;
    __device__ void operator()(std::int64_t k) const { to[k] = std::int32_t(k); }
};
/// Where each column's entries start among the sorted columns.
struct column_start {
    const index* sorted;
    std::int64_t nnz;
    offset* length;
    __device__ void operator()(std::int64_t j) const {
        length[j] = first_at_least(sorted, nnz, j + 1) - first_at_least(sorted, nnz, j);
    }
};
template <class V>
struct take_entries {
    const std::int32_t* from;
    const index* row;
    const V* val;
    index* to_col;
    V* to_val;
    __device__ void operator()(std::int64_t k) const {
        to_col[k] = row[from[k]], to_val[k] = val[from[k]];
    }
};

int bits_of(index n) {
    int bits = 1;
    while (bits < 31 && (std::int64_t(1) << bits) < n) ++bits;
    return bits;
}

}  // namespace

template <class V>
csr<V, device> spgemm(gpu on, const csr<V, device_view>& A, const csr<V, device_view>& B,
                      offset most) {
    if (A.shape.cols != B.shape.rows)
        throw argument_error("spgemm: a matrix of " + std::to_string(A.shape.cols) +
                             " columns times one of " + std::to_string(B.shape.rows) + " rows");
    const device_guard guard(on);
    return product_on_gpu<V, left_rows<V>, right_rows<V>>(
               on, {A.shape.rows, B.shape.cols}, {A.row_ptr, A.col_ind.data(), A.val.data()},
               {B.row_ptr, B.col_ind.data(), B.val.data()}, smallest_table(A, B))
        .run(most);
}

template <class V>
csr<V, device> transposed(gpu on, const csr<V, device_view>& A) {
    const device_guard guard(on);
    const std::size_t nnz = A.val.size();
    if (nnz > std::size_t(max_narrow_offset))
        throw argument_error("transposed: 2^31 entries and more are not transposed on a GPU");
    device_array<index> row(on, nnz), sorted(on, nnz);
    device_array<std::int32_t> place(on, nnz), from(on, nnz);
    launch_each(on, A.shape.rows, row_of_entry{A.row_ptr, row.data()});
    launch_each(on, std::int64_t(nnz), count_up{place.data()});
    if (nnz > 0)
        with_scratch(on, [&](void* scratch, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortPairs(scratch, bytes, A.col_ind.data(), sorted.data(),
                                                   place.data(), from.data(), std::int64_t(nnz), 0,
                                                   bits_of(A.shape.cols), stream_of(on));
        });
    csr<V, device> T{
        {A.shape.cols, A.shape.rows}, {}, device_array<index>(on, nnz), device_array<V>(on, nnz)};
    device_array<offset> length(on, std::size_t(A.shape.cols) + 1);
    fill_bytes(on, length, 0);
    launch_each(on, A.shape.cols, column_start{sorted.data(), std::int64_t(nnz), length.data()});
    offset all = 0;
    T.row_ptr = row_pointers(on, length, all);
    launch_each(
        on, std::int64_t(nnz),
        take_entries<V>{from.data(), row.data(), A.val.data(), T.col_ind.data(), T.val.data()});
    synchronize(on);
    return T;
}

#define NZ_INSTANTIATE(V)                                                                       \
    template csr<V, device> spgemm(gpu, const csr<V, device_view>&, const csr<V, device_view>&, \
                                   offset);                                                     \
    template csr<V, device> transposed(gpu, const csr<V, device_view>&);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
