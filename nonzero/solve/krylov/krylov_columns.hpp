// Several systems solved in step: everything around their iterations.
#pragma once

#include <vector>

#include "nonzero/formats/columns.hpp"
#include "nonzero/solve/krylov/krylov.hpp"
#include "nonzero/vector/fused_columns.hpp"

namespace nz {

/// Base of a method over several systems, as krylov_frame is of one over one: what derives from it
/// has the same functions, and
///
///     std::vector<vector<V, B>*> carried();  // what an iteration leaves for the next, x and r too
///
/// and, where its iterations come in cycles that begin with the true residual,
///
///     bool cycle_is_over();
///     void end_cycle();                      // brings all x up to date; then r is b - A x
template <class V, class B, class S>
struct columns_frame {
    using scalars = S;

    columns_frame(B on, const linear_operator<V, B>& matrix,
                  const linear_operator<V, B>* preconditioner, index count)
        : space(on, matrix.shape().rows, count),
          A(matrix),
          M(preconditioner),
          x(space.make()),
          r(space.make()),
          q(space.make()),
          s(from_host(on, std::span<const S>(std::vector<S>(std::size_t(count))))) {
        if (M != nullptr) z = space.make();
    }
    template <class Step>
    void run(const Step& step) {
        space.run(step, s.data());
    }
    /// to = op from
    void apply(const linear_operator<V, B>& op, const vector<V, B>& from, vector<V, B>& to) {
        op.apply_many(V(1), space.read(from), V(0), space.write(to));
    }
    void copy(const vector<V, B>& from, vector<V, B>& to) {
        space.copy(space.read(from), space.write(to));
    }
    /// A step that changes the scalars before the first iteration.
    template <class Step>
    void run_before(const Step& step, std::span<S> all) {
        write(all);
        run(step);
        std::ranges::copy(there(), all.begin());
    }
    /// Waits for what wrote them.
    void read(std::vector<S>& all) const {
        const auto now = there();
        all.assign(now.begin(), now.end());
    }
    void write(std::span<const S> all) {
        if constexpr (std::is_same_v<B, cpu>) {
            std::ranges::copy(all, s.begin());
        } else {
            copy_to_device(space.on(), all.data(), s.data(), all.size() * sizeof(S));
        }
    }
    /// r = b - A x, of those columns of b, with the squared norms of r and b.
    void find_residuals(const in_columns<V, B>& b, std::span<const index> which) {
        apply(A, x, q);
        space.gather(b, which, r);
        run(residual_step<V, S>{r.data(), q.data(), r.data()});
    }

    column_space<V, B> space;
    const linear_operator<V, B>& A;
    const linear_operator<V, B>* M;  ///< null: there is none
    vector<V, B> x, r, q, z;         ///< as krylov_frame has them
    vector<S, B> s;

  private:
    [[nodiscard]] host_vector<S> there() const {
        return to_host<S>(space.on(), in<S, B>{s.data(), std::size_t(space.count())});
    }
};

/// Solves A x = b for up to most_columns vectors by iterations of `Method`, all of them in step.
/// One that has ended changes no more, and is taken out of the block with others: then, and where
/// all have ended, b - A x tells who has converged.
template <class V, class B, class Make>
class columns_solve {
    using Method = std::invoke_result_t<Make, index>;
    using S = typename Method::scalars;
    static constexpr double infinite = std::numeric_limits<double>::infinity();
    /// Iterations between two writes of the scalars, at most.
    static constexpr std::int64_t batch = 64;

  public:
    /// make: the method of so many systems.
    columns_solve(B on, const linear_operator<V, B>& A, in_columns<V, B> b, out_columns<V, B> x,
                  const solve_options& o, const Make& make)
        : on_(on), A_(A), b_(b), x_(x), options_(o), make_(make), told_(std::size_t(b.count)) {}

    /// Throws unavailable where A or M take no such vectors; some may be solved by then.
    void run() {
        std::vector<index> which(told_.size());
        std::iota(which.begin(), which.end(), 0);
        while (!which.empty() && !stopped_) which = round(std::move(which));
    }
    /// None of a vector that is to be solved alone, from its x as it is now.
    [[nodiscard]] std::optional<solve_report> report(index c) const {
        const told& t = told_[std::size_t(c)];
        if (!t.is_final) return {};
        return t.report;
    }
    [[nodiscard]] bool stopped_by_caller() const { return stopped_; }

