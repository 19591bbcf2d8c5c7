#include "nonzero/solve/preconditioners/colouring.hpp"

#include <numeric>
#include <string>
#include <vector>

#include "nonzero/matrix/transpose.hpp"

namespace nz {

template <class V>
colouring colour(const ascending<V>& in_order) {
    const csr<V, host_view>& A = in_order.view();
    if (A.shape.rows != A.shape.cols)
        throw argument_error("colour: A is " + std::to_string(A.shape.rows) + " x " +
                             std::to_string(A.shape.cols) + ", expected a square matrix");
    const auto rows = std::size_t(A.shape.rows);
    const csr<V, host> At = transposed(cpu{}, A);
    std::vector<index> of(rows, -1);
    std::vector<index> taken_by;  // the last row that has met this colour
    const auto meet = [&](const csr<V, host_view>& M, std::size_t i) {
        for (auto k = std::size_t(M.row_ptr[i]); k < std::size_t(M.row_ptr[i + 1]); ++k) {
            const index c = of[std::size_t(M.col_ind[k])];
            if (c >= 0) taken_by[std::size_t(c)] = index(i);
        }
    };
    const auto of_transpose = view(At);
    for (std::size_t i = 0; i < rows; ++i) {
        meet(A, i), meet(of_transpose, i);
        std::size_t c = 0;
        while (c < taken_by.size() && taken_by[c] == index(i)) ++c;
        if (c == taken_by.size()) taken_by.push_back(-1);
        of[i] = index(c);
    }

    colouring all{index(taken_by.size()), host_vector<index>(rows), {}};
    all.first.assign(taken_by.size() + 1, 0);
    for (const index c : of) ++all.first[std::size_t(c) + 1];
    std::partial_sum(all.first.begin(), all.first.end(), all.first.begin());
    auto next = all.first;
    for (std::size_t i = 0; i < rows; ++i)
        all.order[std::size_t(next[std::size_t(of[i])]++)] = index(i);
    return all;
}

#define NZ_INSTANTIATE(V) template colouring colour(const ascending<V>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
