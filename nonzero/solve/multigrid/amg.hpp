// Algebraic multigrid by smoothed aggregation: a preconditioner, or a solver on its own.
#pragma once

#include <memory>

#include "nonzero/matrix/ascending.hpp"
#include "nonzero/solve/multigrid/candidates.hpp"
#include "nonzero/solve/multigrid/options.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"

namespace nz {

template <class V>
struct matrix_slice;
template <class V, class B>
struct hierarchy;

/// One cycle of multigrid from x = 0: y = M b with M near the inverse of A. M is symmetric
/// (hermitian) positive definite, so that conjugate gradients may use it. Setup and cycle have the
/// same bits in every run, and on the CPU for any number of threads that each level's product has
/// them for. The setup runs where the cycle does, below 2^31 entries; on a GPU a cycle runs in
/// on.stream and waits for nothing, so that a CUDA graph can hold it. `apply_many` runs one cycle
/// of up to 64 vectors at once where they lie by rows, not over ranks, and keeps memory for as
/// many. Source: Vanek, Mandel, Brezina 1996, doi:10.1007/BF02238511.
///
/// A hermitian A, some values of which are not real, may send other vectors than the constant near
/// to zero: where no candidate is given, single unknowns take phases, found aggregate by aggregate
/// on every level, that make their couplings negative. Of D^H B D, D diagonal of unit numbers and
/// B with negative couplings only, these are B's constant. Where strong couplings of B are
/// positive, as of stretched elements, `near` = D^H 1 serves better.
///
/// Over on.ranks, where A is a rank's rows:
///
///     aggregates     of a rank's own nodes, by their couplings with each other
///     prolongation   smoothed by the whole of A: its rows reach the neighbours' aggregates
///     R A P          each rank its fine rows' part, which goes to the ranks of the coarse rows
///     coarse levels  on fewer ranks where each had few rows, then on one, which solves the last
///                    directly; the others wait for their elements of the prolongation
///     smoothers      over the distributed product; spectral radii by sums over the ranks
///
/// With more ranks more aggregates end at a rank's rows, so that it may
/// take a few iterations more (docs/distributed.md). Same bits in every run with as many ranks.
/// All ranks apply it together. Numbers of the report are those of all ranks.
///
/// Levels are made where the cycle runs; on GPUs as long as a rank has many rows
/// (`rows_worth_a_gpu`), smaller ones on the CPUs, by as many threads as OpenMP offers. What ranks
/// tell each other of a level goes by way of the CPUs. On GPUs a cycle runs in on.stream, and the
/// CPU waits where on.ranks' transport does.
///
/// Source: Tuminaro, Tong 2000, doi:10.1109/SC.2000.10008, section 3 ("uncoupled" aggregation).
template <class V, class B = cpu>
class amg final : public matrix_free_operator<V, B> {
  public:
    /// @param A     symmetric (hermitian) positive definite; not needed any more afterwards
    /// @param near  what the coarser levels must represent; where there is none: the constant, one
    ///              for each of a node's `block` unknowns, or the phases above
    /// @param finest  multiplies by A, and outlives this object; null: planned and built here
    /// Throws argument_error where A is malformed, not square, not symmetric (hermitian), where a
    /// diagonal entry is not positive or a value is no number, where a value of a level does not
    /// fit `precision`, or where an option or `near` does not suit.
    amg(const csr<V, host_view>& A, B on, const amg_options& options = {},
        const candidates<V>& near = {}, const linear_operator<V, B>* finest = nullptr)
        : amg(ascending(A), on, options, near, finest) {}
    amg(const ascending<V>& A, B on, const amg_options& options = {},
        const candidates<V>& near = {}, const linear_operator<V, B>* finest = nullptr);
    amg(const csr<V, host>& A, B on, const amg_options& options = {},
        const candidates<V>& near = {}, const linear_operator<V, B>* finest = nullptr)
        : amg(view(A), on, options, near, finest) {}
    /// The same of a matrix in the GPU's memory, of which nothing of size leaves it: levels, checks
    /// and products are made there; but of complex values, unless `finest` is given, its product is
    /// planned on the CPU. Below 2^31 entries.
    amg(const csr<V, device_view>& A, B on, const amg_options& options = {},
        const candidates<V>& near = {},
        const linear_operator<V, B>* finest = nullptr) requires std::is_same_v<B, gpu>;
    /// Called by all ranks of on.ranks. Complex values on CPUs alone; else throws unavailable.
    /// @param A     symmetric positive definite; not needed any more afterwards
    /// @param near  this rank's rows of what the coarser levels must represent, of as many
    ///              candidates on all ranks; where there is none: the constant, one for each of a
    ///              node's `block` unknowns
    /// @param finest  multiplies by A over the ranks, and outlives this object; null on all ranks:
    ///                planned and built here
    /// A node's unknowns may lie on two ranks. Throws on all ranks what one of them throws:
    /// argument_error where on.ranks is null, where A is not the rank's share, not square, not
    /// symmetric, where a diagonal entry is not positive or a value is no number, or where an
    /// option or `near` does not suit or is not the same on all ranks.
    amg(B on, const matrix_slice<V>& A, const amg_options& options = {},
        const candidates<V>& near = {}, const linear_operator<V, B>* finest = nullptr);
    ~amg() override;

