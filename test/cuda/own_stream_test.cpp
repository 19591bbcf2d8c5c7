// Ownership of memory, streams and devices: arrays free in the order of their stream on their own
// GPU, captured streams are left alone, and one operator serves several threads. Skipped, and said
// so, where there is no GPU.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "nonzero/core/format.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/files.hpp"
#include "test/products.hpp"

namespace nz::test {
namespace {

class own_stream : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    }
};

cudaStream_t stream_of(gpu on) { return static_cast<cudaStream_t>(on.stream); }

template <class V>
host_vector<V> product(gpu on, const linear_operator<V, gpu>& op, device_span<V> x) {
    device_array<V> y(on, std::size_t(op.shape().rows));
    op.apply(V(1), x, V(0), y);
    return to_host<V>(on, y);
}

/// Keeps the stream busy for some milliseconds.
void keep_busy(gpu on, device_array<std::byte>& some) {
    for (int k = 0; k < 20; ++k) zero_on_device(on, some);
}

TEST_F(own_stream, memory_is_given_back_in_the_order_of_the_stream_without_a_wait) {
    const gpu_stream stream, other;
    device_array<std::byte> some(stream, std::size_t(1) << 30);
    {
        const device_array<double> warm_up(other, 1000);
        synchronize(other);
    }
    keep_busy(stream, some);
    { const device_array<double> brief(other, 1000); }
    EXPECT_EQ(cudaStreamQuery(stream_of(stream)), cudaErrorNotReady) << "the GPU was waited for";
    cudaGetLastError();
    // Memory that is handed out again must not be written before those that still read it are done.
    for (int run = 0; run < 50; ++run) {
        const host_vector<double> ones(1 << 16, 1.0 + run);
        device_array<double> kept(stream, ones.size());
        {
            const auto x = to_device<double>(stream, ones);
            keep_busy(stream, some);
            copy_on_device(stream, x.data(), kept.data(), ones.size() * sizeof(double));
        }
        device_array<double> next(other, ones.size());
        zero_on_device(other, {reinterpret_cast<std::byte*>(next.data()), ones.size() * 8});
        ASSERT_EQ(to_host<double>(stream, kept), ones) << run;
    }
}

TEST_F(own_stream, building_and_destroying_in_a_capture_leaves_it_whole) {
    const auto A = laplace2d<double>(60, 60);
    for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                            cudaStreamCaptureModeRelaxed}) {
        const gpu_stream captured, beside_it;
        const gpu on = captured;
        const auto p = make_plan(A, on);
        const auto op = build(p, A);
        auto doomed = build(p, A);
        const auto x = to_device<double>(on, host_vector<double>(3600, 1.0));
        device_array<double> y(on, 3600);
        const auto want = product<double>(on, *op, x);
        ASSERT_EQ(cudaStreamBeginCapture(stream_of(on), mode), cudaSuccess);
        op->apply(1, x, 0, y);
        try {
            (void)build(p, A);
            ADD_FAILURE() << "built in a capture";
        } catch (const device_error& e) {
            EXPECT_NE(std::string(e.what()).find("captured"), std::string::npos) << e.what();
        }
        EXPECT_THROW((void)make_plan(upload(gpu(beside_it), A), on), device_error);
        EXPECT_THROW((void)device_array<double>(on, 10), device_error);
        EXPECT_THROW((void)to_host<double>(on, x), device_error);
        EXPECT_THROW(synchronize(on), device_error);
        doomed.reset();
        // In another stream all goes on as ever.
        const auto elsewhere = build(make_plan(A, gpu(beside_it)), A);
        EXPECT_EQ(
            product<double>(beside_it, *elsewhere,
                            to_device<double>(gpu(beside_it), host_vector<double>(3600, 1.0))),
            want);
        cudaGraph_t graph = nullptr;
        ASSERT_EQ(cudaStreamEndCapture(stream_of(on), &graph), cudaSuccess) << "mode " << mode;
        cudaGraphExec_t runnable = nullptr;
        ASSERT_EQ(cudaGraphInstantiate(&runnable, graph, 0), cudaSuccess);
        ASSERT_EQ(cudaGraphLaunch(runnable, stream_of(on)), cudaSuccess);
        EXPECT_EQ(to_host<double>(on, y), want);
        cudaGraphExecDestroy(runnable);
        cudaGraphDestroy(graph);
    }
}

