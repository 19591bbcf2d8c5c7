#include "nonzero/dist/solve/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/dist/entries.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/dist/solve/amg.hpp"
#include "nonzero/dist/solve/local_rows.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/krylov.hpp"
#include "nonzero/solve/krylov/minres.hpp"
#include "nonzero/solve/multigrid/level_plan.hpp"
#include "nonzero/solve/policy.hpp"
#include "nonzero/solve/preconditioners/gauss_seidel.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"

namespace nz {
namespace {

/// A row of the whole matrix, and what is on its diagonal.
struct diagonal_place {
    std::int64_t row = -1;  ///< -1: there is none
    double value = 0;       ///< the real part
};

/// The first row of the whole matrix whose diagonal is so; the same on all ranks.
template <class V, class F>
diagonal_place first_place(const communicator& ranks, const shares& rows,
                           std::span<const V> diagonal, F is_so) {
    const auto at = std::ranges::find_if(diagonal, is_so);
    diagonal_place mine;
    if (at != diagonal.end())
        mine = {rows.of(ranks.rank()).first + (at - diagonal.begin()), double(std::real(*at))};
    for (const diagonal_place& place : gathered(ranks, mine))
        if (place.row >= 0) return place;  // ranks have the rows in their order
    return {};
}

template <class V>
std::string text_of(const V& v) {
    if constexpr (is_complex<V>)
        return fmt::format("{:.6g} {} {:.6g}i", v.real(), v.imag() < 0 ? '-' : '+',
                           std::abs(v.imag()));
    else
        return fmt::format("{:.6g}", v);
}

/// As why_not_definite says it of a whole matrix.
template <class V>
std::string text_of(const asymmetry<V>& a) {
    return fmt::format("A is not {}: row {}, column {} has {}, and row {}, column {} has {}",
                       is_complex<V> ? "hermitian" : "symmetric", a.row, a.col, text_of(a.here),
                       a.col, a.row, text_of(a.across));
}

template <class V>
system_facts facts_of(const communicator& ranks, const matrix_slice<V>& A,
                      std::span<const V> diagonal) {
    const auto lopsided = first_asymmetry(ranks, A);
    const auto below =
        first_place(ranks, A.rows, diagonal, [](V d) { return !(std::real(d) > 0); });
    system_facts f;
    f.is_symmetric = !lopsided;
    if (below.row >= 0 && (!lopsided || below.row <= lopsided->row))
        f.why_not_definite = "A is not positive definite: its diagonal is " + text_of(below.value) +
                             " in row " + std::to_string(below.row);
    else if (lopsided)
        f.why_not_definite = text_of(*lopsided);
    f.zero_on_diagonal = first_place(ranks, A.rows, diagonal, [](V d) { return d == V(0); }).row;
    f.is_complex_valued = is_complex<V>;
    return f;
}

template <class V>
void negate(std::span<V> v) {
    parallel_for(thread_count({}), std::int64_t(v.size()),
                 [&](std::int64_t k) { v[std::size_t(k)] = -v[std::size_t(k)]; });
}

/// Negates A, its diagonal and b, into minus_b, where the diagonal is negative on all ranks;
/// whether it is.
template <class V>
bool negate_where_negative(const communicator& ranks, matrix_slice<V>& A, host_vector<V>& diagonal,
                           std::span<const V>& b, host_vector<V>& minus_b) {
    const auto is_below_0 = [](V d) { return std::real(d) < 0; };
    if (!on_all(&ranks, std::ranges::all_of(diagonal, is_below_0)) || A.shape().rows == 0)
        return false;
    agree(&ranks, [&] {
        negate<V>(A.own.val), negate<V>(diagonal);
        minus_b.assign(b.begin(), b.end()), negate<V>(minus_b);
        b = minus_b;
    });
    return true;
}

/// The diagonal matrix of the values, or of their absolute values.
template <class V>
csr<V, host> diagonal_matrix(std::span<const V> diagonal, bool absolute) {
    host_vector<index> at(diagonal.size());
    host_vector<V> val(diagonal.size());
    for (std::size_t i = 0; i < at.size(); ++i)
        at[i] = index(i), val[i] = absolute ? V(std::abs(diagonal[i])) : diagonal[i];
    return assemble<V>({index(at.size()), index(at.size())}, at, at, val);
}

/// Whether a preconditioner is made of this rank's own block.
bool takes_block(preconditioning p) {
    return p == preconditioning::block_jacobi || p == preconditioning::gauss_seidel;
}

template <class V, class B>
solve_report solve_by(krylov_method method, B on, const linear_operator<V, B>& A,
                      const linear_operator<V, B>* M, in<V, B> b, out<V, B> x,
                      const gmres_options& o) {
    const auto by = [&](auto f) {
        return M != nullptr ? f(on, A, *M, b, x, o) : f(on, A, b, x, o);
    };
    switch (method) {
        case krylov_method::cg:
            return by([](auto&&... all) { return cg<V, B>(all...); });
        case krylov_method::minres:
            return by([](auto&&... all) { return minres<V, B>(all...); });
        case krylov_method::bicgstab:
            return by([](auto&&... all) { return bicgstab<V, B>(all...); });
        default:
            return by([](auto&&... all) { return gmres<V, B>(all...); });
    }
}

constexpr double unknown = std::numeric_limits<double>::infinity();

/// As the one of a whole matrix (nonzero/solve/solve.cpp), over ranks: what is decided is decided
/// by numbers that are the same on all of them.
template <class V, class B>
class system_solve {
  public:
    /// diagonal, b, x: of this rank.
    system_solve(B on, matrix_slice<V> A, std::span<const V> diagonal, std::span<const V> b,
                 std::span<V> x, const system_options& o)
        : on_(on), A_(std::move(A)), diagonal_(diagonal), b_(b), x_(x), options_(o) {}