    /// Takes other values of the matrix it was made of: for codes that step in time, or Newton's
    /// method. Aggregates, couplings and all patterns stay, so that it has the same bits as one
    /// whose setup finds these anew for A; made again, in the memory that is there, are the
    /// prolongations, R A P, the smoothers' bounds, the coarsest level's inverse and the packed
    /// values; from the first call on it holds the pattern of A P as well, 4 bytes an entry. With
    /// `prolongation` the prolongations stay as well. Where A has changed so far that the old
    /// aggregates do not suit it, solvers take more iterations. Phases are found anew, where no
    /// candidates were given. `finest` must have taken the values before. Not while another thread
    /// applies it. On a GPU it waits for on.stream.
    /// @param A       of the pattern that this was made of, its rows in any order
    /// @param finest  multiplies by A, as the constructor has it; null: the product that the
    ///                constructor was given, which has taken the values, or its own
    /// Throws unavailable where it was made without `keep`, argument_error where A has another
    /// shape, number of entries or, with `check`, pattern, and as the constructor where A does not
    /// suit: it then is as before. What else it throws, such as out_of_memory, leaves an object
    /// that refuses to be applied until it has taken other values.
    void take_values(const csr<V, host_view>& A,
                     amg_options::keeps keeps = amg_options::keeps::aggregates,
                     const linear_operator<V, B>* finest = nullptr) {
        take_values(ascending(A), keeps, finest);
    }
    void take_values(const ascending<V>& A, amg_options::keeps = amg_options::keeps::aggregates,
                     const linear_operator<V, B>* finest = nullptr);
    void take_values(const csr<V, host>& A,
                     amg_options::keeps keeps = amg_options::keeps::aggregates) {
        take_values(view(A), keeps);
    }
    /// The same from the GPU's memory.
    void take_values(const csr<V, device_view>& A,
                     amg_options::keeps = amg_options::keeps::aggregates,
                     const linear_operator<V, B>* finest = nullptr) requires std::is_same_v<B, gpu>;
    /// The same over on.ranks, called by all of them. Its levels are made anew by the old
    /// aggregates and couplings: for that time it takes the memory of both.
    void take_values(const matrix_slice<V>& A);

    [[nodiscard]] const amg_report& report() const { return report_; }
    [[nodiscard]] std::size_t bytes() const override;  ///< of this rank
    [[nodiscard]] setup_times setup() const override { return {.conversion_s = report_.setup_s}; }

  protected:
    void map(in<V, B> x, out<V, B> y) const override;
    [[nodiscard]] bool maps_many() const override { return this->on().ranks == nullptr; }
    void map_many(in_columns<V, B> x, out_columns<V, B> y) const override;
    void multiply_transposed(transposition op, V alpha, in<V, B> x, V beta,
                             out<V, B> y) const override {
        if (is_complex<V> && op == transposition::transpose)
            throw unavailable("amg: M^T of complex values; M^H is M");
        this->apply(alpha, x, beta, y);  // M is hermitian
    }

  private:
    struct state;
    /// Over ranks, by old's aggregates where those are another hierarchy's.
    void make_levels_of(const matrix_slice<V>& A, const state& old, hierarchy<V, B>& made,
                        amg_report& report) const;
    std::unique_ptr<state> state_;
    amg_report report_;
};

}  // namespace nz
