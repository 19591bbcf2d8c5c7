// Products of sparse matrices on a GPU: rows summed up in hash tables in shared memory.
#pragma once

#include <algorithm>

#include "nonzero/matrix/device_steps.cuh"
#include "nonzero/matrix/spgemm.hpp"
#include "nonzero/vector/scalar.cuh"

namespace nz {

/// The matrix on the left as it is: entry k of row i is value(i, k) at column(k).
template <class V>
struct left_rows {
    device_offset_span ptr;
    const index* col;
    const V* val;
    __device__ bool has(std::int64_t, offset) const { return true; }
    __device__ V value(std::int64_t, offset k) const { return val[k]; }
};

/// The matrix on the right as it is: row j has the entries [first(j), last(j)).
template <class V>
struct right_rows {
    device_offset_span ptr;
    const index* col;
    const V* val;
    __device__ offset first(index j) const { return ptr[j]; }
    __device__ offset last(index j) const { return ptr[std::int64_t(j) + 1]; }
    __device__ index column(offset m) const { return col[m]; }
    __device__ V value(offset m) const { return val[m]; }
};

/// Output for a row: its length where col is null, else its entries.
template <class V>
struct product_rows {
    offset* length;
    device_offset_span ptr;
    index* col;
    V* val;
    std::int32_t* next;          ///< rows too long for this table, for the next larger one
    unsigned* next_size;         ///< how many
    bool columns_known = false;  ///< the columns stand there: only values are written
};

/// A table of one row's sums, in shared memory, slot by slot beside those of other rows, so that
/// neighbouring rows meet different banks: open addressing. Lanes insert different columns at
/// once, and the sum of one column is added to by one lane at a time.
template <int slots, int rows, class V>
struct row_table {
    index* key;
    V* sum;
    __device__ void clear(int lane, int lanes) {
        for (int s = lane; s < slots; s += lanes) key[s * rows] = -1, sum[s * rows] = V(-0.0);
    }
    /// Where column j stands; -1 where the table is full. `added` where it is new.
    __device__ int find(index j, bool& added) {
        unsigned s = unsigned(j) * 0x9e3779b1U >> 7;
        for (int tried = 0; tried < slots; ++tried, ++s) {
            const int at = int(s % unsigned(slots));
            const index was = atomicCAS(key + at * rows, -1, j);
            if (was == -1) added = true;
            if (was == -1 || was == j) return at;
        }
        return -1;
    }
    /// How many columns come before j.
    __device__ int rank(index j) const {
        int n = 0;
        for (int s = 0; s < slots; ++s) n += unsigned(key[s * rows]) < unsigned(j);
        return n;
    }
};

inline constexpr int spgemm_threads = 128;
/// Rows up to this long go through a table of this many slots: fuller ones search too long.
template <int slots>
inline constexpr int longest_in = slots * 3 / 4;

/// `lanes` lanes a row: entry by entry of the left row in its order, its right row's entries one a
/// lane. Sums are therefore taken in the CPU's order. Rows by `list`, or all where that is null.
template <int lanes, int slots, class V, class L, class R>
__global__ void __launch_bounds__(spgemm_threads)
    hash_rows(const std::int32_t* list, std::int64_t count, L left, R right, product_rows<V> to) {
    constexpr int rows = spgemm_threads / lanes;
    __shared__ index keys[rows * slots];
    __shared__ V sums[rows * slots];
    const int lane = int(threadIdx.x) % lanes, group = int(threadIdx.x) / lanes;
    const std::int64_t r = std::int64_t(blockIdx.x) * rows + group;
    if (r >= count) return;
    const std::int64_t i = list != nullptr ? list[r] : r;
    const bool counting = to.col == nullptr;
    if (!counting && to.length[i] > longest_in<slots>) return;
    const unsigned mask = lanes == 32
                              ? full_warp
                              : ((1U << lanes % 32) - 1) << (int(threadIdx.x) % 32 / lanes * lanes);
    row_table<slots, rows, V> table{keys + group, sums + group};
    table.clear(lane, lanes);
    __syncwarp(mask);
    int mine = 0, total = 0;
    bool full = false;
    const offset end = left.ptr[i + 1];
    for (offset k = left.ptr[i]; k < end && !full; ++k) {
        if (!left.has(i, k)) continue;
        const index j = left.col[k];
        const V a = left.value(i, k);
        const offset last = right.last(j);
        for (offset m = right.first(j) + lane; m < last; m += lanes) {
            bool added = false;
            const int at = table.find(right.column(m), added);
            mine += added;
            if (at < 0) break;
            if (!counting) table.sum[at * rows] += rounded_product(a, right.value(m));
        }
        __syncwarp(mask);
        if (counting) {
            total = mine;
#pragma unroll
            for (int step = lanes / 2; step > 0; step /= 2)
                total += __shfl_xor_sync(mask, total, step, lanes);
            full = total > longest_in<slots>;
        }
    }
    if (counting) {
        if (lane > 0) return;
        if (full) {
            to.next[atomicAdd(to.next_size, 1U)] = std::int32_t(i);
        } else {
            to.length[i] = total;
        }
        return;
    }
    const offset start = to.ptr[i];
    for (int s = lane; s < slots; s += lanes) {
        const index j = table.key[s * rows];
        if (j < 0) continue;
        const int at =
            to.columns_known ? int(first_at_least(to.col + start, to.length[i], j)) : table.rank(j);
        to.col[start + at] = j, to.val[start + at] = table.sum[s * rows];
    }
}

/// A warp a row, and a sum for every column: rows too long for any table.
template <class V, class L, class R>
__global__ void __launch_bounds__(warp_size)
    dense_rows(const std::int32_t* list, std::int64_t count, index cols, L left, R right,
               product_rows<V> to, std::int32_t* stamps, V* sums) {
    const int lane = int(threadIdx.x);
    std::int32_t* const stamp = stamps + std::int64_t(blockIdx.x) * cols;
    V* const sum = sums + std::int64_t(blockIdx.x) * cols;
    const bool counting = to.col == nullptr;
    for (std::int64_t r = blockIdx.x; r < count; r += gridDim.x) {
        const std::int32_t i = list[r], mark = i + 1;
        int mine = 0;
        for (offset k = left.ptr[i]; k < left.ptr[i + 1]; ++k) {
            if (!left.has(i, k)) continue;
            const index j = left.col[k];
            const V a = left.value(i, k);
            for (offset m = right.first(j) + lane; m < right.last(j); m += warp_size) {
                const index c = right.column(m);
                const V v = counting ? V(0) : rounded_product(a, right.value(m));
                if (stamp[c] != mark) {
                    stamp[c] = mark, sum[c] = v, ++mine;
                } else {
                    sum[c] += v;
                }
            }
            __syncwarp();
        }
        if (counting) {
            mine = sum_lanes<warp_size>(mine);
            if (lane == 0) to.length[i] = mine;
            continue;
        }
        offset at = to.ptr[i];
        for (index first = 0; first < cols; first += warp_size) {
            const index c = first + lane;
            const bool is_marked = c < cols && stamp[c] == mark;
            const unsigned marked_lanes = __ballot_sync(full_warp, is_marked);
            if (is_marked) {
                const offset here = at + __popc(marked_lanes & ((1U << lane) - 1));
                to.col[here] = c, to.val[here] = sum[c];
            }
            at += __popc(marked_lanes);
        }
        __syncwarp();
    }
}

struct find_lengths {
    device_offset_span ptr;
    offset* length;
    __device__ void operator()(std::int64_t i) const { length[i] = ptr[i + 1] - ptr[i]; }
};
struct list_longer {
    const offset* length;
    offset most;
    std::int32_t* list;
    unsigned* count;
    __device__ void operator()(std::int64_t i) const {
        if (length[i] > most) list[atomicAdd(count, 1U)] = std::int32_t(i);
    }
};

/// The rows of a product, table by table from the `smallest` on.
template <class V, class L, class R>
class product_on_gpu {
  public:
    product_on_gpu(gpu on, nz::shape shape, const L& left, const R& right, int smallest)
        : on_(on), shape_(shape), left_(left), right_(right), smallest_(smallest) {}

