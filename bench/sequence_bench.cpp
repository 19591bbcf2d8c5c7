// Sequences of twenty systems with one pattern: nz::solver, kept over them, beside an nz::solve for
// each; from the x before, 1e-8. Both solve the same systems, those of the kept solver's x.
//   sequence_bench cpu|gpu hot_spot:500 p_laplacian:500 wind:500 stiffness:250 ...
// One JSON object on standard output.
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "bench/sequences.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/plan/machine.hpp"
#include "nonzero/solve/solver.hpp"
#include "nonzero_commit.hpp"

namespace {

using namespace nz;
using json = nlohmann::json;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::unique_ptr<sequence> make_sequence(const std::string& name) {
    const auto colon = name.find(':');
    const auto n = nz::index(colon == std::string::npos ? 0 : std::stoi(name.substr(colon + 1)));
    if (name.starts_with("hot_spot:")) return std::make_unique<moving_hot_spot>(n);
    if (name.starts_with("p_laplacian:")) return std::make_unique<p_laplacian>(n);
    if (name.starts_with("wind:")) return std::make_unique<turning_wind>(n);
    if (name.starts_with("stiffness:")) return std::make_unique<changing_stiffness>(n);
    throw argument_error("no sequence " + name);
}

/// Seconds and iterations of all steps, and whether all have converged.
struct run_totals {
    double s = 0;
    std::int64_t iterations = 0, after_first = 0;
    bool converged = true;
    void add(double seconds, const system_report& r, int step) {
        s += seconds;
        for (const auto& a : r.attempts) {
            iterations += a.report.iterations;
            if (step > 0) after_first += a.report.iterations;
        }
        converged = converged && r.converged();
    }
    [[nodiscard]] json told() const {
        return {{"s", s},
                {"iterations", iterations},
                {"iterations_after_first", after_first},
                {"converged", converged}};
    }
};

template <class B>
json run(B on, const std::string& name) {
    constexpr int steps = 20;
    const auto s = make_sequence(name);
    auto A = s->pattern();
    host_vector<double> x(std::size_t(A.shape.rows), 0), b(x);
    system_options o;
    o.block = name.starts_with("stiffness:") ? 2 : 1;
    s->step(0, x, A, b);
    auto unused = x;
    solve<double>(on, view(A), b, unused, o);  // loads kernels, fills pools
    run_totals kept, anew;
    std::unique_ptr<solver<double, B>> all;
    for (int k = 0; k < steps; ++k) {
        s->step(k, x, A, b);
        auto guess = x;
        double start = now();
        const auto once = solve<double>(on, view(A), b, guess, o);
        anew.add(now() - start, once, k);
        start = now();
        if (all == nullptr)
            all = std::make_unique<solver<double, B>>(on, A, o);
        else
            all->take_values(A);
        const auto report = all->solve(b, x);
        kept.add(now() - start, report, k);
    }
    return {{"rows", A.shape.rows}, {"nonzeros", A.val.size()}, {"steps", steps},
            {"kept", kept.told()},  {"anew", anew.told()},      {"speedup", anew.s / kept.s}};
}

template <class B>
void run_all(B on, int argc, char** argv) {
    json all{{"commit", built_commit},
             {"dirty", built_dirty},
             {"threads", thread_count(cpu{})},
             {"cpu", describe_machine().cpu}};
    for (int k = 2; k < argc; ++k) all["sequences"][argv[k]] = run(on, argv[k]);
    fmt::print("{}\n", all.dump(1));
}

}  // namespace

int main(int argc, char** argv) {
    const std::string where = argc > 1 ? argv[1] : "";
    try {
        if (where == "cpu") {
            run_all(cpu{}, argc, argv);
        } else if (where == "gpu") {
            const gpu_stream stream;
            run_all(gpu(stream), argc, argv);
        } else {
            fmt::print("usage: sequence_bench cpu|gpu SEQUENCE...\n");
            return 2;
        }
    } catch (const error& e) {
        fmt::print(stderr, "{}\n", e.what());
        return 3;
    }
}
