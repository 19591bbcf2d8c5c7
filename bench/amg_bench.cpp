// Multigrid-preconditioned conjugate gradients: setup, cycle and solve, in double and with cycles
// in single precision, and all of nz::solve of a matrix in the CPU's memory, beside conjugate
// gradients alone and with Jacobi's preconditioner; b = 1, x0 = 0, 1e-8.
//   amg_bench cpu|gpu laplace3d:160 elasticity3d:32 fem_thermal3d_p1.npz ...
// One JSON object on standard output.
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>

#include "nonzero/core/format.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/plan/machine.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/multigrid/cycle.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "nonzero/solve/solve.hpp"
#include "nonzero_commit.hpp"

namespace {

using namespace nz;
using json = nlohmann::json;

void wait_for(cpu) {}
void wait_for(gpu on) { synchronize(on); }

/// Seconds by the clock, and of all threads' computing: those stand while others use the machine.
struct seconds {
    double wall = 1e300, computing = 1e300;
};

/// The least of `turns` runs of f, which returns when its work is done. Before each, untimed,
/// `prepare`.
seconds least(
    int turns, const std::function<void()>& f, const std::function<void()>& prepare = [] {}) {
    seconds s;
    for (int k = 0; k < turns; ++k) {
        prepare();
        const auto start = std::chrono::steady_clock::now();
        const std::clock_t before = std::clock();
        f();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        s.wall = std::min(s.wall, took.count());
        s.computing = std::min(s.computing, double(std::clock() - before) / double(CLOCKS_PER_SEC));
    }
    return s;
}
void add(json& to, const std::string& name, const seconds& s) {
    to[name + "_s"] = s.wall, to[name + "_cpu_s"] = s.computing;
}

struct problem {
    csr<double, host> A;
    candidates<double> near;
    amg_options options = {};
};

problem make_problem(const std::string& name) {
    const auto colon = name.find(':');
    if (colon == std::string::npos) return {read<double>(name), {}};
    const auto n = nz::index(std::stoi(name.substr(colon + 1)));
    if (name.substr(0, colon) == "laplace3d") return {laplace3d<double>(n, n, n), {}};
    if (name.substr(0, colon) != "elasticity3d") throw argument_error("no problem " + name);
    return {elasticity3d<double>(n, n, n, 0.3),
            rigid_body_modes<double>(elasticity3d_nodes(n, n, n)),
            {.strength = 0, .block = 3}};
}

template <class B>
class solver_bench {
  public:
    solver_bench(B on, const problem& p)
        : on_(on), p_(p), op_(build(make_plan(p.A, on), p.A)), space_(on, p.A.shape.rows) {}

    json run() {
        const auto& A = p_.A;
        json r{{"rows", A.shape.rows},
               {"nonzeros", A.val.size()},
               {"product", op_->method_name()},
               {"product_us", repeated_us(*op_)}};
        r["cg"] = solve(nullptr);
        r["jacobi_cg"] = solve(jacobi<double, B>(on_, view(A)).get());
        std::unique_ptr<amg<double, B>> M;
        const auto set_up = [&] {
            M = std::make_unique<amg<double, B>>(A, on_, p_.options, p_.near, op_.get());
            wait_for(on_);
        };
        set_up();  // loads kernels and fills pools
        add(r, "setup", least(2, set_up, [&] { M.reset(); }));
        add(r, "take_values", least(3, [&] {
                M->take_values(A);
                wait_for(on_);
            }));
        if constexpr (std::is_same_v<B, gpu>) add_from_gpu(r);
        for (const auto& l : M->report().levels)
            r["levels"].push_back({{"rows", l.rows}, {"nonzeros", l.nnz}, {"method", l.method}});
        r["operator_complexity"] = M->report().operator_complexity();
        r["cycle_us"] = repeated_us(*M);
        r["amg_cg"] = solve(M.get());
        r["convergence_factor"] = convergence_factor<double, B>(on_, *op_, *M);
        M.reset();
        r["rounded_to_single"] = in_single_precision();
        r["solve_from_cpu"] = from_the_cpus_memory();
        return r;
    }

