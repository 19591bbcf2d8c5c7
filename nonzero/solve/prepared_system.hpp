// A system that is ready to be solved: its matrix, what decides about it, what one solve leaves.
#pragma once

#include <memory>
#include <optional>

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/solve/choices.hpp"
#include "nonzero/solve/matrix_on_gpu.hpp"
#include "nonzero/solve/matrix_over_ranks.hpp"
#include "nonzero/solve/whole_matrix.hpp"

namespace nz {

/// Who asks for a solve after one: no one, another right-hand side, or one of other values of A.
enum class to_follow { nothing, right_hand_sides, matrices };
/// After the first of that many right-hand sides.
constexpr to_follow follows(index columns) {
    return columns > 1 ? to_follow::right_hand_sides : to_follow::nothing;
}

/// A matrix, the facts that decide about its system, and what one solve leaves for the next. Over
/// ranks everything is called by all of them.
template <class V, class B, class Matrix>
class prepared_system {
  public:
    prepared_system(B on, Matrix A, const system_options& o, to_follow follows);
    /// The arguments are checked; vectors lie where B computes.
    system_report solve(in<V, B> b, out<V, B> x, steady_clock::time_point start) {
        return solve(b, x, start, o_);
    }
    /// Several right-hand sides: in step where the method suits that, else one after the other. The
    /// arguments are checked. P: where the vectors lie, the CPU or where B computes.
    template <class P>
    std::vector<system_report> solve_columns(const in_columns<V, P>& b, const out_columns<V, P>& x,
                                             steady_clock::time_point start);
    /// The values that the matrix has now.
    void take_values();

  private:
    using op = linear_operator<V, B>;

    /// o: with the monitor that this solve asks.
    system_report solve(in<V, B> b, out<V, B> x, steady_clock::time_point start,
                        const system_options& o);
    [[nodiscard]] bool keeps() const { return follows_ != to_follow::nothing; }

    /// The choice that all right-hand sides begin with; none where one alone must find it.
    [[nodiscard]] std::optional<choice> choice_in_step() const;
    /// One attempt for all, of up to most_columns; empty where there is none. x of those that it
    /// has not solved is no worse than before.
    template <class P>
    std::vector<system_report> step_together(const in_columns<V, P>& b, const out_columns<V, P>& x,
                                             steady_clock::time_point start,
                                             const system_options& o);
    template <class P>
    std::vector<solve_report> iterate_together(const choice& c, const op* M,
                                               const in_columns<V, P>& b,
                                               const out_columns<V, P>& x,
                                               steady_clock::time_point start, system_options o);
    /// As `remember`, by the right-hand side that took the most iterations.
    void remember_of_several(const choice& c, const std::shared_ptr<op>& M,
                             const std::vector<solve_report>& found);
    /// Solves the right-hand side c from its x on; puts its attempts behind those that it has.
    template <class P>
    void go_on_alone(const in_columns<V, P>& b, const out_columns<V, P>& x, index c,
                     steady_clock::time_point start, const system_options& o,
                     system_report& report);
    /// For a right-hand side that the caller's monitor left no iteration to.
    [[nodiscard]] system_report::attempt not_tried() const;

    void look() {
        negated_ = A_.negate_where_negative();
        facts_ = A_.facts();
    }
    [[nodiscard]] bool may_be_direct() const {
        return !o_.iterative && !o_.method && !o_.preconditioner;
    }
    /// Whether a symbolic factorization comes before all but probes, as it takes no longer than
    /// iterations that converge do.
    [[nodiscard]] bool direct_at_once() const;
    /// On a GPU factors take longer than iterations. Where other systems follow, what takes longer
    /// to make and solves them in fewer iterations is worth more.
    [[nodiscard]] bool may_probe() const {
        return std::is_same_v<B, cpu> && follows_ == to_follow::nothing;
    }
    /// Puts probes first; whether there are any.
    bool put_probes(std::vector<choice>& left, system_report& report) const;
    /// Puts the direct solver among those left, by its forecast; last where it has none, as where A
    /// is structurally singular: then it tells why.
    void put_direct(std::vector<choice>& left, system_report& report);
    /// At first, before others are thought of whose setup takes as long as some iterations.
    void limit_first(std::vector<choice>& choices) const;
    std::unique_ptr<op> made(const choice& c, bool last, steady_clock::time_point start,
                             system_report::attempt& told);
    /// Its cycle is in single precision before conjugate gradients in double, which make good what
    /// that loses.
    std::unique_ptr<op> multigrid(const choice& c, bool last);
    /// The direct solver's. Throws unavailable where it would take more seconds than are left.
    std::unique_ptr<op> inverse(steady_clock::time_point start, system_report::attempt& told);
    /// M for an attempt, which gives back what it was lent.
    std::unique_ptr<op> lent(const std::shared_ptr<op>& M) const;
    void reconsider(const choice& opening, std::vector<choice>& left, system_report& report);
    /// Keeps what has converged, until it takes half as many iterations again as at first.
    void remember(const system_report& report);

    B on_;
    Matrix A_;
    system_options o_;
    to_follow follows_;
    bool negated_ = false;
    matrix_facts facts_;
    std::int64_t inner_iterations_ = 0;
    // From one solve to the next:
    std::optional<choice> winner_;          ///< which has converged
    std::shared_ptr<op> kept_, last_made_;  ///< its preconditioner; what the last attempt made
    std::int64_t first_iterations_ = 0;     ///< with `kept_` as it was made
    std::int64_t lost_iterations_ = 0;      ///< by solves that took many more, with it
};

template <class V, class B>
using whole_system = prepared_system<V, B, whole_matrix<V, B>>;
template <class V, class B>
using system_over_ranks = prepared_system<V, B, matrix_over_ranks<V, B>>;
template <class V>
using system_on_gpu = prepared_system<V, gpu, matrix_on_gpu<V>>;

}  // namespace nz