    system_report run(std::vector<solver_choice> left) {
        const bool alone = left.size() == 1;
        build_product(alone, left.front().preconditioner);
        while (!left.empty()) {
            const solver_choice c = left.front();
            left.erase(left.begin());
            const bool first = report_.attempts.empty(), last = left.empty();
            const std::int64_t share = first || last ? iterations_ : (iterations_ + 1) / 2;
            attempt(c, share, last);
            const solve_report& r = report_.attempts.back().report;
            if (alone || r.converged || stopped_ || is_rounded()) break;
            if (r.why == describe(status::indefinite_matrix))
                std::erase_if(left, [](solver_choice d) { return d.method == krylov_method::cg; });
            if (first) continue;
            // What was ended by its share gets what the others leave.
            if (share < iterations_ && r.why == iterations_spent) left.push_back(c);
            iterations_ -= r.iterations;
            if (iterations_ <= 0) break;
        }
        return std::move(report_);
    }

  private:
    [[nodiscard]] index first_row() const { return index(A_.rows.of(ranks_.rank()).first); }

    /// The product, which takes the rows over where nothing but it needs them: of a single attempt
    /// without multigrid.
    void build_product(bool alone, preconditioning only) {
        const auto start = steady_clock::now();
        matrix_slice<V> taken;
        agree(&ranks_, [&] {
            if (alone && takes_block(only)) block_ = own_block(A_, ranks_.rank());
            taken = {A_.rows, A_.cols, {}};
            if (alone && only != preconditioning::amg)
                taken.own = std::move(A_.own);
            else
                taken.own = rows_from(cpu{}, view(A_.own), 0);
        });
        product_ = std::make_unique<distributed<V, B>>(on_, std::move(taken));
        report_.product = product_->local().method_name();
        report_.plan_s = seconds_since(start);
        agree(&ranks_, [&] { rhs_ = from_host(nz::alone(on_), b_); });
    }

    /// Null for none. Throws argument_error, on all ranks, where A does not suit it.
    std::unique_ptr<linear_operator<V, B>> make_preconditioner(const solver_choice& c, bool last) {
        if (c.preconditioner == preconditioning::amg) return make_multigrid(last);
        std::unique_ptr<linear_operator<V, B>> M;
        agree(&ranks_, [&] { M = make_own_preconditioner(c); });
        return M;
    }

