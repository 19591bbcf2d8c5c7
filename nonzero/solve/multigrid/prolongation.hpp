// Prolongation by smoothed aggregation: how a vector of the next coarser level is seen on this one.
#pragma once

#include "nonzero/solve/multigrid/aggregate.hpp"
#include "nonzero/solve/multigrid/candidates.hpp"

namespace nz {

/// The candidates cut up by aggregates and made orthonormal within each, T, and what represents
/// them on the coarser level, with T coarse = fine.
template <class V, class S = host>
struct tentative {
    candidates<V, S> fine;    ///< T's rows: its k columns within their aggregate
    candidates<V, S> coarse;  ///< aggregates * k rows
};

/// Modified Gram-Schmidt, twice, within each aggregate. A candidate that depends on those before,
/// as in an aggregate of too few unknowns, leaves a column of zeros. `block` unknowns a node.
/// Source: Vanek, Mandel, Brezina 1996, algorithm 4.1.
template <class V>
tentative<V> tentative_prolongation(cpu on, const aggregation<host>&, index block,
                                    candidates<V> fine);

/// Whether no value has an imaginary part. Of complex values. The one on a GPU waits for on.stream.
template <class V>
bool are_real(cpu on, std::span<const V> values);
template <class V>
bool are_real(gpu on, device_span<V> values);

/// The candidate of a hermitian A that comes without one, for nodes of one unknown: numbers of
/// magnitude 1 that make the couplings within each aggregate negative as far as they can be
/// (`aggregate_phases`); 0 where a node is isolated. Of complex values. Same bits for any number of
/// threads.
template <class V>
host_vector<V> phases(cpu on, const csr<V, host_view>& A, const aggregation<host>&);
/// The same bits on a GPU, of A's first rows where aggregates are of them alone.
template <class V>
device_array<V> phases(gpu on, const csr<V, device_view>& A, const aggregation<device>&);

/// P = (I - omega D^-1 A_f) T, columns aggregate * k + candidate, rows ascending. A_f is A without
/// its weak couplings, which are added to the diagonal so that the sums of the rows stay, D the
/// diagonal of A_f; with more than one unknown a node, A as it is. omega = 0: T itself. Of a weak
/// coupling that is complex its magnitude is taken off the diagonal, as its phase says nothing.
/// Rows that are isolated are empty. Same bits for any number of threads.
/// @param diagonal  A's, where it is known
/// @param kept      A_f's entries (`kept_entries`), where they are known: eps is not looked at then
/// Source: Vanek, Mandel, Brezina 1996, sections 3 and 5.1.
template <class V>
csr<V, host> smoothed_prolongation(cpu on, const csr<V, host_view>& A, index block, double eps,
                                   double omega, const aggregation<host>&,
                                   const candidates<V>& tentative, in<real<V>, cpu> diagonal = {},
                                   const host_vector<char>& kept = {});

/// The values of such a prolongation into P, which smoothed_prolongation made of a matrix of this
/// pattern. strong: the entries of A_f (`kept_entries`); empty: all of A's.
template <class V>
void smoothed_values(cpu on, const csr<V, host_view>& A, index block,
                     const host_vector<char>& strong, double omega, const aggregation<host>&,
                     const candidates<V>& tentative, in<real<V>, cpu> diagonal, csr<V, host>& P);

/// The same on a GPU: the same bits. They wait for on.stream.
template <class V>
tentative<V, device> tentative_prolongation(gpu on, const aggregation<device>&, index block,
                                            const candidates<V, device>& fine);
template <class V>
csr<V, device> smoothed_prolongation(gpu on, const csr<V, device_view>& A, index block,
                                     const strong_graph<device>&, double omega,
                                     const aggregation<device>&,
                                     const candidates<V, device>& tentative);
/// strong: empty where all of A's entries are kept.
template <class V>
void smoothed_values(gpu on, const csr<V, device_view>& A, index block,
                     const device_array<char>& strong, double omega, const aggregation<device>&,
                     const candidates<V, device>& tentative, in<real<V>, gpu> diagonal,
                     csr<V, device>& P);

}  // namespace nz
