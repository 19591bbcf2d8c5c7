// Several systems solved in step: everything around their iterations.
#pragma once

#include <vector>

#include "nonzero/formats/columns.hpp"
#include "nonzero/solve/krylov/columns/column_reports.hpp"
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

  public:
    /// make: the method of so many systems.
    columns_solve(B on, const linear_operator<V, B>& A, in_columns<V, B> b, out_columns<V, B> x,
                  column_reports& all, const Make& make)
        : on_(on), A_(A), b_(b), x_(x), all_(all), make_(make) {}

    /// Throws unavailable where A or M take no such vectors; some may be solved by then.
    void run() {
        std::vector<index> which(all_.of.size());
        std::iota(which.begin(), which.end(), 0);
        while (!which.empty() && !all_.stopped) which = round(std::move(which));
    }

  private:
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
        const auto history =
            make_vector<double>(on_, std::size_t(count) * std::size_t(column_reports::batch));
        std::vector<index> begin;
        for (index k = 0; k < count; ++k) {
            S& s = b.now[std::size_t(k)];
            s.history = const_cast<double*>(history.data()) + k * column_reports::batch;
            if (all_.start(b.which[std::size_t(k)], s)) begin.push_back(k);
        }
        keep(b, begin);
        std::vector<index> again;
        if (b.which.empty()) return again;
        b.method.restart(b.now);
        b.method.write(b.now);
        const auto iterations_start = steady_clock::now();
        for (auto& one : all_.of) one.report.setup_s = all_.seconds();
        while (!b.which.empty()) {
            b.method();
            b.method.read(b.now);
            advance(b, again);
            if constexpr (requires { b.method.end_cycle(); })
                if (!b.which.empty() && b.method.cycle_is_over()) begin_cycle(b);
        }
        for (auto& one : all_.of) one.report.iterations_s += seconds_since(iterations_start);
        return again;
    }

    void begin_cycle(block& b) {
        b.method.end_cycle();
        b.method.find_residuals(b_, b.which);
        b.method.read(b.now);
        b.method.restart(b.now);
    }

    /// After an iteration: notes it, and settles those that have ended once they are many.
    void advance(block& b, std::vector<index>& again) {
        const auto [ended, running, is_paused] = all_.after_iteration(b.which, states_of(b.now));
        if (running.empty() || 4 * ended.size() >= b.which.size()) {
            settle(b, ended, running.empty(), again);
            keep(b, running);
        } else if (!is_paused) {
            return;
        }
        all_.pause_later(states_of(b.now));
        b.method.write(b.now);
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
            column_report& one = all_.of[std::size_t(numbers[k])];
            const double residual2 = found[k].residual2;
            if (one.is_astray(before[k].now, residual2)) continue;
            if (one.improves_by(residual2)) better.push_back(index(k)), home.push_back(numbers[k]);
            if (one.is_to_go_on(before[k].now, residual2)) again.push_back(numbers[k]);
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

    B on_;
    const linear_operator<V, B>& A_;
    in_columns<V, B> b_;
    out_columns<V, B> x_;
    column_reports& all_;
    const Make& make_;
};

/// Solves one of several systems.
template <class V, class B>
using alone_solve = std::function<solve_report(in<V, B>, out<V, B>, const solve_options&)>;
/// Solves some of the systems; those whose report is not final then are to be solved alone, from
/// their x as it is. Throws unavailable where a product takes no such vectors.
template <class V, class B>
using some_solve = std::function<void(in_columns<V, B>, out_columns<V, B>, column_reports&)>;

/// The solver `name` for several vectors, `most` at a time, by `some`; by `alone` those that are
/// not for that, and all of them over ranks. Throws argument_error unless A x = b can be asked for,
/// for each of the vectors.
template <class V, class B>
std::vector<solve_report> solve_in_groups(const char* name, B on, const linear_operator<V, B>& A,
                                          const linear_operator<V, B>* M, in_columns<V, B> b,
                                          out_columns<V, B> x, const solve_options& o,
                                          const alone_solve<V, B>& alone,
                                          const some_solve<V, B>& some, index most);

/// In step, by iterations of the method that `make` makes for so many.
template <class V, class B, class Make>
std::vector<solve_report> solve_columns_by(const char* name, B on, const linear_operator<V, B>& A,
                                           const linear_operator<V, B>* M, in_columns<V, B> b,
                                           out_columns<V, B> x, const solve_options& o,
                                           const alone_solve<V, B>& alone, const Make& make,
                                           index most = most_columns) {
    const auto some = [&](in_columns<V, B> some_b, out_columns<V, B> some_x, column_reports& all) {
        if constexpr (is_built<B>)
            columns_solve<V, B, Make>(on, A, some_b, some_x, all, make).run();
    };
    return solve_in_groups<V, B>(name, on, A, M, b, x, o, alone, some, most);
}

/// The same by iterations of `Method`.
template <class V, class B, class Method>
std::vector<solve_report> solve_columns_by(const char* name, B on, const linear_operator<V, B>& A,
                                           const linear_operator<V, B>* M, in_columns<V, B> b,
                                           out_columns<V, B> x, const solve_options& o,
                                           const alone_solve<V, B>& alone) {
    const auto make = [&](index count) { return Method(on, A, M, count); };
    return solve_columns_by<V, B>(name, on, A, M, b, x, o, alone, make);
}

}  // namespace nz
