// Copies to a GPU and back, long ones by several threads: every byte arrives, from any address.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "nonzero/core/gpu.hpp"

namespace nz::test {
namespace {

constexpr std::size_t mib = std::size_t(1) << 20;

/// Bytes of which no two stretches of a MiB are alike.
host_vector<std::byte> told_apart(std::size_t bytes, std::uint32_t seed) {
    host_vector<std::byte> v(bytes);
    std::uint32_t state = seed;
    for (std::byte& b : v) state = state * 1664525U + 1013904223U, b = std::byte(state >> 24);
    return v;
}

class copies_to_gpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    }
    /// Copies all but the first `skipped` bytes of v there and back.
    static void expect_whole(gpu on, const host_vector<std::byte>& v, std::size_t skipped) {
        const auto part = std::span<const std::byte>(v).subspan(skipped);
        const auto back = to_host<std::byte>(on, to_device(on, part));
        EXPECT_TRUE(std::equal(back.begin(), back.end(), part.begin(), part.end()))
            << part.size() << " bytes";
    }
};

TEST_F(copies_to_gpu, are_whole_for_every_length_and_address) {
    // Short copies take other ways before and after a long one.
    for (const std::size_t bytes :
         {std::size_t(1), 2 * mib, 32 * mib - 1, 32 * mib, 32 * mib + 1, 40 * mib + 77,
          75 * mib - 3, 2 * mib - 1, 2 * mib, 3 * mib + 1}) {
        const auto v = told_apart(bytes, 7);
        expect_whole(gpu{}, v, 0);
        if (bytes > 3) expect_whole(gpu{}, v, 3);
    }
}
/// Others' copies to the same GPU, of which one thread at a time has the pieces.
TEST_F(copies_to_gpu, may_be_under_way_at_once) {
    std::vector<std::thread> users;
    for (std::uint32_t k = 0; k < 3; ++k)
        users.emplace_back([k] {
            const gpu_stream stream;
            const auto v = told_apart((k == 2 ? 3 : 50 + k) * mib + k, k + 1);
            for (int time = 0; time < (k == 2 ? 30 : 3); ++time)
                expect_whole(stream, v, std::size_t(time % 3));
        });
    for (auto& user : users) user.join();
}

}  // namespace
}  // namespace nz::test
