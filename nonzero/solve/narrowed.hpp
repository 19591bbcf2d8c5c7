// A preconditioner in single precision for a solver in double: half the bytes of every level.
#pragma once

#include <memory>
#include <mutex>

#include "nonzero/solve/function_operator.hpp"

namespace nz {

/// A with its values rounded to single precision. Throws argument_error where one is too large.
csr<float, host> narrowed(cpu on, const csr<double, host_view>& A);

/// y = M x with x rounded to single precision, scaled by a power of two so that its largest
/// element neither overflows nor underflows, and M in single precision.
/// An M that is symmetric positive definite in single precision serves conjugate gradients in
/// double: what they lose by the rounding is less than an iteration (docs/decisions/multigrid.md).
/// On a GPU it works in on.stream and waits for nothing. Deterministic where M is.
template <class B>
class narrowed_operator final : public mapping<double, B> {
  public:
    /// @param M  works on `on` too
    narrowed_operator(B on, std::unique_ptr<linear_operator<float, B>> M);
    [[nodiscard]] std::size_t bytes() const override { return M_->bytes(); }
    [[nodiscard]] const linear_operator<float, B>& in_single() const { return *M_; }

  protected:
    void map(in<double, B> x, out<double, B> y) const override;

  private:
    struct workspace {
        vector_space<double, B> space;
        vector<float, B> x, y;
    };
    std::unique_ptr<linear_operator<float, B>> M_;
    mutable std::mutex mutex_;
    mutable workspace own_;
};

}  // namespace nz
