// Which methods and preconditioners suit a system, and what to do where none of them was enough.
#pragma once

#include <limits>

#include "nonzero/matrix/ascending.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/solve/direct/forecast.hpp"
#include "nonzero/solve/solve.hpp"

namespace nz {

struct choice {
    krylov_method method;
    preconditioning preconditioner;
    static constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
    /// At first, where another attempt follows that may be cheaper than more: iterations at most,
    /// and those in which the least residual must halve.
    std::int64_t most_iterations = any, patience = any;
    /// It ends where its residual falls more slowly than would reach tol by the last of
    /// most_iterations.
    bool is_paced = false;
    bool is_probe = false;  ///< whatever ends it does so for good
};

/// Facts that decide about methods. Over ranks: of the whole matrix, the same on all.
struct matrix_facts {
    std::string why_not_definite;  ///< empty where A is symmetric, its diagonal positive
    bool is_symmetric = false;
    std::int64_t zero_on_diagonal = -1;  ///< the first such row
    bool is_complex_valued = false;
    /// find_saddle finds one, C with a hundredth of all rows or more, no row beyond 1,000 entries;
    /// not looked for over ranks.
    bool is_saddle = false;
    double entries = 0;  ///< stored
};
/// diagonal: A's.
template <class V>
matrix_facts facts_of(const ascending<V>& A, std::span<const V> diagonal);

/// A row with more entries keeps block preconditioners from being tried; so do fewer constraints
/// than that for all rows. Iterations take the few eigenvalues that few constraints make one after
/// the other; a constraint of many unknowns makes the Schur complement, and multigrid's levels of
/// it, nearly dense (kkt_BOYD1: 159 iterations in 40 s).
inline constexpr offset longest_row_of_saddle = 1000;
constexpr std::int64_t least_constraints(std::int64_t rows) { return rows / 100 + 1; }

/// The choices to try, in this order. Throws unsuitable where the one asked for does not suit A.
std::vector<choice> choices_for(const matrix_facts&, const system_options&);
/// The probes before these on a CPU, in this order: none where A is large or a choice was asked
/// for.
std::vector<choice> probes_for(const matrix_facts&, const system_options&);
/// Them in a sentence.
std::string sentence_of(const std::vector<choice>& probes);

/// Entries of A up to which an order of elimination takes no longer than iterations that converge.
inline constexpr double small_entries = 2e5;
/// Entries up to which it takes no longer than the many iterations of a hard A do.
inline constexpr double forecast_entries = 2e6;

/// Puts the direct solver first where its forecast is below what a thousand iterations cost, else
/// last. Returns why, in a sentence.
std::string place_direct(std::vector<choice>&, const matrix_facts&, const factor_forecast&);

/// The facts in sentences, as far as they decide about methods.
std::vector<std::string> sentences_of(const matrix_facts&, std::int64_t rows);
/// A guess of the right order, of one iteration  [s].
double iteration_seconds(const choice&, const matrix_facts&);

/// Obstacles to iterations, a sentence each. diagonal: A's.
template <class V>
std::vector<std::string> obstacles_in(const csr<V, host_view>& A, std::span<const V> diagonal);
/// The same. sizes: the largest magnitude in each row of A.
template <class V>
std::vector<std::string> obstacles_in(std::span<const double> sizes, std::span<const V> diagonal);
/// Advice on what to try next, a sentence each, where no attempt of the report was enough.
std::vector<std::string> advice_for(const system_report&, const system_options&);

}  // namespace nz
