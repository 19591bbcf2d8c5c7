#include "nonzero/solve/preconditioners/matched_diagonal.hpp"

#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/scaling/matching.hpp"

namespace nz {

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> matched_diagonal(B on, const ascending<V>& in_order,
                                                        index first_row) {
    const csr<V, host_view>& A = in_order.view();
    const matching m = match(A, first_row);
    require_perfect(m);
    const auto n = std::size_t(A.shape.rows);
    csr<V, host> M{A.shape, {}, host_vector<index>(n), host_vector<V>(n)};
    host_vector<offset> ptr(n + 1, 0);
    for (std::size_t j = 0; j < n; ++j) {
        const auto i = std::size_t(m.row_of[j]);
        const auto first = A.col_ind.begin() + A.row_ptr[i],
                   last = A.col_ind.begin() + A.row_ptr[i + 1];
        const auto at = std::lower_bound(first, last, index(j)) - A.col_ind.begin();
        M.col_ind[j] = index(i), M.val[j] = V(1) / A.val[std::size_t(at)];
        ptr[j + 1] = offset(j) + 1;
    }
    M.row_ptr = offset_vector(ptr);
    return plan_and_build(ascending<V>::known(std::move(M)), on).op;
}

#define NZ_INSTANTIATE(V, B) \
    template std::unique_ptr<linear_operator<V, B>> matched_diagonal(B, const ascending<V>&, index);
#define NZ_INSTANTIATE_FOR(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
