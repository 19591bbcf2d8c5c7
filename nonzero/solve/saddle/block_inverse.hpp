// Approximate inverses of the blocks of a saddle point: what suits each, by a trial.
#pragma once

#include <string>

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/matrix/ascending.hpp"

namespace nz {

/// A block's product and its approximate inverse.
template <class V, class B>
struct block_inverse {
    std::unique_ptr<linear_operator<V, B>> product, inverse;
    std::string name;  ///< of the preconditioner that the inverse is
};

/// Multigrid where K is real and symmetric, with a positive diagonal; incomplete Cholesky where it
/// is hermitian, or where ten iterations with multigrid leave more than a tenth of the residual and
/// those with it less; else incomplete LU, or that by threshold where ten iterations with it leave
/// more. Deterministic.
/// Throws what the last of them throws where none can be made, as argument_error.
template <class V, class B>
block_inverse<V, B> invert_block(B on, const ascending<V>& K);

/// The share of the residual that ten iterations of gmres leave of K x = b from zero; infinite
/// where a number is not finite.
template <class V, class B>
double residual_of_trial(B on, const linear_operator<V, B>& K, const linear_operator<V, B>& M,
                         in<V, B> b);

}  // namespace nz