    /// Empty, 0 x 0, where there are more entries than `most`.
    csr<V, device> run(offset most = any_number) {
        const auto rows = std::size_t(shape_.rows);
        csr<V, device> C{shape_, {}, {}, {}};
        device_array<offset> length(on_, rows + 1);
        fill_bytes(on_, length, 0);
        device_array<unsigned> size(on_, 1);
        product_rows<W> to{length.data(), {}, nullptr, nullptr, nullptr, size.data()};
        count_[smallest_] = shape_.rows;
        for (int t = smallest_; t < tables && count_[t] > 0; ++t) {
            if (t + 1 < tables) {
                lists_[t + 1] = device_array<std::int32_t>(on_, std::size_t(count_[t]));
                to.next = lists_[t + 1].data();
                fill_bytes(on_, size, 0);
            }
            launch(t, to);
            if (t + 1 < tables) count_[t + 1] = read_back(on_, size.data());
        }
        // The lengths become positions, but the kernels ask for lengths.
        device_array<offset> kept(on_, rows + 1);
        check(cudaMemcpyAsync(kept.data(), length.data(), (rows + 1) * sizeof(offset),
                              cudaMemcpyDeviceToDevice, stream_of(on_)),
              "cudaMemcpyAsync");
        offset nnz = 0;
        C.row_ptr = row_pointers(on_, length, nnz);
        if (nnz > most) return {};
        C.col_ind = device_array<index>(on_, std::size_t(nnz));
        C.val = device_array<V>(on_, std::size_t(nnz));
        to = {kept.data(), C.row_ptr, C.col_ind.data(), in_kernels(C.val.data()), nullptr, nullptr};
        for (int t = smallest_; t < tables; ++t)
            if (nnz > 0 && count_[t] > 0) launch(t, to);
        synchronize(on_);  // the lists are given back
        return C;
    }

