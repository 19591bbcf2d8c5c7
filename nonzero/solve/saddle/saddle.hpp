// Block preconditioners of saddle points.
#pragma once

#include <string>

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/matrix/ascending.hpp"

namespace nz {

/// diagonal: symmetric positive definite where K is symmetric, as minres wants it. triangular: for
/// the others, about half as many iterations of gmres.
enum class saddle_form { diagonal, triangular };

/// The approximate inverses of the blocks.
struct saddle_report {
    std::string of_A;       ///< the name of a preconditioner
    std::string of_S;       ///< the same, of B diag(A)^-1 B^T; or "diagonal", of that
    index constraints = 0;  ///< rows of S
    double setup_s = 0;     ///< [s]
};

/// An approximate inverse of K = (A, G; L, -C), where `find_saddle` finds it (G = L^H = B^H where K
/// is symmetric):
///
///     triangular   y_2 = -S^-1 x_2,  y_1 = A^-1 (x_1 - G y_2)
///     diagonal     y_1 = A^-1 x_1,   y_2 = S^-1 x_2
///
/// with `invert_block` for A^-1, and for the Schur complement S = C + L A^-1 G either the diagonal
/// of S' = C + L diag(A)^-1 G or `invert_block` of S'. The first suits where A is elliptic, as in
/// Stokes flow, where S is near a mass matrix, which S' is not; the second where diag(A) is near A,
/// as in mixed Poisson problems and in optimization. Ten iterations of gmres for S, with the
/// approximate inverse of A, are tried with both, and the one that leaves less is taken. S' is left
/// out where it would have more than eight times as many entries as K. An isolated row of S gets 1.
///
/// Setup on the CPU but for trials and multigrid; deterministic. report: is set, where it is not
/// null.
///
/// Moves    what both inverses and a product with G do, and 8 vectors.
/// Throws   argument_error where K is not square, no saddle point is found, or neither block has an
///          approximate inverse.
/// Source   Benzi, Golub and Liesen 2005, doi:10.1017/S0962492904000212, sections 8 and 10; Murphy,
///          Golub and Wathen 2000, doi:10.1137/S1064827599355153.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> saddle(B on, const ascending<V>& K, saddle_form form,
                                              saddle_report* report = nullptr);

}  // namespace nz
