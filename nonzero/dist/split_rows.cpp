#include "nonzero/dist/split_rows.hpp"

#include <algorithm>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/numbering.hpp"

namespace nz {
namespace {

template <class V>
void check_slice(const matrix_slice<V>& A, int rank, int size) {
    (void)order_of(view(A.own));
    if (A.rows.parts() != size || A.cols.parts() != size)
        throw argument_error(
            "distributed: rows or columns are shared out over another number of "
            "ranks than there are");
    const nz::shape expected{A.rows.count(rank), A.cols.total()};
    if (A.own.shape != expected)
        throw argument_error("distributed: own rows are " + std::to_string(A.own.shape.rows) +
                             " x " + std::to_string(A.own.shape.cols) + ", expected " +
                             std::to_string(expected.rows) + " x " + std::to_string(expected.cols));
}

/// Moves the entries in others' columns, which A.halo.columns names, out of `local`.
template <class V>
void move_others(range own, split_rows<V>& A) {
    const auto is_own = [&](index j) { return j >= own.first && j < own.last; };
    const auto& columns = A.halo.columns;
    auto &local = A.local, &others = A.others;
    const auto leaving =
        local.col_ind.size() - std::size_t(std::ranges::count_if(local.col_ind, is_own));
    others.col_ind.reserve(leaving), others.val.reserve(leaving);
    host_vector<offset> stay{0}, leave{0};
    stay.reserve(std::size_t(local.shape.rows) + 1);
    std::size_t kept = 0;
    for (index i = 0; i < local.shape.rows; ++i) {
        const auto end = std::size_t(local.row_ptr[std::size_t(i) + 1]);
        for (auto k = std::size_t(local.row_ptr[std::size_t(i)]); k < end; ++k) {
            const index j = local.col_ind[k];
            const V v = local.val[k];
            if (is_own(j)) {
                local.col_ind[kept] = j - index(own.first), local.val[kept++] = v;
                continue;
            }
            const auto at = std::lower_bound(columns.begin(), columns.end(), j);
            others.col_ind.push_back(index(at - columns.begin())), others.val.push_back(v);
        }
        stay.push_back(offset(kept));
        if (offset(others.val.size()) == leave.back()) continue;
        leave.push_back(offset(others.val.size()));
        A.edge.push_back(i);
    }
    others.shape = {index(A.edge.size()), index(columns.size())};
    others.row_ptr = offset_vector(leave);
    local.shape.cols = index(own.last - own.first);
    local.row_ptr = offset_vector(stay);
    local.col_ind.resize(kept), local.val.resize(kept);
    if (leaving > kept / 8) local.col_ind.shrink_to_fit(), local.val.shrink_to_fit();
}

}  // namespace

template <class V>
split_rows<V> split(cpu on, const communicator& ranks, matrix_slice<V> A) {
    agree(&ranks, [&] { check_slice(A, ranks.rank(), ranks.size()); });
    const range own = A.cols.of(ranks.rank());
    split_rows<V> parts{std::move(A.rows), std::move(A.cols), {}, {}, std::move(A.own), {}};
    agree(&ranks, [&] {
        parts.halo.columns = columns_outside(on, view(parts.local), own);
        move_others(own, parts);
    });
    parts.halo = make_halo(ranks, parts.cols, std::move(parts.halo.columns));
    return parts;
}

#define NZ_INSTANTIATE(V) template split_rows<V> split(cpu, const communicator&, matrix_slice<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
