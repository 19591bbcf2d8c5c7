// Algebraic multigrid by smoothed aggregation: a preconditioner, or a solver on its own.
#pragma once

#include <iosfwd>
#include <mutex>
#include <string>

#include "nonzero/plan/storage.hpp"
#include "nonzero/solve/multigrid/chebyshev.hpp"
#include "nonzero/solve/multigrid/prolongation.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"

namespace nz {

enum class amg_cycle { v, w };
enum class amg_smoother { chebyshev, l1_jacobi };

struct amg_options {
    amg_cycle cycle = amg_cycle::v;
    amg_smoother smoother = amg_smoother::chebyshev;
    int degree = 2;  ///< degree of the Chebyshev polynomial on the finest level, one more below
    int sweeps = 1;  ///< passes of the smoother before and after the coarser level
    /// Chebyshev smooths from the largest eigenvalue over this ratio on; 0: 12, and 8 on the finest
    /// level where its aggregation distance is 2.
    double eigenvalue_ratio = 0;
    /// The aggregation distance of the finest level, 1 or 2 (`aggregate`); 0: suitable_distance.
    int aggregation_distance = 0;
    double strength = 0.08;   ///< eps of strong_couplings; a fifth of it on every coarser level
    double omega = 1.6;       ///< damping of the smoothed prolongation, over the spectral radius
    index block = 1;          ///< unknowns a node, which are aggregated together
    index coarse_rows = 500;  ///< up to these a level is solved directly
    int max_levels = 25;
    int lanczos_iterations = 10;  ///< Lanczos iterations for the spectral radius of each level
    /// The precision of all matrices but the finest level's: prolongations, restrictions, coarser
    /// levels. `single` takes fewer bytes a cycle, where levels are packed, and a longer setup. The
    /// coarsest level's inverse, and what the setup computes with, stay exact.
    value_storage below_finest = value_storage::exact;
    bool check = true;  ///< checks that A is symmetric, which takes about a product
};

/// What one level is.
struct amg_level_report {
    index rows = 0;
    offset nnz = 0;
    double spectral_radius = 0;  ///< that of D^-1 A, an estimate; 0 on a level solved directly
    std::string method;          ///< method of its product
};
struct amg_report {
    std::vector<amg_level_report> levels;  ///< finest first
    bool direct = false;                   ///< the last is solved directly; else smoothed only
    double setup_s = 0;
    [[nodiscard]] double operator_complexity() const;  ///< nonzeros of all levels over the first's
    [[nodiscard]] double grid_complexity() const;      ///< rows of all levels over the first's
};
/// A table of the levels, and the complexities below it.
std::string to_text(const amg_report&);
std::ostream& operator<<(std::ostream&, const amg_report&);

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
    using op = std::unique_ptr<linear_operator<V, B>>;
    struct level {
        op own;  ///< null where A is another's
        const linear_operator<V, B>* A = nullptr;
        op P, R;         ///< null on the last level
        op inverse;      ///< on the last level, unless it is smoothed only
        vector<V, B> w;  ///< inverse of the diagonal, or of the rows' l1 norms
        std::vector<smoother_step> steps;
    };
    struct workspace {
        vector_space<V, B> space;
        scalars_on<one_scalar<V>, B> none;  ///< which the smoothers' fused kernels do not read
        vector<V, B> x, r, d;
    };
    using workspaces = std::vector<workspace>;

    /// The setup, by C. diagonal: A's where C has it, or empty.
    template <class C>
    void add_levels(C, const csr<V, host_view>& A, const amg_options&, const candidates<V>& near,
                    vector<V, C> diagonal, const linear_operator<V, B>* finest);
    void add_smoother(level&, vector<V, B> diagonal, vector<V, B> norm, double bound,
                      const amg_options&, int distance);
    [[nodiscard]] workspaces make_workspaces() const;
    [[nodiscard]] std::unique_ptr<workspaces> take_workspaces() const;
    /// From which state the smoother starts: x = 0, x lacking w.d, or x and its residual.
    enum class smoothing { zero, coarse, again };
    void smooth(const level&, workspace&, smoothing, const V* b, out<V, B> x, bool residual) const;
    void cycle(std::size_t l, workspaces&, smoothing, const V* b, out<V, B> x, bool residual) const;

    amg_cycle kind_;
    std::vector<level> levels_;
    amg_report report_;
    mutable std::mutex mutex_;  ///< guards the workspaces that no call uses now
    mutable std::vector<std::unique_ptr<workspaces>> idle_;
};

/// By how much one cycle M of multigrid reduces the error, in the end: the largest eigenvalue of
/// I - M A in magnitude, from `steps` of the power method with a fixed start.
template <class V, class B>
double convergence_factor(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M,
                          int steps = 30);

}  // namespace nz
