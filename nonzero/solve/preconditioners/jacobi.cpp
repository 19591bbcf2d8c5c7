#include "nonzero/solve/preconditioners/jacobi.hpp"

#include <atomic>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"
#include "nonzero/solve/preconditioners/jacobi_on_gpu.hpp"
#include "nonzero/vector/fused_columns.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {
namespace {

template <class V>
void check_square(const char* what, const csr<V, host_view>& A) {
    if (A.shape.rows != A.shape.cols)
        throw argument_error(std::string(what) + ": A is " + std::to_string(A.shape.rows) + " x " +
                             std::to_string(A.shape.cols) + ", expected a square matrix");
}

[[noreturn]] void refuse_row(std::int64_t row) {
    throw argument_error("jacobi: the diagonal is zero or not finite in row " +
                         std::to_string(row) + " (counted from 0)");
}

template <class V, class B>
class jacobi_operator final : public matrix_free_operator<V, B> {
  public:
    jacobi_operator(B on, vector<V, B> inverse)
        : matrix_free_operator<V, B>(on, {index(inverse.size()), index(inverse.size())}),
          space_(on, std::int64_t(inverse.size())),
          inverse_(std::move(inverse)),
          none_(make_vector<one_scalar<V>>(on, std::size_t(most_columns))) {}
    [[nodiscard]] std::size_t bytes() const override { return inverse_.size() * sizeof(V); }

  protected:
    void map(in<V, B> x, out<V, B> y) const override { space_.multiply(inverse_, x, y); }
    [[nodiscard]] bool maps_many() const override { return true; }
    void map_many(in_columns<V, B> x, out_columns<V, B> y) const override {
        run_columns(this->on(), this->shape().rows, x.count,
                    multiply_columns<V>{inverse_.data(), x.values.data(), y.values.data()},
                    none_.data());
    }