    /// Over all ranks. Where no attempt follows the rows go once the levels are made.
    std::unique_ptr<linear_operator<V, B>> make_multigrid(bool last) {
        std::unique_ptr<linear_operator<V, B>> M;
        if constexpr (!is_complex<V>)
            M = std::make_unique<distributed_amg<V, B>>(
                on_, A_, amg_options{.block = options_.block, .check = false}, candidates<V>{},
                product_.get());
        if (last) A_.own = {};
        return M;
    }

    /// Of this rank's own rows and columns.
    std::unique_ptr<linear_operator<V, B>> make_own_preconditioner(const solver_choice& c) {
        const B here = nz::alone(on_);
        if (c.preconditioner == preconditioning::none) return nullptr;
        if (!takes_block(c.preconditioner) || diagonal_.empty())
            return jacobi(here, view(diagonal_matrix(diagonal_, c.method == krylov_method::minres)),
                          first_row());
        const auto block = block_.shape.rows > 0 ? std::move(block_) : own_block(A_, ranks_.rank());
        if (c.preconditioner == preconditioning::gauss_seidel)
            return gauss_seidel(here, view(block), first_row());
        return block_jacobi(here, view(block), options_.block, first_row());
    }

    /// One method from the best x so far on.
    void attempt(const solver_choice& c, std::int64_t most, bool last) {
        solve_attempt a{c.method, c.preconditioner, {}, 0, 0};
        const auto start = steady_clock::now();
        std::unique_ptr<linear_operator<V, B>> M;
        try {
            M = make_preconditioner(c, last);
        } catch (const argument_error& e) {  // on all ranks
            if (options_.method || options_.preconditioner) throw unsuitable(e.what());
            a.report.why = e.what(), a.report.relative = unknown;
            report_.attempts.push_back(std::move(a));
            return;
        }
        a.preconditioner_s = seconds_since(start);
        patience p(options_.monitor, std::max<std::int64_t>(500, options_.max_iter / 4));
        gmres_options o = options_;
        o.max_iter = most;
        if (!last) o.monitor = [&](std::int64_t k, double r) { return p.is_running(k, r); };
        vector<V, B> x;
        agree(&ranks_, [&] { x = from_host(nz::alone(on_), std::span<const V>(from_)); });
        const auto iterating = steady_clock::now();
        a.report = solve_by<V, B>(c.method, on_, *product_, M.get(), rhs_, x, o);
        a.solve_s = seconds_since(iterating);
        // Only some ranks have a monitor, whose word counts more.
        const bool stopped = !on_all(&ranks_, !p.stopped());
        const bool lost = !on_all(&ranks_, !p.lost()) && !stopped;
        if (lost && !a.report.converged) a.report.why = "the residual no longer halves";
        stopped_ = a.report.why == stopped_by_caller;
        report_.attempts.push_back(std::move(a));
        agree(&ranks_, [&] { keep(to_host<V>(nz::alone(on_), in<V, B>(x))); });
    }

    /// x becomes the result where it is the best so far, and where the next attempt starts from
    /// where it is better than the guess.
    void keep(host_vector<V> x) {
        const auto& attempts = report_.attempts;
        const solve_report& r = attempts.back().report;
        if (relative_ == unknown) relative_ = r.history.front();
        const double before = report_.result().report.relative;
        if (attempts.size() == 1 || std::isnan(before) || r.relative < before) {
            report_.best = attempts.size() - 1;
            std::copy(x.begin(), x.end(), x_.begin());
        }
        if (r.relative < relative_) relative_ = r.relative, from_ = std::move(x);
    }

