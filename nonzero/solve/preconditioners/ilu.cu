// Incomplete LU without fill on a GPU.
#include "nonzero/core/gpu/device_steps.cuh"
#include "nonzero/solve/preconditioners/ilu_on_gpu.hpp"
#include "nonzero/solve/preconditioners/triangular/waiting_rows.cuh"
#include "nonzero/vector/scalar.cuh"

namespace nz {
namespace {

constexpr int warps_a_block = waiting_threads / warp_size;

struct find_diagonals {
    csr<char, device_view> A;  ///< values not read
    offset* diagonal;
    unsigned* missing;  ///< the first row that has none
    __device__ void operator()(std::int64_t i) const {
        const offset first = A.row_ptr[i], length = A.row_ptr[i + 1] - first;
        const std::int64_t at = first_at_least(A.col_ind.ptr + first, length, i);
        if (at == length || A.col_ind[first + at] != i) atomicMin(missing, unsigned(i));
        diagonal[i] = first + at;
    }
};

/// Findings of the elimination; rows as unsigned, the largest number for none.
struct elimination_findings {
    unsigned first_shifted, zero_row, overflowing_row, shifted;
};

/// Gaussian elimination within the pattern of A, a warp a row, in the same order of operations as
/// on the CPU. A row's inverse pivot says that it is done.
template <class T>
struct elimination {
    using R = decltype(real_part(T()));
    device_offset_span row_ptr;
    const index* col;
    const offset* diagonal;
    T* val;
    T* inverse;  ///< unknown at first
    R least_pivot;
    elimination_findings* findings;

