// Products of sparse matrices on a GPU.
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

}  // namespace

template <class V>
csr<V, device> spgemm(gpu on, const csr<V, device_view>& A, const csr<V, device_view>& B,
                      offset most) {
    if (A.shape.cols != B.shape.rows)
        throw argument_error("spgemm: a matrix of " + std::to_string(A.shape.cols) +
                             " columns times one of " + std::to_string(B.shape.rows) + " rows");
    const device_guard guard(on);
    using W = device_value<V>;
    return product_on_gpu<V, left_rows<W>, right_rows<W>>(
               on, {A.shape.rows, B.shape.cols},
               {A.row_ptr, A.col_ind.data(), in_kernels(A.val.data())},
               {B.row_ptr, B.col_ind.data(), in_kernels(B.val.data())}, smallest_table(A, B))
        .run(most);
}

template <class V>
void galerkin_values(gpu on, const csr<V, device_view>& R, const csr<V, device_view>& A,
                     const csr<V, device_view>& P, csr<V, device>& C) {
    if (C.shape != nz::shape{R.shape.rows, P.shape.cols})
        throw argument_error("galerkin_values: the product is of another shape");
    const device_guard guard(on);
    const auto product = spgemm(on, A, P);
    const auto AP = view(product);
    using W = device_value<V>;
    product_on_gpu<V, left_rows<W>, right_rows<W>>(
        on, C.shape, {R.row_ptr, R.col_ind.data(), in_kernels(R.val.data())},
        {AP.row_ptr, AP.col_ind.data(), in_kernels(AP.val.data())}, smallest_table(R, AP))
        .run_values(C);
}

#define NZ_INSTANTIATE(V)                                                                       \
    template csr<V, device> spgemm(gpu, const csr<V, device_view>&, const csr<V, device_view>&, \
                                   offset);                                                     \
    template void galerkin_values(gpu, const csr<V, device_view>&, const csr<V, device_view>&,  \
                                  const csr<V, device_view>&, csr<V, device>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
