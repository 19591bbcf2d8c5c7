// Is what lies on the GPU a CSR, do the columns of its rows ascend, and a copy whose do.
#include <cub/device/device_scan.cuh>

#include "nonzero/core/device_complex.cuh"
#include "nonzero/core/gpu.hpp"
#include "nonzero/matrix/transpose.hpp"

namespace nz {
namespace {

constexpr int threads_per_block = 256;

__device__ inline std::int64_t this_thread() {
    return std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}
unsigned blocks(std::int64_t n) { return blocks_for(n, threads_per_block); }

/// Counts of one pass over the indices, in GPU memory.
struct findings {
    unsigned bad_row_ptr, bad_column;
    /// Columns no larger than the one before: in all, and where a row starts.
    unsigned long long descents, descents_between_rows;
};

__global__ void look_at_rows(device_offset_span row_ptr, const index* col, std::int64_t rows,
                             offset nnz, findings* to) {
    const std::int64_t i = this_thread();
    unsigned long long descents = 0;
    if (i < rows) {
        const offset first = row_ptr[std::size_t(i)], last = row_ptr[std::size_t(i) + 1];
        const bool at_ends = (i > 0 || first == 0) && (i + 1 < rows || last == nnz);
        if (!at_ends || first < 0 || first > last || last > nnz) {
            to->bad_row_ptr = 1;
        } else {
            descents = first > 0 && first < last && col[first - 1] >= col[first];
        }
    }
    add_of_block(&to->descents_between_rows, descents);
}

__global__ void look_at_columns(const index* col, offset nnz, index cols, findings* to) {
    unsigned long long descents = 0;
    bool outside = false;
    for (offset k = this_thread(); k < nnz; k += offset(gridDim.x) * blockDim.x) {
        const index here = col[k];
        outside = outside || unsigned(here) >= unsigned(cols);
        descents += k > 0 && col[k - 1] >= here;
    }
    if (outside) to->bad_column = 1;
    add_of_block(&to->descents, descents);
}

/// Blocks that pass over n elements, some of each at a time.
unsigned streaming_blocks(std::int64_t n) {
    constexpr std::int64_t elements_per_thread = 8, most_blocks = 4096;
    return unsigned(std::min(
        most_blocks, std::int64_t(blocks((n + elements_per_thread - 1) / elements_per_thread))));
}

}  // namespace

template <class V>
row_order order_of(gpu on, const csr<V, device_view>& A) {
    check_sizes(A);
    const auto nnz = offset(A.val.size());
    const device_guard guard(on);
    const device_array<findings> on_device(on, 1);
    zero_on_device(on, {reinterpret_cast<std::byte*>(on_device.data()), sizeof(findings)});
    if (A.shape.rows > 0)
        look_at_rows<<<blocks(A.shape.rows), threads_per_block, 0, stream_of(on)>>>(
            A.row_ptr, A.col_ind.data(), A.shape.rows, nnz, on_device.data());
    if (nnz > 0)
        look_at_columns<<<streaming_blocks(nnz), threads_per_block, 0, stream_of(on)>>>(
            A.col_ind.data(), nnz, A.shape.cols, on_device.data());
    check(cudaGetLastError(), "order_of");
    findings found{};
    copy_to_host(on, on_device.data(), &found, sizeof found);
    if (found.bad_row_ptr != 0)
        throw argument_error("csr: row_ptr does not ascend from 0 to the number of entries");
    if (found.bad_column != 0) throw argument_error("csr: a column is out of range");
    return found.descents == found.descents_between_rows ? row_order::ascending : row_order::any;
}

namespace {

/// 1 where an entry is the first of its row or of another column than the one before.
__global__ void mark_heads(const index* col, offset nnz, std::int64_t* head) {
    const std::int64_t k = this_thread();
    if (k < nnz) head[k] = k == 0 || col[k - 1] != col[k];
}
__global__ void mark_rows(device_offset_span row_ptr, std::int64_t rows, std::int64_t* head) {
    const std::int64_t i = this_thread();
    if (i < rows && row_ptr[std::size_t(i)] < row_ptr[std::size_t(i) + 1])
        head[row_ptr[std::size_t(i)]] = 1;
}

/// `number` counts the heads up to and with an entry. A head adds up those behind it, in order.
template <class V>
__global__ void sum_from_heads(const index* col, const V* val, offset nnz,
                               const std::int64_t* number, index* col_out, V* val_out) {
    const std::int64_t k = this_thread();
    if (k >= nnz || (k > 0 && number[k] == number[k - 1])) return;
    V sum = val[k];
    for (std::int64_t next = k + 1; next < nnz && number[next] == number[k]; ++next)
        sum = sum + val[next];
    col_out[number[k] - 1] = col[k];
    val_out[number[k] - 1] = sum;
}

template <class Offset>
__global__ void point_to_rows(device_offset_span row_ptr, std::int64_t rows,
                              const std::int64_t* number, Offset* ptr) {
    const std::int64_t i = this_thread();
    if (i > rows) return;
    const offset k = row_ptr[std::size_t(i)];
    ptr[i] = Offset(k == 0 ? 0 : number[k - 1]);
}

/// How many entries are left up to and with each of B's, whose rows ascend but for duplicates.
template <class V>
device_array<std::int64_t> number_of_heads(gpu on, const csr<V, device_view>& B) {
    const auto nnz = offset(B.val.size());
    device_array<std::int64_t> head(on, B.val.size());
    mark_heads<<<blocks(nnz), threads_per_block, 0, stream_of(on)>>>(B.col_ind.data(), nnz,
                                                                     head.data());
    mark_rows<<<blocks(B.shape.rows), threads_per_block, 0, stream_of(on)>>>(
        B.row_ptr, B.shape.rows, head.data());
    std::size_t bytes = 0;
    const auto sum = [&](void* scratch) {
        check(cub::DeviceScan::InclusiveSum(scratch, bytes, head.data(), head.data(), nnz,
                                            stream_of(on)),
              "cub::DeviceScan::InclusiveSum");
    };
    sum(nullptr);
    const device_array<std::byte> scratch(on, bytes);
    sum(scratch.data());
    return head;
}

template <class V>
csr<V, device> without_duplicates(gpu on, const csr<V, device_view>& B) {
    const auto nnz = offset(B.val.size());
    const auto number = number_of_heads(on, B);
    std::int64_t left = 0;
    copy_to_host(on, number.data() + nnz - 1, &left, sizeof left);
    const bool wide = left > offset_vector::max_narrow;
    const std::size_t len = B.row_ptr.size();
    csr<V, device> C{B.shape,
                     {device_array<std::byte>(on, len * (wide ? 8 : 4)), len, wide},
                     {on, std::size_t(left)},
                     {on, std::size_t(left)}};
    const auto point = [&](auto* ptr) {
        point_to_rows<<<blocks(std::int64_t(len)), threads_per_block, 0, stream_of(on)>>>(
            B.row_ptr, B.shape.rows, number.data(), ptr);
    };
    if (wide) {
        point(reinterpret_cast<std::int64_t*>(C.row_ptr.bytes.data()));
    } else {
        point(reinterpret_cast<std::int32_t*>(C.row_ptr.bytes.data()));
    }
    sum_from_heads<<<blocks(nnz), threads_per_block, 0, stream_of(on)>>>(
        B.col_ind.data(), in_kernels(B.val.data()), nnz, number.data(), C.col_ind.data(),
        in_kernels(C.val.data()));
    check(cudaGetLastError(), "canonical");
    return C;
}

}  // namespace

template <class V>
csr<V, device> ordered_copy(gpu on, const csr<V, device_view>& A) {
    const device_guard guard(on);
    auto B = transposed(on, view(transposed(on, A)));
    if (B.val.size() == 0) return B;
    return without_duplicates(on, view(B));
}

#define NZ_INSTANTIATE(V)                                         \
    template row_order order_of(gpu, const csr<V, device_view>&); \
    template csr<V, device> ordered_copy(gpu, const csr<V, device_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
