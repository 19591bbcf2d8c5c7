#include "nonzero/matrix/transpose.hpp"

#include "nonzero/core/parallel.hpp"
#include "nonzero/matrix/diagonal.hpp"

namespace nz {

template <class V>
void adjoint_values(cpu on, const csr<V, host_view>& A, csr<V, host>& T) {
    constexpr std::int64_t run = 256;
    const offset_span from = view(T).row_ptr;
    A.row_ptr.visit([&](const auto* row_ptr) {
        parallel_for(thread_count(on), T.shape.rows, run, [&](std::int64_t j) {
            for (auto k = std::size_t(from[std::size_t(j)]);
                 k < std::size_t(from[std::size_t(j) + 1]); ++k)
                T.val[k] = conjugated(transposition::conjugate_transpose,
                                      A.val[std::size_t(position_of(row_ptr, A.col_ind.data(),
                                                                    T.col_ind[k], index(j)))]);
        });
    });
}

#define NZ_INSTANTIATE(V) \
    template void adjoint_values(cpu, const csr<V, host_view>&, csr<V, host>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