  private:
    mutable vector_space<V, B> space_;  // its one fused kernel sums nothing, so leaves it as it is
    vector<V, B> inverse_;
    mutable vector<one_scalar<V>, B> none_;  // that step's, which reads none
};

/// Where a dense matrix of `n` rows, stored row after row, is singular: false. Else its inverse
/// takes its place. Gauss and Jordan, the largest pivot of each column.
template <class V>
bool invert(std::span<V> a, std::size_t n) {
    std::vector<std::size_t> swapped(n);
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k + 1; i < n; ++i)
            if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
        swapped[k] = pivot;
        for (std::size_t j = 0; pivot != k && j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
        const V inverse = V(1) / a[k * n + k];
        if (a[k * n + k] == V(0) || !is_finite(inverse)) return false;
        a[k * n + k] = V(1);
        for (std::size_t j = 0; j < n; ++j) a[k * n + j] *= inverse;
        for (std::size_t i = 0; i < n; ++i) {
            if (i == k) continue;
            const V factor = std::exchange(a[i * n + k], V(0));
            for (std::size_t j = 0; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
        }
    }
    for (std::size_t k = n; k-- > 0;)
        for (std::size_t i = 0; swapped[k] != k && i < n; ++i)
            std::swap(a[i * n + k], a[i * n + swapped[k]]);
    return true;
}

/// A's block on the diagonal from `first` on, `n` rows, row after row.
template <class V>
void copy_block(const csr<V, host_view>& A, std::size_t first, std::size_t n, std::span<V> to) {
    for (std::size_t i = 0; i < n; ++i)
        for (auto k = std::size_t(A.row_ptr[first + i]); k < std::size_t(A.row_ptr[first + i + 1]);
             ++k) {
            const auto j = std::size_t(A.col_ind[k]);
            if (j >= first && j < first + n) to[i * n + j - first] = A.val[k];
        }
}

/// The matrix of the blocks' inverses.
template <class V>
csr<V, host> inverse_blocks(const csr<V, host_view>& A, std::size_t block, index first_row) {
    const auto rows = std::size_t(A.shape.rows), blocks = (rows + block - 1) / block;
    csr<V, host> M{A.shape, {}, {}, {}};
    host_vector<offset> ptr(rows + 1);
    for (std::size_t i = 0; i <= rows; ++i) {
        const std::size_t before = i / block * block;  // rows of whole blocks before row i
        ptr[i] = offset(before * block + (i - before) * std::min(block, rows - before));
    }
    M.col_ind.resize(std::size_t(ptr[rows]));
    M.val.assign(M.col_ind.size(), V(0));
    std::atomic<std::int64_t> singular = A.shape.rows;  // the first row of the first such block
    parallel_for(thread_count({}, std::ssize(M.val)), std::int64_t(blocks), [&](std::int64_t b) {
        const std::size_t first = std::size_t(b) * block, n = std::min(block, rows - first);
        const std::span<V> values(M.val.data() + ptr[first], n * n);
        copy_block(A, first, n, values);
        if (!invert(values, n)) {
            std::int64_t before = singular;
            while (std::int64_t(first) < before &&
                   !singular.compare_exchange_weak(before, std::int64_t(first))) {
            }
        }
        for (std::size_t k = 0; k < n * n; ++k)
            M.col_ind[std::size_t(ptr[first]) + k] = index(first + k % n);
    });
    if (singular < A.shape.rows)
        throw argument_error("block_jacobi: the block from row " +
                             std::to_string(first_row + singular) +
                             " on (counted from 0) is singular");
    M.row_ptr = offset_vector(ptr);
    return M;
}

}  // namespace

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> jacobi(B on, const ascending<V>& in_order, index first_row) {
    const csr<V, host_view>& A = in_order.view();
    check_square("jacobi", A);
    host_vector<V> inverse = diagonal_of(worth(cpu{}, std::ssize(A.val)), A);
    for (std::size_t i = 0; i < inverse.size(); ++i) {
        const V d = std::exchange(inverse[i], V(1) / inverse[i]);
        if (d == V(0) || !is_finite(d) || !is_finite(inverse[i]))
            refuse_row(first_row + std::int64_t(i));
    }
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        return std::make_unique<jacobi_operator<V, B>>(on,
                                                       from_host(on, std::span<const V>(inverse)));
    }
}

template <class V>
std::unique_ptr<linear_operator<V, gpu>> jacobi_of(gpu on, device_span<V> diagonal,
                                                   bool of_magnitudes) {
    if constexpr (!is_built<gpu>) {
        refuse_gpu();
    } else {
        std::int64_t bad_row = -1;
        auto inverse = inverse_of(on, diagonal, of_magnitudes, bad_row);
        if (bad_row >= 0) refuse_row(bad_row);
        return std::make_unique<jacobi_operator<V, gpu>>(on, std::move(inverse));
    }
}

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> block_jacobi(B on, const ascending<V>& in_order, index block,
                                                    index first_row) {
    const csr<V, host_view>& A = in_order.view();
    check_square("block_jacobi", A);
    if (block < 1 || block > 64)
        throw argument_error("block_jacobi: blocks of " + std::to_string(block) +
                             " rows, expected 1 to 64");
    const auto M = ascending<V>::known(inverse_blocks(A, std::size_t(block), first_row));
    return plan_and_build(M, on).op;
}

#define NZ_INSTANTIATE_ON(V, B)                                                                 \
    template std::unique_ptr<linear_operator<V, B>> jacobi(B, const ascending<V>&, index);      \
    template std::unique_ptr<linear_operator<V, B>> block_jacobi(B, const ascending<V>&, index, \
                                                                 index);
#define NZ_INSTANTIATE(V) NZ_INSTANTIATE_ON(V, cpu) NZ_INSTANTIATE_ON(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)
template std::unique_ptr<linear_operator<float, gpu>> jacobi_of(gpu, device_span<float>, bool);
template std::unique_ptr<linear_operator<double, gpu>> jacobi_of(gpu, device_span<double>, bool);

}  // namespace nz
