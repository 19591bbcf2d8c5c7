#include "nonzero/solve/solve.hpp"

#include <algorithm>
#include <cmath>

#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/attempts.hpp"
#include "nonzero/solve/krylov/krylov.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/preconditioners/gauss_seidel.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"

namespace nz {
namespace {

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
    check_options("solve", o);
    const auto start = steady_clock::now();
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
    auto choices = choices_for(facts, o);
    system_report report;
    report.negated = negated;
    const auto planning = steady_clock::now();
    const auto product = build(make_plan(matrix, on), matrix);
    report.product = product->method_name();
    report.plan_s = seconds_since(planning);
    const auto make = [&](const choice& c, bool) {
        return make_preconditioner<V, B>(on, c, matrix, diagonal, o.block, *product);
    };
    const auto rounding = [&](std::span<const V> at) { return rounding_scale<V>(matrix, b, at); };
    attempt_all<V, B>(on, {*product, b, x, make, rounding, start}, std::move(choices), o, report);
    if (report.converged()) return report;
    report.advice = obstacles_in<V>(matrix, diagonal);
    std::ranges::move(advice_for(report, o), std::back_inserter(report.advice));
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
