// The levels of multigrid and the cycle over them, on one rank or on several.
#pragma once

#include <mutex>

#include "nonzero/solve/multigrid/chebyshev.hpp"
#include "nonzero/solve/multigrid/options.hpp"

namespace nz {

/// A level: its product, its smoother, and how the next coarser level is reached.
template <class V, class B>
struct multigrid_level {
    using op = std::unique_ptr<linear_operator<V, B>>;
    std::int64_t rows = 0;  ///< of this rank
    op own;                 ///< null where A is another's
    const linear_operator<V, B>* A = nullptr;
    op P, R;               ///< P is null on the last level; R is null where P^H takes its place
    op inverse;            ///< on the last level, unless it is smoothed only
    vector<real<V>, B> w;  ///< inverse of the diagonal, or of the rows' l1 norms
    std::vector<smoother_step> steps;
};

/// Inputs of a level's smoother.
template <class V, class B>
struct smoother_inputs {
    vector<real<V>, B> diagonal, norm;  ///< of A, and the l1 norms of its rows
    double bound;                       ///< which no eigenvalue of D^-1 A exceeds
    int distance;                       ///< aggregation distance of the level
    std::int64_t first_row = 0;         ///< of this rank
};

/// One vector, as a column_space is of several.
template <class V, class B>
struct single_vector {
    vector_space<V, B> space;
    vector<one_scalar<V>, B> none;  ///< which the smoothers' fused kernels do not read
    [[nodiscard]] static index count() { return 1; }
    [[nodiscard]] vector<V, B> make() const { return space.make(); }
    template <class Step>
    void run(const Step& step) {
        run_fused(space, step, none.data());
    }
};

/// The levels, finest first, and the cycle. Where `on` has ranks, vectors are this rank's elements
/// and all ranks call everything together.
template <class V, class B>
class multigrid_levels {
  public:
    using level = multigrid_level<V, B>;
    multigrid_levels(B on, amg_options::cycles kind) : on_(on), kind_(kind) {}
    /// Cycles are of vectors in another precision, from now on, before `finish`. By `factor` they
    /// are multiplied on the way in, and on the way out divided.
    void convert(double factor) { converts_ = true, factor_ = factor; }

    [[nodiscard]] bool empty() const { return levels_.empty(); }
    [[nodiscard]] std::size_t size() const { return levels_.size(); }
    level& add(std::int64_t rows);
    [[nodiscard]] level& at(std::size_t l) { return levels_[l]; }
    /// Gives level l its smoother; returns the spectral radius of D^-1 A, an estimate.
    double set_smoother(std::size_t l, smoother_inputs<V, B>, const amg_options&);
    /// Makes the memory of the first cycle, once all levels are there.
    void finish() { idle_.push_back(make_workspaces()); }
    /// One cycle from x = 0 for A x = b. From several threads at once, unless it is over ranks.
    /// U: V, or double around levels in float that convert.
    template <class U>
    void cycle(in<U, B> b, out<U, B> x) const;
    /// The same of up to most_columns systems, whose vectors lie by rows without gaps; not over
    /// ranks. The memory that it takes is kept for the next call.
    template <class U>
    void cycle_many(in_columns<U, B> b, out_columns<U, B> x) const;
    [[nodiscard]] std::size_t bytes() const;

  private:
    /// A level's memory; Space is that of one vector, or of several. r holds b below the finest
    /// level, d the iterate before x. product may be empty where r is free.
    template <class Space>
    struct workspace {
        Space space;
        vector<V, B> x, r, d, product;
    };
    using workspaces = std::vector<workspace<single_vector<V, B>>>;
    struct block_workspaces {
        index most;  ///< vectors
        std::vector<workspace<column_space<V, B>>> levels;
    };

    template <class Space, class MakeSpace>
    [[nodiscard]] std::vector<workspace<Space>> make_levels(MakeSpace space_of) const;
    [[nodiscard]] std::unique_ptr<workspaces> make_workspaces() const;
    [[nodiscard]] std::unique_ptr<workspaces> take_workspaces() const;
    [[nodiscard]] std::unique_ptr<block_workspaces> make_block_workspaces(index count) const;
    [[nodiscard]] std::unique_ptr<block_workspaces> take_block_workspaces(index count) const;

    /// The last iterates, which change places from step to step.
    struct iterates {
        V *now, *other;
    };
    template <class Space>
    void relax(const level&, workspace<Space>&, const V* b,
               typename linear_operator<V, B>::relaxation how, iterates&) const;
    template <class Space>
    void smooth(const level&, workspace<Space>&, const V* b, bool from_zero, iterates&) const;
    template <class Space>
    void cycle(std::size_t l, std::vector<workspace<Space>>&, bool from_zero, const V* b,
               V* x) const;

    /// One cycle of vectors that begin there.
    template <class U, class Space>
    void cycle_of(std::vector<workspace<Space>>&, const U* b, U* x) const;

    B on_;
    amg_options::cycles kind_;
    bool converts_ = false;
    double factor_ = 1;
    std::vector<level> levels_;
    mutable std::mutex mutex_;  ///< guards the workspaces that no call uses now
    mutable std::vector<std::unique_ptr<workspaces>> idle_;
    mutable std::vector<std::unique_ptr<block_workspaces>> idle_blocks_;
};

/// A vector of the setup's where the cycle runs.
template <class V>
host_vector<V> moved_to(cpu, host_vector<V> v) {
    return v;
}
template <class V>
device_array<V> moved_to(gpu on, const host_vector<V>& v) {
    return from_host(on, std::span<const V>(v));
}
template <class V>
device_array<V> moved_to(gpu, device_array<V> v) {
    return v;
}

/// By how much one cycle M of multigrid reduces the error, in the end: the largest eigenvalue of
/// I - M A in magnitude, from `steps` of the power method with a fixed start.
template <class V, class B>
double convergence_factor(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M,
                          int steps = 30);

}  // namespace nz
