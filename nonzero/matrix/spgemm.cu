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

template <class V>
auto product_of(gpu on, const csr<V, device_view>& A, const csr<V, device_view>& B) {
    using W = device_value<V>;
    return product_on_gpu<V, left_rows<W>, right_rows<W>>(
        on, {A.shape.rows, B.shape.cols}, {A.row_ptr, A.col_ind.data(), in_kernels(A.val.data())},
        {B.row_ptr, B.col_ind.data(), in_kernels(B.val.data())}, smallest_table(A, B));
}

}  // namespace

template <class V>
csr<V, device> spgemm(gpu on, const csr<V, device_view>& A, const csr<V, device_view>& B,
                      offset most) {
    if (A.shape.cols != B.shape.rows)
        throw argument_error("spgemm: a matrix of " + std::to_string(A.shape.cols) +
                             " columns times one of " + std::to_string(B.shape.rows) + " rows");
    const device_guard guard(on);
    return product_of(on, A, B).run(most);
}

template <class V>
void galerkin_values(gpu on, const csr<V, device_view>& R, const csr<V, device_view>& A,
                     const csr<V, device_view>& P, csr<V, device>& AP, csr<V, device>& C) {
    if (C.shape != nz::shape{R.shape.rows, P.shape.cols})
        throw argument_error("galerkin_values: the product is of another shape");
    const device_guard guard(on);
    const pattern_left in_the_end(AP);
    if (AP.shape.rows == 0) {
        AP = spgemm(on, A, P);
    } else {
        AP.val = device_array<V>(on, AP.col_ind.size());
        product_of(on, A, P).run_values(AP);
    }
    product_of(on, R, view(AP)).run_values(C);
}

#define NZ_INSTANTIATE(V)                                                                       \
    template csr<V, device> spgemm(gpu, const csr<V, device_view>&, const csr<V, device_view>&, \
                                   offset);                                                     \
    template void galerkin_values(gpu, const csr<V, device_view>&, const csr<V, device_view>&,  \
                                  const csr<V, device_view>&, csr<V, device>&, csr<V, device>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
