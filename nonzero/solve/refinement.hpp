// Iterations in single precision that precondition those in double.
#pragma once

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/own_preconditioner.hpp"
#include "nonzero/solve/preconditioners/mixed_precision.hpp"
#include "nonzero/solve/whole_matrix.hpp"

namespace nz {

/// A matrix in single precision, and what preconditions it.
template <class B>
struct single_precision_system {
    single_precision_matrix rounded;
    whole_matrix<float, B> A;
    std::unique_ptr<linear_operator<float, B>> M;

    single_precision_system(B on, const csr<double, host_view>& given)
        : rounded(rounded_to_single(worth(cpu{}, std::ssize(given.val)), given)),
          A(on, ascending<float>::known(rounded.matrix)) {}
};

/// z near A^-1 r: by cg, or by gmres where it is not definite, in single precision, preconditioned
/// as c has it, to 1e-4, which single precision reaches where the condition allows it. Adds its
/// iterations to `count`, which outlives it. Throws unsuitable.
template <class V, class B, class Matrix>
std::unique_ptr<linear_operator<V, B>> inner_solver(B on, Matrix& A, const choice& c,
                                                    const matrix_facts& f, const system_options& o,
                                                    steady_clock::time_point start,
                                                    std::int64_t& count,
                                                    system_report::attempt& told) {
    if constexpr (!std::is_same_v<V, double> || Matrix::is_over_ranks) {
        throw unsuitable("refine: for values in double precision, and not over ranks");
    } else {
        const auto make = [&](const ascending<double>& given, index) {
            return std::make_shared<single_precision_system<B>>(on, given.view());
        };
        const auto single = A.with_block(make);
        single->A.build_product(nullptr);
        const choice inner{krylov_method::gmres, c.preconditioner};
        single->M = c.preconditioner == preconditioning::amg
                        ? single->A.multigrid(o, true, false, value_storage::exact)
                        : own_preconditioner<float>(on, single->A, inner, o, told);
        const double seconds = o.max_seconds;
        const bool definite = f.why_not_definite.empty();
        const auto solve_once = [=, &count](in<float, B> r, out<float, B> z) {
            const auto& op = single->A.product();
            const auto* M = single->M.get();
            gmres_options loose;
            loose.tol = 1e-4, loose.max_iter = 300;
            loose.max_seconds = std::max(0.0, seconds - seconds_since(start));
            vector_space<float, B>(on, op.shape().rows).fill(0, z);
            const auto run = [&](auto method) {
                return M ? method(on, op, *M, r, z, loose) : method(on, op, r, z, loose);
            };
            count += (definite ? run([](auto&&... a) { return cg<float, B>(a...); })
                               : run([](auto&&... a) { return gmres<float, B>(a...); }))
                         .iterations;
        };
        auto solver = make_operator<float>(on, single->A.product().shape(), std::move(solve_once));
        return std::make_unique<mixed_precision_operator<B>>(
            on, std::make_unique<decltype(solver)>(std::move(solver)));
    }
}

}  // namespace nz
