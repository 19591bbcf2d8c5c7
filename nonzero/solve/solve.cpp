#include "nonzero/solve/solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/krylov.hpp"
#include "nonzero/solve/krylov/minres.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/preconditioners/gauss_seidel.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "nonzero/solve/symmetry.hpp"

namespace nz {
namespace {

struct choice {
    krylov_method method;
    preconditioning preconditioner;
};

/// What decides about methods.
struct matrix_facts {
    std::string why_not_definite;  ///< empty where A is symmetric, its diagonal positive
    bool is_symmetric = false;
    std::int64_t zero_on_diagonal = -1;  ///< the first such row
    bool is_complex_valued = false;
};

template <class V>
matrix_facts facts_of(const csr<V, host_view>& A, std::span<const V> diagonal) {
    matrix_facts f;
    f.why_not_definite = why_not_definite(A);
    f.is_symmetric = f.why_not_definite.empty() || is_symmetric(A);
    const auto zero = std::find(diagonal.begin(), diagonal.end(), V(0));
    if (zero != diagonal.end()) f.zero_on_diagonal = zero - diagonal.begin();
    f.is_complex_valued = is_complex<V>;
    return f;
}

/// What is tried, in this order, where nothing was asked for.
std::vector<choice> candidates_for(const matrix_facts& f) {
    using enum krylov_method;
    using enum preconditioning;
    const auto diagonal = f.zero_on_diagonal >= 0 ? none : jacobi;
    if (!f.is_symmetric) {
        std::vector<choice> all{{bicgstab, diagonal}, {gmres, diagonal}};
        if (f.zero_on_diagonal < 0) all.push_back({gmres, gauss_seidel});
        return all;
    }
    if (!f.why_not_definite.empty())
        return {{minres, diagonal}, {gmres, diagonal}, {bicgstab, diagonal}};
    std::vector<choice> all;
    if (!f.is_complex_valued) all.push_back({cg, amg});
    for (const auto p : {jacobi, gauss_seidel}) all.push_back({cg, p});
    all.push_back({minres, jacobi}), all.push_back({gmres, jacobi});
    return all;
}

/// What was asked for, and what suits it where only one of both was. Throws unsuitable.
choice asked_for(const system_options& o, const matrix_facts& f) {
    using enum krylov_method;
    using enum preconditioning;
    const auto p = o.preconditioner;
    const auto require_definite = [&](std::string_view what) {
        if (!f.why_not_definite.empty())
            throw unsuitable(std::string(what) + ": " + f.why_not_definite);
    };
    if (o.method == cg) require_definite(name_of(cg));
    if (p == amg) require_definite(name_of(amg));
    if (o.method == minres && !f.is_symmetric) throw unsuitable("minres: A is not symmetric");
    if (p == amg && f.is_complex_valued) throw unsuitable("amg: for real values only");
    if ((p == jacobi || p == gauss_seidel) && f.zero_on_diagonal >= 0)
        throw unsuitable(std::string(name_of(*p)) + ": the diagonal is zero in row " +
                         std::to_string(f.zero_on_diagonal));
    const bool with_minres = f.is_symmetric && (p == none || p == jacobi);
    const auto method = o.method                     ? *o.method
                        : f.why_not_definite.empty() ? cg
                        : with_minres                ? minres
                                                     : bicgstab;
    if (p) return {method, *p};
    if (f.zero_on_diagonal >= 0) return {method, none};
    const bool with_amg = method != minres && f.why_not_definite.empty() && !f.is_complex_valued;
    return {method, with_amg ? amg : jacobi};
}

/// The absolute values on A's diagonal, which are positive definite.
template <class V>
csr<V, host> absolute_diagonal(std::span<const V> diagonal) {
    std::vector<index> at(diagonal.size());
    host_vector<V> val(diagonal.size());
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = index(i), val[i] = V(std::abs(diagonal[i]));
    const auto n = index(at.size());
    return assemble<V>({n, n}, at, at, val);
}

/// Null for none. Throws argument_error where A does not suit it.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> make_preconditioner(B on, const choice& c,
                                                           const csr<V, host_view>& A,
                                                           std::span<const V> diagonal, index block,
                                                           const linear_operator<V, B>& product) {
    switch (c.preconditioner) {
        case preconditioning::jacobi:
            if (c.method == krylov_method::minres)
                return jacobi(on, view(absolute_diagonal(diagonal)));
            return jacobi(on, A);
        case preconditioning::block_jacobi:
            return block_jacobi(on, A, block);
        case preconditioning::gauss_seidel:
            return gauss_seidel(on, A);
        case preconditioning::amg:
            if constexpr (!is_complex<V>)
                return std::make_unique<amg<V, B>>(
                    A, on, amg_options{.block = block, .check = false}, candidates<V>{}, &product);
            break;
        case preconditioning::none:
            break;
    }
    return nullptr;
}

template <class V, class B>
solve_report solve_by(krylov_method method, B on, const linear_operator<V, B>& A,
                      const linear_operator<V, B>* M, in<V, B> b, out<V, B> x,
                      const gmres_options& o) {
    switch (method) {
        case krylov_method::cg:
            return M ? cg<V, B>(on, A, *M, b, x, o) : cg<V, B>(on, A, b, x, o);
        case krylov_method::minres:
            return M ? minres<V, B>(on, A, *M, b, x, o) : minres<V, B>(on, A, b, x, o);
        case krylov_method::bicgstab:
            return M ? bicgstab<V, B>(on, A, *M, b, x, o) : bicgstab<V, B>(on, A, b, x, o);
        default:
            return M ? gmres<V, B>(on, A, *M, b, x, o) : gmres<V, B>(on, A, b, x, o);
    }
}

/// Stops an attempt whose residual no longer halves.
class patience {
  public:
    patience(std::function<bool(std::int64_t, double)> monitor, std::int64_t iterations)
        : monitor_(std::move(monitor)), iterations_(iterations) {}
    bool is_running(std::int64_t k, double residual) {
        if (monitor_ && !monitor_(k, residual)) return false;
        if (residual <= least_ / 2) least_ = residual, since_ = k;
        return !(lost_ = k - since_ >= iterations_);
    }
    [[nodiscard]] bool lost() const { return lost_; }

