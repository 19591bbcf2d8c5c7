// The search at one end of a spectrum, beside pairs that are known: what eigs is made of.
#pragma once

#include "nonzero/solve/eigs/eigs.hpp"

namespace nz {

/// Pairs that have been found; the vectors, of this rank's elements, are orthonormal.
template <class V>
struct known_pairs {
    std::span<const double> values = {};
    std::span<const V> vectors = {};
};

/// eigs with the smallest or largest as the end, in the space of what is orthogonal to the known
/// vectors: of A there, residuals too. Arguments are not checked, and at least one dimension is
/// left.
template <class V, class B>
eigs_options::result<V> davidson(B on, const linear_operator<V, B>& A, const eigs_options& o,
                                 const linear_operator<V, B>* M, std::span<const V> guess,
                                 const known_pairs<V>& known = {});

}  // namespace nz
