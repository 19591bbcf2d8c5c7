// Incomplete factors and approximate inverses beside Jacobi and Gauss-Seidel: setup, application
// and solve, to 1e-8, b = 1, x0 = 0, on the CPU. cg where A is symmetric, else bicgstab.
//   incomplete_bench RESULT.json THREADS laplace3d:40 convection3d:100 A.mtx ...
// A line for each preconditioner.
#include <fmt/core.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <string>

#include "bench/problems.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/preconditioners/fsai.hpp"
#include "nonzero/solve/preconditioners/gauss_seidel.hpp"
#include "nonzero/solve/preconditioners/ic.hpp"
#include "nonzero/solve/preconditioners/ict.hpp"
#include "nonzero/solve/preconditioners/ilu.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "nonzero/solve/preconditioners/spai.hpp"
#include "nonzero_commit.hpp"

namespace {

using namespace nz;
using preconditioner = std::unique_ptr<linear_operator<double, cpu>>;

double seconds_of(const std::function<void()>& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class bench {
  public:
    bench(cpu on, const csr<double, host>& A)
        : on_(on), A_(A), symmetric_(is_symmetric(view(A))), op_(build(make_plan(A, on), A)) {}
    void run(const std::string& name, const std::function<preconditioner()>& make) {
        preconditioner M;
        const double setup = seconds_of([&] { M = make(); });
        const auto n = std::size_t(A_.shape.rows);
        host_vector<double> b(n, 1.0), x(n, 0.0), y(n);
        double product = 1e300, application = 1e300, solve = 1e300;
        for (int turn = 0; turn < 5; ++turn) {
            product = std::min(product, seconds_of([&] { op_->apply(1, b, 0, y); }));
            application = std::min(application, seconds_of([&] { M->apply(1, b, 0, y); }));
        }
        solve_report r;
        for (int turn = 0; turn < 3; ++turn) {
            std::fill(x.begin(), x.end(), 0.0);
            solve = std::min(solve, seconds_of([&] {
                                 r = symmetric_ ? cg<double, cpu>(on_, *op_, *M, b, x)
                                                : bicgstab<double, cpu>(on_, *op_, *M, b, x);
                             }));
        }
        fmt::print(
            "{:14} {:5} iterations{} {:9.3f} ms setup {:8.3f} ms applied ({:5.2f} products) "
            "{:9.3f} ms solve {:8.3f} ms an iteration\n",
            name, r.iterations, r.converged ? " " : "!", setup * 1e3, application * 1e3,
            application / product, solve * 1e3, solve * 1e3 / double(r.iterations));
        if (!r.converged) fmt::print("{:14} did not converge: {}\n", "", r.why);
        std::fflush(stdout);
        results_.push_back({{"preconditioner", name},
                            {"iterations", r.iterations},
                            {"status", name_of(r.status)},
                            {"setup_s", setup},
                            {"product_s", product},
                            {"applied_s", application},
                            {"solve_s", solve}});
    }
    json run_all() {
        const auto A = view(A_);
        run("jacobi", [&] { return jacobi(on_, A); });
        run("sgs", [&] { return gauss_seidel(on_, A); });
        for (const int level : {0, 1, 2})
            run(fmt::format("ilu({})", level), [&] { return ilu(on_, A, {.level = level}); });
        run("ilu(0) approx.", [&] {
            return ilu(on_, A, {.solves = incomplete_options::triangular_solves::approximate});
        });
        for (const int level : {0, 1})
            run(fmt::format("spai({})", level), [&] { return spai(on_, A, {.level = level}); });
        if (!why_not_definite(A).empty()) return results_;
        for (const int level : {0, 1, 2})
            run(fmt::format("ic({})", level), [&] { return ic(on_, A, {.level = level}); });
        run("ict", [&] { return ict(on_, ascending(A)); });
        for (const int level : {0, 1})
            run(fmt::format("fsai({})", level), [&] { return fsai(on_, A, {.level = level}); });
        return results_;
    }

  private:
    cpu on_;
    const csr<double, host>& A_;
    bool symmetric_;
    preconditioner op_;
    json results_ = json::array();
};

}  // namespace

int main(int count, char** arguments) {
    try {
        if (count < 4) throw argument_error("wants RESULT.json THREADS PROBLEM ...");
        const int threads = std::stoi(arguments[2]);
        json all{{"commit", built_commit}, {"dirty", built_dirty}, {"threads", threads}};
        for (int k = 3; k < count; ++k) {
            const auto A = make_problem(arguments[k]);
            fmt::print("{}: {} rows, {} entries\n", arguments[k], A.shape.rows, A.val.size());
            all["problems"][arguments[k]] = bench(cpu{.threads = threads}, A).run_all();
        }
        std::ofstream(arguments[1]) << all.dump(1) << "\n";
    } catch (const std::exception& e) {
        fmt::print(stderr, "incomplete_bench: {}\n", e.what());
        return 1;
    }
}