    /// k of the row's entry in that column, among its entries k to last - 1; last for none.
    __device__ offset find(offset k, offset last, index column) const {
        const std::int64_t at = first_at_least(col + k, last - k, column);
        return k + at < last && col[k + at] == column ? k + at : last;
    }
    __device__ T inverse_of(index j) const {
        T v;
        do v = asked(inverse + j);
        while (is_unknown(v));
        __threadfence();  // row j is read after its signal
        return v;
    }
    __device__ void operator()(index i) const {
        const int lane = lane_id();
        const offset first = row_ptr[i], last = row_ptr[i + 1], mine = diagonal[i];
        R largest(0);
        for (offset k = first + lane; k < last; k += warp_size)
            largest = max(largest, magnitude(val[k]));
#pragma unroll
        for (int step = warp_size / 2; step > 0; step /= 2)
            largest = max(largest, __shfl_xor_sync(full_warp, largest, step));
        for (offset k = first; k < mine; ++k) {
            const index j = col[k];
            const T l = rounded_product(asked(val + k), inverse_of(j));
            for (offset u = diagonal[j] + 1 + lane; u < row_ptr[j + 1]; u += warp_size)
                if (const offset at = find(k + 1, last, col[u]); at < last)
                    val[at] = asked(val + at) - rounded_product(l, asked(val + u));
            __syncwarp();
            if (lane == 0) val[k] = l;
        }
        __syncwarp();
        finish(i, largest, first, mine, last);
    }
    __device__ void finish(index i, R largest, offset first, offset mine, offset last) const {
        const T pivot = shifted(i, asked(val + mine), largest);
        const T over = known(reciprocal(pivot));
        bool fits = is_finite(over);
        for (offset k = first + lane_id(); k < last; k += warp_size)
            fits = fits && is_finite(k == mine ? pivot : asked(val + k));
        if (!__all_sync(full_warp, fits) && lane_id() == 0)
            atomicMin(&findings->overflowing_row, unsigned(i));
        if (lane_id() == 0) {
            val[mine] = pivot;
            if (largest == R(0)) atomicMin(&findings->zero_row, unsigned(i));
        }
        __threadfence();
        __syncwarp();
        if (lane_id() == 0) tell(inverse + i, over);
    }
    /// The pivot, or one that can be divided by, of the same sign.
    __device__ T shifted(index i, T pivot, R largest) const {
        const R size = magnitude(pivot), least = least_pivot * largest;
        if (!(size < least)) return pivot;
        if (lane_id() == 0) {
            atomicAdd(&findings->shifted, 1U);
            atomicMin(&findings->first_shifted, unsigned(i));
        }
        return size == R(0) ? T(least) : rounded_product(least / size, pivot);
    }
};

template <class T>
__global__ void __launch_bounds__(waiting_threads)
    eliminate(elimination<T> rows, const index* order, index n, unsigned* started) {
    const std::int64_t p =
        std::int64_t(number_of_block(started)) * warps_a_block + int(threadIdx.x) / warp_size;
    if (p < n) rows(order[p]);
}

/// Lengths of the rows of a triangle.
struct count_beside {
    device_offset_span row_ptr;
    const offset* diagonal;
    bool behind;
    offset* length;
    __device__ void operator()(std::int64_t i) const {
        length[i] = behind ? row_ptr[i + 1] - diagonal[i] - 1 : diagonal[i] - row_ptr[i];
    }
};

/// A triangle's rows, towards the diagonal.
template <class T>
struct take_beside {
    int lanes;
    device_offset_span row_ptr;
    const index* col;
    const T* val;
    const offset* diagonal;
    bool behind;
    device_offset_span to_ptr;
    index* to_col;
    T* to_val;
    __device__ void operator()(std::int64_t thread) const {
        const std::int64_t i = thread / lanes;
        const offset to = to_ptr[i], length = to_ptr[i + 1] - to;
        for (offset k = thread % lanes; k < length; k += lanes) {
            const offset from = behind ? row_ptr[i + 1] - 1 - k : row_ptr[i] + k;
            to_col[to + k] = col[from];
            to_val[to + k] = val[from];
        }
    }
};

template <class V>
device_triangle<V> triangle_of(gpu on, const csr<V, device_view>& A,
                               const device_array<offset>& diagonal, triangle_side side) {
    const index n = A.shape.rows;
    const bool behind = side == triangle_side::upper;
    device_array<offset> length(on, std::size_t(n) + 1);
    fill_bytes(on, length, 0);
    launch_each(on, n, count_beside{A.row_ptr, diagonal.data(), behind, length.data()});
    offset nnz = 0;
    auto ptr = row_pointers(on, length, nnz);
    device_triangle<V> T;
    T.side = side;
    T.beside = {A.shape, std::move(ptr), device_array<index>(on, std::size_t(nnz)),
                device_array<V>(on, std::size_t(nnz))};
    constexpr int lanes = 8;
    launch_each(
        on, std::int64_t(n) * lanes,
        take_beside<device_value<V>>{lanes, A.row_ptr, A.col_ind.data(), in_kernels(A.val.data()),
                                     diagonal.data(), behind, T.beside.row_ptr,
                                     T.beside.col_ind.data(), in_kernels(T.beside.val.data())});
    return T;
}

}  // namespace

template <class V>
std::optional<ilu_on_gpu<V>> factored_on_gpu(gpu on, csr<V, device> A, double least_pivot,
                                             index most_levels) {
    const device_guard guard(on);
    const index n = A.shape.rows;
    ilu_on_gpu<V> done;
    device_array<offset> diagonal(on, std::size_t(n));
    device_array<unsigned> missing(on, 1), started(on, 1);
    fill_bytes(on, missing, 0xff), fill_bytes(on, started, 0);
    const auto from = view(A);
    launch_each(on, n,
                find_diagonals{
                    {from.shape, from.row_ptr, from.col_ind, {}}, diagonal.data(), missing.data()});
    if (read_back(on, missing.data()) != ~0U) return std::nullopt;
    const auto order =
        order_by_level(on, triangle_side::lower, n, from.row_ptr, from.col_ind, most_levels);
    if (n > 0 && order.levels == 0) return std::nullopt;
    done.upper.inverse = device_array<V>(on, std::size_t(n));
    device_array<elimination_findings> findings(on, 1);
    fill_bytes(on, done.upper.inverse, 0xff), fill_bytes(on, findings, 0xff);
    const elimination<device_value<V>> rows{from.row_ptr,
                                            from.col_ind.data(),
                                            diagonal.data(),
                                            in_kernels(A.val.data()),
                                            in_kernels(done.upper.inverse.data()),
                                            real<V>(least_pivot),
                                            findings.data()};
    eliminate<<<blocks_for(n, warps_a_block), waiting_threads, 0, stream_of(on)>>>(
        rows, order.row.data(), n, started.data());
    check_launch("eliminate");
    const auto found = read_back(on, findings.data());
    const auto row = [](unsigned r) { return r == ~0U ? std::int64_t(-1) : std::int64_t(r); };
    done.zero_row = row(found.zero_row), done.overflowing_row = row(found.overflowing_row);
    done.first_shifted = row(found.first_shifted);
    done.shifted_pivots = std::int64_t(unsigned(found.shifted + 1));  // it begins at -1
    auto inverse = std::move(done.upper.inverse);
    done.lower = triangle_of(on, from, diagonal, triangle_side::lower);
    done.upper = triangle_of(on, from, diagonal, triangle_side::upper);
    done.upper.inverse = std::move(inverse);
    return done;
}

#define NZ_INSTANTIATE(V) \
    template std::optional<ilu_on_gpu<V>> factored_on_gpu(gpu, csr<V, device>, double, index);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
