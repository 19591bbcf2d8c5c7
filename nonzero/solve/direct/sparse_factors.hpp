// Factorizations by libraries, behind interfaces that compile without them.
#pragma once

#include <memory>
#include <string>

#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/solve/direct/factor_forecast.hpp"

namespace nz {

/// The factors of one matrix. W: double or complex<double>.
template <class W>
class sparse_factors {
  public:
    virtual ~sparse_factors() = default;
    /// x = A^-1 x. One thread; several may call it at once.
    virtual void solve(std::span<W> x) const = 0;
    [[nodiscard]] virtual std::int64_t entries() const = 0;  ///< of all factors
    /// Pivots that were too small and took another value.
    [[nodiscard]] virtual std::int64_t perturbed_pivots() const { return 0; }
};

/// A matrix as a library has analysed it. Nothing of the factors is there.
template <class W>
class symbolic_factors {
  public:
    virtual ~symbolic_factors() = default;
    [[nodiscard]] virtual factor_forecast forecast() const = 0;
    /// A: the same matrix. Called once.
    /// Throws   argument_error where A is numerically singular; not_definite where the library
    ///          takes positive definite ones alone and A is none; std::bad_alloc.
    virtual std::unique_ptr<sparse_factors<W>> factorize(const csr<W, host_view>& A) = 0;
};

/// A pivot is not positive, as all are of a positive definite matrix.
struct not_definite : argument_error {
    not_definite()
        : argument_error(
              "A is not positive definite: a pivot of its factorization is not positive") {}
};

/// L U = P A, rows exchanged where the diagonal is below a tenth of its column's largest entry; A's
/// columns ascend. Deterministic.
/// Throws   argument_error where A is numerically singular (a pivot is zero); std::bad_alloc where
///          the memory does not suffice.
/// Source   Demmel, Eisenstat, Gilbert, Li and Liu 1999, doi:10.1137/S0895479895291765; Eigen's.
template <class W>
std::unique_ptr<sparse_factors<W>> sparse_lu(const csr<W, host_view>& A);

/// L L^H = A, in A's order; only the part on and below the diagonal is read. Deterministic.
/// Throws   not_definite where a pivot is not positive; std::bad_alloc.
/// Source   Davis 2006, doi:10.1137/1.9780898718881, chapter 4; Eigen's.
template <class W>
std::unique_ptr<sparse_factors<W>> sparse_llt(const csr<W, host_view>& A);

/// CHOLMOD's analysis of a symmetric (hermitian) A, ordered by AMD or METIS; supernodes by BLAS.
/// Throws   unavailable where the library is not there or does not take A's size; std::bad_alloc.
/// Source   Chen, Davis, Hager and Rajamanickam 2008, doi:10.1145/1391989.1391995.
template <class W>
std::unique_ptr<symbolic_factors<W>> analysed_by_cholmod(const csr<W, host_view>& A);

/// UMFPACK's, multifrontal, by BLAS. Throws as analysed_by_cholmod; argument_error where A is
/// structurally singular.
/// Source   Davis 2004, doi:10.1145/992200.992206.
template <class W>
std::unique_ptr<symbolic_factors<W>> analysed_by_umfpack(const csr<W, host_view>& A);

/// KLU's: A permuted to a triangle of blocks, each of which is factorized column by column, without
/// BLAS: for circuits. Throws as analysed_by_umfpack.
/// Source   Davis and Natarajan 2010, doi:10.1145/1824801.1824814.
template <class W>
std::unique_ptr<symbolic_factors<W>> analysed_by_klu(const csr<W, host_view>& A);

/// MKL PARDISO's, ordered by METIS, on one thread. is_definite: A is symmetric (hermitian), and
/// its Cholesky factorization is tried. Throws as analysed_by_cholmod.
/// Source   Schenk and Gaertner 2004, doi:10.1016/j.future.2003.07.011.
template <class W>
std::unique_ptr<symbolic_factors<W>> analysed_by_pardiso(const csr<W, host_view>& A,
                                                         bool is_definite);

/// Empty where the library can be used here; else why not.
std::string why_no_cholmod();
std::string why_no_umfpack();
std::string why_no_klu();
std::string why_no_pardiso();
std::string why_no(factor_forecast::libraries);

}  // namespace nz