  private:
    /// State of a vector, and its report so far.
    struct told {
        solve_report report;
        double best2 = infinite;        ///< the squared residual of its x in x_
        double last_claim2 = infinite;  ///< where the residual carried along was below tol last
        bool is_final = false;
    };
    /// The vectors that iterate, by their places in the block.
    struct block {
        Method method;
        std::vector<index> which;  ///< their numbers
        std::vector<S> now;
    };

    /// Iterates from x until all have ended. Returns those that only seemed to have converged.
    std::vector<index> round(std::vector<index> which) {
        const auto count = index(which.size());
        block b{make_(count), std::move(which), {}};
        b.method.space.gather(as_input(), b.which, b.method.x);
        b.method.find_residuals(b_, b.which);
        b.method.read(b.now);
        const auto history = make_vector<double>(on_, std::size_t(count * batch));
        std::vector<index> begin;
        for (index k = 0; k < count; ++k) {
            S& s = b.now[std::size_t(k)];
            s.history = const_cast<double*>(history.data()) + k * batch;
            if (start(told_[std::size_t(b.which[std::size_t(k)])], s)) begin.push_back(k);
        }
        keep(b, begin);
        std::vector<index> again;
        if (b.which.empty()) return again;
        b.method.restart(b.now);
        b.method.write(b.now);
        const auto iterations_start = steady_clock::now();
        for (auto& t : told_) t.report.setup_s = seconds_since(start_);
        while (!b.which.empty()) {
            b.method();
            b.method.read(b.now);
            advance(b, again);
            if constexpr (requires { b.method.end_cycle(); })
                if (!b.which.empty() && b.method.cycle_is_over()) begin_cycle(b);
        }
        for (auto& t : told_) t.report.iterations_s += seconds_since(iterations_start);
        return again;
    }

    void begin_cycle(block& b) {
        b.method.end_cycle();
        b.method.find_residuals(b_, b.which);
        b.method.read(b.now);
        b.method.restart(b.now);
    }

    /// Whether it iterates; else it has converged, or does not suit iterations.
    bool start(told& t, S& s) {
        if (!suits_iterations(s)) return false;
        const double tol = options_.template tol_of<V>();
        s.target2 = tol * tol * s.rhs2;
        s.iterations = s.history_from = t.report.iterations;
        s.pause_at = std::min(options_.max_iter, s.iterations + batch);
        t.best2 = s.residual2;
        if (t.report.history.empty()) {
            t.report.rhs_norm = std::sqrt(s.rhs2);
            t.report.history.push_back(std::sqrt(s.residual2) / t.report.rhs_norm);
        }
        if (s.residual2 <= s.target2)
            end(t, status::converged);
        else if (s.iterations >= options_.max_iter)
            end(t, status::max_iter);
        return !t.is_final;
    }
    static void end(told& t, status why) {
        t.report.residual_norm = std::sqrt(t.best2);
        t.report.relative = t.report.residual_norm / t.report.rhs_norm;
        t.report.end_by(why);
        t.is_final = true;
    }

    /// After an iteration: notes it, and settles those that have ended once they are many.
    void advance(block& b, std::vector<index>& again) {
        const status all = note(b);
        std::vector<index> ended, running;
        bool is_paused = false;
        for (std::size_t k = 0; k < b.which.size(); ++k) {
            S& s = b.now[k];
            if (s.now == status::running)
                s.now = s.iterations >= options_.max_iter ? status::max_iter : all;
            (s.now == status::running ? running : ended).push_back(index(k));
            is_paused |= s.now == status::running && s.iterations == s.pause_at;
        }
        if (running.empty() || 4 * ended.size() >= b.which.size()) {
            settle(b, ended, running.empty(), again);
            keep(b, running);
        } else if (!is_paused) {
            return;
        }
        for (S& s : b.now) {
            s.history_from = s.iterations;
            s.pause_at = std::min(options_.max_iter, s.iterations + batch);
        }
        b.method.write(b.now);
    }

