// The levels of multigrid: one loop, of one process or over ranks, on either backend.
#pragma once

#include <functional>
#include <optional>
#include <variant>

#include "nonzero/dist/slice.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/multigrid/aggregate.hpp"
#include "nonzero/solve/multigrid/candidates.hpp"
#include "nonzero/solve/multigrid/cycle.hpp"

namespace nz {

/// Parts of a level's setup that other values of A go into: its patterns, its aggregates.
template <class V, class C>
struct kept_level {
    using matrix = std::shared_ptr<csr<V, typename C::memory>>;
    index block = 1;   ///< unknowns a node
    int distance = 1;  ///< of its aggregates
    aggregation<typename C::memory> groups;
    array<char, typename C::memory> strong;  ///< the entries of A_f; empty: all of A's
    // Of one process:
    candidates<V, typename C::memory> T;  ///< orthonormal within aggregates
    matrix A;                             ///< null: the finest's, which is the caller's
    matrix P, R;                          ///< null on the last level
    matrix inverse;                       ///< of the last level, for a cycle in single precision
    csr<V, typename C::memory> AP;        ///< its pattern, once other values were taken
};
/// The levels that the GPU made come first.
template <class V>
using kept_levels = std::vector<std::variant<kept_level<V, cpu>, kept_level<V, gpu>>>;

template <class V, class B>
struct hierarchy {
    hierarchy(B on, amg_options::cycles kind) : levels(on, kind) {}
    multigrid_levels<V, B> levels;
    std::optional<planned<V, B>> finest = {};  ///< of one process, where it was planned here
    kept_levels<V> kept = {};                  ///< empty where nothing was to be kept
    bool has_found = false;                    ///< of one process: no candidates were given
    /// Of a cycle in single precision; `levels` then serve the setup alone.
    std::unique_ptr<multigrid_levels<float, B>> rounded = {};

    void cycle(in<V, B> b, out<V, B> x) const {
        if constexpr (std::is_same_v<V, double>)
            if (rounded != nullptr) return rounded->template cycle<V>(b, x);
        levels.template cycle<V>(b, x);
    }
    void cycle_many(in_columns<V, B> b, out_columns<V, B> x) const {
        if constexpr (std::is_same_v<V, double>)
            if (rounded != nullptr) return rounded->template cycle_many<V>(b, x);
        levels.template cycle_many<V>(b, x);
    }
};

/// Whether the cycle of V's levels runs in single precision: not where it is a direct solve alone.
template <class V>
bool cycles_in_single(const amg_options& o, std::int64_t rows) {
    return std::is_same_v<V, double> && o.precision == value_storage::single &&
           rows > o.coarse_rows;
}
/// Makes the levels in single precision of those in double, or gives them the values that these
/// have now. A: the finest's matrix.
template <class B, class S>
void round_levels(B on, const csr<double, S>& A, const amg_options&, hierarchy<double, B>& made,
                  amg_report& report);
/// Readies levels of one process for their first cycle.
template <class V, class B, class S>
void finish_levels(B on, const csr<V, S>& A, const amg_options& o, hierarchy<V, B>& made,
                   amg_report& report) {
    if constexpr (std::is_same_v<V, double>)
        if (cycles_in_single<V>(o, A.shape.rows)) return round_levels(on, A, o, made, report);
    made.levels.finish();
}

/// Adds A's levels, which are made on the CPU, ready for cycles, and tells about them. A: square,
/// its diagonal positive. near: where there is none, the constant, one for each of a node's
/// unknowns, or of complex values and single unknowns `phases`. finest: multiplies by A, or null.
/// diagonal: A's.
template <class V, class B>
void make_levels(B on, const ascending<V>& A, host_vector<real<V>> diagonal, const amg_options&,
                 const candidates<V>& near, const linear_operator<V, B>* finest,
                 hierarchy<V, B>& made, amg_report& report);
/// The same of a matrix on the GPU, below 2^31 entries: nothing of size leaves it. plan: makes the
/// finest level's product, where there is none.
template <class V>
void make_levels(gpu on, const ascending<V, gpu>& A, const amg_options&, const candidates<V>& near,
                 const linear_operator<V, gpu>* finest,
                 const std::function<planned<V, gpu>()>& plan, hierarchy<V, gpu>& made,
                 amg_report& report);
/// Gives the levels, of one process and made on the CPU, A's values, whose pattern is that of the
/// matrix they were made of. Where it throws the levels are of no use any more. finest: has taken
/// the values, or null.
template <class V, class B>
void retake_levels(B on, const csr<V, host_view>& A, const amg_options&, amg_options::keeps,
                   const linear_operator<V, B>* finest, hierarchy<V, B>& made, amg_report& report);
/// The same of levels that the GPU made.
template <class V>
void retake_levels(gpu on, const csr<V, device_view>& A, const amg_options&, amg_options::keeps,
                   const linear_operator<V, gpu>* finest, hierarchy<V, gpu>& made,
                   amg_report& report);

/// The same of a matrix that is shared out in whole nodes, whose diagonal is checked. near: of the
/// rank's rows. old: aggregates and couplings that take the place of A's own, or null. Called by
/// all ranks of on.ranks.
template <class V, class B>
void make_levels(B on, const matrix_slice<V>& A, const amg_options&, const candidates<V>& near,
                 const linear_operator<V, B>* finest, const kept_levels<V>* old,
                 hierarchy<V, B>& made, amg_report& report);

}  // namespace nz
