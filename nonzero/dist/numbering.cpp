#include "nonzero/dist/numbering.hpp"

#include <algorithm>

namespace nz {

index local_columns::local_of(index j) const {
    if (is_own(j)) return j - index(own.first);
    return own_count() + index(std::lower_bound(others.begin(), others.end(), j) - others.begin());
}

void make_distinct(host_vector<index>& all) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    all.shrink_to_fit();
}

template <class V>
host_vector<index> columns_outside(const csr<V, host_view>& A, range own) {
    host_vector<index> columns;
    std::copy_if(A.col_ind.begin(), A.col_ind.end(), std::back_inserter(columns),
                 [&](index j) { return j < own.first || j >= own.last; });
    make_distinct(columns);
    return columns;
}

namespace {

/// The rows of A with other numbers in place of its columns, number_of(j). They ascend once the
/// columns that part_of(begin, end) finds in a row stand before all others.
template <class V, class Number, class Part>
csr<V, host> renumbered(const csr<V, host_view>& A, index cols, Number number_of, Part part_of) {
    csr<V, host> B{{A.shape.rows, cols}, {}, {}, {}};
    B.col_ind.resize(A.col_ind.size()), B.val.assign(A.val.begin(), A.val.end());
    host_vector<offset> ptr(std::size_t(A.shape.rows) + 1);
    for (std::size_t i = 0; i < ptr.size(); ++i) ptr[i] = A.row_ptr[i];
    for (std::size_t i = 0; i + 1 < ptr.size(); ++i) {
        const auto begin = A.col_ind.begin() + ptr[i], end = A.col_ind.begin() + ptr[i + 1];
        const auto col = B.col_ind.begin() + ptr[i];
        const auto val = B.val.begin() + ptr[i];
        std::transform(begin, end, col, number_of);
        const auto [first, last] = part_of(begin, end);
        std::rotate(col, col + (first - begin), col + (last - begin));
        std::rotate(val, val + (first - begin), val + (last - begin));
    }
    B.row_ptr = offset_vector(ptr);
    return B;
}

}  // namespace

template <class V>
csr<V, host> numbered_locally(const csr<V, host_view>& A, const local_columns& columns) {
    // Own columns come before those of ranks before.
    const auto own = [&](auto begin, auto end) {
        return std::pair(std::lower_bound(begin, end, index(columns.own.first)),
                         std::lower_bound(begin, end, index(columns.own.last)));
    };
    return renumbered(
        A, columns.count(), [&](index j) { return columns.local_of(j); }, own);
}

template <class V>
csr<V, host> numbered_globally(const csr<V, host_view>& A, const local_columns& columns,
                               index cols) {
    const auto before =
        std::lower_bound(columns.others.begin(), columns.others.end(), index(columns.own.first)) -
        columns.others.begin();
    // Columns of ranks before come before the own ones.
    const auto others = [&](auto begin, auto end) {
        return std::pair(std::lower_bound(begin, end, columns.own_count()),
                         std::lower_bound(begin, end, columns.own_count() + index(before)));
    };
    return renumbered(
        A, cols, [&](index l) { return columns.global_of(l); }, others);
}

#define NZ_INSTANTIATE(V)                                                                   \
    template host_vector<index> columns_outside(const csr<V, host_view>&, range);           \
    template csr<V, host> numbered_locally(const csr<V, host_view>&, const local_columns&); \
    template csr<V, host> numbered_globally(const csr<V, host_view>&, const local_columns&, index);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