    /// | |A| |x| + |b| |, over |b|, over all ranks.
    double rounding_scale() {
        matrix_slice<double> sizes{A_.rows, A_.cols, {}};
        host_vector<double> x(from_.size()), y(b_.size());
        const auto size_of = [](const V& v) { return double(std::abs(v)); };
        double b2 = 0, sum2 = 0;
        agree(&ranks_, [&] {
            sizes.own = {A_.own.shape, A_.own.row_ptr, A_.own.col_ind,
                         host_vector<double>(A_.own.val.size())};
            std::ranges::transform(A_.own.val, sizes.own.val.begin(), size_of);
            std::ranges::transform(from_, x.begin(), size_of);
            std::ranges::transform(b_, y.begin(), size_of);
            for (const double v : y) b2 += v * v;
        });
        cpu here = helpers(on_);
        here.ranks = &ranks_;
        distributed<double, cpu>(here, std::move(sizes), {.methods = plain_methods(here)})
            .apply(1, x, 1, y);
        for (const double v : y) sum2 += v * v;
        return std::sqrt(summed(ranks_, sum2) / summed(ranks_, b2));
    }

    /// No x can be expected to have a smaller residual.
    bool is_rounded() {
        constexpr double unit = std::numeric_limits<real<V>>::epsilon() / 2;
        return relative_ <= 8 * unit * rounding_scale();
    }

    B on_;
    const communicator& ranks_ = *on_.ranks;
    matrix_slice<V> A_;   ///< its rows only as long as an attempt may need them
    csr<V, host> block_;  ///< own rows and columns, where A's went to the product
    std::span<const V> diagonal_, b_;
    std::span<V> x_;
    const system_options& options_;
    std::unique_ptr<distributed<V, B>> product_;
    vector<V, B> rhs_;
    std::int64_t iterations_ = options_.max_iter;   ///< left for all
    host_vector<V> from_ = {x_.begin(), x_.end()};  ///< what the next attempt starts from
    double relative_ = unknown;                     ///< its residual
    bool stopped_ = false;
    system_report report_;
};

/// What one rank can check of its arguments.
template <class V>
void check_part(const communicator& ranks, const matrix_slice<V>& A, std::span<const V> b,
                std::span<const V> x, const system_options& o) {
    if (o.block < 1) throw argument_error("solve: block is below 1");
    const auto rows = std::size_t(A.rows.count(ranks.rank()));
    for (const std::size_t len : {b.size(), x.size()})
        if (len != rows)
            throw argument_error("solve: a vector of " + std::to_string(len) +
                                 " elements, expected " + std::to_string(rows));
}

}  // namespace

template <class V, class B>
system_report solve(B on, matrix_slice<V> A, std::span<const V> b, std::span<V> x,
                    const system_options& o) {
    if (on.ranks == nullptr) throw argument_error("solve: on.ranks is null");
    const communicator& ranks = *on.ranks;
    if (A.shape().rows != A.shape().cols)
        throw unsuitable("A is " + std::to_string(A.shape().rows) + " x " +
                         std::to_string(A.shape().cols) + ", not square");
    expect_equal(&ranks, "solve",
                 std::array{o.method ? double(*o.method) : -1,
                            o.preconditioner ? double(*o.preconditioner) : -1, double(o.block)});
    host_vector<V> diagonal, minus_b;
    agree(&ranks, [&] {
        check_part<V>(ranks, A, b, x, o);
        diagonal = own_diagonal(A, ranks.rank());
    });
    const auto start = steady_clock::now();
    const bool negated = negate_where_negative(ranks, A, diagonal, b, minus_b);
    const system_facts facts = facts_of<V>(ranks, A, diagonal);
    auto choices =
        o.method || o.preconditioner ? std::vector{asked_for(o, facts)} : candidates_for(facts);
    const double looking_s = seconds_since(start);
    system_solve<V, B> attempts(on, std::move(A), diagonal, b, x, o);
    system_report report = attempts.run(std::move(choices));
    report.negated = negated;
    report.plan_s += looking_s;
    return report;
}

#define NZ_INSTANTIATE(V, B)                                                           \
    template system_report solve(B, matrix_slice<V>, std::span<const V>, std::span<V>, \
                                 const system_options&);
#define NZ_INSTANTIATE_ON_CPU(V) NZ_INSTANTIATE(V, cpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_ON_CPU)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
