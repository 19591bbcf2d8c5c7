#include "nonzero/solve/krylov/gmres.hpp"

#include <array>

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/solve/krylov/columns/krylov_columns.hpp"
#include "nonzero/solve/krylov/gmres_steps.hpp"

namespace nz {
namespace {

constexpr index longest_cycle = 1000;

/// The least-squares problem of a cycle: the Hessenberg matrix made triangular by rotations, column
/// after column as they come. On the CPU.
template <class W>
class rotated_hessenberg {
  public:
    explicit rotated_hessenberg(double residual) : g_{W(residual)} {}
    [[nodiscard]] std::size_t columns() const { return columns_.size(); }

    /// Takes the next column, of one entry more than the one before; the residual it leaves.
    double add(std::vector<W> h) {
        const std::size_t j = columns_.size();
        for (std::size_t k = 0; k < j; ++k) rotate(rotations_[k], h[k], h[k + 1]);
        const double length = std::hypot(std::abs(h[j]), std::abs(h[j + 1]));
        rotations_.push_back(length > 0 ? rotation{h[j] / length, h[j + 1] / length}
                                        : rotation{W(1), W(0)});
        rotate(rotations_[j], h[j], h[j + 1]);
        g_.push_back(W(0));
        rotate(rotations_[j], g_[j], g_[j + 1]);
        columns_.push_back(std::move(h));
        return std::abs(g_[j + 1]);
    }
    /// The coefficients of the basis vectors. Columns that are singular get none.
    [[nodiscard]] std::vector<W> solution() const {
        std::vector<W> y(g_.begin(), g_.end() - 1);
        for (std::size_t k = y.size(); k-- > 0;) {
            const W pivot = columns_[k][k];
            y[k] = pivot == W(0) ? W(0) : y[k] / pivot;
            for (std::size_t i = 0; i < k; ++i) y[i] -= columns_[k][i] * y[k];
        }
        return y;
    }

  private:
    struct rotation {
        W c, s;
    };
    static W conj(W w) { return conjugated(transposition::conjugate_transpose, w); }
    /// The unitary matrix with the rows (c*, s*), (-s, c).
    static void rotate(const rotation& q, W& a, W& b) {
        const W turned = conj(q.c) * a + conj(q.s) * b;
        b = q.c * b - q.s * a;
        a = turned;
    }
    std::vector<std::vector<W>> columns_;
    std::vector<rotation> rotations_;
    std::vector<W> g_;
};

template <class V, class B>
class gmres_solve {
    using S = krylov_state;
    using W = wide_value<V>;

  public:
    gmres_solve(B on, const linear_operator<V, B>& A, const linear_operator<V, B>* M, in<V, B> b,
                out<V, B> x, const gmres_options& o)
        : space_(on, A.shape().rows),
          A_(A),
          M_(M),
          b_(b),
          x_(x),
          options_(o),
          n_(A.shape().rows),
          restart_(o.restart),
          keeps_z_(o.flexible && M != nullptr),
          basis_(make_basis(restart_)),
          of_z_(make_of_z(restart_)),
          q_(space_.make()),
          z_(space_.make()),
          h_(make<W>(2 * std::size_t(longest_cycle) + 1)),
          s_(on, {}),
          best_(space_, x) {}

    /// As krylov_solve's.
    std::optional<solve_report> run() {
        const S s = find_residual();
        if (!suits_iterations(s)) return std::nullopt;
        report_.rhs_norm = std::sqrt(s.rhs2);
        report_.residual_norm = std::sqrt(s.residual2);
        report_.history.push_back(report_.residual_norm / report_.rhs_norm);
        report_.setup_s = seconds_since(start_);
        const double target = options_.template tol_of<V>() * report_.rhs_norm;
        const auto iterating = steady_clock::now();
        for (;;) {
            if (report_.residual_norm <= target) return end(status::converged);
            if (report_.iterations >= options_.max_iter) return end(status::max_iter);
            if (is_out_of_time()) return end(status::max_seconds);
            const double before = report_.residual_norm;
            const bool good = advance(target);
            report_.iterations_s = seconds_since(iterating);
            if (report_.residual_norm <= target) continue;
            if (!good) return end(status::not_finite);
            if (stopped_) return end(status::stopped_by_caller);
            const double left = report_.residual_norm / before;
            // Less than one part in a thousand: rounding errors, or A is singular.
            if (left > stagnating && !grow() && (left > 0.999 || restart_ > options_.restart))
                return end(status::stagnated, "stagnated: " + std::to_string(restart_) +
                                                  " directions did not reduce the residual");
        }
    }

