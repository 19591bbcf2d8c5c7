// One level of multigrid from the one before, on either backend: of one process, or of a rank among
// several. Where a communicator is null there is one process, which has all rows.
#pragma once

#include <memory>
#include <optional>

#include "nonzero/core/format.hpp"
#include "nonzero/dist/halo.hpp"
#include "nonzero/dist/numbering.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/dist/slice.hpp"
#include "nonzero/dist/split_rows.hpp"
#include "nonzero/solve/multigrid/prolongation.hpp"

namespace nz {

/// A matrix where C computes, its columns numbered as the rank knows them.
template <class V, class C>
struct local_matrix {
    local_columns columns;
    csr<V, typename C::memory> own;  ///< the rank's rows
};

/// A rank's rows as setup kernels take them.
template <class V, class C>
struct local_level {
    shares rows;    ///< the columns as well
    nz::halo halo;  ///< A.columns.others, which are whole nodes
    local_matrix<V, C> A;
    std::optional<csr<V, typename C::view>> lent =
        {};  ///< stands for A.own where that is another's
    [[nodiscard]] index own() const { return A.columns.own_count(); }
    std::shared_ptr<csr<V, typename C::memory>> shared = {};  ///< owns `lent`, once shared
    [[nodiscard]] csr<V, typename C::view> matrix() const { return lent ? *lent : view(A.own); }
    /// A.own for others to hold as well.
    std::shared_ptr<csr<V, typename C::memory>> share() {
        shared = std::make_shared<csr<V, typename C::memory>>(std::move(A.own));
        lent = view(*shared);
        return shared;
    }
};

/// nodes: unknowns a node. Called by all ranks. A: square, ascending.
template <class V, class C>
local_level<V, C> make_local_level(C here, const communicator& ranks, const matrix_slice<V>& A,
                                   index nodes);
/// Of one process, which on a CPU borrows A.
template <class V>
local_level<V, cpu> make_local_level(cpu here, const csr<V, host_view>& A);
template <class V>
local_level<V, gpu> make_local_level(gpu here, const csr<V, host_view>& A);

/// Whether ranks share out matrices of such values there: complex ones on the CPUs alone.
template <class V, class C>
inline constexpr bool over_ranks = !is_complex<V> || std::is_same_v<C, cpu>;

/// The strong couplings between a rank's own nodes. On a GPU also `all` of its rows, of single
/// unknowns, whose pattern both borrow; of one process `all` are its own.
template <class C>
struct own_couplings {
    strong_graph<host> own;
    host_vector<char> kept = {};  ///< `kept_entries` of all rows, where they are known beforehand
    [[nodiscard]] const strong_graph<host>& between_own() const { return own; }
};
template <>
struct own_couplings<gpu> {
    strong_graph<device> all, own;
    bool are_all_own = false;
    [[nodiscard]] const strong_graph<device>& between_own() const {
        return are_all_own ? all : own;
    }
};
/// block: A's own columns, of nodes of several unknowns, and on a CPU always; of one process A.
/// diagonal: that of all of A's columns.
template <class V>
own_couplings<cpu> couplings_of(cpu here, const local_level<V, cpu>& level,
                                const csr<V, host_view>& block, index nodes, double eps,
                                in<real<V>, cpu> diagonal);
template <class V>
own_couplings<gpu> couplings_of(gpu here, const local_level<V, gpu>& level,
                                const csr<V, device_view>& block, index nodes, double eps,
                                in<real<V>, gpu> diagonal);

/// `own` elements of a vector that is shared out, and behind them those of the halo's columns.
/// Called by all ranks.
template <class V, class C>
vector<V, C> with_halo(C here, const communicator* ranks, const halo& h, in<V, C> own);

/// How a level is made from the one before.
struct coarsening {
    index block;             ///< unknowns a node
    double eps, omega;       ///< strength; damping over the spectral radius
    offset most;             ///< entries
    index coarse_rows;       ///< up to these one rank takes all
    index rows_worth_a_gpu;  ///< of a rank, on average: with fewer a level leaves the GPUs
    bool by_phases;          ///< the candidate is looked for on every level (`phases`)
};

/// A level that is still to be made, and its candidates.
template <class V, class C>
struct next_level {
    local_level<V, C> level;
    candidates<V, typename C::memory> near;
    [[nodiscard]] bool exists() const { return level.rows.total() > 0; }
};

/// The next coarser level, either where C goes on with it or on the CPUs.
template <class V, class C>
struct coarser_level {
    shares rows;      ///< 0 in all: there is none
    shares numbered;  ///< as P's columns are: `rows`, or where the rows were before they move
    local_matrix<V, C> P;
    csr<V, typename C::memory> R;              ///< of one process: P transposed
    candidates<V, typename C::memory> T = {};  ///< of one process: orthonormal within aggregates
    next_level<V, C> here;
    next_level<V, cpu> on_cpu;
};

/// Which ranks have a level's rows: fewer than those that `all` names where each would have few.
shares shares_of_level(const shares& all, index coarse_rows);
/// Whether ranks make a level of these rows on C.
inline bool suits(cpu, const shares&, index) { return true; }
inline bool suits(gpu, const shares& rows, index rows_worth_a_gpu) {
    return rows.total() / rows.parts() >= rows_worth_a_gpu;
}

/// Values of a vector, `width` a row, from those who have them to those who shall. Called by all.
template <class V>
host_vector<V> moved(const communicator& ranks, const shares& from, const shares& to,
                     std::span<const V> own, std::size_t width);

/// None where the couplings are too weak for a level that is smaller, or where it would have too
/// many entries. near: of this level, orthonormalised within aggregates. Called by all ranks.
template <class V, class C>
coarser_level<V, C> coarsen(C here, const communicator* ranks, const local_level<V, C>& level,
                            const own_couplings<C>& strong,
                            const aggregation<typename C::memory>& own, in<real<V>, C> diagonal,
                            candidates<V, typename C::memory> near, const coarsening&);

/// A matrix of the setup's, on the host.
template <class V>
csr<V, host> on_host(cpu, csr<V, host> A) {
    return A;
}
template <class V>
csr<V, host> on_host(gpu on, const csr<V, device>& A) {
    return download(on, A);
}

}  // namespace nz
