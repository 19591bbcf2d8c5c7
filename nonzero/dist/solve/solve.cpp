#include "nonzero/dist/solve/solve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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
#include "nonzero/solve/preconditioners/gauss_seidel.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"

namespace nz {
namespace {

struct choice {
    krylov_method method;
    preconditioning preconditioner;
};

/// What decides about methods; the same on all ranks.
struct matrix_facts {
    bool is_symmetric, is_positive, has_zero;  ///< the latter two: the diagonal
};

template <class V>
matrix_facts facts_of(const communicator& ranks, const matrix_slice<V>& A,
                      std::span<const V> diagonal) {
    const auto is_positive = [](V d) { return std::real(d) > 0 && std::imag(d) == 0; };
    return {is_symmetric(ranks, A), on_all(&ranks, std::ranges::all_of(diagonal, is_positive)),
            !on_all(&ranks, std::ranges::find(diagonal, V(0)) == diagonal.end())};
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

/// What is tried, in this order. Throws unsuitable.
template <class V>
std::vector<choice> choices_for(const matrix_facts& f, const system_options& o) {
    using enum krylov_method;
    const bool is_definite = f.is_symmetric && f.is_positive;
    const auto require = [](bool holds, const char* why) {
        if (!holds) throw unsuitable(why);
    };
    require(o.method != minres || f.is_symmetric, "minres: A is not symmetric");
    require(o.method != cg || is_definite, "cg: A is not symmetric, or its diagonal not positive");
    const auto p =
        o.preconditioner.value_or(f.has_zero ? preconditioning::none : preconditioning::jacobi);
    if (p == preconditioning::amg) {
        require(!is_complex<V>, "amg: for real values only");
        require(is_definite, "amg: A is not symmetric, or its diagonal not positive");
    }
    if (o.method) return {{*o.method, p}};
    if (is_definite) return {{cg, p}};
    if (!f.is_symmetric) return {{bicgstab, p}, {gmres, p}};
    return {{minres, p}, {gmres, p}};
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
bool takes_block(const choice& c) {
    return c.preconditioner == preconditioning::block_jacobi ||
           c.preconditioner == preconditioning::gauss_seidel;
}

/// Of this rank's own block; null for none. Throws argument_error where the block does not suit it.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> preconditioner_of(B alone, const choice& c,
                                                         const csr<V, host>& block,
                                                         std::span<const V> diagonal,
                                                         index unknowns) {
    const bool is_empty = diagonal.empty();
    switch (is_empty && c.preconditioner != preconditioning::none ? preconditioning::jacobi
                                                                  : c.preconditioner) {
        case preconditioning::jacobi:
            return jacobi(alone,
                          view(diagonal_matrix(diagonal, c.method == krylov_method::minres)));
        case preconditioning::block_jacobi:
            return block_jacobi(alone, view(block), unknowns);
        case preconditioning::gauss_seidel:
            return gauss_seidel(alone, view(block));
        case preconditioning::amg:  // of all ranks
        case preconditioning::none:
            break;
    }
    return nullptr;
}

/// Over all ranks. A is given up once the levels are made.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> multigrid_of(B on, const matrix_slice<V>& A, index unknowns,
                                                    const linear_operator<V, B>& product) {
    if constexpr (!is_complex<V>)
        return std::make_unique<distributed_amg<V, B>>(
            on, A, amg_options{.block = unknowns, .check = false}, candidates<V>{}, &product);
    return nullptr;
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

}  // namespace

template <class V, class B>
system_report solve(B on, matrix_slice<V> A, std::span<const V> b, std::span<V> x,
                    const system_options& o) {
    if (on.ranks == nullptr) throw argument_error("solve: on.ranks is null");
    const communicator& ranks = *on.ranks;
    const B alone = nz::alone(on);
    if (A.shape().rows != A.shape().cols)
        throw unsuitable("A is " + std::to_string(A.shape().rows) + " x " +
                         std::to_string(A.shape().cols) + ", not square");
    expect_equal(&ranks, "solve",
                 std::array{o.method ? double(*o.method) : -1,
                            o.preconditioner ? double(*o.preconditioner) : -1, double(o.block)});
    const auto start = steady_clock::now();
    host_vector<V> diagonal;
    agree(&ranks, [&] {
        if (o.block < 1) throw argument_error("solve: block is below 1");
        diagonal = own_diagonal(A, ranks.rank());
    });
    host_vector<V> minus_b;
    const bool negated = negate_where_negative(ranks, A, diagonal, b, minus_b);
    const auto choices = choices_for<V>(facts_of<V>(ranks, A, diagonal), o);
    csr<V, host> block;
    agree(&ranks, [&] {
        if (std::ranges::any_of(choices, takes_block)) block = own_block(A, ranks.rank());
    });
    const bool by_multigrid = choices.front().preconditioner == preconditioning::amg;
    matrix_slice<V> taken;  // by the product; multigrid needs the rows as well
    agree(&ranks, [&] {
        if (by_multigrid)
            taken = {A.rows, A.cols, rows_from(cpu{}, view(A.own), 0)};
        else
            taken = std::move(A);
    });
    const distributed<V, B> product{on, std::move(taken)};
    system_report report;
    report.negated = negated;
    report.product = product.local().method_name();
    report.plan_s = seconds_since(start);
    vector<V, B> rhs;
    agree(&ranks, [&] { rhs = from_host(alone, b); });
    for (const choice& c : choices) {
        solve_attempt a{c.method, c.preconditioner, {}, 0, 0};
        const auto making = steady_clock::now();
        std::unique_ptr<linear_operator<V, B>> M;
        if (c.preconditioner == preconditioning::amg)
            M = multigrid_of<V, B>(on, std::exchange(A, {}), o.block, product);
        else
            agree(&ranks, [&] { M = preconditioner_of<V, B>(alone, c, block, diagonal, o.block); });
        a.preconditioner_s = seconds_since(making);
        const auto iterating = steady_clock::now();
        vector<V, B> attempted;
        agree(&ranks, [&] { attempted = from_host(alone, std::span<const V>(x)); });
        a.report = solve_by<V, B>(c.method, on, product, M.get(), rhs, attempted, o);
        a.solve_s = seconds_since(iterating);
        const double before =
            report.attempts.empty() ? a.report.history.front() : report.result().report.relative;
        const bool is_better = a.report.relative <= before;
        if (is_better) std::ranges::copy(to_host<V>(alone, in<V, B>(attempted)), x.begin());
        if (is_better || report.attempts.empty()) report.best = report.attempts.size();
        report.attempts.push_back(std::move(a));
        if (report.attempts.back().report.converged) break;
        if (report.attempts.back().report.why == stopped_by_caller) break;
    }
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
