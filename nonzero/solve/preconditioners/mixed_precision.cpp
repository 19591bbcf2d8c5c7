#include "nonzero/solve/preconditioners/mixed_precision.hpp"

#include <atomic>
#include <cmath>
#include <limits>

#include "nonzero/core/parallel.hpp"
#include "nonzero/plan/storage/storage.hpp"

namespace nz {

single_precision_matrix rounded_to_single(cpu on, const csr<double, host_view>& A) {
    single_precision_matrix B(A.shape, A.row_ptr, A.col_ind);
    constexpr float most = std::numeric_limits<float>::max();
    constexpr double infinite = std::numeric_limits<double>::infinity();
    std::atomic<std::int64_t> too_large = 0;
    const int threads = thread_count(on);
    parallel(threads, [&, from = A.val.data(), to = B.val.data()](int t) {
        const range mine = share(std::ssize(A.val), threads, t);
        std::int64_t count = 0;
#pragma omp simd reduction(+ : count)
        for (std::int64_t k = mine.first; k < mine.last; ++k) {
            to[k] = float(from[k]);
            count += (std::abs(to[k]) > most) & (std::abs(from[k]) < infinite);
        }
        too_large += count;
    });
    if (too_large > 0)
        throw argument_error("rounded_to_single: a value is too large for single precision");
    return B;
}

device_array<float> rounded_to_single(gpu on, device_span<double> values) {
    if constexpr (!has_cuda) {
        refuse_gpu();
    } else {
        const auto stored = stored_values(on, values, value_storage::single);
        const double* const from = stored.size() > 0 ? stored.data() : values.data();
        device_array<float> rounded(on, values.size());
        vector_space<double, gpu> space(on, std::int64_t(values.size()));
        scalars_on<one_scalar<float>, gpu> none(on, {});
        run_fused(space, convert_step<float, double>{from, rounded.data()}, none.data());
        synchronize(on);  // before `stored` goes
        return rounded;
    }
}

template <class B>
mixed_precision_operator<B>::mixed_precision_operator(B on,
                                                      std::unique_ptr<linear_operator<float, B>> M)
    : matrix_free_operator<double, B>(on, M->shape()),
      M_(std::move(M)),
      space_(on, M_->shape().rows),
      none_(on, {0}),
      x_(vector_space<float, B>(on, M_->shape().rows).zero()),
      y_(vector_space<float, B>(on, M_->shape().rows).zero()) {}

template <class B>
void mixed_precision_operator<B>::map(in<double, B> x, out<double, B> y) const {
    const std::lock_guard lock(mutex_);
    run_fused(space_, convert_step<float, double>{x.data(), x_.data()}, none_.data());
    M_->apply(1, x_, 0, y_);
    run_fused(space_, convert_step<double, float>{y_.data(), y.data()}, none_.data());
}

template class mixed_precision_operator<cpu>;
template class mixed_precision_operator<gpu>;

}  // namespace nz
