// Strong couplings on a GPU.
#include "nonzero/solve/device_steps.cuh"
#include "nonzero/solve/strength.hpp"

namespace nz {
namespace {

template <class V>
struct mark_strong {
    csr<V, device_view> A;
    const V* diagonal;
    V eps2;
    char* strong;
    __device__ void operator()(std::int64_t i) const {
        const V mine = rounded_product(eps2, fabs(diagonal[i]));
        for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
            const index j = A.col_ind[k];
            const V a = A.val[k];
            strong[k] = j != i && a != V(0) &&
                        rounded_product(a, a) > rounded_product(mine, fabs(diagonal[j]));
        }
    }
};

}  // namespace

template <class V>
marked_graph strong_couplings(gpu on, const csr<V, device_view>& A, double eps) {
    if (A.shape.rows != A.shape.cols || !(eps >= 0))
        throw argument_error("strong_couplings: expected a square matrix, eps >= 0");
    const device_guard guard(on);
    marked_graph g{A.row_ptr, A.col_ind, device_array<char>(A.val.size())};
    const auto diagonal = diagonal_of(on, A);
    launch_each(on, A.shape.rows,
                mark_strong<V>{A, diagonal.data(), V(eps * eps), g.strong.data()});
    return g;
}

template marked_graph strong_couplings(gpu, const csr<float, device_view>&, double);
template marked_graph strong_couplings(gpu, const csr<double, device_view>&, double);

}  // namespace nz
