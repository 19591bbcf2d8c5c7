// nz solve: A x = b by a Krylov method, from files to a file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cli/command.hpp"
#include "cli/commands/known_system.hpp"
#include "cli/commands/solve_least_squares.hpp"
#include "cli/commands/solve_sequence.hpp"
#include "cli/convergence.hpp"
#include "cli/interruption.hpp"
#include "cli/rank_memory.hpp"
#include "cli/ranks.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "cli/value_types.hpp"
#include "nonzero/core/agreement.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/dist/same_speeds.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/io/atomic_file.hpp"
#include "nonzero/io/coordinates.hpp"
#include "nonzero/solve/direct/names.hpp"
#include "nonzero/solve/names.hpp"

namespace nz::cli {
namespace {

struct solve_arguments : run_options {
    std::string matrix, b, guess, to, type, method, preconditioner, direct_solver, coordinates;
    std::vector<std::string> matrices;
    gmres_options solver;
    index block = 0;
    int fill_level = 0, overlap = 0;
    bool plot = false, share_gpu = false, iterative = false, explain = false;
    bool same_pattern = false;
};

/// Results that are shown and written in the end.
struct solve_outcome {
    system_report system;
    std::string where;
    bool has_only_ones = false;   ///< every entry of A is 1
    double error = -1;            ///< |x - x*| / |x*| where the solution x* is known
    memory_of_ranks memory = {};  ///< empty where there is one process
};

template <class Name>
std::optional<Name> named(const std::string& name, std::span<const std::string_view> all) {
    const auto at = std::find(all.begin(), all.end(), name);
    return at == all.end() ? std::nullopt : std::optional(Name(at - all.begin()));
}

/// Gives multigrid the modes of a body with o.coordinates, in some of the matrix's rows.
void take_modes(const solve_arguments& o, index all_rows, range rows, system_options& s) {
    if (o.coordinates.empty()) return;
    const auto [coordinates, dimension] = read_coordinates(o.coordinates, all_rows);
    if (o.block != 0 && o.block != dimension)
        throw argument_error(fmt::format("--block {}: {} has {} coordinates a node", o.block,
                                         o.coordinates, dimension));
    s.near = rigid_body_modes<double>(coordinates, dimension), s.block = dimension;
    auto& val = s.near.val;
    val.erase(val.begin() + rows.last * s.near.count, val.end());
    val.erase(val.begin(), val.begin() + rows.first * s.near.count);
}

system_options system_of(const solve_arguments& o) {
    system_options s;
    static_cast<gmres_options&>(s) = o.solver;
    s.method = named<krylov_method>(o.method, krylov_method_names);
    s.preconditioner = named<preconditioning>(o.preconditioner, preconditioning_names);
    s.block = o.block, s.iterative = o.iterative;
    s.direct_solver = named<factor_forecast::libraries>(o.direct_solver, direct_solver_names)
                          .value_or(s.direct_solver);
    s.fill_level = o.fill_level, s.overlap = o.overlap;
    s.monitor = progress_line(*o.solver.tol);
    return s;
}

nz::json to_json(const solve_arguments& o, const solve_outcome& all, nz::shape shape,
                 std::size_t nnz) {
    const system_report::attempt& best = all.system.result();
    const solve_report& r = best.report;
    nz::json j = provenance("solve", o.on_gpu());
    j.update({{"matrix", matrix_name(o.matrix)},
              {"rows", shape.rows},
              {"nnz", nnz},
              {"type", o.type},
              {"device", o.device},
              {"where", all.where},
              {"negated", all.system.negated},
              {"product", all.system.product},
              {"tol", *o.solver.tol},
              {"plan_s", all.system.plan_s},
              {"solver_setup_s", r.setup_s},
              {"iteration_s", r.iteration_s()},
              {"in_graph", r.in_graph},
              {"history", r.history},
              {"reasons", all.system.reasons},
              {"attempts", nz::json::array()}});
    j.update(cli::to_json(best));
    for (const system_report::attempt& a : all.system.attempts)
        j["attempts"].push_back(cli::to_json(a));
    if (!all.system.converged()) j["advice"] = all.system.advice;
    if (all.error >= 0) j["relative_error"] = all.error;
    if (!all.memory.empty()) j["memory"] = to_json(all.memory);
    return j;
}

std::string described(const factor_forecast& f) {
    return fmt::format("{} by {}, {}{} entries, {}, {}", f.is_cholesky ? "Cholesky" : "LU",
                       name_of(f.library), f.is_complete ? "" : "at least ", f.entries,
                       text_of_bytes(f.bytes), text_of_time(f.seconds));
}

/// Prints a line, or several, of at most the terminal's width: name, then text.
void print_line(std::string_view name, const std::string& text) {
    constexpr std::size_t indent = 12;
    // A word as long as the name's place, for the name to stand in.
    std::string lines =
        wrapped(std::string(indent - 1, '.') + ' ' + text, line_width(stdout), indent);
    fmt::print("{}\n", lines.replace(0, indent - 1, fmt::format("{:{}}", name, indent - 1)));
}

/// Ending of an attempt, with the limit by the name of its option.
std::string ending_of(const solve_report& r) {
    return fmt::format("{} iterations, residual {}, {}", r.iterations,
                       text_of_number(r.relative_residual()), by_options(r.why));
}

/// Prints why what was tried when, and of every attempt what was predicted and what it took.
void print_explained(const system_report& system) {
    for (const std::string& reason : system.reasons) print_line("because", reason);
    for (std::size_t k = 0; k < system.attempts.size(); ++k) {
        const system_report::attempt& a = system.attempts[k];
        const solve_report& r = a.report;
        fmt::print("attempt {:<3} {}, preconditioner {}{}\n", k + 1, name_of(a.method),
                   name_of(a.preconditioner), k == system.best ? ": its x is the result" : "");
        if (a.forecast)
            print_line("  predicted", described(*a.forecast));
        else
            print_line("  predicted", text_of_time(a.predicted_s) + " an iteration");
        if (a.factors) print_line("  factors", to_text(*a.factors));
        print_line("  took", fmt::format("{} preconditioner, {} solve, {} an iteration",
                                         text_of_time(a.preconditioner_s), text_of_time(a.solve_s),
                                         text_of_time(r.iteration_s())));
        print_line("  ended", ending_of(r));
    }
}

/// Prints the other attempts, and why they were not enough.
void print_others(const system_report& system) {
    for (std::size_t k = 0; k < system.attempts.size(); ++k) {
        const system_report::attempt& a = system.attempts[k];
        if (k != system.best)
            print_line(k < system.best ? "tried" : "then",
                       fmt::format("{}, preconditioner {}: {}", name_of(a.method),
                                   name_of(a.preconditioner), ending_of(a.report)));
    }
}

/// Tells why there is no solution on stderr, and nothing else, where stdout takes x.
void print(const solve_arguments& o, const solve_outcome& all, nz::shape shape, std::size_t nnz) {
    if (o.to == "-") {
        if (!all.system.converged())
            fmt::print(stderr, "nz: not converged: {}\n",
                       by_options(all.system.result().report.why));
        return;
    }
    const system_report::attempt& best = all.system.result();
    const solve_report& r = best.report;
    fmt::print("matrix      {} x {}, {} nonzeros, {}\n", shape.rows, shape.cols, nnz, o.type);
    if (o.explain)
        print_explained(all.system);
    else
        print_others(all.system);
    if (all.has_only_ones && nnz > 0)
        print_line("note",
                   "every entry of A is 1, as where a file lists a pattern without values: such "
                   "systems are often singular (see the guide Troubleshooting)");
    print_line("method",
               fmt::format("{}, preconditioner {}, product {}, {}{}", name_of(best.method),
                           name_of(best.preconditioner), all.system.product, all.where,
                           r.in_graph ? ", as a graph" : ""));
    if (all.system.negated)
        fmt::print("negated     A's diagonal is negative: -A x = -b is solved\n");
    fmt::print("setup       {} plan, {} preconditioner\n", text_of_time(all.system.plan_s),
               text_of_time(best.preconditioner_s));
    fmt::print("solve       {}, {} an iteration\n", text_of_time(best.solve_s),
               text_of_time(r.iteration_s()));
    fmt::print("iterations  {}{}\n", r.iterations,
               r.inner_iterations > 0
                   ? fmt::format(", with {} in single precision within", r.inner_iterations)
                   : "");
    fmt::print("residual    |b - A x| / |b| = {}\n", text_of_number(r.relative_residual()));
    if (all.error >= 0) fmt::print("error       |x - x*| / |x*| = {}\n", text_of_number(all.error));
    if (!all.memory.empty()) fmt::print("memory      {}\n", to_text(all.memory));
    print_line("converged", r.converged ? fmt::format("yes, to {:g}", *o.solver.tol)
                                        : "no: " + by_options(r.why));
    for (const std::string& advice : all.system.advice) print_line("advice", by_options(advice));
    if (o.plot || is_terminal(stdout)) print_convergence(r.history, *o.solver.tol);
}

/// Throws argument_error where it is not of that length.
template <class V>
host_vector<V> read_vector_of(const std::string& path, std::size_t len) {
    auto v = read_vector<V>(path);
    if (v.size() != len)
        throw argument_error(fmt::format("{}: {} elements, expected {}", path, v.size(), len));
    return v;
}

/// |x - known| / |known|, over all ranks where there are some.
template <class V>
double relative_error(const communicator* ranks, const host_vector<V>& x,
                      const host_vector<V>& known) {
    double error2 = 0, size2 = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        error2 += norm2(x[i] - known[i]), size2 += norm2(known[i]);
    if (ranks != nullptr) error2 = summed(*ranks, error2), size2 = summed(*ranks, size2);
    return size2 > 0 ? std::sqrt(error2 / size2) : 0;
}

template <class V>
bool has_only_ones(const csr<V, host_view>& A) {
    return std::ranges::all_of(A.val, [](V v) { return v == V(1); });
}

/// x holds the guess, then the solution.
template <class V>
solve_outcome solve_on_device(const solve_arguments& o, const csr<V, host_view>& A,
                              const host_vector<V>& b, host_vector<V>& x) {
    system_options s = system_of(o);
    take_modes(o, A.shape.rows, {0, A.shape.rows}, s);
    const interruption stop;
    solve_outcome all;
    if (o.on_gpu()) {
        const gpu_stream stream;
        all.system = nz::solve<V, gpu>(stream, A, b, x, s);
        all.where = describe_gpu(stream).name;
        return all;
    }
    all.system = nz::solve<V, cpu>(cpu{o.threads}, A, b, x, s);
    all.where = fmt::format("{} threads", thread_count(cpu{o.threads}));
    return all;
}

/// Holds the place of x until it is written, so that one that cannot be is known before the solve.
/// Null where there is none to hold. Throws error.
std::unique_ptr<atomic_file> place_for(const std::string& to) {
    if (to.empty() || to == "-") return nullptr;
    if (!to.ends_with(".mtx") && !to.ends_with(".mtx.gz"))
        throw argument_error("--output: " + to + " ends in none of .mtx, .mtx.gz");
    return std::make_unique<atomic_file>(to);
}

/// Writes x; the error where that fails, so that the report is not lost with it.
template <class V>
std::exception_ptr written(const std::string& to, const host_vector<V>& x) {
    try {
        if (!to.empty()) write_vector<V>(to, x);
    } catch (const error&) {
        return std::current_exception();
    }
    return nullptr;
}

bool is_least_squares(const std::string& method) { return method == "lsmr" || method == "lsqr"; }

least_squares_request least_squares_of(const solve_arguments& o) {
    least_squares_request r;
    static_cast<run_options&>(r) = o;
    r.matrix = o.matrix, r.b = o.b, r.guess = o.guess, r.to = o.to, r.type = o.type;
    r.method = o.method.empty() ? "lsmr" : o.method;
    r.tol = *o.solver.tol;
    r.solver.max_iter = o.solver.max_iter, r.solver.max_seconds = o.solver.max_seconds;
    return r;
}

template <class V>
int solve(const solve_arguments& o, std::unique_ptr<atomic_file> place) {
    check_device(o);
    json_file json(o.json);
    const auto own = read_matrix<V>(o.matrix, o.threads);
    const auto A = view(own);
    const auto n = std::size_t(A.shape.rows);
    if (is_least_squares(o.method) || (o.method.empty() && A.shape.rows != A.shape.cols)) {
        place.reset();
        return solve_least_squares(least_squares_of(o), A, json);
    }
    solve_outcome all;
    host_vector<V> x;
    try {
        if (A.shape.rows != A.shape.cols)
            throw unsuitable(fmt::format("A is {} x {}, not square", A.shape.rows, A.shape.cols));
        const auto known = o.b.empty() ? known_solution<V>({0, A.shape.rows}) : host_vector<V>();
        const auto b =
            o.b.empty() ? product_with(cpu{o.threads}, A, known) : read_vector_of<V>(o.b, n);
        x = o.guess.empty() ? host_vector<V>(n, V(0)) : read_vector_of<V>(o.guess, n);
        all = solve_on_device<V>(o, A, b, x);
        all.has_only_ones = has_only_ones(A);
        if (o.b.empty()) all.error = relative_error(nullptr, x, known);
    } catch (const unsuitable& e) {
        fmt::print(stderr, "nz: {}\n", e.what());
        return answer_is_no;
    }
    place.reset();
    const auto fault = written<V>(o.to, x);
    json.write(to_json(o, all, own.shape, own.val.size()));
    if (!json.is_stdout()) print(o, all, own.shape, own.val.size());
    if (fault) std::rethrow_exception(fault);
    if (interruption::happened()) return interrupted_exit;
    return all.system.converged() ? done : answer_is_no;
}

/// This rank's elements of A x*: it asks no other, as it can tell every element of x*.
template <class V>
host_vector<V> product_with_known(const csr<V, host_view>& own) {
    host_vector<V> b(std::size_t(own.shape.rows), V(0));
    for_each_entry(own, 0, own.shape.rows, [&](index i, index j, V v) {
        b[std::size_t(i)] += v * counter(0, std::uint64_t(j)).value<V>(0);
    });
    return b;
}

/// The same over several processes, each with its own rows.
template <class V, class B>
int solve_on_ranks(const solve_arguments& o, const communicator& ranks, B on,
                   const std::string& where, std::unique_ptr<atomic_file> place) {
    const bool speaks = ranks.rank() == 0;
    std::unique_ptr<json_file> json;
    agree(&ranks, [&] {
        if (speaks) json = std::make_unique<json_file>(o.json);
    });
    memory_watch watch;
    auto A = read_slice<V>(ranks, o.matrix);
    const double share = share_bytes(A, ranks.rank());
    B alone = on;
    alone.ranks = nullptr;
    watch.leave_out([&] { (void)with_same_speeds(alone, ranks, {}); });
    const nz::shape shape = A.shape();
    const std::size_t nnz = summed(ranks, A.own.val.size());
    const bool ones = on_all(&ranks, has_only_ones(view(A.own)));
    solve_outcome all;
    host_vector<V> x(std::size_t(A.own.shape.rows), V(0));
    const shares rows = A.rows;
    try {
        if (is_least_squares(o.method))
            throw unsuitable(o.method + " runs on one process; nz::lsmr runs over several");
        if (shape.rows != shape.cols)
            throw unsuitable(fmt::format("A is {} x {}, not square", shape.rows, shape.cols));
        const auto known = known_solution<V>(rows.of(ranks.rank()));
        const auto b =
            o.b.empty() ? product_with_known(view(A.own)) : read_vector_slice<V>(ranks, o.b, rows);
        if (!o.guess.empty()) x = read_vector_slice<V>(ranks, o.guess, rows);
        system_options s = system_of(o);
        agree(&ranks, [&] { take_modes(o, shape.rows, rows.of(ranks.rank()), s); });
        if (!speaks) s.monitor = {};
        all.system = nz::solve<V, B>(on, std::move(A), b, x, s);
        all.where = where;
        all.has_only_ones = ones;
        all.memory = gathered_memory(ranks, watch, share);
        if (o.b.empty()) all.error = relative_error(&ranks, x, known);
    } catch (const unsuitable& e) {  // on all ranks
        if (speaks) fmt::print(stderr, "nz: {}\n", e.what());
        return answer_is_no;
    }
    const auto whole = o.to.empty() ? host_vector<V>() : joined<V>(ranks, x);
    if (speaks) {
        place.reset();
        const auto fault = written<V>(o.to, whole);
        json->write(to_json(o, all, shape, nnz));
        if (!json->is_stdout()) print(o, all, shape, nnz);
        if (fault) std::rethrow_exception(fault);
    }
    return all.system.converged() ? done : answer_is_no;
}

template <class V>
int solve_on_ranks(const solve_arguments& o, const communicator& ranks,
                   std::unique_ptr<atomic_file> place) {
    if constexpr (std::floating_point<V>) {
        if (o.on_gpu()) {
            const gpu_rank mine(ranks, o.share_gpu);
            return solve_on_ranks<V, gpu>(o, ranks, mine, place_of(ranks, mine), std::move(place));
        }
    }
    const cpu on{.threads = std::max(o.threads, 1), .ranks = &ranks};
    return solve_on_ranks<V, cpu>(o, ranks, on, place_of(ranks, on), std::move(place));
}

/// Refuses what one matrix alone has.
void expect_sequence(const solve_arguments& o, const communicator* ranks) {
    if (!o.same_pattern)
        throw argument_error(
            fmt::format("{} matrices, expected one, or --same-pattern", o.matrices.size()));
    if (ranks != nullptr) throw argument_error("--same-pattern: not over processes");
    if (o.explain || o.plot)
        throw argument_error("--same-pattern: goes with neither --explain nor --plot");
}

int solve_as_type(solve_arguments o) {
    const communicator* const ranks = ranks_of_this_run();
    std::unique_ptr<atomic_file> place;
    o.matrix = o.matrices.front();
    const bool is_sequence = o.same_pattern || o.matrices.size() > 1;
    agree(ranks, [&] {
        if (is_sequence) expect_sequence(o, ranks);
        if (is_speaker()) {
            expect_one_to_stdout({o.to, o.json});
            place = place_for(o.to), (void)json_file(o.json);
        }
        if (o.type.empty()) o.type = type_of_file(o.matrix);
        if (ranks != nullptr && o.on_gpu() && o.type.starts_with('c'))
            throw argument_error(
                "--device gpu: several processes solve complex values on CPUs only");
    });
    return with_value_type(o.type, [&]<class V>() {
        o.solver.tol = o.solver.tol_of<V>();
        if (is_sequence) {
            place.reset();
            const auto modes = [&](index rows, system_options& s) {
                take_modes(o, rows, {0, rows}, s);
            };
            return solve_sequence(o, {o.matrices, o.b, o.guess, o.to, o.type, system_of(o), modes});
        }
        return ranks != nullptr ? solve_on_ranks<V>(o, *ranks, std::move(place))
                                : solve<V>(o, std::move(place));
    });
}

}  // namespace

void add_solve(const command& nz) {
    const auto sub = nz.add_subcommand("solve", "A x = b, by a Krylov method or a direct solver");
    sub.footer("Example: nz solve A.mtx -b b.mtx --method cg --precond amg --tol 1e-10 -o x.mtx");
    const auto o = std::make_shared<solve_arguments>();
    sub.add_option("matrix", o->matrices, matrix_help()).required();
    sub.add_flag("--same-pattern", o->same_pattern,
                 "the matrices, several, have one pattern: plan and preconditioner are kept, and "
                 "made anew once iterations exceed 1.5 times the first's; -b and --guess are for "
                 "each, -o for the last");
    sub.add_option(
           "-b", o->b,
           "Matrix Market vector (default: A times a random x*, so that the error is known)")
        .type_name("FILE");
    sub.add_option("--guess", o->guess, "x at the start (default: zeros)").type_name("FILE");
    sub.add_option("-o,--output", o->to, "file for x: .mtx or .mtx.gz, or - for stdout")
        .type_name("FILE");
    sub.add_option(
           "--method", o->method,
           "solver (default: cg where A is symmetric, its diagonal positive; direct where that is "
           "cheap; minres where A is symmetric otherwise; else bicgstab; others where that fails; "
           "lsmr, least squares, where A is not square)")
        .one_of({"cg", "bicgstab", "direct", "fgmres", "gmres", "idrs", "lsmr", "lsqr", "minres",
                 "refine"});
    const std::vector<std::string> preconditioners(std::begin(preconditioning_names),
                                                   std::end(preconditioning_names));
    sub.add_option("--precond", o->preconditioner,
                   fmt::format("preconditioner, one of {} (default: amg for cg, jacobi else; none "
                               "where the diagonal has a zero; others where that fails)",
                               fmt::join(preconditioners, ", ")))
        .one_of_unlisted(preconditioners);
    sub.add_flag("--iterative", o->iterative, "leave the direct solver out");
    sub.add_option("--direct-solver", o->direct_solver,
                   "who factorizes for direct: eigen is part of nonzero, others are used where "
                   "they are installed; auto is the fastest of those (default: eigen)")
        .one_of({"auto", "cholmod", "eigen", "klu", "pardiso", "umfpack"});
    sub.add_flag(
        "--explain", o->explain,
        "tell why which methods were tried, with what each was predicted to take and took");
    sub.add_option(
           "--tol", o->solver.tol,
           fmt::format("tolerance of |b - A x| / |b| (default: {:g}; float, cfloat: {:g})",
                       solve_options::default_tol<double>, solve_options::default_tol<float>))
        .number<double>({.least = 0});
    sub.add_option("--max-iter", o->solver.max_iter, "largest number of iterations")
        .number<std::int64_t>({.least = 0})
        .shows_default();
    sub.add_option("--max-seconds", o->solver.max_seconds,
                   "time that may pass, setup included, before x is what has been found [s] "
                   "(default: any)")
        .number<double>({.least = 0});
    sub.add_option("--restart", o->solver.restart,
                   "number of iterations of a cycle of gmres, at first")
        .number<int>({1, 1000})
        .shows_default();
    sub.add_option("--block", o->block,
                   "unknowns that belong together, for block-jacobi, ilu, ic, fsai, spai and amg "
                   "(default: those that amg finds by A's rows; for others 1)")
        .number<int>({1, 64});
    sub.add_option("--coordinates", o->coordinates,
                   "for amg of elasticity, file with a row of 2 or 3 coordinates for each node: it "
                   "gives multigrid the motions of a rigid body")
        .type_name("FILE");
    sub.add_option("--fill-level", o->fill_level,
                   "level of fill of ilu and ic; for fsai and spai, pattern of A (0) or A^2 "
                   "(1)")
        .number<int>({0, 100})
        .shows_default();
    sub.add_option("--overlap", o->overlap,
                   "over processes, steps from a process's rows to others' that its ilu, ilut, ic, "
                   "ict, fsai or spai is made of as well")
        .number<int>({0, 10})
        .shows_default();
    add_type_of_file_option(sub, o->type);
    add_run_options(sub, *o);
    add_share_gpu(sub, o->share_gpu);
    sub.add_flag("--plot", o->plot, "plot the residual, also where stdout is no terminal");
    sub.does([o] { return solve_as_type(*o); });
}

}  // namespace nz::cli
