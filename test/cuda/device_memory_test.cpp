// The n-th allocation of GPU memory fails, for every n: what is thrown derives from nz::error or is
// std::bad_alloc, nothing is leaked, and afterwards all works. This program has its own
// allocate_device. Skipped, and said so, where there is no GPU.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "nonzero/core/format.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/graph/pagerank.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/solve/eigs/eigs.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/preconditioners/gauss_seidel.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/files.hpp"
#include "test/products.hpp"

namespace nz {
namespace {
std::atomic<std::int64_t> allocations = 0, fails_at = -1, alive = 0;
}

void* device_array<void>::allocate(gpu on, std::size_t bytes) {
    if (++allocations == fails_at) throw device_error("this allocation fails for the test's sake");
    const device_guard guard(on);
    void* at = nullptr;
    if (cudaMalloc(&at, bytes) != cudaSuccess) throw device_error("cudaMalloc failed");
    ++alive;
    return at;
}
void device_array<void>::release(gpu on, void* at) noexcept {
    const device_guard guard(on);
    cudaFree(at);
    --alive;
}

}  // namespace nz

namespace nz::test {
namespace {

class device_memory_fails : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    }
};

/// scenario() with the n-th allocation failing, n = 1, 2, ... until it needs fewer. It may succeed
/// before, by another way.
void for_every_allocation(const std::string& name, const std::function<void()>& scenario) {
    scenario();  // what is kept for good is made once
    const std::int64_t before = alive;
    std::int64_t n = 0, threw = 0;
    do {
        allocations = 0, fails_at = ++n;
        try {
            scenario();
        } catch (const std::bad_alloc&) {
            ++threw;
        } catch (const error&) {
            ++threw;
        }
        ASSERT_EQ(alive, before) << name << " leaks where allocation " << n << " fails";
    } while (allocations >= n && n < 3000);
    fails_at = -1;
    EXPECT_LT(n, 3000) << name;
    scenario();
    std::printf("[   gpu    ] %s: %lld allocations failed one by one, %lld threw\n", name.c_str(),
                static_cast<long long>(n - 1), static_cast<long long>(threw));
}

template <class V>
void expect_product(gpu on, const linear_operator<V, gpu>& op, const csr<V, host>& A) {
    const auto x = random_vector<V>(std::size_t(A.shape.cols), 1);
    const auto want = reference_product<V>(transposition::plain, V(1), view(A), x, V(0), {});
    const auto on_device = to_device<V>(on, x);
    device_array<V> y(on, std::size_t(A.shape.rows));
    op.apply(V(1), on_device, V(0), y);
    EXPECT_TRUE(compare<V>(to_host<V>(on, y), want).holds());
}

TEST_F(device_memory_fails, every_method_from_either_side) {
    const gpu_stream stream;
    const gpu on = stream;
    const auto A = rmat<double>(9, 8, 0.57, 0.19, 0.19, 2);
    const matrix_stats stats = compute_stats(view(A));
    for (const method<double>& m : methods<double>()) {
        if (m.on_gpu == nullptr || !m.cost_on_gpu(stats).declined.empty()) continue;
        for_every_allocation(std::string(m.name), [&] {
            expect_product(on, *build(m, on, view(A)), A);
            if (m.from_device != nullptr) expect_product(on, *build(m, on, view(upload(on, A))), A);
        });
    }
}

TEST_F(device_memory_fails, plans_build_another_method_or_throw) {
    const gpu_stream stream;
    const gpu on = stream;
    auto A = rmat<double>(9, 8, 0.57, 0.19, 0.19, 2);
    auto unordered = A;
    for (std::size_t i = 0; i < std::size_t(A.shape.rows); ++i)
        std::reverse(unordered.col_ind.begin() + A.row_ptr[i],
                     unordered.col_ind.begin() + A.row_ptr[i + 1]);
    for (const auto& M : {A, unordered})
        for (const bool transposed : {false, true}) {
            const plan_options o{.transposed = transposed};
            for_every_allocation("plan and build from the CPU", [&] {
                const auto p = make_plan(M, on, o);
                auto op = build(p, M);
                expect_product(on, *op, M);
                update_values(op, p, view(M));
                expect_product(on, *op, M);
            });
            for_every_allocation("plan and build from the GPU", [&] {
                const auto on_device = upload(on, M);
                const auto p = make_plan(on_device, on, o);
                auto op = build(p, on_device);
                update_values(op, p, view(on_device));
                expect_product(on, *op, M);
                expect_product(on, *plan_and_build(view(on_device), on, o).op, M);
            });
        }
    // The first allocation of a build fails, and the next method is built.
    auto p = make_plan(A, on);
    std::stable_sort(p.candidates.begin(), p.candidates.end(), [](const auto& a, const auto& b) {
        return a.matrix_bytes >
               b.matrix_bytes;  // the largest is chosen, so that others are smaller
    });
    allocations = 0, fails_at = 1;
    const auto op = build(p, A);
    fails_at = -1;
    EXPECT_NE(op->method_name(), p.chosen().method);
    expect_product(on, *op, A);
}

TEST_F(device_memory_fails, solvers) {
    const gpu_stream stream;
    const gpu on = stream;
    const auto A = laplace2d<double>(40, 40);
    const auto op = build(make_plan(A, on), A);
    const auto b = random_vector<double>(1600, 3);
    const auto solved = [&](auto solve) {
        return [&, solve] {
            const auto on_device = to_device<double>(on, b);
            auto x = to_device<double>(on, host_vector<double>(1600, 0));
            EXPECT_TRUE(solve(on_device, x).converged);
        };
    };
    for_every_allocation(
        "cg", solved([&](const auto& f, auto& x) { return cg<double, gpu>(on, *op, f, x); }));
    for_every_allocation("cg and jacobi", solved([&](const auto& f, auto& x) {
                             return cg<double, gpu>(on, *op, *jacobi<double, gpu>(on, view(A)), f,
                                                    x);
                         }));
    for_every_allocation("cg and gauss_seidel", solved([&](const auto& f, auto& x) {
                             return cg<double, gpu>(on, *op,
                                                    *gauss_seidel<double, gpu>(on, view(A)), f, x);
                         }));
    for_every_allocation("cg and amg", solved([&](const auto& f, auto& x) {
                             return cg<double, gpu>(on, *op, amg<double, gpu>(A, on), f, x);
                         }));
    const auto there = upload(on, A);
    amg<double, gpu> M(view(there), on);
    for_every_allocation("amg of a matrix that lies there",
                         [&] { (void)amg<double, gpu>(view(there), on); });
    for_every_allocation("values taken by amg", [&] { M.take_values(view(there)); });
    for_every_allocation("bicgstab", solved([&](const auto& f, auto& x) {
                             return bicgstab<double, gpu>(on, *op, f, x);
                         }));
    for_every_allocation("gmres", solved([&](const auto& f, auto& x) {
                             return gmres<double, gpu>(on, *op, f, x, gmres_options{});
                         }));
}

TEST_F(device_memory_fails, graphs_and_eigenpairs) {
    const gpu_stream stream;
    const gpu on = stream;
    const auto G = rmat<double>(9, 8, 0.57, 0.19, 0.19, 2);
    for_every_allocation("pagerank", [&] {
        EXPECT_TRUE(
            (pagerank<double, gpu>(on, view(G), pagerank_options::links::row_links_to_column)
                 .report.converged));
    });
}

}  // namespace
}  // namespace nz::test
