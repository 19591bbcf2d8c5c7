// Rows matched with columns so that large entries get onto the diagonal.
#pragma once

#include "nonzero/matrix/ascending.hpp"
#include "nonzero/solve/scaling/equilibrate.hpp"

namespace nz {

/// Each row of a square matrix with at most one column, each column with at most one row.
struct matching {
    host_vector<index> row_of;  ///< of each column; -1: none
    power_scaling scaling;      ///< scaled, matched entries are from 1/2 to 2 and none is above 2
    index row = -1, col = -1;   ///< the first of each without a match, as named; -1: all have one
    [[nodiscard]] bool is_perfect() const { return row < 0; }
};

/// As many matches as there can be, the product of their magnitudes as large as it can be, by
/// shortest augmenting paths; the scaling is of their dual variables. Zeros that are stored are as
/// good as none. first_row: of a larger matrix, where A's begin, from which rows and columns are
/// named. Deterministic, one thread; O(n nnz log n) at worst, most often near O(nnz).
/// Throws   argument_error where A is not square; naming the row, where an entry is not finite.
/// Source   Duff and Koster 2001, doi:10.1137/S0895479899358443.
template <class V>
matching match(const csr<V, host_view>& A, index first_row = 0);

/// The rows as they are, scaled by `equilibration`, where every entry on the diagonal is then at
/// least 2^-7, which spares the search; else `match`, scaled by `equilibration` where the dual
/// variables are more than 2^40 away from it: then entries that are nothing beside rounding errors
/// are matched, which must not be magnified. Throws as match.
template <class V>
matching match_where_needed(const csr<V, host_view>& A, index first_row = 0);

/// Throws argument_error, naming row and column, unless all are matched.
void require_perfect(const matching&);

/// Rows and columns of a square matrix in another order, scaled by powers of two: entry (k, l) of
/// what it makes of A is 2^(row_powers[k] + col_powers[l]) times A's (rows[k], cols[l]).
struct rearrangement {
    host_vector<index> rows, cols;
    host_vector<int> row_powers, col_powers;

    /// right_hand_side[k] = 2^row_powers[k] b[rows[k]]: A x = b turns into the other system.
    template <class V, class W>
    void take_rhs(std::span<const V> b, std::span<W> right_hand_side) const {
        for (std::size_t k = 0; k < rows.size(); ++k)
            right_hand_side[k] = times_power_of_2(W(b[std::size_t(rows[k])]), row_powers[k]);
    }
    /// x[cols[k]] = 2^col_powers[k] y[k], where y solves the other system.
    template <class W, class V>
    void give_solution(std::span<const W> y, std::span<V> x) const {
        for (std::size_t k = 0; k < cols.size(); ++k)
            x[std::size_t(cols[k])] = V(times_power_of_2(y[k], col_powers[k]));
    }
};

/// The matched entries on the diagonal, column order[k] as the k-th; scaled by the matching. Throws
/// as require_perfect. order: a permutation; empty: columns stay.
rearrangement onto_diagonal(const matching&, std::span<const index> order = {});

/// A so rearranged, in the type W, which holds all of V's values.
template <class W, class V>
csr<W, host> rearranged(const csr<V, host_view>& A, const rearrangement&);

}  // namespace nz
