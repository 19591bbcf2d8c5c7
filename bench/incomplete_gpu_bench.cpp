// ILU(0) on a GPU beside cuSPARSE's: setup, application and solve, to 1e-8, b = 1, x0 = 0. cg where
// A is symmetric, else bicgstab.
//   incomplete_gpu_bench RESULT.json laplace3d:100 convection3d:100 A.mtx ...
#include <fmt/core.h>

#include <cmath>
#include <fstream>
#include <functional>

#include "bench/peers/ilu_cusparse.hpp"
#include "bench/problems.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/plan/gpu_machine.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"
#include "nonzero/solve/preconditioners/ilu.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "nonzero/vector/vectors.hpp"
#include "nonzero_commit.hpp"

namespace {

using namespace nz;
using gpu_operator = linear_operator<double, gpu>;

/// Seconds of one of 20 calls, the least of 5 takes.
double seconds_of(gpu on, const std::function<void()>& f) {
    constexpr int calls = 20;
    double least = 1e300;
    for (int take = 0; take < 5; ++take) {
        synchronize(on);
        const auto start = steady_clock::now();
        for (int k = 0; k < calls; ++k) f();
        synchronize(on);
        least = std::min(least, seconds_since(start) / calls);
    }
    return least;
}

class bench {
  public:
    bench(gpu on, const csr<double, host>& A)
        : on_(on),
          A_(A),
          n_(std::size_t(A.shape.rows)),
          symmetric_(is_symmetric(view(A))),
          op_(build(make_plan(A, on), A)),
          b_(from_host(on, std::span<const double>(host_vector<double>(n_, 1.0)))) {}

    json run_all() {
        const auto A = view(A_);
        using solves = incomplete_options::triangular_solves;
        run("jacobi", [&] { return jacobi(on_, A); });
        run("ilu", [&] { return ilu(on_, A); });
        const auto ours = run("ilu exact", [&] { return ilu(on_, A, {.solves = solves::exact}); });
        double factor_s = 0, analysis_s = 0;
        const auto theirs = run("cusparse", [&] {
            const auto peer = std::make_shared<peers::cusparse_ilu>(on_, A);
            factor_s = peer->factor_s(), analysis_s = peer->analysis_s();
            auto made =
                make_operator<double>(on_, A_.shape, [peer](auto x, auto y) { peer->apply(x, y); });
            return std::make_unique<decltype(made)>(std::move(made));
        });
        double apart = 0, size = 0;
        for (std::size_t i = 0; i < n_; ++i)
            apart += norm2(ours[i] - theirs[i]), size += norm2(theirs[i]);
        const double difference = std::sqrt(apart / size);
        fmt::print("  cusparse: {:.3f} ms factors, {:.3f} ms analysis; results differ by {:.1e}\n",
                   factor_s * 1e3, analysis_s * 1e3, difference);
        return {{"rows", n_},
                {"entries", A_.val.size()},
                {"cusparse_factor_s", factor_s},
                {"cusparse_analysis_s", analysis_s},
                {"difference", difference},
                {"preconditioners", results_}};
    }

  private:
    /// M^-1 b.
    host_vector<double> run(const std::string& name,
                            const std::function<std::unique_ptr<gpu_operator>()>& make) {
        std::unique_ptr<gpu_operator> M;
        double setup = 1e300;
        for (int turn = 0; turn < 3; ++turn) {
            M.reset();
            synchronize(on_);
            const auto start = steady_clock::now();
            M = make();
            synchronize(on_);
            setup = std::min(setup, seconds_since(start));
        }
        auto x = make_vector<double>(on_, n_);
        const double applied = seconds_of(on_, [&] { M->apply(1, b_, 0, x); });
        auto result = to_host<double>(on_, device_span<double>(x));
        vector_space<double, gpu> space(on_, std::int64_t(n_));
        solve_report r;
        double solve = 1e300;
        for (int turn = 0; turn < 2; ++turn) {
            space.axpby(0, b_, 0, x);
            synchronize(on_);
            const auto start = steady_clock::now();
            r = symmetric_ ? cg<double, gpu>(on_, *op_, *M, b_, x)
                           : bicgstab<double, gpu>(on_, *op_, *M, b_, x);
            solve = std::min(solve, seconds_since(start));
        }
        fmt::print("  {:16} setup {:9.3f} ms  applied {:9.4f} ms  {:6} iterations {:9.3f} ms  {}\n",
                   name, setup * 1e3, applied * 1e3, r.iterations, solve * 1e3, name_of(r.status));
        std::fflush(stdout);
        results_.push_back({{"preconditioner", name},
                            {"setup_s", setup},
                            {"applied_s", applied},
                            {"iterations", r.iterations},
                            {"solve_s", solve},
                            {"status", name_of(r.status)}});
        return result;
    }

    gpu on_;
    const csr<double, host>& A_;
    std::size_t n_;
    bool symmetric_;
    std::unique_ptr<gpu_operator> op_;
    vector<double, gpu> b_;
    json results_ = json::array();
};

}  // namespace

int main(int count, char** arguments) {
    try {
        if (count < 3) throw argument_error("wants RESULT.json PROBLEM ...");
        const gpu_stream stream;
        json all{
            {"commit", built_commit}, {"dirty", built_dirty}, {"gpu", describe_gpu(stream).name}};
        for (int k = 2; k < count; ++k) {
            const auto A = make_problem(arguments[k]);
            fmt::print("{}: {} rows, {} entries\n", arguments[k], A.shape.rows, A.val.size());
            all["problems"][arguments[k]] = bench(stream, A).run_all();
        }
        std::ofstream(arguments[1]) << all.dump(1) << "\n";
    } catch (const std::exception& e) {
        fmt::print(stderr, "incomplete_gpu_bench: {}\n", e.what());
        return 1;
    }
}