    /// Why all end now, if they do.
    status note(block& b) {
        double largest = 0;
        for (std::size_t k = 0; k < b.which.size(); ++k) {
            solve_report& r = told_[std::size_t(b.which[k])].report;
            const S& s = b.now[k];
            if (s.iterations == r.iterations) continue;
            r.iterations = s.iterations;
            r.history.push_back(std::sqrt(s.residual2) / r.rhs_norm);
            largest = std::max(largest, r.history.back());
        }
        ++iterations_;
        if (options_.monitor && !options_.monitor(iterations_, largest)) stopped_ = true;
        if (stopped_) return status::stopped_by_caller;
        const bool is_late = seconds_since(start_) >= options_.max_seconds;
        return is_late ? status::max_seconds : status::running;
    }

    /// Brings home the x of those that have ended.
    void settle(block& b, const std::vector<index>& ended, bool are_all,
                std::vector<index>& again) {
        const std::vector<S> before = b.now;
        b.method.write(b.now);  // which has seen why they ended
        b.method.finalize();
        std::vector<index> numbers;
        for (const index k : ended) numbers.push_back(b.which[std::size_t(k)]);
        if (are_all) return settle(b.method, numbers, before, again);
        columns_frame<V, B, S> part(on_, A_, nullptr, index(ended.size()));
        part.space.copy(b.method.space.read(b.method.x), ended, part.space.write(part.x),
                        part.space.all());
        std::vector<S> of_part;
        for (const index k : ended) of_part.push_back(before[std::size_t(k)]);
        settle(part, numbers, of_part, again);
        b.method.read(b.now);
    }
    /// before: the scalars, whose status says why.
    template <class Frame>
    void settle(Frame& frame, const std::vector<index>& numbers, const std::vector<S>& before,
                std::vector<index>& again) {
        frame.find_residuals(b_, numbers);
        std::vector<S> found;
        frame.read(found);
        std::vector<index> better, home;
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            told& t = told_[std::size_t(numbers[k])];
            const status why = before[k].now;
            const double residual2 = found[k].residual2, target2 = before[k].target2;
            const bool is_spent = why >= status::max_iter && why <= status::stopped_by_caller;
            // Alone it may do better, or tells why not.
            const bool goes_alone =
                why != status::converged && !is_spent && !(residual2 <= target2);
            if (goes_alone && why != status::stagnated) continue;
            if (residual2 <= t.best2) {
                t.best2 = residual2;
                better.push_back(index(k)), home.push_back(numbers[k]);
            }
            if (goes_alone) continue;
            if (residual2 <= target2) {
                end(t, status::converged);
            } else if (is_spent) {
                end(t, why);
            } else if (!(residual2 <= t.last_claim2 / 4)) {
                end(t, status::limited_by_rounding);
            } else {
                t.last_claim2 = residual2;
                again.push_back(numbers[k]);
            }
        }
        if (better.empty()) return;
        column_space<V, B>(on_, A_.shape().rows, index(better.size()))
            .copy(frame.space.read(frame.x), better, x_, home);
    }

    /// Only those places of the block go on.
    void keep(block& b, const std::vector<index>& places) {
        if (places.size() == b.which.size()) return;
        std::vector<index> which;
        std::vector<S> now;
        for (const index k : places)
            which.push_back(b.which[std::size_t(k)]), now.push_back(b.now[std::size_t(k)]);
        b.which = std::move(which), b.now = std::move(now);
        if (places.empty()) return;
        auto& [method, numbers, scalars] = b;
        column_space<V, B> fewer(on_, A_.shape().rows, index(places.size()));
        for (vector<V, B>* const v : method.carried()) {
            fewer.copy(method.space.read(*v), places, fewer.write(method.q), fewer.all());
            std::swap(*v, method.q);
        }
        method.space.resize(index(places.size()));
    }

    [[nodiscard]] in_columns<V, B> as_input() const {
        return {x_.values, x_.stride, x_.count, x_.order};
    }

    steady_clock::time_point start_ = steady_clock::now();
    B on_;
    const linear_operator<V, B>& A_;
    in_columns<V, B> b_;
    out_columns<V, B> x_;
    const solve_options& options_;
    const Make& make_;
    std::vector<told> told_;
    std::int64_t iterations_ = 0;
    bool stopped_ = false;
};

