// Conditions that must not disturb a product: little GPU memory left when it is planned, other
// plans on other streams, other work beside it. Skipped, and said so, where there is no GPU.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <thread>

#include "nonzero/core/format.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/gen/generate.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/files.hpp"
#include "test/products.hpp"

namespace nz::test {
namespace {

class robust : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    }
};

template <class V>
host_vector<V> product(gpu on, const linear_operator<V, gpu>& op, device_span<V> x) {
    device_array<V> y(on, std::size_t(op.shape().rows));
    op.apply(V(1), x, V(0), y);
    return to_host<V>(on, y);
}

template <class V>
void expect_right(const csr<V, host>& A, const host_vector<V>& y, const host_vector<V>& x) {
    const auto truth = reference_product<V>(transposition::plain, V(1), view(A), x, V(0), {});
    EXPECT_TRUE(compare<V>(y, truth).holds());
}

/// Takes all of the GPU's memory but `left` bytes.
class filled_memory {
  public:
    explicit filled_memory(std::size_t left) {
        cudaDeviceSynchronize();
        cudaMemPool_t pool = nullptr;
        cudaDeviceGetDefaultMemPool(&pool, 0);
        cudaMemPoolTrimTo(pool, 0);
        for (std::size_t piece = std::size_t(1) << 36; piece >= std::size_t(1) << 20;) {
            void* at = nullptr;
            if (memory_of(gpu{}).free_bytes < left + piece ||
                cudaMalloc(&at, piece) != cudaSuccess) {
                cudaGetLastError();
                piece /= 2;
                continue;
            }
            taken_.push_back(at);
        }
    }
    ~filled_memory() {
        for (void* at : taken_) cudaFree(at);
    }
    filled_memory(const filled_memory&) = delete;
    filled_memory& operator=(const filled_memory&) = delete;

  private:
    std::vector<void*> taken_;
};

/// 27 million entries that differ: packed takes about 250 MB, and more while it is made.
csr<double, host> large_matrix() {
    auto A = laplace3d<double>(160, 160, 160);
    A.val = random_vector<double>(A.val.size(), 3);
    return A;
}

TEST_F(robust, with_little_memory_left_another_method_is_built) {
    const auto A = large_matrix();
    const auto x = random_vector<double>(std::size_t(A.shape.cols), 1);
    const auto planned_with_room = make_plan(A, gpu{});
    const double wanted = planned_with_room.chosen().matrix_bytes;
    double least = wanted;
    for (const plan_report::candidate& c : planned_with_room.candidates)
        if (c.declined.empty()) least = std::min(least, c.matrix_bytes);
    const auto on_device = to_device<double>(gpu{}, x);
    device_array<double> y(gpu{}, x.size());
    bool built_small = false, fell_back = false, refused = false;
    for (const double room : {3.0, 2.0, 1.6, 1.3, 1.1, 0.9, 0.5, 0.1}) {
        SCOPED_TRACE(room);
        const filled_memory filled{std::size_t(room * wanted)};
        // Planned before memory was short, then after: either way what is built is right.
        for (const bool planned_before : {true, false}) try {
                const auto p = planned_before ? planned_with_room : make_plan(A, gpu{});
                const auto op = build(p, A);
                fell_back = fell_back || op->method_name() != p.chosen().method;
                built_small = built_small || op->method_name() != planned_with_room.chosen().method;
                op->apply(1, on_device, 0, y);
                expect_right(A, to_host<double>(gpu{}, y), x);
            } catch (const device_error&) {  // there is no room for any
                refused = true;
            } catch (const unavailable&) {
                refused = true;
            }
    }
    EXPECT_TRUE(refused);
    std::printf(
        "[   gpu    ] chosen takes %.0f MB, the smallest %.0f; another was planned: %d, "
        "another was built: %d\n",
        wanted * 1e-6, least * 1e-6, int(built_small), int(fell_back));
    // And all is well afterwards.
    const auto op = build(planned_with_room, A);
    op->apply(1, on_device, 0, y);
    expect_right(A, to_host<double>(gpu{}, y), x);
}

/// A product that another stream's launches run beside.
struct job {
    csr<double, host> A;
    host_vector<double> x, want;
};

std::vector<job> jobs() {
    std::vector<job> all;
    all.push_back({laplace2d<double>(300, 300), {}, {}});
    all.push_back({from_lengths<double>(std::vector<index>(4000, 31), 5000), {}, {}});
    all.push_back({from_lengths<double>({70000, 3, 9000, 0, 12}, 70001), {}, {}});
    for (const auto& [name, bug, A] : zoo<double>())
        if (A.val.size() > 3000) all.push_back({A, {}, {}});
    for (job& j : all) j.x = random_vector<double>(std::size_t(j.A.shape.cols), 4);
    return all;
}

