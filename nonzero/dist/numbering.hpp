// How one rank numbers the columns of its rows for itself.
#pragma once

#include "nonzero/dist/shares.hpp"
#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// The columns that a rank knows: its own from 0 on, then those of others, ascending. So what works
/// on a whole matrix works on a rank's rows, whose first columns are the rows themselves.
///
///     own = [3, 6), others = 1 2 8:   columns 1 2 3 4 5 8 of the whole matrix
///                                     are     3 4 0 1 2 5 here
struct local_columns {
    range own;
    host_vector<index> others;

    [[nodiscard]] index own_count() const { return index(own.last - own.first); }
    [[nodiscard]] index count() const { return own_count() + index(others.size()); }
    [[nodiscard]] bool is_own(index j) const { return j >= own.first && j < own.last; }
    /// j: one of them.
    [[nodiscard]] index local_of(index j) const;
    [[nodiscard]] index global_of(index l) const {
        return l < own_count() ? index(own.first) + l : others[std::size_t(l - own_count())];
    }
};

/// Sorts the numbers and leaves each once.
void make_distinct(host_vector<index>&);

/// All unknowns of the nodes that these belong to, `block` a node. Both ascend.
host_vector<index> in_whole_nodes(const host_vector<index>& unknowns, index block);

/// Numbers of nodes as those of their `k` unknowns.
local_columns unknowns_of(const local_columns& nodes, index k);

/// lower_bound of each of `these` in `others`; both sorted.
host_vector<index> places_among(std::span<const index> these, std::span<const index> others);

/// The columns of A outside of `own`, ascending, each once.
template <class V>
host_vector<index> columns_outside(cpu on, const csr<V, host_view>& A, range own);

/// A with the columns that `columns` knows; ascending in each row, as A's are.
template <class V>
csr<V, host> numbered_locally(cpu on, const csr<V, host_view>& A, const local_columns& columns);

/// And back: of `cols` columns in all.
template <class V>
csr<V, host> numbered_globally(cpu on, const csr<V, host_view>& A, const local_columns& columns,
                               index cols);

/// The same on a GPU, in on.stream; lists are the host's. Values are float or double.
template <class V>
host_vector<index> columns_outside(gpu on, const csr<V, device_view>& A, range own);
template <class V>
csr<V, device> numbered_locally(gpu on, const csr<V, device_view>& A, const local_columns& columns);

/// Columns from `own` on get other numbers, j that of own + to[j - own], of `cols` columns in all.
/// `to` ascends for those that A has.
template <class V>
void renumber_others(cpu on, csr<V, host>& A, index own, std::span<const index> to, index cols);
template <class V>
void renumber_others(gpu on, csr<V, device>& A, index own, std::span<const index> to, index cols);

}  // namespace nz