  private:
    /// Where a cycle of 30 leaves more than this share of the residual, 10,000 iterations reduce it
    /// by less than 1e-15: more directions at a time are worth their memory.
    static constexpr double stagnating = 0.9;
    static constexpr std::size_t most_basis_bytes = std::size_t(1) << 28;  ///< grown to, of a rank

    template <class T>
    vector<T, B> make(std::size_t len) const {
        return make_vector<T>(space_.on(), len);
    }
    vector<V, B> make_basis(index directions) const {
        return make<V>(std::size_t(n_) * (std::size_t(directions) + 1));
    }
    vector<V, B> make_of_z(index directions) const {
        return make<V>(keeps_z_ ? std::size_t(n_) * std::size_t(directions) : 0);
    }

    /// Doubles the directions of a cycle; false where they, or the memory, do not suffice. Ranks
    /// grow together.
    bool grow() {
        const auto more = index(
            std::min<std::int64_t>({2 * restart_, longest_cycle, options_.most_restart, rows_}));
        if (more <= restart_) return false;
        bool fits = (keeps_z_ ? 2U : 1U) * std::size_t(n_) * std::size_t(more) * sizeof(V) <=
                    most_basis_bytes;
        vector<V, B> larger, larger_of_z;
        if (fits) try {
                larger = make_basis(more), larger_of_z = make_of_z(more);
            } catch (const out_of_memory&) {
                fits = false;
            } catch (const std::bad_alloc&) {
                fits = false;
            }
        if (!on_all(ranks_, fits)) return false;
        basis_ = std::move(larger), of_z_ = std::move(larger_of_z), restart_ = more;
        find_residual();  // the first vector of the basis
        return true;
    }

    [[nodiscard]] bool is_out_of_time() const {
        return timed_ && !on_all(ranks_, seconds_since(start_) < options_.max_seconds);
    }
    V* basis(std::int64_t k) { return basis_.data() + k * n_; }
    /// The place of M basis k: all of them are kept where M may be another in every iteration.
    out<V, B> z(std::int64_t k) { return keeps_z_ ? out_of(of_z_.data() + k * n_) : out<V, B>(z_); }
    in<V, B> in_of(const V* v) const { return {v, std::size_t(n_)}; }
    out<V, B> out_of(V* v) const { return {v, std::size_t(n_)}; }

    /// basis 0 = b - A x
    S find_residual() {
        A_.apply(V(1), x_, V(0), q_);
        run_fused(space_, residual_step<V, S>{b_.data(), q_.data(), basis(0)}, s_.data());
        return s_.read();
    }

    /// A cycle, which x is better for or remains as it was; false where a number is not finite.
    bool advance(double target) {
        best_.keep(report_.residual_norm * report_.residual_norm);
        const bool good = cycle(target);
        double residual2 = find_residual().residual2;
        if (best_.beats(residual2)) {
            best_.take();
            residual2 = find_residual().residual2;
        }
        report_.residual_norm = std::sqrt(residual2);
        return good;
    }

    /// Up to restart_ iterations and what they make of x; false where a number is not finite.
    bool cycle(double target) {
        rotated_hessenberg<W> H(report_.residual_norm);
        space_.scale(V(real<V>(1 / report_.residual_norm)), out_of(basis(0)));
        int columns = 0;
        while (columns < restart_ && report_.iterations < options_.max_iter && !is_out_of_time()) {
            std::vector<W> h = orthogonalise(columns);
            const double length = std::abs(h.back());
            if (!loop_state::is_finite(length)) return update(H, columns), false;
            const double residual = H.add(std::move(h));
            ++columns, ++report_.iterations;
            report_.history.push_back(residual / report_.rhs_norm);
            if (monitored_) stopped_ = !on_all(ranks_, is_wanted());
            if (stopped_ || residual <= target || length == 0) break;
            space_.scale(V(real<V>(1 / length)), out_of(basis(columns)));
        }
        update(H, columns);
        return true;
    }

    /// False where the caller wants to stop.
    [[nodiscard]] bool is_wanted() const {
        return !options_.monitor || options_.monitor(report_.iterations, report_.history.back());
    }