  private:
    /// Plan and setup, and values taken, of a matrix that lies on the GPU.
    void add_from_gpu(json& r) {
        const auto there = upload(on_, p_.A);
        amg_options o = p_.options;
        o.block = std::max(o.block, 1);
        std::unique_ptr<amg<double, B>> M;
        add(r, "plan_and_setup_from_gpu",
            least(
                3,
                [&] {
                    M = std::make_unique<amg<double, B>>(view(there), on_, o, p_.near);
                    wait_for(on_);
                },
                [&] { M.reset(); }));
        M = std::make_unique<amg<double, B>>(view(there), on_, o, p_.near, op_.get());
        add(r, "setup_from_gpu",
            least(
                3,
                [&] {
                    M = std::make_unique<amg<double, B>>(view(there), on_, o, p_.near, op_.get());
                    wait_for(on_);
                },
                [&] { M.reset(); }));
        add(r, "take_values_from_gpu", least(3, [&] {
                M->take_values(view(there));
                wait_for(on_);
            }));
    }
    /// The cycle in single precision.
    json in_single_precision() {
        amg_options o = p_.options;
        o.precision = value_storage::single;
        std::unique_ptr<amg<double, B>> M;
        const auto set_up = [&] {
            M = std::make_unique<amg<double, B>>(p_.A, on_, o, p_.near, op_.get());
            wait_for(on_);
        };
        set_up();
        json r;
        add(r, "setup", least(2, set_up, [&] { M.reset(); }));
        add(r, "take_values", least(3, [&] {
                M->take_values(p_.A);
                wait_for(on_);
            }));
        r["cycle_us"] = repeated_us(*M);
        r["amg_cg"] = solve(M.get());
        return r;
    }
    /// nz::solve of a matrix and vectors in the CPU's memory: everything, to the answer there.
    json from_the_cpus_memory() {
        const host_vector<double> b(std::size_t(p_.A.shape.rows), 1.0);
        host_vector<double> x(b.size());
        system_options o;
        o.block = std::max(p_.options.block, 1), o.near = p_.near;
        system_report report;
        json r;
        add(r, "solve",
            least(
                4, [&] { report = nz::solve<double>(on_, view(p_.A), b, x, o); },
                [&] { std::ranges::fill(x, 0.0); }));
        const auto& won = report.result();
        r["plan_s"] = report.plan_s, r["preconditioner_s"] = won.preconditioner_s;
        r["iterations_s"] = won.solve_s, r["iterations"] = won.report.iterations;
        r["preconditioner"] = name_of(won.preconditioner), r["converged"] = report.converged();
        return r;
    }
    double repeated_us(const linear_operator<double, B>& M) {
        constexpr int products = 10;
        auto x = space_.make(), y = space_.make();
        space_.fill(1.0, x);
        const auto some = [&] {
            for (int k = 0; k < products; ++k) M.apply(1.0, x, 0.0, y);
            wait_for(on_);
        };
        return least(4, some).wall / products * 1e6;
    }
    json solve(const linear_operator<double, B>* M) {
        auto x = space_.make(), b = space_.make();
        space_.fill(1.0, b);
        solve_report report;
        const seconds s = least(3, [&] {
            space_.fill(0.0, x);
            report =
                M != nullptr ? cg<double, B>(on_, *op_, *M, b, x) : cg<double, B>(on_, *op_, b, x);
            wait_for(on_);
        });
        json r{{"iterations", report.iterations},
               {"converged", report.converged},
               {"relative_residual", report.relative_residual()}};
        add(r, "solve", s);
        return r;
    }

    B on_;
    const problem& p_;
    std::unique_ptr<linear_operator<double, B>> op_;
    vector_space<double, B> space_;
};

template <class B>
void run_all(B on, int argc, char** argv) {
    json all{{"commit", built_commit},
             {"dirty", built_dirty},
             {"threads", thread_count(cpu{})},
             {"cpu", describe_machine().cpu}};
    for (int k = 2; k < argc; ++k) {
        const problem p = make_problem(argv[k]);
        all["problems"][argv[k]] = solver_bench<B>(on, p).run();
    }
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
            fmt::print("usage: amg_bench cpu|gpu PROBLEM...\n");
            return 2;
        }
    } catch (const error& e) {
        fmt::print(stderr, "{}\n", e.what());
        return 3;
    }
}
