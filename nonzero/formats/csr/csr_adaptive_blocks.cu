// A block ends where the next row would no longer fit, so that its first row follows from the block
// before it. All rows find at once which row would begin the next block if they began one; from
// there they jump 16 blocks ahead, and 256. One thread then walks along the longest jumps, and the
// others fill in what lies between.
#include "nonzero/formats/csr/csr_adaptive_blocks.hpp"

#include <cub/device/device_scan.cuh>

#include "nonzero/core/cuda.cuh"
#include "nonzero/core/stream.hpp"

namespace nz {
namespace {

constexpr int threads_per_block = 256;
constexpr int jump = 16;  ///< blocks of the first jump; the second has as many of these

struct rows_to_cut {
    device_offset_span row_ptr;
    std::int64_t rows;
    index capacity;

    __device__ offset length(std::int64_t first, std::int64_t last) const {
        return row_ptr[std::size_t(last)] - row_ptr[std::size_t(first)];
    }
    /// Parts of a longer row than a block holds; 1 of any other.
    __device__ index parts(std::int64_t i) const {
        const offset n = length(i, i + 1);
        return n > capacity ? index((n + capacity - 1) / capacity) : 1;
    }
    /// The row behind the block that begins with row i.
    __device__ std::int64_t behind_block(std::int64_t i) const {
        std::int64_t fits = i + 1, most = min(rows, i + capacity);
        while (fits < most) {
            const std::int64_t mid = (fits + most + 1) / 2;
            if (length(i, mid) <= capacity) {
                fits = mid;
            } else {
                most = mid - 1;
            }
        }
        return fits;
    }
};

__device__ std::int64_t this_thread() {
    return std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// next[i] = the row that begins the next block; next[rows] = rows, where all jumps end.
__global__ void find_next(rows_to_cut A, index* next) {
    const std::int64_t i = this_thread();
    if (i <= A.rows) next[i] = index(i < A.rows ? A.behind_block(i) : A.rows);
}

__global__ void jump_further(std::int64_t rows, const index* from, index* to) {
    const std::int64_t i = this_thread();
    if (i > rows) return;
    auto at = index(i);
    for (int k = 0; k < jump; ++k) at = from[at];
    to[i] = at;
}

/// One thread.
__global__ void walk(std::int64_t rows, const index* furthest, index* stops, index* count) {
    index n = 0;
    for (index i = 0; i < rows; i = furthest[i]) stops[n++] = i;
    *count = n;
}

/// `jump` threads a stop, each with as many blocks.
__global__ void count_blocks(rows_to_cut A, const index* next, const index* further,
                             const index* stops, const index* stop_count, index* blocks) {
    const std::int64_t t = this_thread();
    if (t >= std::int64_t(*stop_count) * jump) return;
    index i = stops[t / jump];
    for (int k = 0; k < int(t % jump); ++k) i = further[i];
    for (int k = 0; k < jump && i < A.rows; ++k) {
        blocks[i] = A.parts(i);
        i = next[i];
    }
}

__global__ void write_blocks(rows_to_cut A, const index* first_block, index* row, index* part) {
    const std::int64_t i = this_thread();
    if (i > A.rows) return;
    const index begin = first_block[i];
    if (i == A.rows) {
        row[begin] = index(i);
        return;
    }
    const index end = first_block[i + 1];
    const bool whole = end - begin == 1 && A.length(i, i + 1) <= A.capacity;
    for (index b = begin; b < end; ++b) row[b] = index(i), part[b] = whole ? -1 : b - begin;
}

/// blocks[i] = how many begin before row i, for 0 <= i <= rows.
void sum_before(gpu on, device_array<index>& blocks) {
    std::size_t bytes = 0;
    const auto sum = [&](void* scratch) {
        check(cub::DeviceScan::ExclusiveSum(scratch, bytes, blocks.data(), blocks.data(),
                                            std::int64_t(blocks.size()), stream_of(on)),
              "cub::DeviceScan");
    };
    sum(nullptr);
    const device_array<std::byte> scratch(on, bytes);
    sum(scratch.data());
}

/// For 0 <= i <= rows, how many blocks begin before row i.
device_array<index> first_blocks(gpu on, const rows_to_cut& A) {
    const auto size = std::size_t(A.rows) + 1;
    const unsigned grid = blocks_for(A.rows + 1, threads_per_block);
    const cudaStream_t stream = stream_of(on);
    device_array<index> next(on, size), further(on, size), furthest(on, size);
    find_next<<<grid, threads_per_block, 0, stream>>>(A, next.data());
    jump_further<<<grid, threads_per_block, 0, stream>>>(A.rows, next.data(), further.data());
    jump_further<<<grid, threads_per_block, 0, stream>>>(A.rows, further.data(), furthest.data());
    const std::int64_t most_stops = A.rows / (jump * jump) + 1;
    device_array<index> stops(on, std::size_t(most_stops)), stop_count(on, 1);
    walk<<<1, 1, 0, stream>>>(A.rows, furthest.data(), stops.data(), stop_count.data());
    device_array<index> blocks = std::move(furthest);
    check(cudaMemsetAsync(blocks.data(), 0, size * sizeof(index), stream), "cudaMemsetAsync");
    count_blocks<<<blocks_for(most_stops * jump, threads_per_block), threads_per_block, 0,
                   stream>>>(A, next.data(), further.data(), stops.data(), stop_count.data(),
                             blocks.data());
    check_launch("row blocks");
    sum_before(on, blocks);
    return blocks;
}

}  // namespace

device_row_blocks row_blocks_of(gpu on, const device_offset_span& row_ptr, index rows,
                                index capacity) {
    const device_guard guard(on);
    const rows_to_cut A{row_ptr, rows, capacity};
    const device_array<index> first = first_blocks(on, A);
    const auto count = std::size_t(read_back(on, first.data() + rows));
    device_row_blocks b{device_array<index>(on, count + 1), device_array<index>(on, count)};
    write_blocks<<<blocks_for(A.rows + 1, threads_per_block), threads_per_block, 0,
                   stream_of(on)>>>(A, first.data(), b.row.data(), b.part.data());
    check_launch("row blocks");
    return b;
}

}  // namespace nz
