// nz solve: A x = b by a Krylov method, from files to a file.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/convergence.hpp"
#include "cli/interruption.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "nonzero/gen/counter.hpp"
#include "nonzero/nonzero.hpp"
#include "nonzero/solve/amg.hpp"

namespace nz::cli {
namespace {

struct options : run_options {
    std::string matrix, b, guess, to, type, method, preconditioner;
    gmres_options solver;
    index block = 1;
    bool plot = false;
};

/// The matrix does not suit what was asked for: no error, but the answer is no.
struct refusal : error {
    using error::error;
};

/// How the system is solved, once that is settled.
struct choice {
    std::string method, preconditioner;
    bool negated = false;  ///< -A x = -b is solved, as A is negative definite
};

/// What is shown and written in the end.
struct outcome {
    solve_report report;
    std::string product;  ///< A's method
    std::string where;
    double plan_s = 0, preconditioner_s = 0, solve_s = 0;
    double error = -1;  ///< |x - x*| / |x*| where the solution x* is known
};

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class V>
void negate(std::span<V> v) {
    for (V& e : v) e = -e;
}

/// Only then can A be negative definite.
template <class V>
bool has_negative_diagonal(const csr<V, host_view>& A) {
    const auto d = diagonal_of(A);
    return !d.empty() && std::all_of(d.begin(), d.end(), [](V v) { return std::real(v) < 0; });
}

/// The first row whose diagonal entry is zero or missing; -1 where there is none.
template <class V>
std::int64_t zero_on_diagonal(const csr<V, host_view>& A) {
    const auto d = diagonal_of(A);
    const auto zero = std::find(d.begin(), d.end(), V(0));
    return zero == d.end() ? -1 : zero - d.begin();
}

/// What was asked for, or else what suits A, which is negated where its diagonal is negative: the
/// 7-point stencil is written with -6 on it as often as with 6. Throws refusal where that does not
/// suit.
template <class V>
choice choose(const options& o, csr<V, host>& A) {
    if (A.shape.rows != A.shape.cols)
        throw refusal(fmt::format("A is {} x {}, not square", A.shape.rows, A.shape.cols));
    choice c{o.method, o.preconditioner};
    c.negated = has_negative_diagonal(view(A));
    if (c.negated) negate<V>(A.val);
    const std::string why = why_not_definite(view(A));
    for (const std::string& needs_it : {c.method, c.preconditioner})
        if ((needs_it == "cg" || needs_it == "amg") && !why.empty())
            throw refusal(needs_it + ": " + why);
    if (c.method.empty()) c.method = why.empty() ? "cg" : "bicgstab";
    const std::int64_t zero = zero_on_diagonal(view(A));
    if (c.preconditioner.empty())
        c.preconditioner = zero >= 0 ? "none" : why.empty() && !is_complex<V> ? "amg" : "jacobi";
    if (zero >= 0 && (c.preconditioner == "jacobi" || c.preconditioner == "sgs"))
        throw refusal(fmt::format("{}: the diagonal is zero in row {}", c.preconditioner, zero));
    if (is_complex<V> && c.preconditioner == "amg") throw refusal("amg: for real values only");
    return c;
}

/// Throws refusal where A does not suit it.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> make_preconditioner(const options& o, const choice& c, B on,
                                                           const csr<V, host_view>& A,
                                                           const linear_operator<V, B>& planned) {
    try {
        if (c.preconditioner == "jacobi") return jacobi(on, A);
        if (c.preconditioner == "block-jacobi") return block_jacobi(on, A, o.block);
        if (c.preconditioner == "sgs") return gauss_seidel(on, A);
        if constexpr (!is_complex<V>) {
            if (c.preconditioner == "amg")
                return std::make_unique<amg<V, B>>(A, on,
                                                   amg_options{.block = o.block, .check = false},
                                                   candidates<V>{}, &planned);
        }
        return nullptr;
    } catch (const argument_error& e) {
        throw refusal(e.what());
    }
}

template <class V, class B>
solve_report solve_by(const choice& c, B on, const linear_operator<V, B>& A,
                      const linear_operator<V, B>* M, in<V, B> b, out<V, B> x,
                      const gmres_options& o) {
    if (c.method == "cg") return M ? cg<V, B>(on, A, *M, b, x, o) : cg<V, B>(on, A, b, x, o);
    if (c.method == "bicgstab")
        return M ? bicgstab<V, B>(on, A, *M, b, x, o) : bicgstab<V, B>(on, A, b, x, o);
    return M ? gmres<V, B>(on, A, *M, b, x, o) : gmres<V, B>(on, A, b, x, o);
}

/// x holds the guess, then the solution.
template <class V, class B>
outcome solve_on(B on, const options& o, const choice& c, const csr<V, host_view>& A,
                 const host_vector<V>& b, host_vector<V>& x) {
    outcome all;
    auto start = std::chrono::steady_clock::now();
    const auto op = build(make_plan(A, on), A);
    all.product = op->method_name();
    all.plan_s = seconds_since(start);
    start = std::chrono::steady_clock::now();
    const auto M = make_preconditioner(o, c, on, A, *op);
    all.preconditioner_s = seconds_since(start);

    gmres_options with = o.solver;
    // Without anybody to watch, a GPU need not be asked.
    if (is_terminal(stderr)) with.watch = progress_line(o.solver.tol);
    const auto b_there = from_host(on, std::span<const V>(b));
    auto x_there = from_host(on, std::span<const V>(x));
    start = std::chrono::steady_clock::now();
    all.report = solve_by<V, B>(c, on, *op, M.get(), b_there, x_there, with);
    all.solve_s = seconds_since(start);
    x = to_host<V>(on, in<V, B>(x_there));
    return all;
}

nlohmann::json to_json(const options& o, const choice& c, const outcome& all, nz::shape shape,
                       std::size_t nnz) {
    const solve_report& r = all.report;
    nlohmann::json j = provenance("solve");
    j.update({{"matrix", matrix_name(o.matrix)},
              {"rows", shape.rows},
              {"nnz", nnz},
              {"type", o.type},
              {"device", o.device},
              {"where", all.where},
              {"method", c.method},
              {"preconditioner", c.preconditioner},
              {"negated", c.negated},
              {"product", all.product},
              {"tol", o.solver.tol},
              {"converged", r.converged},
              {"why", r.why},
              {"iterations", r.iterations},
              {"relative_residual", r.relative_residual()},
              {"plan_s", all.plan_s},
              {"preconditioner_s", all.preconditioner_s},
              {"solve_s", all.solve_s},
              {"solver_setup_s", r.setup_s},
              {"iteration_s", r.iteration_s()},
              {"in_graph", r.in_graph},
              {"history", r.history}});
    if (all.error >= 0) j["relative_error"] = all.error;
    return j;
}

void print(const options& o, const choice& c, const outcome& all, nz::shape shape,
           std::size_t nnz) {
    const solve_report& r = all.report;
    fmt::print("matrix      {} x {}, {} nonzeros, {}\n", shape.rows, shape.cols, nnz, o.type);
    fmt::print("method      {}, preconditioner {}, product {}, {}{}\n", c.method, c.preconditioner,
               all.product, all.where, r.in_graph ? ", as a graph" : "");
    if (c.negated) fmt::print("negated     A's diagonal is negative: -A x = -b is solved\n");
    fmt::print("setup       {:.3g} ms plan, {:.3g} ms preconditioner\n", all.plan_s * 1e3,
               all.preconditioner_s * 1e3);
    fmt::print("solve       {:.3g} ms, {:.3g} us an iteration\n", all.solve_s * 1e3,
               r.iteration_s() * 1e6);
    fmt::print("iterations  {}\n", r.iterations);
    fmt::print("residual    |b - A x| / |b| = {:.3g}\n", r.relative_residual());
    if (all.error >= 0) fmt::print("error       |x - x*| / |x*| = {:.3g}\n", all.error);
    fmt::print("converged   {}\n",
               r.converged ? fmt::format("yes, to {:g}", o.solver.tol) : "no: " + r.why);
    if (o.plot || is_terminal(stdout)) print_convergence(r.history, o.solver.tol);
}

/// Throws argument_error where it is not of that length.
template <class V>
host_vector<V> read_vector_of(const std::string& path, std::size_t len) {
    auto v = read_vector<V>(path);
    if (v.size() != len)
        throw argument_error(fmt::format("{}: {} elements, expected {}", path, v.size(), len));
    return v;
}

/// What x is to become where no b is given: numbers of one size, the same in every run.
template <class V>
host_vector<V> known_solution(std::size_t n) {
    host_vector<V> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = counter(0, i).value<V>(0);
    return x;
}

template <class V>
host_vector<V> product_with(const options& o, const csr<V, host_view>& A, const host_vector<V>& x) {
    host_vector<V> b(x.size());
    spmv(cpu{o.threads}, csr_balanced{}, V(1), A, std::span<const V>(x), V(0), std::span<V>(b));
    return b;
}

template <class V>
double relative_error(const host_vector<V>& x, const host_vector<V>& known) {
    double error2 = 0, size2 = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        error2 += norm2(x[i] - known[i]), size2 += norm2(known[i]);
    return size2 > 0 ? std::sqrt(error2 / size2) : 0;
}

template <class V>
int solve(const options& o) {
    check_device(o);
    json_file json(o.json);
    auto own = read_matrix<V>(o.matrix, o.threads);
    choice c;
    outcome all;
    host_vector<V> x;
    try {
        c = choose(o, own);
        const auto A = view(own);
        const auto n = std::size_t(A.shape.rows);
        const auto known = o.b.empty() ? known_solution<V>(n) : host_vector<V>();
        auto b = o.b.empty() ? product_with(o, A, known) : read_vector_of<V>(o.b, n);
        if (c.negated && !o.b.empty()) negate<V>(b);
        x = o.guess.empty() ? host_vector<V>(n, V(0)) : read_vector_of<V>(o.guess, n);
        const interruption stop;
        if constexpr (std::floating_point<V>) {
            if (o.on_gpu()) {
                const gpu_stream stream;
                all = solve_on<V, gpu>(stream, o, c, A, b, x);
                all.where = describe_gpu(stream).name;
            }
        }
        if (!o.on_gpu()) {
            all = solve_on<V, cpu>(cpu{o.threads}, o, c, A, b, x);
            all.where = fmt::format("{} threads", thread_count(cpu{o.threads}));
        }
        if (o.b.empty()) all.error = relative_error(x, known);
    } catch (const refusal& e) {
        fmt::print(stderr, "nz: {}\n", e.what());
        return answer_is_no;
    }
    if (!o.to.empty()) write_vector<V>(o.to, x);
    json.write(to_json(o, c, all, own.shape, own.val.size()));
    if (!json.is_stdout()) print(o, c, all, own.shape, own.val.size());
    if (interruption::happened()) return interrupted_exit;
    return all.report.converged ? done : answer_is_no;
}

int solve_as_type(options o) {
    if (o.type.empty()) o.type = inspect(o.matrix).field == field::complex ? "cdouble" : "double";
    if (o.on_gpu() && o.type.starts_with('c'))
        throw argument_error("--device gpu: complex values are solved on the CPU only");
    return o.type == "float"    ? solve<float>(o)
           : o.type == "double" ? solve<double>(o)
           : o.type == "cfloat" ? solve<std::complex<float>>(o)
                                : solve<std::complex<double>>(o);
}

}  // namespace

