// A x = b: once, by a method of the caller's choice, over a sequence of systems.
#include "c/handles.hpp"
#include "c/options.hpp"
#include "c/report.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/io/coordinates.hpp"
#include "nonzero/solve/direct/names.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/minres.hpp"
#include "nonzero/solve/names.hpp"

namespace nz::c {
namespace {

struct solving : system_options {
    int threads = 0;
    std::string coordinates = {};  ///< a file
};
constexpr key<solving> solve_keys[] = {
    plain<&solving::threads, solving>("threads"),
    named<&solving::method, krylov_method_names, solving>("method"),
    named<&solving::preconditioner, preconditioning_names, solving>("precond"),
    plain<&solving::iterative, solving>("iterative"),
    named<&solving::direct_solver, direct_solver_names, solving>("direct-solver"),
    plain<&solving::tol, solving>("tol"),
    plain<&solving::max_iter, solving>("max-iter"),
    plain<&solving::max_seconds, solving>("max-seconds"),
    plain<&solving::restart, solving>("restart"),
    plain<&solving::block, solving>("block"),
    plain<&solving::coordinates, solving>("coordinates"),
    plain<&solving::fill_level, solving>("fill-level"),
    plain<&solving::overlap, solving>("overlap"),
};

struct iterating : gmres_options {
    enum class methods { cg, minres, bicgstab, gmres };
    methods method = methods::gmres;
    int threads = 0;
};
constexpr std::string_view iterating_names[] = {"cg", "minres", "bicgstab", "gmres"};
constexpr key<iterating> krylov_keys[] = {
    plain<&iterating::threads, iterating>("threads"),
    named<&iterating::method, iterating_names, iterating>("method"),
    plain<&iterating::tol, iterating>("tol"),
    plain<&iterating::max_iter, iterating>("max-iter"),
    plain<&iterating::max_seconds, iterating>("max-seconds"),
    plain<&iterating::restart, iterating>("restart"),
    plain<&iterating::replace_every, iterating>("replace-every"),
    plain<&iterating::graph, iterating>("graph"),
};

solving options_of(const char* text, index rows) {
    solving o;
    take_options<solving>(text, solve_keys, o);
    if (o.coordinates.empty()) return o;
    const node_coordinates nodes = read_coordinates(o.coordinates, rows);
    if (o.block != 0 && o.block != nodes.dimension)
        throw argument_error(fmt::format("options: block={}, but {} has {} coordinates a node",
                                         o.block, o.coordinates, nodes.dimension));
    o.near = rigid_body_modes<double>(nodes.all, nodes.dimension), o.block = nodes.dimension;
    return o;
}
index rows_of(const nz_matrix& A) {
    return std::visit([](const auto& view) { return view.shape.rows; }, A.view);
}

/// One method by its name.
template <class V, class B>
solve_report iterate(B on, const linear_operator<V, B>& A, const linear_operator<V, B>* M,
                     in<V, B> b, out<V, B> x, const iterating& o) {
    const auto run = [&](auto solver) {
        return M == nullptr ? solver(on, A, b, x, o) : solver(on, A, *M, b, x, o);
    };
    switch (o.method) {
        case iterating::methods::cg:
            return run([](auto&&... a) { return cg<V, B>(a...); });
        case iterating::methods::minres:
            return run([](auto&&... a) { return minres<V, B>(a...); });
        case iterating::methods::bicgstab:
            return run([](auto&&... a) { return bicgstab<V, B>(a...); });
        default:
            return run([](auto&&... a) { return gmres<V, B>(a...); });
    }
}

template <class V, class B>
int krylov(typed_operator<V, B> const& A, const nz_operator* M, const void* b,
           std::int64_t b_length, void* x, std::int64_t x_length, const iterating& o,
           nz_report* report) {
    const auto* const inverse = M == nullptr ? nullptr : &operator_in<V, B>(*M, "M");
    const auto rhs = input<V, B>(b, b_length, "b");
    const auto guess = output<V, B>(x, x_length, "x");
    B on = A.on;
    if constexpr (std::is_same_v<B, cpu>) on.threads = o.threads;
    const thread_limit limit(cpu{.threads = o.threads});
    const solve_report r = iterate<V, B>(on, built_of(A), inverse, rhs, guess, o);
    return report_to(report, {.converged = r.converged,
                              .iterations = r.iterations,
                              .residual = r.relative_residual(),
                              .residual_norm = r.residual_norm,
                              .setup_s = r.setup_s,
                              .solve_s = r.iterations_s,
                              .status = name_of(r.status),
                              .method = iterating_names[std::size_t(o.method)],
                              .preconditioner = M == nullptr ? "none" : "own",
                              .product = built_of(A).method_name(),
                              .why = r.why});
}

}  // namespace
}  // namespace nz::c

