// For layouts with parameters: what is built from the zoo with any of them stands for the same
// matrix, and kernels multiply it rightly. (test/conformance_test.cpp meets the defaults only.)
#pragma once

#include <gtest/gtest.h>

#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/formats/oracle.hpp"
#include "test/zoo.hpp"

namespace nz::test {

/// One product by kernel K, held against the reference.
template <class K, class V, class M>
void check_product(const csr<V, host_view>& A, const M& B) {
    const auto x = random_vector<V>(std::size_t(A.shape.cols), 1);
    const auto y0 = random_vector<V>(std::size_t(A.shape.rows), 2);
    for (const int threads : {1, 3}) {
        auto y = y0;
        spmv(cpu{threads}, K{}, V(-2.5), B, std::span<const V>(x), V(2), std::span<V>(y));
        const auto want = reference_product<V>(transposition::plain, V(-2.5), A, x, V(2), y0);
        EXPECT_TRUE(compare<V>(y, want).holds()) << K::name << ", " << threads << " threads";
    }
}

/// Builds every matrix of the zoo by build(A), which may refuse one for its padding, and checks it
/// with every kernel K. Returns how many were built.
template <class V, class... K, class Build>
int check_layout(Build build) {
    int built = 0;
    for (const auto& [name, bug, own] : zoo<V>()) {
        SCOPED_TRACE("'" + name + "' (" + bug + ")");
        const auto A = view(own);
        try {
            const auto B = build(A);
            const auto C = to_csr(view(B));
            EXPECT_EQ(C.shape, own.shape);
            EXPECT_EQ(C.row_ptr, own.row_ptr);
            EXPECT_EQ(C.col_ind, own.col_ind);
            EXPECT_EQ(C.val, own.val);
            (check_product<K>(A, view(B)), ...);
            ++built;
        } catch (const argument_error& refused) {
            EXPECT_NE(std::string(refused.what()).find("more than 3"), std::string::npos)
                << refused.what();
        }
    }
    return built;
}

}  // namespace nz::test