  private:
    std::function<bool(std::int64_t, double)> monitor_;
    std::int64_t iterations_, since_ = 0;
    double least_ = 1;
    bool lost_ = false;
};

/// | |A| |x| + |b| |, over |b|.
template <class V>
double rounding_scale(const csr<V, host_view>& A, std::span<const V> b, std::span<const V> x) {
    double sum2 = 0, b2 = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        double row = std::abs(b[i]);
        b2 += row * row;
        for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k)
            row += double(std::abs(A.val[k])) * double(std::abs(x[std::size_t(A.col_ind[k])]));
        sum2 += row * row;
    }
    return std::sqrt(sum2 / b2);
}

constexpr double unknown = std::numeric_limits<double>::infinity();

template <class V, class B>
class system_solve {
  public:
    system_solve(B on, const csr<V, host_view>& A, std::span<const V> diagonal,
                 std::span<const V> b, std::span<V> x, const system_options& o)
        : on_(on), A_(A), diagonal_(diagonal), b_(b), x_(x), options_(o) {}

    system_report run(std::vector<choice> left) {
        const auto start = steady_clock::now();
        product_ = build(make_plan(A_, on_), A_);
        report_.product = product_->method_name();
        report_.plan_s = seconds_since(start);
        const bool alone = left.size() == 1;
        while (!left.empty()) {
            const choice c = left.front();
            left.erase(left.begin());
            const bool first = report_.attempts.empty(), last = left.empty();
            const std::int64_t share = first || last ? iterations_ : (iterations_ + 1) / 2;
            attempt(c, share, last);
            const solve_report& r = report_.attempts.back().report;
            if (alone || r.converged || stopped_ || is_rounded()) break;
            if (r.why == describe(status::indefinite_matrix))
                std::erase_if(left, [](choice d) { return d.method == krylov_method::cg; });
            if (first) continue;
            // What was ended by its share gets what the others leave.
            if (share < iterations_ && r.why == iterations_spent) left.push_back(c);
            iterations_ -= r.iterations;
            if (iterations_ <= 0) break;
        }
        return std::move(report_);
    }

