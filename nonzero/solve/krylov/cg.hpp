// Preconditioned conjugate gradients.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/solve/krylov/report.hpp"

namespace nz {

/// Solves A x = b for symmetric (hermitian) positive definite A by conjugate gradients.
///
///     r = b - A x, p = 0
///     repeat  z = M r
///             p = z + beta p        beta = (r, z) / its value before
///             q = A p
///             x = x + alpha p       alpha = (r, z) / (p, q)
///             r = r - alpha q
///     until   |r| <= tol |b|
///
/// x: the initial guess on entry, the solution afterwards. M, where given, is the preconditioner:
/// it applies an approximate inverse of A and is positive definite too. A, M and the vectors lie
/// on `on`; on a GPU, A and M work in on.stream, where all of it happens and no product waits for
/// the CPU. An A or M that is not positive definite, as far as the iterations see it, and numbers
/// that are not finite end the solver, and the report says so. Whether A is symmetric is not
/// checked. b may have any size: where |b| is not from 2^-64 to 2^64, or a guess leaves more than
/// 2^64 |b|, the iterations see b and x times a power of two, which rounds nothing; A and M must be
/// linear for that. Same bits in every run where A's and M's products have them.
///
/// Moves    beside the products of A and M, 10 vectors an iteration, 12 with a preconditioner.
/// Throws   argument_error where a length or an option is wrong, A is not square, or M not of A's
///          shape; and what A and M throw.
/// Source   Hestenes and Stiefel 1952; Saad 2003, algorithm 9.1; the true residual in the place of
///          the other: van der Vorst and Ye 2000, doi:10.1137/S1064827599353865.
template <class V, class B>
solve_report cg(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                const solve_options& = {});
template <class V, class B>
solve_report cg(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M, in<V, B> b,
                out<V, B> x, const solve_options& = {});

/// The same for several b, each with its own scalars: up to 64 of them share every product, by
/// apply_many of vectors that lie by rows, and every pass. Returns a report for each.
///
/// b and x hold as many vectors, in either order; x as above. One that has converged changes no
/// more, and takes no more arithmetic once it and others are a quarter of those that are left. Each
/// fulfils its own bound or its report says why not: those that do not suit the common iterations,
/// such as a b that is zero, not finite or of an extreme size, and those whose iterations broke
/// down, are solved one by one, as are all of them over ranks and where A or M take no vectors by
/// rows. Same bits in every run; beside other vectors they may differ by rounding.
///
/// max_iter is each vector's, max_seconds that of all; the monitor is called with the largest of
/// the relative residuals; replace_every and graph are for those that are solved alone.
///
/// Memory   five blocks of up to 64 vectors, six with a preconditioner.
/// Throws   as above; argument_error where b and x are not as many, or too few elements.
template <class V, class B>
std::vector<solve_report> cg(B on, const linear_operator<V, B>& A, in_columns<V, B> b,
                             out_columns<V, B> x, const solve_options& = {});
template <class V, class B>
std::vector<solve_report> cg(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M,
                             in_columns<V, B> b, out_columns<V, B> x, const solve_options& = {});

}  // namespace nz
