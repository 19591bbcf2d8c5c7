// Several right-hand sides over one: multigrid-preconditioned conjugate gradients in step, with
// cycles in double and in single precision; random b, x0 = 0, 1e-8.
//   several_bench cpu|gpu COUNT laplace2d:500 laplace3d:100 ...
// One JSON object on standard output.
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "nonzero/core/threads.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/plan/machine.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/vector/vectors.hpp"
#include "nonzero_commit.hpp"

namespace {

using namespace nz;
using json = nlohmann::json;

void wait_for(cpu) {}
void wait_for(gpu on) { synchronize(on); }

/// The least of three runs of f after one that warms up  [s]; before each, untimed, `prepare`.
double least(const std::function<void()>& f, const std::function<void()>& prepare) {
    double s = 1e300;
    for (int k = 0; k < 4; ++k) {
        prepare();
        const auto start = std::chrono::steady_clock::now();
        f();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        if (k > 0) s = std::min(s, took.count());
    }
    return s;
}

csr<double, host> make_matrix(const std::string& name) {
    const auto colon = name.find(':');
    const std::string kind = name.substr(0, colon);
    if (colon == std::string::npos || (kind != "laplace2d" && kind != "laplace3d"))
        throw argument_error("no problem " + name);
    const auto n = nz::index(std::stoi(name.substr(colon + 1)));
    return kind == "laplace2d" ? laplace2d<double>(n, n) : laplace3d<double>(n, n, n);
}

/// Time and iterations of a solve.
json told(double seconds, const std::vector<solve_report>& all) {
    std::int64_t least_iterations = all.front().iterations, most = 0;
    bool converged = true;
    for (const solve_report& r : all) {
        least_iterations = std::min(least_iterations, r.iterations);
        most = std::max(most, r.iterations);
        converged = converged && r.converged;
    }
    return {
        {"solve_s", seconds}, {"iterations", {least_iterations, most}}, {"converged", converged}};
}

template <class B>
json run(B on, const csr<double, host>& A, nz::index count) {
    const auto n = std::size_t(A.shape.rows);
    const auto single = build(make_plan(A, on), A);
    const auto many = build(make_plan(A, on, {.vectors = count}), A);
    const amg<double, B> of_one(A, on, {}, {}, single.get()), M(A, on, {}, {}, many.get());
    const amg<double, B> rounded(A, on, {.precision = value_storage::single}, {}, many.get());
    host_vector<double> values(n * std::size_t(count));
    std::mt19937_64 random(1);
    for (double& v : values) v = std::uniform_real_distribution<>(-1, 1)(random);
    const auto b = from_host(on, std::span<const double>(values));
    auto x = make_vector<double>(on, values.size());
    const auto zero = [&] {
        const host_vector<double> zeros(values.size(), 0.0);
        x = from_host(on, std::span<const double>(zeros));
        wait_for(on);
    };
    std::vector<solve_report> reports(1);
    const double one_s = least(
        [&] {
            reports[0] = cg<double, B>(on, *single, of_one, in<double, B>{b.data(), n},
                                       out<double, B>{x.data(), n});
        },
        zero);
    json r{{"rows", n}, {"count", count}, {"product", single->method_name()}};
    r["product_of_several"] = many->method_name();
    r["one"] = told(one_s, reports);
    const auto stride = std::size_t(count);
    const auto solve_all = [&](const amg<double, B>& by) {
        return least(
            [&] {
                reports = cg<double, B>(on, *many, by, {b, stride, count, storage_order::row_major},
                                        {x, stride, count, storage_order::row_major});
            },
            zero);
    };
    const double all_s = solve_all(M);
    r["several"] = told(all_s, reports);
    r["over_one"] = all_s / one_s;
    const double in_single_s = solve_all(rounded);
    r["several_in_single"] = told(in_single_s, reports);
    r["in_single_over_one"] = in_single_s / one_s;
    return r;
}

template <class B>
void run_all(B on, int argc, char** argv) {
    json all{{"commit", built_commit},
             {"dirty", built_dirty},
             {"threads", thread_count(cpu{})},
             {"cpu", describe_machine().cpu}};
    for (int k = 3; k < argc; ++k)
        all["problems"][argv[k]] = run(on, make_matrix(argv[k]), nz::index(std::stoi(argv[2])));
    fmt::print("{}\n", all.dump(1));
}

}  // namespace

int main(int argc, char** argv) {
    const std::string where = argc > 3 ? argv[1] : "";
    try {
        if (where == "cpu") {
            run_all(cpu{}, argc, argv);
        } else if (where == "gpu") {
            const gpu_stream stream;
            run_all(gpu(stream), argc, argv);
        } else {
            fmt::print("usage: several_bench cpu|gpu COUNT PROBLEM...\n");
            return 2;
        }
    } catch (const error& e) {
        fmt::print(stderr, "{}\n", e.what());
        return 3;
    }
}
