// A few eigenpairs at one end of a symmetric matrix's spectrum.
#pragma once

#include <string>
#include <vector>

#include "nonzero/formats/registry.hpp"

namespace nz {

enum class spectrum_end { smallest, largest };  ///< algebraically

struct eigs_options {
    int count = 6;  ///< eigenpairs, at most 50
    spectrum_end which = spectrum_end::smallest;
    double tol = 1e-8;                  ///< of |A x - theta x| / |A|, for each pair
    std::int64_t max_products = 10000;  ///< at most
    int basis = 0;                      ///< vectors held: from count + 2 to 128; 0: as suits count
};

struct eigs_report {
    bool converged = false;  ///< all pairs keep tol, with A x computed at the end
    std::string why;         ///< it ended, in one sentence
    std::int64_t products = 0, restarts = 0;
    double norm = 0;                ///< of A, an estimate from below
    std::vector<double> residuals;  ///< |A x - theta x| / norm of each pair, at the end
    double seconds = 0;
};

template <class V>
struct eigs_result {
    std::vector<double> values;  ///< the outermost first
    host_vector<V> vectors;      ///< orthonormal, n elements each, one after the other
    eigs_report report;

    [[nodiscard]] std::span<const V> vector(std::size_t k) const {
        const std::size_t n = values.empty() ? 0 : vectors.size() / values.size();
        return std::span<const V>(vectors).subspan(k * n, n);
    }
};

/// Extreme eigenpairs of the symmetric A by Davidson's method: an orthonormal basis, Rayleigh-Ritz
/// on it, and the first pair's residual that is still too large, preconditioned, as the next basis
/// vector. A full basis is restarted with the best of its Ritz vectors. Without a preconditioner
/// these are the spaces of thick-restart Lanczos. As the basis starts with more than `count`
/// vectors, multiple eigenvalues are found as often as they are there.
///
/// M, where given, applies an approximate inverse of A: for the smallest ones of a definite A. It
/// need not be symmetric. A, M and the vectors lie on `on`. `guess`: vectors that are near to what
/// is wanted, n elements each. Whether A is symmetric is not checked. Same bits in every run.
/// Where n < count there are n pairs.
///
/// Moves    for a product, about 5 sweeps over half of the basis.
/// Throws   argument_error where A is not square, M not of its shape, or a length or an option is
///          wrong; and what A and M throw. Not converging is a value.
/// Source   Davidson 1975; the restart: Stathopoulos, Saad, Wu 1998; Wu and Simon 2000.
template <class V, class B>
eigs_result<V> eigs(B on, const linear_operator<V, B>& A, const eigs_options& = {},
                    const linear_operator<V, B>* M = nullptr, std::span<const V> guess = {});

}  // namespace nz