  private:
    /// One method from the best x so far on.
    void attempt(const choice& c, std::int64_t most, bool last) {
        solve_attempt a{c.method, c.preconditioner, {}, 0, 0};
        const auto start = steady_clock::now();
        std::unique_ptr<linear_operator<V, B>> M;
        try {
            M = make_preconditioner<V, B>(on_, c, A_, diagonal_, options_.block, *product_);
        } catch (const argument_error& e) {
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
        const auto b_on_device = from_host(on_, b_);
        auto x_on_device = from_host(on_, std::span<const V>(from_));
        const auto iterating = steady_clock::now();
        a.report = solve_by<V, B>(c.method, on_, *product_, M.get(), b_on_device, x_on_device, o);
        a.solve_s = seconds_since(iterating);
        if (p.lost() && !a.report.converged) a.report.why = "the residual no longer halves";
        stopped_ = a.report.why == stopped_by_caller;
        report_.attempts.push_back(std::move(a));
        keep(to_host<V>(on_, in<V, B>(x_on_device)));
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

    /// No x can be expected to have a smaller residual.
    [[nodiscard]] bool is_rounded() const {
        constexpr double unit = std::numeric_limits<real<V>>::epsilon() / 2;
        return relative_ <= 8 * unit * rounding_scale<V>(A_, b_, from_);
    }

    B on_;
    csr<V, host_view> A_;
    std::span<const V> diagonal_, b_;
    std::span<V> x_;
    const system_options& options_;
    std::unique_ptr<linear_operator<V, B>> product_;
    std::int64_t iterations_ = options_.max_iter;   ///< left for all
    host_vector<V> from_ = {x_.begin(), x_.end()};  ///< what the next attempt starts from
    double relative_ = unknown;                     ///< its residual
    bool stopped_ = false;
    system_report report_;
};

template <class V>
host_vector<V> negative(std::span<const V> v) {
    host_vector<V> n(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) n[i] = -v[i];
    return n;
}

}  // namespace

template <class V, class B>
system_report solve(B on, const csr<V, host_view>& A, std::span<const V> b, std::span<V> x,
                    const system_options& o) {
    if (order_of(A) == row_order::any) return solve(on, view(canonical(A)), b, x, o);
    if (A.shape.rows != A.shape.cols)
        throw unsuitable("A is " + std::to_string(A.shape.rows) + " x " +
                         std::to_string(A.shape.cols) + ", not square");
    for (const std::size_t len : {b.size(), x.size()})
        if (len != std::size_t(A.shape.rows))
            throw argument_error("solve: a vector of " + std::to_string(len) +
                                 " elements, expected " + std::to_string(A.shape.rows));
    if (o.block < 1) throw argument_error("solve: block is below 1");
    auto diagonal = diagonal_of(A);
    const bool negated = !diagonal.empty() && std::all_of(diagonal.begin(), diagonal.end(),
                                                          [](V v) { return std::real(v) < 0; });
    csr<V, host_view> matrix = A;
    host_vector<V> values, rhs;
    if (negated) {
        values = negative<V>(A.val), rhs = negative(b), diagonal = negative<V>(diagonal);
        matrix.val = values, b = rhs;
    }
    const matrix_facts facts = facts_of<V>(matrix, diagonal);
    auto choices = o.method || o.preconditioner ? std::vector<choice>{asked_for(o, facts)}
                                                : candidates_for(facts);
    auto report = system_solve<V, B>(on, matrix, diagonal, b, x, o).run(std::move(choices));
    report.negated = negated;
    return report;
}

#define NZ_INSTANTIATE(V, B)                                                                    \
    template system_report solve(B, const csr<V, host_view>&, std::span<const V>, std::span<V>, \
                                 const system_options&);
#define NZ_INSTANTIATE_ON_CPU(V) NZ_INSTANTIATE(V, cpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_ON_CPU)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
