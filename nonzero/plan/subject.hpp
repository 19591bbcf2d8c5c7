// A matrix as it is planned for and built, with what is found out about it on the way. What is
// found is kept with the matrix and not with the plan: so it can never be taken for another's.
#pragma once

#include <optional>

#include "nonzero/formats/matrix_stats.hpp"
#include "nonzero/formats/registry.hpp"
#include "nonzero/matrix/transpose.hpp"

namespace nz {

/// Lives as long as a call. M: the backend where the matrix lies.
template <class V, class M>
struct subject {
    ascending<V, M> A;
    std::shared_ptr<const packed_analysis<V>> packing = {};  ///< on a GPU, of A.view()
    std::optional<matrix_stats> stats = {};                  ///< on a GPU, of A.view()
    std::optional<std::uint64_t> pattern = {};               ///< hash of A.given()'s, if taken
    std::shared_ptr<const subject> transpose = {};           ///< A^T, where it is wanted
    csr<V, host>* given_away = nullptr;  ///< the owner of A.given(), where it may be taken over
};

/// Work done beside the survey for the stats, as the choice will most likely want it: a matrix is
/// packed, and of a larger one the pattern is hashed, by which outcomes of timing are kept.
struct work_ahead {
    bool pack = false, hash = false;
};

/// With the stats of a CSR in GPU memory and the analysis for packing that they come from. That
/// checks the matrix as well: only one in another order is looked at twice. Throws as
/// compute_stats. of_transpose: as analyse_for_packing takes it.
template <class V>
subject<V, gpu> looked_at(gpu on, const csr<V, device_view>& A, work_ahead);
template <class V>
subject<V, gpu> looked_at(gpu on, const ascending<V, gpu>& A, work_ahead,
                          std::shared_ptr<const packed_analysis<V>> of_transpose = nullptr);

/// The backend that reaches A's memory, of one that is to multiply by it.
template <class V, class B>
cpu at(B, const ascending<V, cpu>&) {
    return {};
}
template <class V>
gpu at(gpu on, const ascending<V, gpu>&) {
    return on;
}

/// A^T of a matrix that is in order.
template <class V, class M, class B>
std::shared_ptr<const subject<V, M>> subject_of_transpose(B on, const ascending<V, M>& A) {
    return std::make_shared<const subject<V, M>>(subject<V, M>{transposed(at(on, A), A)});
}

/// In order, whether or not it is known to be.
template <class V>
ascending<V, gpu> in_order(gpu on, const csr<V, device_view>& A) {
    return ascending<V, gpu>(A, on);
}
template <class V>
const ascending<V, gpu>& in_order(gpu, const ascending<V, gpu>& A) {
    return A;
}

}  // namespace nz
