// Facts of a matrix on the GPU, against those of the same on the CPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <memory>

#include "nonzero/core/format.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/solve/choices.hpp"
#include "nonzero/solve/matrix_on_gpu.hpp"
#include "test/systems.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <class V>
class facts_on_gpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
        if (std::getenv("NZ_DEFAULT_STREAM") != nullptr) return;  // as solver_test
        stream = std::make_unique<gpu_stream>();
        on = *stream;
    }

    std::unique_ptr<gpu_stream> stream;
    gpu on;
};
using values = ::testing::Types<float, double>;
TYPED_TEST_SUITE(facts_on_gpu, values);

/// The same facts and sentences, which name places, as of the matrix on the CPU.
TYPED_TEST(facts_on_gpu, are_what_the_cpu_sees) {
    using V = TypeParam;
    std::vector<csr<V, host>> all;
    for (const auto& systems :
         {definite_systems<V>(), indefinite_systems<V>(), general_systems<V>()})
        for (const auto& s : systems) all.push_back(s.A);
    for (auto& entry : zoo<V>())
        if (entry.A.shape.rows == entry.A.shape.cols) all.push_back(std::move(entry.A));
    all.push_back(kkt(laplace2d<V>(30, 31), 40));
    all.push_back(kkt(laplace2d<V>(12, 11), 2));
    all.push_back(rows_reversed(laplace2d<V>(20, 21)));
    for (const auto value : {std::numeric_limits<V>::infinity(), V(-1), V(0), V(1e-3)}) {
        all.push_back(laplace2d<V>(20, 21));
        all.back().val[777] = value;
        all.push_back(kkt(laplace2d<V>(12, 11), 2));
        all.back().val.back() = value;
    }
    for (const auto& A : all) {
        SCOPED_TRACE(::testing::Message() << A.shape.rows << " rows, " << A.val.size());
        const ascending<V> in_order(view(A));
        const auto diagonal = diagonal_of(cpu{}, in_order.view());
        const auto want = facts_of<V>(in_order, diagonal);
        const auto there = upload(this->on, A);
        const auto got =
            matrix_on_gpu<V>(this->on, ascending<V, gpu>(view(there), this->on)).facts();
        EXPECT_EQ(got.why_not_definite, want.why_not_definite);
        EXPECT_EQ(got.is_symmetric, want.is_symmetric);
        EXPECT_EQ(got.zero_on_diagonal, want.zero_on_diagonal);
        EXPECT_EQ(got.is_saddle, want.is_saddle);
        EXPECT_EQ(got.is_complex_valued, want.is_complex_valued);
        EXPECT_EQ(got.entries, want.entries);
    }
}

}  // namespace
}  // namespace nz::test
