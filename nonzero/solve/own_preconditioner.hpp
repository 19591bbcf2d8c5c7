// Preconditioners of the rows and columns that one process has by itself.
#pragma once

#include <cmath>
#include <limits>

#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/solve/choices.hpp"
#include "nonzero/solve/preconditioners/fsai.hpp"
#include "nonzero/solve/preconditioners/gauss_seidel.hpp"
#include "nonzero/solve/preconditioners/ic.hpp"
#include "nonzero/solve/preconditioners/ict.hpp"
#include "nonzero/solve/preconditioners/ilu.hpp"
#include "nonzero/solve/preconditioners/ilut.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "nonzero/solve/preconditioners/matched_diagonal.hpp"
#include "nonzero/solve/preconditioners/spai.hpp"
#include "nonzero/solve/saddle/saddle.hpp"

namespace nz {

/// Whether a preconditioner's block may have other ranks' rows as well as a rank's own.
inline bool may_overlap(preconditioning p) {
    using enum preconditioning;
    return p == ilu || p == ilut || p == ic || p == ict || p == fsai || p == spai;
}
/// Whether a preconditioner is made of this rank's own block.
inline bool takes_block(preconditioning p) {
    using enum preconditioning;
    return p == block_jacobi || p == gauss_seidel || p == matching || may_overlap(p) || p == saddle;
}

/// jacobi of a diagonal on the host, as the method wants it: minres takes its absolute values.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> jacobi_of(B here, const choice& c,
                                                 std::span<const V> diagonal, index first_row) {
    auto values = c.method == krylov_method::minres
                      ? magnitudes(diagonal)
                      : host_vector<V>(diagonal.begin(), diagonal.end());
    return jacobi(here, ascending<V>::known(diagonal_matrix(std::move(values))), first_row);
}

/// M, refused for a probe where a pivot was next to nothing. A may be singular then: however little
/// b has of its null space, M makes a large part of x of it.
template <class Made>
Made probed(const choice& c, Made M, const factor_report& of_M) {
    if (c.is_probe && (of_M.shift > 0 || of_M.shifted_pivots > 0))
        throw argument_error(std::string(name_of(c.preconditioner)) +
                             ": a pivot is next to nothing, A may be singular");
    return M;
}

/// Of the rows and columns that `here` has by itself. Null for none. Throws argument_error where
/// they do not suit it.
template <class V, class B, class Matrix>
std::unique_ptr<linear_operator<V, B>> own_preconditioner(B here, Matrix& A, const choice& c,
                                                          const system_options& o,
                                                          system_report::attempt& told) {
    if (c.preconditioner == preconditioning::none) return nullptr;
    if constexpr (std::is_same_v<B, gpu>)  // gmres alone runs in no graph, which copies would end
        if (c.preconditioner == preconditioning::ilut && c.method != krylov_method::gmres)
            throw argument_error("ilut: on a GPU for gmres alone");
    if (!takes_block(c.preconditioner) || !A.has_rows()) return A.jacobi(here, c);
    using made = std::unique_ptr<linear_operator<V, B>>;
    return A.with_block([&](const ascending<V>& block, index first_row) -> made {
        const double away = std::cbrt(double(std::numeric_limits<real<V>>::epsilon()));
        const incomplete_options by_level{.level = o.fill_level,
                                          .block = std::max(o.block, 1),
                                          .least_pivot = c.is_probe ? away : 0};
        switch (c.preconditioner) {
            case preconditioning::gauss_seidel:
                return gauss_seidel(here, block, first_row);
            case preconditioning::matching:
                return matched_diagonal(here, block, first_row);
            case preconditioning::ilut:
                return ilut(here, block, {}, first_row);
            case preconditioning::ilu: {
                factor_report& of_M = told.factors.emplace();
                return probed(c, ilu(here, block, by_level, first_row, &of_M), of_M);
            }
            case preconditioning::ic: {
                factor_report& of_M = told.factors.emplace();
                return probed(c, ic(here, block, by_level, first_row, &of_M), of_M);
            }
            case preconditioning::ict:
                return ict(here, block, {.drop = 1e-3, .fill = 2}, first_row);
            case preconditioning::fsai:
                return fsai(here, block, by_level, first_row);
            case preconditioning::saddle:
                // Its constraints may lie on other ranks than what they constrain.
                if (A.ranks() != nullptr) throw argument_error("saddle: not over ranks");
                return saddle(here, block,
                              c.method == krylov_method::minres ? saddle_form::diagonal
                                                                : saddle_form::triangular);
            case preconditioning::spai:
                return spai(here, block, by_level, first_row);
            default:
                return block_jacobi(here, block, std::max(o.block, 1), first_row);
        }
    });
}

}  // namespace nz
