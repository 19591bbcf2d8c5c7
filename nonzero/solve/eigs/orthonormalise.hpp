// The vectors of a basis made orthonormal all at once.
#pragma once

#include "nonzero/solve/eigs/vector_basis.hpp"

namespace nz {

/// The first `count` vectors U become orthonormal, U = Q R. Gives R, count x count and upper
/// triangular, column by column; nothing where a vector is no longer than `least` or lies almost in
/// those before it: then U is as it was. Takes two passes, each of which waits once.
/// Source: Fukaya et al. 2014, doi:10.1109/ScalA.2014.11, CholeskyQR2.
template <class V, class B>
std::vector<double> orthonormalise(vector_basis<V, B>& U, int count, double least);

}  // namespace nz