    /// basis j + 1 = A M basis j, made orthogonal to those before, not yet of length 1: a column.
    std::vector<W> orthogonalise(int j) {
        V* const w = basis(j + 1);
        if (M_ != nullptr) M_->apply(V(1), in_of(basis(j)), V(0), z(j));
        A_.apply(V(1), M_ == nullptr ? in_of(basis(j)) : in<V, B>(z(j)), V(0), out_of(w));
        const int count = j + 1;
        W* const norm2 = h_.data() + 2 * count;  // beside h, so that the CPU waits once
        for (W* const h : {h_.data(), h_.data() + count}) {
            for (int k = 0; k < count; k += gmres_dots<V>)
                run_fused(
                    space_,
                    gmres_project<V>{basis(k), w, n_, std::min(count - k, gmres_dots<V>), h + k},
                    s_.data());
            run_fused(space_, gmres_subtract<V>{basis(0), w, n_, count, h, norm2}, s_.data());
        }
        const auto both = to_host<W>(space_.on(), in<W, B>{h_.data(), 2 * std::size_t(count) + 1});
        std::vector<W> column(both.begin(), both.begin() + count);
        for (int k = 0; k < count; ++k) column[std::size_t(k)] += both[std::size_t(count + k)];
        column.push_back(std::sqrt(real_part(both.back())));
        return column;
    }

    /// x = x + M (basis times H's solution), or the kept M basis times that.
    void update(const rotated_hessenberg<W>& H, int columns) {
        if (columns == 0) return;
        const std::vector<W> y = H.solution();
        const auto on_device = from_host(space_.on(), std::span<const W>(y));
        const V* const from = keeps_z_ ? of_z_.data() : basis(0);
        run_fused(space_, gmres_combine<V>{from, q_.data(), n_, columns, on_device.data()},
                  s_.data());
        const bool is_updated_by_q = keeps_z_ || M_ == nullptr;
        if (!is_updated_by_q) M_->apply(V(1), q_, V(0), z_);
        space_.axpy(V(1), is_updated_by_q ? q_ : z_, x_);
    }

    solve_report end(status why, std::string sentence = {}) {
        report_.end_by(why, std::move(sentence));
        report_.relative = report_.residual_norm / report_.rhs_norm;
        return std::move(report_);
    }
    steady_clock::time_point start_ = steady_clock::now();
    vector_space<V, B> space_;
    const linear_operator<V, B>& A_;
    const linear_operator<V, B>* M_;
    in<V, B> b_;
    out<V, B> x_;
    const gmres_options& options_;
    std::int64_t n_;
    index restart_;
    bool keeps_z_;               ///< as `flexible` asks for
    vector<V, B> basis_, of_z_;  ///< restart_ + 1 vectors, one after the other; M times restart_
    vector<V, B> q_, z_;
    vector<W, B> h_;  ///< the products of both passes of Gram-Schmidt, and |w|^2
    scalars_on<S, B> s_;
    kept_solution<V, B> best_;  ///< of before a cycle
    const communicator* ranks_ = ranks_of(space_.on());
    std::int64_t rows_ = summed_over(ranks_, n_);          ///< of all ranks
    bool monitored_ = !on_all(ranks_, !options_.monitor);  ///< on any rank
    bool timed_ = std::isfinite(options_.max_seconds);
    bool stopped_ = false;
    solve_report report_;
};

/// A cycle on several systems, each with its own least-squares problem. Their basis vectors are
/// blocks, made as they are needed.
template <class V, class B>
class gmres_in_step : public columns_frame<V, B, gmres_column_scalars<wide_value<V>>> {
    using W = wide_value<V>;
    using base = columns_frame<V, B, gmres_column_scalars<W>>;

  public:
    using base::A, base::M, base::apply, base::q, base::r, base::read, base::run, base::space,
        base::write, base::x, base::z;
    using typename base::scalars;

    gmres_in_step(B on, const linear_operator<V, B>& A_, const linear_operator<V, B>* M_,
                  index count, index restart)
        : base(on, A_, M_, count),
          restart_(restart),
          stride_(2 * std::size_t(restart) + 3),
          h_(make_vector<W>(on, std::size_t(count) * stride_)),
          problems_(std::size_t(count), rotated_hessenberg<W>(0)) {}