    /// The values of the product into C, which has its pattern.
    void run_values(csr<V, device>& C) {
        const auto rows = std::size_t(shape_.rows);
        device_array<offset> length(on_, rows);
        device_array<unsigned> size(on_, 1);
        launch_each(on_, shape_.rows, find_lengths{view(C).row_ptr, length.data()});
        const product_rows<W> to{length.data(),
                                 view(C).row_ptr,
                                 C.col_ind.data(),
                                 in_kernels(C.val.data()),
                                 nullptr,
                                 nullptr,
                                 true};
        count_[smallest_] = shape_.rows;
        for (int t = smallest_; t < tables && count_[t] > 0; ++t) {
            if (t + 1 < tables) {
                lists_[t + 1] = device_array<std::int32_t>(on_, std::size_t(count_[t]));
                fill_bytes(on_, size, 0);
                launch_each(
                    on_, shape_.rows,
                    list_longer{length.data(), longest[t], lists_[t + 1].data(), size.data()});
                count_[t + 1] = read_back(on_, size.data());
            }
            launch(t, to);
        }
        synchronize(on_);  // the lists are given back
    }

  private:
    using W = device_value<V>;
    static constexpr int tables = 5;
    static constexpr offset longest[tables - 1] = {longest_in<16>, longest_in<32>, longest_in<128>,
                                                   longest_in<512>};

    template <int lanes, int slots>
    void launch_hash(int t, const product_rows<W>& to) {
        hash_rows<lanes, slots, W>
            <<<blocks_for(count_[t], spgemm_threads / lanes), spgemm_threads, 0, stream_of(on_)>>>(
                lists_[t].data(), count_[t], left_, right_, to);
    }
    void launch(int t, const product_rows<W>& to) {
        if (t == 0) launch_hash<1, 16>(t, to);
        if (t == 1) launch_hash<4, 32>(t, to);
        if (t == 2) launch_hash<8, 128>(t, to);
        if (t == 3) launch_hash<32, 512>(t, to);
        if (t == 4) launch_dense(to);
        check_launch("spgemm");
    }
    void launch_dense(const product_rows<W>& to) {
        constexpr double most_bytes = 256e6;
        const double each = double(shape_.cols) * (sizeof(std::int32_t) + sizeof(V));
        const auto blocks = std::size_t(std::clamp(most_bytes / each, 1.0, double(count_[4])));
        const std::size_t n = blocks * std::size_t(shape_.cols);
        device_array<std::int32_t> stamps(on_, n);
        device_array<V> sums(on_, n);
        fill_bytes(on_, stamps, 0);
        dense_rows<W><<<unsigned(blocks), warp_size, 0, stream_of(on_)>>>(
            lists_[4].data(), count_[4], shape_.cols, left_, right_, to, stamps.data(),
            in_kernels(sums.data()));
        synchronize(on_);
    }

    gpu on_;
    nz::shape shape_;
    L left_;
    R right_;
    int smallest_;
    std::int64_t count_[tables] = {};
    device_array<std::int32_t> lists_[tables];
};

}  // namespace nz
