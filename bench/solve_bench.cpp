// One iteration of conjugate gradients on a GPU: ours, that of NVIDIA's libraries, and what its
// product and its vectors' bytes take. Prints JSON; docs/experiments/solvers-measured.md has the
// table.
//
//   solve_bench [--iterations 300] [--rounds 5] MATRIX...
//
// MATRIX: a file, or laplace3d:N for the 7-point Laplacian on N x N x N points.
#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "bench/peers/cg_cusparse.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/gen/counter.hpp"
#include "nonzero/nonzero.hpp"
#include "nonzero/plan/gpu_machine.hpp"
#include "nonzero/plan/timing/measure.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {
namespace {

/// Bytes a second that the vectors are held against: what an H200 streams.
constexpr double vector_bandwidth = 4.2e12;
/// Vectors that an iteration reads and writes.
constexpr int vectors_moved = 10;

csr<double, host> matrix_of(const std::string& name) {
    if (name.starts_with("laplace3d:")) {
        const auto n = index(std::atoi(name.c_str() + 10));
        return laplace3d<double>(n, n, n);
    }
    return read<double>(name);
}

/// Seconds of one product of those in a row, events for a clock.
double product_seconds(gpu on, const linear_operator<double, gpu>& A, device_span<double> x,
                       device_out<double> y) {
    const timed_runs product = [&](std::int64_t runs) {
        gpu_event first, last;
        first.record(on);
        for (std::int64_t k = 0; k < runs; ++k) A.apply(1, x, 0, y);
        last.record(on);
        return last.seconds_since(first);
    };
    return time_interleaved(std::span(&product, 1), {.seconds = 0.1})[0].median_s;
}

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

nlohmann::json bench(gpu on, const std::string& name, std::int64_t iterations, int rounds) {
    const auto A = matrix_of(name);
    const auto n = std::size_t(A.shape.rows);
    const auto op = build(make_plan(A, on), A);
    host_vector<double> b_here(n);
    for (std::size_t i = 0; i < n; ++i) b_here[i] = counter(1, i).uniform(0);
    const auto b = from_host(on, std::span<const double>(b_here));
    const host_vector<double> zero(n, 0.0);
    auto x = from_host(on, std::span<const double>(zero)), y = from_host(on, std::span(zero));
    const double product_s = product_seconds(on, *op, b, y);
    // tol = 0: all of them iterate as often.
    const auto ours = [&](bool graph) {
        copy_to_device(on, zero.data(), x.data(), n * sizeof(double));
        return cg<double, gpu>(on, *op, b, x, {.tol = 0, .max_iter = iterations, .graph = graph});
    };
    std::vector<double> in_graph, launched, peer, setup;
    solve_report last;
    peers::peer_cg_report last_peer;
    for (int k = 0; k < rounds; ++k) {
        last = ours(true);
        in_graph.push_back(last.iteration_s()), setup.push_back(last.setup_s);
        launched.push_back(ours(false).iteration_s());
        last_peer = peers::cusparse_cg(on, view(A), b, x, 0, iterations);
        peer.push_back(last_peer.iterations_s / double(last_peer.iterations));
    }
    const double floor_s =
        product_s + vectors_moved * double(n) * sizeof(double) / vector_bandwidth;
    return {{"matrix", name},
            {"rows", A.shape.rows},
            {"nonzeros", A.val.size()},
            {"method", op->method_name()},
            {"in_graph", last.in_graph},
            {"iterations", last.iterations},
            {"why", last.why},
            {"residual", last.history.back()},
            {"peer_residual", last_peer.residual_norm / last.rhs_norm},
            {"product_us", product_s * 1e6},
            {"floor_us", floor_s * 1e6},
            {"iteration_us", median(in_graph) * 1e6},
            {"iteration_without_graph_us", median(launched) * 1e6},
            {"peer_iteration_us", median(peer) * 1e6},
            {"setup_us", median(setup) * 1e6},
            {"over_floor", median(in_graph) / floor_s},
            {"peer_over_ours", median(peer) / median(in_graph)}};
}

int run(const std::vector<std::string>& arguments) {
    std::int64_t iterations = 300;
    int rounds = 5;
    const gpu_stream stream;
    const gpu on = stream;
    nlohmann::json all = {{"machine", describe_gpu(on).name}, {"results", nlohmann::json::array()}};
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        if (arguments[k] == "--iterations" && k + 1 < arguments.size()) {
            iterations = std::atoll(arguments[++k].c_str());
        } else if (arguments[k] == "--rounds" && k + 1 < arguments.size()) {
            rounds = std::atoi(arguments[++k].c_str());
        } else {
            all["results"].push_back(bench(on, arguments[k], iterations, rounds));
        }
    }
    fmt::print("{}\n", all.dump(2));
    return 0;
}

}  // namespace
}  // namespace nz

int main(int argc, char** argv) {
    try {
        return nz::run({argv + 1, argv + argc});
    } catch (const std::exception& e) {
        fmt::print(stderr, "solve_bench: {}\n", e.what());
        return 4;
    }
}