TEST_F(robust, plans_on_several_streams_at_once_give_the_same_bits_100_times) {
    auto all = jobs();
    for (job& j : all) {  // alone
        const auto op = build(make_plan(j.A, gpu{}), j.A);
        j.want = product<double>(gpu{}, *op, to_device<double>(gpu{}, j.x));
        expect_right(j.A, j.want, j.x);
    }
    struct running {
        std::unique_ptr<gpu_stream> stream;
        std::unique_ptr<linear_operator<double, gpu>> op;
        device_array<double> x, y;
    };
    std::vector<running> beside;
    for (const job& j : all) {
        running r{std::make_unique<gpu_stream>(), nullptr, to_device<double>(gpu{}, j.x),
                  device_array<double>(gpu{}, std::size_t(j.A.shape.rows))};
        r.op = build(make_plan(upload(gpu{}, j.A), gpu(*r.stream)), j.A);
        beside.push_back(std::move(r));
    }
    for (int run = 0; run < 100; ++run) {
        for (int again = 0; again < 3; ++again)
            for (running& r : beside) r.op->apply(1, r.x, 0, r.y);
        for (std::size_t k = 0; k < all.size(); ++k)
            ASSERT_TRUE(same_bits<double>(to_host<double>(gpu(*beside[k].stream), beside[k].y),
                                          all[k].want))
                << "job " << k << ", run " << run;
    }
}

TEST_F(robust, products_are_the_same_cold_and_beside_copies_and_threads) {
    const auto A = laplace3d<double>(60, 60, 60);
    const auto x = to_device<double>(gpu{}, random_vector<double>(std::size_t(A.shape.cols), 4));
    const auto op = build(make_plan(A, gpu{}), A);
    const auto want = product<double>(gpu{}, *op, x);
    device_array<std::byte> flushed(gpu{}, std::size_t(256) << 20);
    for (int run = 0; run < 100; ++run) {
        if (run % 2 == 0) zero_on_device(gpu{}, flushed);
        ASSERT_TRUE(same_bits<double>(product<double>(gpu{}, *op, x), want)) << run;
    }
    // Four threads plan, build and multiply, each on a stream of its own.
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            const gpu_stream stream;
            for (int run = 0; run < 10; ++run) {
                const auto mine = build(make_plan(A, gpu(stream)), A);
                wrong += !same_bits<double>(product<double>(gpu(stream), *mine, x), want);
            }
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
}

/// Makes `to` no CSR, and then what `from` is, in on.stream, after so much else that it takes
/// milliseconds. Waits for nothing: `busy`, a gigabyte that is zeroed meanwhile, must live on.
void copy_late(gpu on, device_array<std::byte>& busy, const csr<double, device>& from,
               csr<double, device>& to) {
    zero_on_device(on, to.row_ptr.bytes);
    for (int k = 0; k < 20; ++k) zero_on_device(on, busy);
    const auto copy = [&](const auto& a, auto& b) {
        copy_on_device(on, a.data(), b.data(), a.size() * sizeof(*a.data()));
    };
    copy(from.row_ptr.bytes, to.row_ptr.bytes);
    copy(from.col_ind, to.col_ind), copy(from.val, to.val);
}

TEST_F(robust, what_a_stream_still_writes_is_planned_as_it_will_be_in_four_threads) {
    const auto A = laplace3d<double>(60, 60, 60);
    const auto lengths = compute_stats(view(A)).row_lengths;
    const auto x = random_vector<double>(std::size_t(A.shape.cols), 4);
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            const gpu_stream stream;
            const gpu on = stream;
            const auto on_device = upload(on, A);
            auto B = upload(on, A);
            device_array<std::byte> busy(on, std::size_t(1) << 30);
            for (int run = 0; run < 3; ++run) {
                copy_late(on, busy, on_device, B);
                wrong += compute_stats(on, view(B)).row_lengths != lengths;
                copy_late(on, busy, on_device, B);
                const auto made = plan_and_build(view(B), on);
                const auto y = product<double>(on, *made.op, to_device<double>(on, x));
                const auto truth =
                    reference_product<double>(transposition::plain, 1, view(A), x, 0, {});
                wrong += !compare<double>(y, truth).holds();
            }
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace nz::test