/// Throws argument_error unless A x = b can be asked for, for each of the vectors.
template <class V, class B>
void check_columns_system(const char* what, B on, const linear_operator<V, B>& A,
                          const linear_operator<V, B>* M, const in_columns<V, B>& b,
                          const out_columns<V, B>& x, const solve_options& o) {
    const auto n = std::size_t(A.shape().rows);
    check_system<V, B>(what, on, A, M, in<V, B>{b.values.data(), n}, in<V, B>{x.values.data(), n},
                       o);
    agree(ranks_of(on), [&] {
        check_columns(what, "B", b, x.count, n);
        check_columns(what, "X", x, x.count, n);
    });
}

/// The solver `name` for several vectors, `most` at a time: together(b, x, options) makes what runs
/// them, as columns_solve does; by `alone`, of one b and x, those that are not for that, and all of
/// them over ranks.
template <class V, class B, class Alone, class Together>
std::vector<solve_report> solve_in_groups(const char* name, B on, const linear_operator<V, B>& A,
                                          const linear_operator<V, B>* M, in_columns<V, B> b,
                                          out_columns<V, B> x, const solve_options& o,
                                          const Alone& alone, const Together& together,
                                          index most) {
    check_columns_system<V, B>(name, on, A, M, b, x, o);
    std::vector<solve_report> reports(std::size_t(x.count));
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        const auto n = std::size_t(A.shape().rows);
        bool stopped = false;
        const auto rest = [&] {
            solve_options left = o;
            left.max_seconds = std::max(0.0, o.max_seconds - seconds_since(start));
            if (stopped) left.max_iter = 0;
            if (o.monitor)
                left.monitor = [&](std::int64_t k, double r) {
                    stopped |= !o.monitor(k, r);
                    return !stopped;
                };
            return left;
        };
        const auto solve_alone = [&](index c) {
            const bool was_stopped = stopped;
            column_space<V, B> one(on, std::int64_t(n), 1);
            auto rhs = one.make(), solution = one.make();
            one.copy(b, {&c, 1}, one.write(rhs), one.all());
            one.copy({x.values, x.stride, x.count, x.order}, {&c, 1}, one.write(solution),
                     one.all());
            solve_report r = alone(rhs, solution, rest());
            one.copy(one.read(solution), one.all(), x, {&c, 1});
            if (was_stopped && !r.converged) r.end_by(status::stopped_by_caller);
            return r;
        };
        for (index first = 0; first < x.count; first += most) {
            const index count = std::min(most, x.count - first);
            const solve_options left = rest();
            auto some = together(some_of(b, first, count), some_of(x, first, count), left);
            try {
                if (count > 1 && ranks_of(on) == nullptr && n > 0 && !stopped) some.run();
            } catch (const unavailable&) {  // a product takes no vectors by rows
            }
            for (index c = 0; c < count; ++c) {
                const auto r = some.report(c);
                reports[std::size_t(first + c)] = r ? *r : solve_alone(first + c);
            }
        }
    }
    return reports;
}

/// In step, by iterations of the method that `make` makes for so many.
template <class V, class B, class Alone, class Make>
std::vector<solve_report> solve_columns_by(const char* name, B on, const linear_operator<V, B>& A,
                                           const linear_operator<V, B>* M, in_columns<V, B> b,
                                           out_columns<V, B> x, const solve_options& o,
                                           const Alone& alone, const Make& make,
                                           index most = most_columns) {
    const auto together = [&](in_columns<V, B> some_b, out_columns<V, B> some_x,
                              const solve_options& left) {
        return columns_solve<V, B, Make>(on, A, some_b, some_x, left, make);
    };
    return solve_in_groups<V, B>(name, on, A, M, b, x, o, alone, together, most);
}

/// The same by iterations of `Method`.
template <class V, class B, class Method, class Alone>
std::vector<solve_report> solve_columns_by(const char* name, B on, const linear_operator<V, B>& A,
                                           const linear_operator<V, B>* M, in_columns<V, B> b,
                                           out_columns<V, B> x, const solve_options& o,
                                           const Alone& alone) {
    const auto make = [&](index count) { return Method(on, A, M, count); };
    return solve_columns_by<V, B>(name, on, A, M, b, x, o, alone, make);
}

}  // namespace nz
