// Guarantees for users of CUDA: apply works on their own pointers and in their own stream, neither
// copies nor waits, and can be captured in a graph. Skipped, and said so, where there is no GPU.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>

#include "nonzero/core/gpu.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/products.hpp"

namespace nz::test {
namespace {

#define ASSERT_CUDA(call) ASSERT_EQ(cudaSuccess, call) << #call

template <class V>
class gpu_graph : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    }
};
using value_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(gpu_graph, value_types);

/// Rows of 0 to 40 entries, and one of 700.
template <class V>
csr<V, host> some_matrix() {
    std::vector<index> row, col;
    for (index i = 0; i < 1000; ++i)
        for (index k = 0; k < (i == 500 ? 700 : i * 7 % 41); ++k)
            row.push_back(i), col.push_back((i * 13 + k) % 900);
    return assemble<V>({1000, 900}, row, col, random_vector<V>(row.size(), 3));
}

/// A graph of what f() launches in the stream, replayed as often as wanted.
class graph {
  public:
    template <class F>
    graph(cudaStream_t stream, F f) : stream_(stream) {
        // Global: any call that may wait, by any thread, fails the capture.
        begun_ = cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
        f();
        ended_ = cudaStreamEndCapture(stream, &graph_);
        if (ended_ == cudaSuccess) made_ = cudaGraphInstantiate(&runnable_, graph_, 0);
    }
    ~graph() {
        if (runnable_ != nullptr) cudaGraphExecDestroy(runnable_);
        if (graph_ != nullptr) cudaGraphDestroy(graph_);
        cudaGetLastError();
    }
    graph(const graph&) = delete;
    graph& operator=(const graph&) = delete;
    [[nodiscard]] bool captured() const {
        return begun_ == cudaSuccess && ended_ == cudaSuccess && made_ == cudaSuccess;
    }
    cudaError_t replay() { return cudaGraphLaunch(runnable_, stream_); }

  private:
    cudaStream_t stream_;
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t runnable_ = nullptr;
    cudaError_t begun_, ended_, made_ = cudaErrorUnknown;
};

TYPED_TEST(gpu_graph, replays_what_apply_does) {
    using V = TypeParam;
    const csr<V, host> own = some_matrix<V>();
    const auto A = view(own);
    const matrix_stats stats = compute_stats(A);
    const gpu_stream stream;
    const gpu on = stream;
    const auto x_here = random_vector<V>(std::size_t(A.shape.cols), 1);
    const auto y0 = random_vector<V>(std::size_t(A.shape.rows), 2);
    const auto x = to_device<V>(on, x_here);
    const auto want = reference_product<V>(transposition::plain, V(-2.5), A, x_here, V(2), y0);
    int ran = 0;
    for (const method<V>& m : methods<V>()) {
        if (m.on_gpu == nullptr || m.synchronises || !m.cost_on_gpu(stats).declined.empty())
            continue;
        SCOPED_TRACE(m.name);
        const auto op = build(m, on, A);
        auto y = to_device<V>(on, y0);
        op->apply(V(-2.5), x, V(2), y);
        const auto direct = to_host<V>(on, y);
        ASSERT_TRUE(compare<V>(direct, want).holds());
        graph g(static_cast<cudaStream_t>(on.stream), [&] { op->apply(V(-2.5), x, V(2), y); });
        ASSERT_TRUE(g.captured());
        for (int run = 0; run < 3; ++run) {
            copy_to_device(on, y0.data(), y.data(), y0.size() * sizeof(V));
            ASSERT_CUDA(g.replay());
            const auto replayed = to_host<V>(on, y);
            EXPECT_TRUE(compare<V>(replayed, want).holds()) << "run " << run;
            if (m.deterministic) {
                EXPECT_EQ(0, std::memcmp(direct.data(), replayed.data(), y0.size() * sizeof(V)))
                    << "run " << run;
            }
        }
        ++ran;
    }
    std::printf("[   gpu    ] %s: %d methods captured and replayed\n",
                std::string(value_name<V>()).c_str(), ran);
    EXPECT_GT(ran, 0);
}

TYPED_TEST(gpu_graph, every_method_but_the_host_tail_can_be_captured) {
    for (const method<TypeParam>& m : methods<TypeParam>())
        EXPECT_EQ(m.synchronises, m.name == "hyb.host_tail") << m.name;
}

TYPED_TEST(gpu_graph, works_on_the_users_pointers_and_stream) {
    using V = TypeParam;
    const csr<V, host> own = some_matrix<V>();
    const auto A = view(own);
    const matrix_stats stats = compute_stats(A);
    const auto rows = std::size_t(A.shape.rows), cols = std::size_t(A.shape.cols);
    const auto x_here = random_vector<V>(cols, 1);
    const auto want = reference_product<V>(transposition::plain, V(1), A, x_here, V(0), {});
    cudaStream_t stream = nullptr;
    void *x = nullptr, *y = nullptr;
    ASSERT_CUDA(cudaStreamCreate(&stream));
    ASSERT_CUDA(cudaMalloc(&x, cols * sizeof(V)));
    ASSERT_CUDA(cudaMalloc(&y, rows * sizeof(V)));
    ASSERT_CUDA(cudaMemcpy(x, x_here.data(), cols * sizeof(V), cudaMemcpyHostToDevice));
    for (const method<V>& m : methods<V>()) {
        if (m.on_gpu == nullptr || !m.cost_on_gpu(stats).declined.empty()) continue;
        const auto op = build(m, gpu{.stream = stream}, A);
        ASSERT_CUDA(cudaMemset(y, 0xff, rows * sizeof(V)));  // NaN
        ASSERT_CUDA(cudaDeviceSynchronize());
        const std::size_t before = memory_of(gpu{}).free_bytes;
        op->apply(V(1), {static_cast<const V*>(x), cols}, V(0), {static_cast<V*>(y), rows});
        EXPECT_EQ(memory_of(gpu{}).free_bytes, before) << m.name << " allocates";
        ASSERT_CUDA(cudaStreamSynchronize(stream));
        host_vector<V> got(rows);
        ASSERT_CUDA(cudaMemcpy(got.data(), y, rows * sizeof(V), cudaMemcpyDeviceToHost));
        EXPECT_TRUE(compare<V>(got, want).holds()) << m.name;
    }
    ASSERT_CUDA(cudaFree(x));
    ASSERT_CUDA(cudaFree(y));
    ASSERT_CUDA(cudaStreamDestroy(stream));
}

}  // namespace
}  // namespace nz::test