using namespace nz::c;

int nz_solve(const nz_matrix* A, int device, void* stream, int type, const void* b,
             int64_t b_length, void* x, int64_t x_length, const char* options, nz_report* report) {
    return guarded([&] {
        const nz_matrix& matrix = checked(A, "A");
        expect_report(report);
        const solving o = options_of(options, rows_of(matrix));
        expect_reachable(matrix, device);
        return with_device(device, stream, o.threads, [&](auto on) {
            return with_host_matrix(
                matrix, stream, [&]<class V>(const nz::csr<V, nz::host_view>& view) {
                    expect_type<V>(type);
                    const host_input<V> rhs(matrix.device, stream, b, b_length, "b");
                    host_output<V> solution(matrix.device, stream, x, x_length, "x");
                    const nz::system_report r =
                        nz::solve<V, decltype(on)>(on, view, rhs, solution, o);
                    solution.put_back();
                    return report_to(report, r);
                });
        });
    });
}

int nz_krylov(const nz_operator* A, const nz_operator* M, int type, const void* b, int64_t b_length,
              void* x, int64_t x_length, const char* options, nz_report* report) {
    return guarded([&] {
        const nz_operator& op = checked(A, "A");
        expect_report(report);
        iterating o;
        take_options<iterating>(options, krylov_keys, o);
        return std::visit(
            [&]<class V, class B>(const typed_operator<V, B>& own) {
                expect_type<V>(type);
                expect_device(device_of(own.on), o.threads);
                return krylov(own, M, b, b_length, x, x_length, o, report);
            },
            op.held);
    });
}

int nz_solver_create(const nz_matrix* A, int device, void* stream, const char* options,
                     nz_solver** solver) {
    return made(solver, "solver", [&] {
        const nz_matrix& matrix = checked(A, "A");
        const solving o = options_of(options, rows_of(matrix));
        expect_reachable(matrix, device);
        auto made_solver = std::make_unique<nz_solver>();
        made_solver->device = matrix.device, made_solver->threads = o.threads;
        with_device(device, stream, o.threads, [&]<class B>(B on) {
            with_host_matrix(matrix, stream, [&]<class V>(const nz::csr<V, nz::host_view>& view) {
                made_solver->held =
                    typed_solver<V, B>{on, std::make_unique<nz::solver<V, B>>(on, view, o)};
            });
        });
        return made_solver;
    });
}

int nz_solver_solve(nz_solver* solver, int type, const void* b, int64_t b_length, void* x,
                    int64_t x_length, nz_report* report) {
    return guarded([&] {
        nz_solver& own = checked(solver, "solver");
        expect_report(report);
        return std::visit(
            [&]<class V, class B>(typed_solver<V, B>& held) {
                expect_type<V>(type);
                const nz::thread_limit limit(nz::cpu{.threads = own.threads});
                void* const stream = stream_of(held.on);
                const host_input<V> rhs(own.device, stream, b, b_length, "b");
                host_output<V> solution(own.device, stream, x, x_length, "x");
                const nz::system_report r = held.kept->solve(rhs, solution);
                solution.put_back();
                return report_to(report, r);
            },
            own.held);
    });
}

int nz_solver_update(nz_solver* solver, const nz_matrix* A) {
    return guarded([&] {
        nz_solver& own = checked(solver, "solver");
        const nz_matrix& matrix = checked(A, "A");
        expect_same_place(matrix, own.device);
        std::visit(
            [&]<class V, class B>(typed_solver<V, B>& held) {
                const nz::thread_limit limit(nz::cpu{.threads = own.threads});
                with_host_matrix(matrix, stream_of(held.on),
                                 [&]<class W>(const nz::csr<W, nz::host_view>& view) {
                                     expect_type<V>(type_of<W>);
                                     if constexpr (std::is_same_v<V, W>)
                                         held.kept->take_values(view);
                                 });
            },
            own.held);
        return NZ_OK;
    });
}

int nz_solver_destroy(nz_solver* solver) { return destroyed(solver, "solver"); }