    void operator()() {
        const auto j = std::size_t(steps_);
        if (M != nullptr) apply(*M, basis_[j], z);
        if (basis_.size() == j + 1) basis_.push_back(space.make());
        apply(A, M == nullptr ? basis_[j] : z, basis_[j + 1]);
        ++steps_;
        const int norm2_at = 2 * steps_;
        for (const int first : {0, steps_}) {
            each_some(first, [&](const gmres_vectors<V>& some) {
                run(gmres_project_columns<V>{some, basis_[j + 1].data()});
            });
            each_some(first, [&](const gmres_vectors<V>& some) {
                run(gmres_subtract_columns<V>{some, basis_[j + 1].data(), norm2_at});
            });
        }
        add_columns();
        run(gmres_scale_columns<V>{basis_[j + 1].data(), basis_[j + 1].data(), true});
    }
    [[nodiscard]] bool cycle_is_over() const { return steps_ == restart_; }
    /// x of those that have ended.
    void finalize() { update(false); }
    void end_cycle() { update(true); }
    void restart(std::span<scalars> all) {
        for (std::size_t c = 0; c < all.size(); ++c) {
            scalars& one = all[c];
            if (one.h == nullptr) one.slot = int(c), one.h = h_.data() + c * stride_;
            if (one.now != status::running) continue;
            // As gmres_solve has it: alone, cycles may become longer.
            if (one.residual2 <= one.target2)
                one.now = one.next = status::converged;
            else if (one.at_start2 > 0 && one.residual2 > 0.81 * one.at_start2)
                one.now = one.next = status::stagnated;
            one.at_start2 = one.residual2;
            one.inverse = 1 / std::sqrt(one.residual2);
            problems_[std::size_t(one.slot)] = rotated_hessenberg<W>(std::sqrt(one.residual2));
        }
        write(all);
        if (basis_.empty()) basis_.push_back(space.make());
        run(gmres_scale_columns<V>{r.data(), basis_[0].data(), false});
        steps_ = 0;
    }
    std::vector<vector<V, B>*> carried() {
        std::vector<vector<V, B>*> all{&x, &r};
        for (std::size_t k = 0; k < std::min(basis_.size(), std::size_t(steps_) + 1); ++k)
            all.push_back(&basis_[k]);
        return all;
    }

  private:
    /// f of the basis vectors so far, a few at a time; the first one's coefficient is at `first`.
    template <class F>
    void each_some(int first, F f) const {
        for (int k = 0; k < steps_; k += gmres_dots<V>) {
            gmres_vectors<V> some{{}, std::min(steps_ - k, gmres_dots<V>), first + k};
            for (int l = 0; l < some.count; ++l) some.v[l] = basis_[std::size_t(k + l)].data();
            f(some);
        }
    }
    /// The next column of each least-squares problem, and what follows for its scalars.
    void add_columns() {
        const auto h = to_host<W>(space.on(), in<W, B>(h_));
        read(now_);
        const auto count = std::size_t(steps_);
        for (scalars& one : now_) {
            if (!one.is_running()) continue;
            const W* const mine = h.data() + std::size_t(one.slot) * stride_;
            std::vector<W> column(mine, mine + count);
            for (std::size_t k = 0; k < count; ++k) column[k] += mine[count + k];
            const double length = std::sqrt(real_part(mine[2 * count]));
            column.push_back(length);
            one.inverse = length > 0 ? 1 / length : 0;
            one.claim2 = length;
            if (!loop_state::is_finite(length)) continue;  // which ends it
            const double residual = problems_[std::size_t(one.slot)].add(std::move(column));
            one.claim2 = residual * residual;
        }
        write(now_);
    }
    /// x = x + M (basis times the solution), of all or of those that have ended; their problems
    /// are empty then.
    void update(bool all) {
        read(now_);
        host_vector<W> y(h_.size(), W(0));
        bool is_needed = false;
        for (const scalars& one : now_) {
            auto& problem = problems_[std::size_t(one.slot)];
            if (problem.columns() == 0 || (one.now == status::running && !all)) continue;
            std::ranges::copy(problem.solution(),
                              y.begin() + std::ptrdiff_t(std::size_t(one.slot) * stride_));
            problem = rotated_hessenberg<W>(0);
            is_needed = true;
        }
        if (!is_needed) return;
        if constexpr (std::is_same_v<B, cpu>) {
            std::ranges::copy(y, h_.begin());
        } else {
            copy_to_device(space.on(), y.data(), h_.data(), y.size() * sizeof(W));
        }
        each_some(0, [&](const gmres_vectors<V>& some) {
            run(gmres_combine_columns<V>{some, q.data()});
        });
        if (M != nullptr) apply(*M, q, z);
        space.run(axpby_step<V>{V(1), M == nullptr ? q.data() : z.data(), V(1), x.data()});
    }

