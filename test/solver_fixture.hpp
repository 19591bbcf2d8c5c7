// Shared by the tests of the solvers: every value type on every backend, skipped without a GPU.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "nonzero/core/gpu.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/systems.hpp"

namespace nz::test {

template <class V_, class B_>
struct on_backend {
    using V = V_;
    using B = B_;
};
using everywhere =
    ::testing::Types<on_backend<float, cpu>, on_backend<double, cpu>,
                     on_backend<std::complex<float>, cpu>, on_backend<std::complex<double>, cpu>,
                     on_backend<float, gpu>, on_backend<double, gpu>,
                     on_backend<std::complex<float>, gpu>, on_backend<std::complex<double>, gpu>>;

template <class T>
class solver_test : public ::testing::Test {
  public:
    using value = typename T::V;
    using backend = typename T::B;

    void SetUp() override {
        if constexpr (std::is_same_v<backend, gpu>) {
            if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
            // Solvers run as graphs with a while node, which compute-sanitizer does not follow, but
            // not in the default stream.
            if (std::getenv("NZ_DEFAULT_STREAM") != nullptr) return;
            stream_ = std::make_unique<gpu_stream>();
            on_ = *stream_;
        }
    }
    [[nodiscard]] auto operator_of(const csr<value, host>& A) const {
        return build(find_method<value>("csr.merge"), on_, view(A));
    }
    /// y = alpha x, for a preconditioner.
    [[nodiscard]] auto multiple(index n, value alpha) const {
        const auto space = std::make_shared<vector_space<value, backend>>(on_, n);
        return make_operator<value>(on_, {n, n},
                                    [space, alpha](in<value, backend> x, out<value, backend> y) {
                                        space->axpby(alpha, x, value(0), y);
                                    });
    }
    [[nodiscard]] vector<value, backend> to_backend(const host_vector<value>& v) const {
        return from_host(on_, std::span<const value>(v));
    }
    [[nodiscard]] host_vector<value> here(const vector<value, backend>& v) const {
        return to_host<value>(on_, in<value, backend>(v));
    }
    static constexpr double tol = std::is_same_v<real<value>, float> ? 1e-4 : 1e-10;

    std::unique_ptr<gpu_stream> stream_;
    backend on_{};
};

}  // namespace nz::test
