// Algebraic multigrid by smoothed aggregation: a preconditioner, or a solver on its own.
#pragma once

#include "nonzero/solve/multigrid/cycle.hpp"
#include "nonzero/solve/multigrid/prolongation.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"

namespace nz {

/// One cycle of multigrid from x = 0: y = M b with M near the inverse of A. M is symmetric
/// positive definite, so that conjugate gradients may use it. Setup and cycle have the same bits in
/// every run, and on the CPU for any number of threads that each level's product has them for. The
/// setup runs where the cycle does, below 2^31 entries; on a GPU a cycle runs in on.stream and
/// waits for nothing, so that a CUDA graph can hold it.
/// Source: Vanek, Mandel, Brezina 1996, doi:10.1007/BF02238511.
template <class V, class B>
class amg final : public matrix_free_operator<V, B> {
  public:
    /// @param A     symmetric positive definite; not needed any more afterwards
    /// @param near  what the coarser levels must represent; where there is none: the constant, one
    ///              for each of a node's `block` unknowns
    /// @param finest  multiplies by A, and outlives this object; null: planned and built here
    /// Throws argument_error where A is malformed, not square, not symmetric, where a diagonal
    /// entry is not positive or a value is no number, where a value of a level does not fit
    /// `below_finest`, or where an option or `near` does not suit.
    amg(const csr<V, host_view>& A, B on, const amg_options& options = {},
        const candidates<V>& near = {}, const linear_operator<V, B>* finest = nullptr);
    amg(const csr<V, host>& A, B on, const amg_options& options = {},
        const candidates<V>& near = {}, const linear_operator<V, B>* finest = nullptr)
        : amg(view(A), on, options, near, finest) {}

    [[nodiscard]] const amg_report& report() const { return report_; }
    [[nodiscard]] std::size_t bytes() const override;
    [[nodiscard]] setup_times setup() const override { return {.conversion_s = report_.setup_s}; }

  protected:
    void map(in<V, B> x, out<V, B> y) const override;
    void multiply_transposed(transposition, V alpha, in<V, B> x, V beta,
                             out<V, B> y) const override {
        this->apply(alpha, x, beta, y);  // M is symmetric
    }

  private:
    /// The setup, by C. diagonal: A's where C has it, or empty.
    template <class C>
    void add_levels(C, const csr<V, host_view>& A, const amg_options&, const candidates<V>& near,
                    vector<V, C> diagonal, const linear_operator<V, B>* finest);

    multigrid_levels<V, B> levels_;
    amg_report report_;
};

/// By how much one cycle M of multigrid reduces the error, in the end: the largest eigenvalue of
/// I - M A in magnitude, from `steps` of the power method with a fixed start.
template <class V, class B>
double convergence_factor(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M,
                          int steps = 30);

}  // namespace nz
