// The inverse of the coarsest level on a GPU: a warp holds a row in its registers, and all blocks
// meet after every pivot.
#include <cooperative_groups.h>

#include <limits>

#include "nonzero/core/gpu/device_steps.cuh"
#include "nonzero/solve/multigrid/pseudo_inverse.hpp"
#include "nonzero/vector/scalar.cuh"

namespace nz {
namespace {

constexpr int sweep_threads = 128;
constexpr int rows_of_block = sweep_threads / warp_size;
constexpr int parts = 16;  ///< of a row, an entry of each lane
constexpr int longest = parts * warp_size;

template <class W>
__device__ W mirror(W v) {
    return conjugated(transposition::conjugate_transpose, v);
}

template <class W, class V>
__device__ W widened(V v) {
    if constexpr (std::is_same_v<W, double>) {
        return W(v);
    } else {
        return {v.re, v.im};
    }
}

/// The shares of the diagonal that are left, which every block knows for itself.
struct pivot_choice {
    double diagonal[longest], before[longest], share[longest];
    double best[rows_of_block];
    int best_row[rows_of_block];

    static __device__ void take_larger(double& best, int& row, double other, int other_row) {
        if (other > best || (other == best && other_row < row)) best = other, row = other_row;
    }
    /// The first row of the largest share. Called by the whole block, whose shares are written.
    __device__ int next(int n) {
        double mine = -INFINITY;
        int row = 0;
        for (int j = int(threadIdx.x); j < n; j += sweep_threads)
            take_larger(mine, row, share[j], j);
#pragma unroll
        for (int step = warp_size / 2; step > 0; step /= 2)
            take_larger(mine, row, __shfl_xor_sync(full_warp, mine, step),
                        __shfl_xor_sync(full_warp, row, step));
        const int warp = int(threadIdx.x) / warp_size;
        if (threadIdx.x % warp_size == 0) best[warp] = mine, best_row[warp] = row;
        __syncthreads();
        mine = best[0], row = best_row[0];
        for (int w = 1; w < rows_of_block; ++w) take_larger(mine, row, best[w], best_row[w]);
        return row;
    }
    /// c: the entry of row j in the column of pivot k.
    template <class W>
    __device__ void sweep(int j, int k, double pivot, W c) {
        const W f = quotient(mirror(c), pivot);
        if (!(f == W(0))) diagonal[j] -= real_part(rounded_product(f, c));
        if (j == k) before[j] = -INFINITY;  // its share is never the largest again
        share[j] = before[j] < 0 ? -INFINITY : diagonal[j] / before[j];
    }
};

/// A warp's row of the lower triangle.
template <class W>
struct swept_row {
    int i, n, lane;
    W part[parts];

