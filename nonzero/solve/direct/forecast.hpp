// An order of elimination with little fill, and what a factorization in it takes, before any of it
// is spent.
#pragma once

#include <limits>
#include <span>

#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/solve/direct/factor_forecast.hpp"

namespace nz {

/// Approximate minimum degree: order[k] is the k-th row and column to be eliminated. Deterministic.
/// Source   Amestoy, Davis and Duff 1996, doi:10.1137/S0895479894278952; Eigen's.
template <class V>
host_vector<index> elimination_order(const csr<V, host_view>& A);

/// The count for A with its rows and columns in this order, as elimination_order's; empty: as they
/// are. most_entries: more are told. is_cholesky: of L in A = L L^H alone. Deterministic; near
/// O(nnz), however many entries the factors have.
/// Source   Liu 1990, doi:10.1137/0611010 (the elimination tree); Gilbert, Ng and Peyton 1994,
///          doi:10.1137/S0895479892236921 (the counts).
template <class V>
factor_forecast forecast(const csr<V, host_view>& A, std::span<const index> order = {},
                         std::int64_t most_entries = std::numeric_limits<std::int64_t>::max(),
                         bool is_cholesky = false);

}  // namespace nz