TEST_F(own_stream, the_default_stream_refuses_while_one_that_waits_for_it_is_captured) {
    const auto A = laplace2d<double>(20, 20);
    cudaStream_t blocking = nullptr;
    ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed), cudaSuccess);
    EXPECT_THROW((void)build(make_plan(A, gpu{}), A), device_error);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(blocking, &graph), cudaSuccess);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(blocking);
    EXPECT_NO_THROW((void)build(make_plan(A, gpu{}), A));
}

/// Products of two threads, in one stream, by one operator.
template <class V, class Multiply>
int wrong_of_two_threads(gpu on, const host_vector<V>& want, Multiply multiply) {
    std::atomic<int> wrong = 0, ready = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
        threads.emplace_back([&] {
            device_array<V> y(on, want.size());
            ++ready;
            while (ready < 2) {
            }
            for (int run = 0; run < 2000; ++run) multiply(y);
            wrong += !same_bits<V>(to_host<V>(on, y), want);
            for (int run = 0; run < 200; ++run) {
                multiply(y);
                wrong += !same_bits<V>(to_host<V>(on, y), want);
            }
        });
    for (std::thread& t : threads) t.join();
    return wrong;
}

TEST_F(own_stream, one_operator_serves_two_threads) {
    const gpu_stream stream;
    const gpu on = stream;
    auto lengths = std::vector<index>(5000, 9);
    lengths[7] = 60000;
    for (const auto& own :
         {rmat<double>(13, 8, 0.57, 0.19, 0.19, 2), from_lengths<double>(lengths, 70001)}) {
        const auto A = view(own);
        const matrix_stats stats = compute_stats(A);
        const auto x = to_device<double>(on, random_vector<double>(std::size_t(A.shape.cols), 5));
        for (const method<double>& m : methods<double>()) {
            if (m.on_gpu == nullptr || !m.deterministic || !m.cost_on_gpu(stats).declined.empty())
                continue;
            const auto op = build(m, on, A);
            const auto want = product<double>(on, *op, x);
            EXPECT_EQ(
                0, wrong_of_two_threads<double>(on, want, [&](auto& y) { op->apply(1, x, 0, y); }))
                << m.name;
        }
    }
}

TEST_F(own_stream, two_gpus_in_one_process_do_not_meet) {
    if (gpu_count() < 2) GTEST_SKIP() << gpu_count() << " GPU here, two are needed";
    const auto A = laplace3d<double>(40, 40, 40);
    const auto x = random_vector<double>(std::size_t(A.shape.cols), 1);
    const auto b = random_vector<double>(std::size_t(A.shape.rows), 2);
    host_vector<double> first, solution;
    for (const int current : {0, 1})
        for (const int device : {0, 1, 0}) {
            SCOPED_TRACE(std::to_string(device) + ", " + std::to_string(current) + " is current");
            ASSERT_EQ(cudaSetDevice(current), cudaSuccess);
            const gpu_stream stream(device);
            const gpu on = stream;
            auto from_host = build(make_plan(A, on), A);
            auto made = plan_and_build(view(upload(on, A)), on, {.transposed = true});
            auto on_device = to_device<double>(on, x);
            const auto y = product<double>(on, *from_host, on_device);
            if (first.empty()) first = y;
            EXPECT_TRUE(same_bits<double>(y, first));
            EXPECT_TRUE(same_bits<double>(product<double>(on, *made.op, on_device), first));
            const auto there_b = to_device<double>(on, b);
            auto z = to_device<double>(on, host_vector<double>(b.size(), 0));
            EXPECT_TRUE((cg<double, gpu>(on, *from_host, there_b, z).converged));
            const auto s = to_host<double>(on, z);
            if (solution.empty()) solution = s;
            EXPECT_TRUE(same_bits<double>(s, solution));
            int now = -1;
            ASSERT_EQ(cudaGetDevice(&now), cudaSuccess);
            EXPECT_EQ(now, current) << "the thread's GPU was changed";
            ASSERT_EQ(cudaSetDevice(1 - current), cudaSuccess);  // and freed from the other
            from_host.reset(), made.op.reset();
            on_device = {};
            ASSERT_EQ(cudaSetDevice(current), cudaSuccess);
        }
    // Both at once.
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (const int device : {0, 1, 0, 1})
        threads.emplace_back([&, device] {
            const gpu_stream stream(device);
            const gpu on = stream;
            for (int run = 0; run < 20; ++run) {
                const auto op = build(make_plan(A, on), A);
                wrong +=
                    !same_bits<double>(product<double>(on, *op, to_device<double>(on, x)), first);
            }
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace nz::test
