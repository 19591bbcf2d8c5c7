// A preconditioner in single precision for a solver in double: half the bytes of every level.
#pragma once

#include <memory>
#include <mutex>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {

/// A matrix with its values rounded to single precision; its pattern stays where it was.
struct single_precision_matrix {
    host_vector<float> val;
    csr<float, host_view> matrix;  ///< the matrix of these arrays
    single_precision_matrix(nz::shape shape, offset_span row_ptr, std::span<const index> col_ind)
        : val(col_ind.size()), matrix{shape, row_ptr, col_ind, val} {}
    single_precision_matrix(single_precision_matrix&&) = default;
};
/// A's, which must stay. Throws argument_error where a value is too large.
single_precision_matrix rounded_to_single(cpu on, const csr<double, host_view>& A);
/// The same of values on a GPU; it waits for on.stream.
device_array<float> rounded_to_single(gpu on, device_span<double> values);

/// y = M x in single precision: x is rounded to it, so that elements should lie between 1e-30 and
/// 1e30 in magnitude, where they are not zero. An M that is symmetric positive definite in single
/// precision serves conjugate gradients in double. On a GPU it works in on.stream and waits for
/// nothing. Deterministic where M is.
template <class B>
class mixed_precision_operator final : public matrix_free_operator<double, B> {
  public:
    /// @param M  works on `on` too
    mixed_precision_operator(B on, std::unique_ptr<linear_operator<float, B>> M);
    [[nodiscard]] std::size_t bytes() const override { return M_->bytes(); }

  protected:
    void map(in<double, B> x, out<double, B> y) const override;

  private:
    std::unique_ptr<linear_operator<float, B>> M_;
    mutable std::mutex mutex_;  ///< guards what follows
    mutable vector_space<double, B> space_;
    mutable scalars_on<one_scalar<float>, B> none_;
    mutable vector<float, B> x_, y_;
};

/// to = factor from, rounded where it is narrower.
template <class To, class From>
struct convert_step {
    using scalars = one_scalar<float>;
    using totals = sums<double, 0>;
    const From* from;
    To* to;
    double factor = 1;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        to[i] = To(factor * double(from[i]));
        return {};
    }
};

}  // namespace nz
