// The operators that AmgX's solvers are as preconditioners.
#pragma once

#include <memory>
#include <variant>

#include "amgx/objects.hpp"
#include "nonzero/dist/slice.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/krylov/report.hpp"
#include "nonzero/solve/multigrid/amg.hpp"

namespace nz::amgx {

/// A matrix as preconditioners are made of it: whole, or a rank's rows; and its product.
template <class V, class B>
struct prepared_matrix {
    B on;
    resources* tells;       ///< where messages go
    bool is_whole = false;  ///< there are no ranks
    // While something is made of it:
    matrix_slice<V> slice;                            ///< of ranks
    csr<V, device> on_gpu;                            ///< whole, on B's GPU
    mutable std::optional<ascending<V>> on_cpu = {};  ///< whole, on the CPU, where it was asked for
    candidates<V> near;                               ///< of multigrid
    index block = 1;                                  ///< unknowns a node
    planned<V, B> planned_product;                    ///< where there are no ranks
    std::unique_ptr<linear_operator<V, B>> over_ranks;

    [[nodiscard]] const linear_operator<V, B>& product() const {
        return over_ranks ? *over_ranks : *planned_product.op;
    }
    [[nodiscard]] index rows() const { return product().shape().rows; }
    /// The whole matrix on the CPU, without ranks.
    [[nodiscard]] const ascending<V>& whole() const {
        if constexpr (std::is_same_v<B, gpu>)
            if (!on_cpu) on_cpu = ascending<V>::known(download(on, view(on_gpu)));
        return *on_cpu;
    }
};

/// A preconditioner, and what has to be known of it.
template <class V, class B>
struct preconditioner {
    std::unique_ptr<linear_operator<V, B>> M = {};  ///< null: the identity
    amg<V, B>* levels = nullptr;                    ///< of multigrid, where it is in M
    bool is_fixed = true;  ///< linear, and launched without waiting: any method may use it
};

/// Throws argument_error where the matrix does not suit and nothing near does. A outlives what is
/// made.
template <class V, class B>
preconditioner<V, B> make_preconditioner(const settings&, const prepared_matrix<V, B>& A);

/// Runs the method of `s`, with its preconditioner, from x on. target: of the relative residual.
template <class V, class B>
solve_report run_krylov(const settings& s, const prepared_matrix<V, B>& A,
                        const preconditioner<V, B>& M, in<V, B> b, out<V, B> x, double target);

}  // namespace nz::amgx
