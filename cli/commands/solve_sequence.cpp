#include "cli/commands/solve_sequence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/known_system.hpp"
#include "cli/interruption.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "cli/value_types.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/solve/names.hpp"
#include "nonzero/solve/solver.hpp"

namespace nz::cli {
namespace {

/// One of the systems, solved.
struct step {
    std::string matrix;
    system_report system;
    double values_s = 0;  ///< giving its values to the solver: at first copying the matrix
    [[nodiscard]] double setup_s() const {
        double all = values_s + system.plan_s;
        for (const auto& a : system.attempts) all += a.preconditioner_s;
        return all;
    }
    [[nodiscard]] double solve_s() const {
        double all = 0;
        for (const auto& a : system.attempts) all += a.solve_s;
        return all;
    }
    [[nodiscard]] std::int64_t iterations() const {
        std::int64_t all = 0;
        for (const auto& a : system.attempts) all += a.report.iterations;
        return all;
    }
};

nz::json to_json(const step& s) {
    const auto& best = s.system.result();
    return {{"matrix", matrix_name(s.matrix)},
            {"method", name_of(best.method)},
            {"preconditioner", name_of(best.preconditioner)},
            {"iterations", s.iterations()},
            {"setup_s", s.setup_s()},
            {"solve_s", s.solve_s()},
            {"relative_residual", best.report.relative_residual()},
            {"converged", best.report.converged},
            {"why", best.report.why}};
}

void print(const std::vector<step>& steps, const std::string& where) {
    table t({{"matrix", false},
             {"method", false},
             {"preconditioner", false},
             {"iterations"},
             {"setup\n[ms]"},
             {"solve\n[ms]"},
             {"residual"}});
    for (const step& s : steps) {
        const auto& best = s.system.result();
        t.add_row({matrix_name(s.matrix), std::string(name_of(best.method)),
                   std::string(name_of(best.preconditioner)), std::to_string(s.iterations()),
                   fmt::format("{:.1f}", s.setup_s() * 1e3),
                   fmt::format("{:.1f}", s.solve_s() * 1e3),
                   fmt::format("{:.2g}", best.report.relative_residual())});
    }
    t.print();
    fmt::print("product {}, {}\n", steps.front().system.product, where);
    for (const step& s : steps)
        if (!s.system.converged())
            fmt::print("not converged: {}: {}\n", matrix_name(s.matrix),
                       s.system.result().report.why);
}

template <class V>
host_vector<V> vector_of(const std::string& path, std::size_t len) {
    if (path.empty()) return host_vector<V>(len, V(0));
    auto v = read_vector<V>(path);
    if (v.size() != len)
        throw argument_error(fmt::format("{}: {} elements, expected {}", path, v.size(), len));
    return v;
}

/// x: the last one.
template <class V, class B>
std::vector<step> solve_all(B on, cpu here, const sequence_of_systems& o, host_vector<V>& x) {
    std::vector<step> steps;
    std::unique_ptr<solver<V, B>> kept;
    const interruption stop;
    for (const std::string& path : o.matrices) {
        const auto A = read_matrix<V>(path, here.threads);
        const auto n = std::size_t(A.shape.rows);
        const auto start = steady_clock::now();
        if (!kept) {
            system_options with_modes = o.solver;
            o.complete(A.shape.rows, with_modes);
            kept = std::make_unique<solver<V, B>>(on, view(A), with_modes);
        } else {
            try {
                kept->take_values(view(A));
            } catch (const argument_error& e) {
                throw argument_error(fmt::format("{}: {}", path, e.what()));
            }
        }
        const double values_s = seconds_since(start);
        const auto b = o.b.empty()
                           ? product_with(here, view(A), known_solution<V>({0, A.shape.cols}))
                           : vector_of<V>(o.b, n);
        x = vector_of<V>(o.guess, n);
        steps.push_back({path, kept->solve(b, x), values_s});
        if (interruption::happened()) break;
    }
    return steps;
}

template <class V>
int solve_sequence_of(const run_options& run, const sequence_of_systems& o) {
    json_file json(run.json);
    std::vector<step> steps;
    std::string where;
    host_vector<V> x;
    const cpu here{.threads = run.threads};
    try {
        if (run.on_gpu()) {
            const gpu_stream stream;
            steps = solve_all<V, gpu>(stream, here, o, x);
            where = describe_gpu(stream).name;
        } else {
            steps = solve_all<V, cpu>(here, here, o, x);
            where = fmt::format("{} threads", thread_count(here));
        }
    } catch (const unsuitable& e) {
        fmt::print(stderr, "nz: {}\n", e.what());
        return answer_is_no;
    }
    const auto fault = fault_of([&] {
        if (!o.to.empty()) write_vector<V>(o.to, x);
    });
    nz::json j = provenance("solve", run.on_gpu());
    j.update({{"type", o.type},
              {"device", run.device},
              {"where", where},
              {"product", steps.front().system.product},
              {"tol", *o.solver.tol},
              {"steps", nz::json::array()}});
    for (const step& s : steps) j["steps"].push_back(to_json(s));
    json.write(j);
    if (!json.is_stdout() && o.to != "-") print(steps, where);
    throw_if(fault);
    if (interruption::happened()) return interrupted_exit;
    const bool all = std::ranges::all_of(steps, [](const step& s) { return s.system.converged(); });
    return all ? done : answer_is_no;
}

}  // namespace

int solve_sequence(const run_options& run, const sequence_of_systems& o) {
    check_device(run);
    return with_value_type(o.type, [&]<class V>() { return solve_sequence_of<V>(run, o); });
}

}  // namespace nz::cli