    index restart_;
    int steps_ = 0;       ///< of the cycle
    std::size_t stride_;  ///< from one system's h to the next
    vector<W, B> h_;
    std::vector<rotated_hessenberg<W>> problems_;
    std::vector<vector<V, B>> basis_;
    std::vector<scalars> now_;
};

void check_restart(index restart) {
    if (restart < 1 || restart > longest_cycle)
        throw argument_error("gmres: restart is " + std::to_string(restart) + ", expected 1 to " +
                             std::to_string(longest_cycle));
}

template <class V, class B>
solve_report solve(B on, const linear_operator<V, B>& A, const linear_operator<V, B>* M, in<V, B> b,
                   out<V, B> x, const gmres_options& o) {
    check_system<V, B>("gmres", on, A, M, b, x, o);
    expect_equal(ranks_of(on), "gmres",
                 std::array{double(o.restart), double(o.most_restart), double(o.flexible)});
    check_restart(o.restart);
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        return solve_in_scale<V, B>(on, {A, M, b}, x, o, [&](const linear_problem<V, B>& p) {
            return gmres_solve<V, B>(on, p.A, p.M, p.b, x, o).run();
        });
    }
}

/// Bytes of a block's basis, at most.
constexpr double most_block_bytes = 0x1p31;

template <class V, class B>
std::vector<solve_report> solve(B on, const linear_operator<V, B>& A,
                                const linear_operator<V, B>* M, in_columns<V, B> b,
                                out_columns<V, B> x, const gmres_options& o) {
    check_restart(o.restart);
    const auto alone = [&](in<V, B> one_b, out<V, B> one_x, const solve_options& left) {
        gmres_options one = o;
        static_cast<solve_options&>(one) = left;
        return solve<V, B>(on, A, M, one_b, one_x, one);
    };
    const auto make = [&](index count) { return gmres_in_step<V, B>(on, A, M, count, o.restart); };
    const double each = double(A.shape().rows) * (double(o.restart) + 1) * double(sizeof(V));
    const bool is_flexible = o.flexible && M != nullptr;
    const auto fit =
        index(std::clamp(most_block_bytes / std::max(each, 1.0), 1.0, double(most_columns)));
    return solve_columns_by<V, B>("gmres", on, A, M, b, x, o, alone, make, is_flexible ? 1 : fit);
}

}  // namespace

template <class V, class B>
solve_report gmres(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                   const gmres_options& o) {
    return solve<V, B>(on, A, nullptr, b, x, o);
}
template <class V, class B>
solve_report gmres(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M, in<V, B> b,
                   out<V, B> x, const gmres_options& o) {
    return solve<V, B>(on, A, &M, b, x, o);
}

template <class V, class B>
std::vector<solve_report> gmres(B on, const linear_operator<V, B>& A, in_columns<V, B> b,
                                out_columns<V, B> x, const gmres_options& o) {
    return solve<V, B>(on, A, nullptr, b, x, o);
}
template <class V, class B>
std::vector<solve_report> gmres(B on, const linear_operator<V, B>& A,
                                const linear_operator<V, B>& M, in_columns<V, B> b,
                                out_columns<V, B> x, const gmres_options& o) {
    return solve<V, B>(on, A, &M, b, x, o);
}

#define NZ_INSTANTIATE(V, B)                                                                    \
    template solve_report gmres(B, const linear_operator<V, B>&, in<V, B>, out<V, B>,           \
                                const gmres_options&);                                          \
    template solve_report gmres(B, const linear_operator<V, B>&, const linear_operator<V, B>&,  \
                                in<V, B>, out<V, B>, const gmres_options&);                     \
    template std::vector<solve_report> gmres(B, const linear_operator<V, B>&, in_columns<V, B>, \
                                             out_columns<V, B>, const gmres_options&);          \
    template std::vector<solve_report> gmres(B, const linear_operator<V, B>&,                   \
                                             const linear_operator<V, B>&, in_columns<V, B>,    \
                                             out_columns<V, B>, const gmres_options&);
#define NZ_INSTANTIATE_FOR(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
