// Time to check a matrix before it is planned, and to bring its rows in order: beside making the
// plan and building it. One line of JSON a matrix and backend.
//
//   check_bench FILE...
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <random>

#include "nonzero/core/format.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/matrix/order.hpp"
#include "nonzero/plan/machine.hpp"
#include "nonzero/plan/plan.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

/// The least of some runs, in seconds.
template <class F>
double least_s(F f) {
    constexpr int runs = 7;
    double least = 1e300;
    for (int run = 0; run < runs; ++run) {
        const auto start = clock_type::now();
        f();
        least = std::min(least, std::chrono::duration<double>(clock_type::now() - start).count());
    }
    return least;
}

/// A with the entries of every row in another order.
nz::csr<double, nz::host> shuffled(nz::csr<double, nz::host> A) {
    std::mt19937_64 rng(1);
    for (std::size_t i = 0; i < std::size_t(A.shape.rows); ++i)
        std::shuffle(A.col_ind.begin() + A.row_ptr[i], A.col_ind.begin() + A.row_ptr[i + 1], rng);
    return A;
}

nlohmann::json of_cpu(const nz::csr<double, nz::host>& A) {
    const nz::cpu on{};
    const auto plan = nz::make_plan(A, on);
    const auto B = shuffled(A);
    const auto known = nz::ascending<double>::known(view(A));
    return {{"backend", "cpu"},
            {"threads", nz::thread_count(on)},
            {"check_s", least_s([&] { (void)nz::order_of(on, view(A)); })},
            {"plan_s", least_s([&] { (void)nz::make_plan(A, on); })},
            {"plan_known_s", least_s([&] { (void)nz::make_plan(known, on); })},
            {"build_s", least_s([&] { (void)nz::build(plan, A); })},
            {"order_s", least_s([&] { (void)nz::canonical(view(B)); })}};
}

nlohmann::json of_gpu(const nz::csr<double, nz::host>& A) {
    const nz::gpu_stream stream;
    const nz::gpu on = stream;
    const auto on_device = upload(on, A), other = upload(on, shuffled(A));
    const auto plan = nz::make_plan(on_device, on);
    const auto known = nz::ascending<double, nz::gpu>::known(view(on_device), on);
    return {{"backend", "gpu"},
            {"check_s", least_s([&] { (void)nz::order_of(on, view(on_device)); })},
            {"plan_s", least_s([&] { (void)nz::make_plan(on_device, on); })},
            {"plan_and_build_s", least_s([&] { (void)nz::plan_and_build(view(on_device), on); })},
            {"build_s", least_s([&] { (void)nz::build(plan, on_device); })},
            {"build_known_s", least_s([&] { (void)nz::build(plan, known); })},
            {"order_s", least_s([&] {
                 (void)nz::canonical(on, view(other));
                 nz::synchronize(on);
             })}};
}

}  // namespace

int main(int argc, char** argv) try {
    for (const std::string file : std::span(argv, std::size_t(argc)).subspan(1)) {
        const auto A = nz::read<double>(file);
        for (const bool gpu : {false, true}) {
            if (gpu && !nz::why_no_gpu().empty()) continue;
            nlohmann::json j = gpu ? of_gpu(A) : of_cpu(A);
            j["matrix"] = file, j["rows"] = A.shape.rows, j["entries"] = A.val.size();
            j["csr_bytes"] = nz::bytes(A);
            fmt::print("{}\n", j.dump());
        }
    }
} catch (const std::exception& e) {
    fmt::print(stderr, "check_bench: {}\n", e.what());
    return 1;
}