    template <class V>
    __device__ void load(const csr<V, device_view>& A) {
        for (W& v : part) v = W(0);
        if (i >= n) return;
        for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
            for (int p = 0; p < parts; ++p)
                if (A.col_ind[k] == lane + p * warp_size) part[p] = widened<W>(A.val[k]);
    }
    /// f(j, v) for this lane's entries up to the diagonal.
    template <class F>
    __device__ void for_each(F f) {
        if (i >= n) return;
#pragma unroll
        for (int p = 0; p < parts; ++p)
            if (lane + p * warp_size <= i) f(lane + p * warp_size, part[p]);
    }
    /// Writes what this row has of the row and column k of the whole matrix.
    __device__ void tell(int k, double pivot, W* across) {
        if (i < k) return;
        for_each([&](int j, W& v) {
            if (i == k) across[j] = j == k ? W(pivot) : v;
            if (i > k && j == k) across[i] = mirror(v);
        });
    }
    __device__ void sweep(int k, double pivot, const W* across) {
        if (i == k) {
            for_each([&](int j, W& v) { v = j == k ? W(-1 / pivot) : quotient(across[j], pivot); });
            return;
        }
        const W f = i < n ? quotient(mirror(across[i]), pivot) : W(0);
        if (f == W(0)) return;
        for_each([&](int j, W& v) { v = j == k ? f : v - rounded_product(f, across[j]); });
    }
};

/// Both triangles of the inverse, by rows; `dependent` becomes the number of rows that only
/// rounding is left of, and then there is no inverse. across: two rows. All blocks run at once.
template <class V, class W>
__global__ void __launch_bounds__(sweep_threads)
    invert(csr<V, device_view> A, double rounding, double* diagonal, W* across, V* inverse,
           unsigned* dependent) {
    __shared__ pivot_choice choice;
    __shared__ W column[longest];
    const auto grid = cooperative_groups::this_grid();
    const int n = A.shape.rows;
    swept_row<W> row{int(blockIdx.x * rows_of_block + threadIdx.x / warp_size), n,
                     int(threadIdx.x) % warp_size};
    row.load(A);
    row.for_each([&](int j, W v) {
        if (j == row.i) diagonal[j] = real_part(v);
    });
    grid.sync();
    for (int j = int(threadIdx.x); j < n; j += sweep_threads)
        choice.before[j] = choice.diagonal[j] = diagonal[j],
        choice.share[j] = choice.diagonal[j] / choice.before[j];
    __syncthreads();
    for (int step = 0; step < n; ++step) {
        const int k = choice.next(n);
        const double pivot = choice.diagonal[k];
        if (!(choice.share[k] > rounding)) {
            if (grid.thread_rank() == 0) *dependent = unsigned(n - step);
            return;
        }
        W* const shared = across + step % 2 * n;
        row.tell(k, pivot, shared);
        grid.sync();
        for (int j = int(threadIdx.x); j < n; j += sweep_threads) {
            column[j] = shared[j];
            choice.sweep(j, k, pivot, column[j]);
        }
        __syncthreads();
        row.sweep(k, pivot, column);
    }
    row.for_each([&](int j, W v) {
        const W result = j == row.i ? W(real_part(W(0) - v)) : W(0) - v;
        inverse[row.i * n + j] = rounded_to<V>(result);
        if (j < row.i) inverse[j * n + row.i] = rounded_to<V>(mirror(result));
    });
}

/// The columns of a matrix with every entry stored.
struct number_columns {
    index n;
    index* col;
    __device__ void operator()(std::int64_t k) const { col[k] = index(k % n); }
};
struct fill_lengths {
    index n;
    offset* length;
    __device__ void operator()(std::int64_t i) const { length[i] = n; }
};

template <class V>
csr<V, device> with_every_entry(gpu on, index n) {
    const auto entries = std::int64_t(n) * n;
    csr<V, device> A{{n, n}, {}, {}, {}};
    device_array<offset> length(on, std::size_t(n) + 1);
    fill_bytes(on, length, 0);
    launch_each(on, n, fill_lengths{n, length.data()});
    offset nnz = 0;
    A.row_ptr = row_pointers(on, length, nnz);
    A.col_ind = device_array<index>(on, std::size_t(entries));
    A.val = device_array<V>(on, std::size_t(entries));
    launch_each(on, entries, number_columns{n, A.col_ind.data()});
    return A;
}

}  // namespace

template <class V>
csr<V, device> regular_inverse(gpu on, const csr<V, device_view>& A) {
    using K = device_value<V>;
    using W = wide_value<K>;
    const device_guard guard(on);
    const index n = A.shape.rows;
    const auto kernel = invert<K, W>;
    int at_once = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, kernel, sweep_threads, 0),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    const unsigned blocks = blocks_for(n, rows_of_block);
    if (n < 1 || n > longest || blocks > unsigned(at_once) * multiprocessors()) return {};
    csr<V, device> X = with_every_entry<V>(on, n);
    device_array<double> diagonal(on, std::size_t(n));
    device_array<wide_value<V>> across(on, 2 * std::size_t(n));
    device_array<unsigned> dependent(on, 1);
    fill_bytes(on, dependent, 0);
    csr<K, device_view> in = in_kernels(A);
    double rounding = left_by_rounding<V>(n);
    double* diagonals = diagonal.data();
    W* rows = in_kernels(across.data());
    K* to = in_kernels(X.val.data());
    unsigned* count = dependent.data();
    void* arguments[] = {&in, &rounding, &diagonals, &rows, &to, &count};
    check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(blocks),
                                      dim3(sweep_threads), arguments, 0, stream_of(on)),
          "cudaLaunchCooperativeKernel");
    return read_back(on, dependent.data()) == 0 ? std::move(X) : csr<V, device>{};
}

#define NZ_INSTANTIATE(V) template csr<V, device> regular_inverse(gpu, const csr<V, device_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