void add_solve(CLI::App& app, action& chosen) {
    auto* sub = app.add_subcommand("solve", "A x = b, by a preconditioned Krylov method");
    sub->footer("Example: nz solve A.mtx -b b.mtx --method cg --precond amg --tol 1e-10 -o x.mtx");
    const auto o = std::make_shared<options>();
    sub->add_option("matrix", o->matrix, "Matrix Market or .npz file")->required();
    sub->add_option(
        "-b", o->b,
        "Matrix Market vector (default: A times a random x*, so that the error is known)");
    sub->add_option("--guess", o->guess, "x at the start (default: zeros)");
    sub->add_option("-o,--output", o->to, "where x goes: .mtx or .mtx.gz");
    sub->add_option("--method", o->method,
                    "(default: cg where A is symmetric, its diagonal positive; else bicgstab)")
        ->check(CLI::IsMember({"cg", "bicgstab", "gmres"}));
    sub->add_option("--precond", o->preconditioner,
                    "(default: amg for cg, jacobi else; none where the diagonal has a zero)")
        ->check(CLI::IsMember({"amg", "block-jacobi", "jacobi", "none", "sgs"}));
    sub->add_option("--tol", o->solver.tol, "of |b - A x| / |b|")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    sub->add_option("--max-iter", o->solver.max_iter, "iterations at most")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    sub->add_option("--restart", o->solver.restart, "iterations of a cycle of gmres")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    sub->add_option("--block", o->block, "unknowns that belong together, for block-jacobi and amg")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    sub->add_option("--type", o->type, "(default: double, or cdouble for a complex matrix)")
        ->check(CLI::IsMember({"float", "double", "cfloat", "cdouble"}));
    add_run_options(*sub, *o);
    sub->add_flag("--plot", o->plot, "plot the residual, also where stdout is no terminal");
    sub->callback([&chosen, o] { chosen = [o] { return solve_as_type(*o); }; });
}

}  // namespace nz::cli
