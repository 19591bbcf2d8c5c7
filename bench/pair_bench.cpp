// A and A^T on a GPU: what the setup of both takes from a CSR that lies there, and their products;
// and, with a number of triplets and a right-hand side, the largest singular values and lsmr, setup
// included. Of setups the median of 21 takes, of all else the least. One line of JSON a matrix.
//
//   pair_bench FILE...
//   pair_bench --solve COUNT TOL RHS FILE      RHS: a vector's file; atol = btol = TOL,
//                                              2,000 iterations at most
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "nonzero/core/format.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/plan/gpu_machine.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/least_squares/least_squares.hpp"
#include "nonzero/solve/least_squares/svds.hpp"
#include "nonzero/vector/vectors.hpp"
#include "nonzero_commit.hpp"

namespace {

using json = nlohmann::json;
using matrix = nz::csr<double, nz::device>;

template <class F>
double seconds_of(nz::gpu on, F f) {
    nz::synchronize(on);
    const auto start = std::chrono::steady_clock::now();
    f();
    nz::synchronize(on);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
template <class F>
double least_of(int takes, nz::gpu on, F f) {
    double least = seconds_of(on, f);
    for (int k = 1; k < takes; ++k) least = std::min(least, seconds_of(on, f));
    return least;
}

auto pair_of(nz::gpu on, const matrix& A) {
    return nz::plan_and_build(nz::view(A), on, {.expected_products = 200, .transposed = true}).op;
}

json time_pair(nz::gpu on, const matrix& A) {
    std::vector<double> setups;
    for (int k = 0; k < 21; ++k) setups.push_back(seconds_of(on, [&] { (void)pair_of(on, A); }));
    std::ranges::sort(setups);
    const auto op = pair_of(on, A);
    constexpr int products = 100;
    const nz::host_vector<double> ones(std::size_t(std::max(A.shape.rows, A.shape.cols)), 1.0);
    const auto rows = std::size_t(A.shape.rows), cols = std::size_t(A.shape.cols);
    auto x = nz::from_host(on, std::span<const double>(ones).first(cols));
    auto y = nz::from_host(on, std::span<const double>(ones).first(rows));
    const double plain = least_of(5, on, [&] {
        for (int k = 0; k < products; ++k) op->apply(1, x, 0, y);
    });
    const double transposed = least_of(5, on, [&] {
        for (int k = 0; k < products; ++k)
            op->apply_transposed(nz::transposition::transpose, 1, y, 0, x);
    });
    return {{"setup_s", setups[setups.size() / 2]},
            {"product_s", plain / products},
            {"transposed_s", transposed / products}};
}

json time_svds(nz::gpu on, const matrix& A, int count, double tol) {
    nz::svds_options::result<double> found;
    const double s = least_of(5, on, [&] {
        const auto op = pair_of(on, A);
        found = nz::svds<double, nz::gpu>(on, *op, {.count = count, .tol = tol});
    });
    return {{"wall", s},
            {"values", found.values},
            {"residual", std::ranges::max(found.report.residuals)},
            {"products", found.report.products},
            {"restarts", found.report.restarts}};
}

json time_lsmr(nz::gpu on, const matrix& A, double tol, std::span<const double> b) {
    const auto rhs = nz::from_host(on, b);
    const nz::host_vector<double> zero(std::size_t(A.shape.cols), 0.0);
    nz::least_squares_options::report report;
    const double s = least_of(3, on, [&] {
        const auto op = pair_of(on, A);
        auto x = nz::from_host(on, std::span<const double>(zero));
        report = nz::lsmr<double, nz::gpu>(on, *op, rhs, x,
                                           {.atol = tol, .btol = tol, .max_iter = 2000});
    });
    return {{"wall", s},
            {"iterations", report.iterations},
            {"residual", report.residual_norm / report.rhs_norm},
            {"gradient", report.gradient_norm / (report.norm * report.residual_norm)}};
}

}  // namespace

int main(int argc, char** argv) try {
    const bool solves = argc == 6 && std::string_view(argv[1]) == "--solve";
    if (argc < 2 || (!solves && argv[1][0] == '-')) {
        fmt::print(stderr, "usage: pair_bench FILE... or --solve COUNT TOL RHS FILE\n");
        return 2;
    }
    const nz::gpu on{};
    for (int k = solves ? 5 : 1; k < argc; ++k) {
        const std::string path = argv[k];
        const auto here = nz::read<double>(path);
        const matrix A = nz::upload(on, nz::view(here));
        json told{{"matrix", path.substr(path.rfind('/') + 1)},
                  {"rows", A.shape.rows},
                  {"cols", A.shape.cols},
                  {"nnz", A.val.size()},
                  {"gpu", nz::describe_gpu(on).name},
                  {"commit", nz::built_commit}};
        told.update(time_pair(on, A));
        if (solves) {
            const double tol = std::stod(argv[3]);
            told["svds"] = time_svds(on, A, std::stoi(argv[2]), tol);
            told["lsmr"] = time_lsmr(on, A, tol, nz::read_vector<double>(argv[4]));
        }
        fmt::print("{}\n", told.dump());
    }
} catch (const std::exception& e) {
    fmt::print(stderr, "pair_bench: {}\n", e.what());
    return 3;
}
