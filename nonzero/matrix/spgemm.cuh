// Products of sparse matrices on a GPU: rows summed up in hash tables in shared memory.
#pragma once

#include <algorithm>

#include "nonzero/core/gpu/device_steps.cuh"
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
    std::int32_t* next;   ///< rows too long for this table, for the next larger one
    unsigned* next_size;  ///< how many
};

/// Threads of a block: a warp where a row's table takes as much shared memory as others' blocks.
template <int slots>
inline constexpr int spgemm_threads = slots > 512 ? warp_size : 128;
/// Rows up to this long go through a table of this many slots: fuller ones search too long.
template <int slots>
inline constexpr int longest_in = slots * 3 / 4;

/// The lanes of a warp that share a row.
template <int lanes>
struct row_lanes {
    static constexpr int beside = warp_size / lanes;  ///< rows of a warp
    int lane = int(threadIdx.x) % lanes;
    int first = int(threadIdx.x) % warp_size / lanes * lanes;  ///< of the warp's
    unsigned mask = lanes == 32 ? full_warp : ((1U << lanes % 32) - 1) << first;

    /// The lanes' row, among those of the grid.
    [[nodiscard]] __device__ std::int64_t row() const {
        return (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / lanes;
    }
    /// v of lane k of these.
    template <class T>
    [[nodiscard]] __device__ T of_lane(int k, T v) const {
        if constexpr (lanes == 1)
            return v;
        else
            return __shfl_sync(mask, v, first + k);
    }
    [[nodiscard]] __device__ int sum(int v) const {
#pragma unroll
        for (int step = lanes / 2; step > 0; step /= 2) v += __shfl_xor_sync(mask, v, step, lanes);
        return v;
    }
};

/// A table of one row's columns, in shared memory, slot by slot beside those of the warp's other
/// rows: open addressing. Lanes insert different columns at once.
template <int lanes, int slots>
struct row_table {
    static constexpr int beside = row_lanes<lanes>::beside;
    static constexpr int of_block = slots * beside * spgemm_threads<slots> / warp_size;
    int start;
    index* key;

    /// Of the calling lanes, among those of the block.
    __device__ row_table(index* keys, const row_lanes<lanes>& my)
        : start(int(threadIdx.x) / warp_size * slots * beside + my.first / lanes),
          key(keys + start) {
        for (int s = my.lane; s < slots; s += lanes) key[s * beside] = -1;
        __syncwarp(my.mask);
    }
    /// Sums beside the columns. The sum of one column is added to by one lane at a time.
    template <class V>
    [[nodiscard]] __device__ V* zeros(V* sums, const row_lanes<lanes>& my) const {
        for (int s = my.lane; s < slots; s += lanes) sums[start + s * beside] = V(-0.0);
        __syncwarp(my.mask);
        return sums + start;
    }
    /// Multiplicative, which spreads neighbouring columns: where they have neighbouring slots, runs
    /// of columns meet.
    static __device__ unsigned first_slot(index j) { return unsigned(j) * 0x9e3779b1U >> 7; }
    /// The slot that column j has from now on; -1 where the table is full. Sets `added` where the
    /// column is new.
    __device__ int insert(index j, bool& added) {
        unsigned s = first_slot(j);
        for (int tried = 0; tried < slots; ++tried, ++s) {
            const int at = int(s % unsigned(slots)) * beside;
            const index was = atomicCAS(key + at, -1, j);
            if (was == -1) added = true;
            if (was == -1 || was == j) return at;
        }
        return -1;
    }
    /// The slot of column j, which was inserted before: a load costs less than an atomic.
    [[nodiscard]] __device__ int find(index j) const {
        unsigned s = first_slot(j);
        while (key[int(s % unsigned(slots)) * beside] != j) ++s;
        return int(s % unsigned(slots)) * beside;
    }
    /// How many columns come before j.
    [[nodiscard]] __device__ int rank(index j) const {
        int n = 0;
        for (int s = 0; s < slots; ++s) n += unsigned(key[s * beside]) < unsigned(j);
        return n;
    }
};

/// An entry of the right row, and the left entry that it is multiplied by. Values only where they
/// are asked for.
template <bool values, class L, class R>
struct factors {
    decltype(L().value(0, 0)) a{};
    index column = 0;
    decltype(R().value(0)) b{};
    __device__ void load(const R& right, offset m) {
        column = right.column(m);
        if constexpr (values) b = right.value(m);
    }
    [[nodiscard]] __device__ auto product() const { return rounded_product(a, b); }
};

/// Parts of a right row, of an entry a lane, that are loaded while the row before is worked on.
/// With one, a warp waits for the rest of elasticity's rows; eight lanes are slower with two
/// (`ncu -k regex:fill_values amg_bench gpu elasticity3d:32`).
template <int lanes>
inline constexpr int parts_ahead = lanes == warp_size ? 3 : 1;

/// The products of row i, entry by entry of the left row in its order, its right row's entries one
/// a lane: f(factors). The lanes load their left entries together, and the first parts of each
/// right row while the row before is worked on. After every `lanes` entries all ask `go_on`.
template <bool values, int lanes, class L, class R, class F, class G>
__device__ void for_each_product(const row_lanes<lanes>& my, const L& left, const R& right,
                                 std::int64_t i, F f, G go_on) {
    constexpr int parts = lanes == warp_size ? 4 : 2;  // of the rest of a right row, together
    constexpr int ahead = parts_ahead<lanes>;
    const offset end = left.ptr[i + 1];
    for (offset start = left.ptr[i]; start < end; start += lanes) {
        const offset k = start + my.lane;
        offset first = 0;
        int length = 0;
        factors<values, L, R> mine, next[ahead];
        if (k < end && left.has(i, k)) {
            const index j = left.col[k];
            first = right.first(j), length = int(right.last(j) - first);
            if constexpr (values) mine.a = left.value(i, k);
        }
        const int loaded = end - start < lanes ? int(end - start) : lanes;
        const auto load = [&](int e) {
            const offset from = my.of_lane(e, first) + my.lane;
            const int n = my.of_lane(e, length) - my.lane;
#pragma unroll
            for (int p = 0; p < ahead; ++p)
                if (p * lanes < n) next[p].load(right, from + p * lanes);
        };
        load(0);
        for (int e = 0; e < loaded; ++e) {
            factors<values, L, R> now[ahead];
#pragma unroll
            for (int p = 0; p < ahead; ++p) now[p] = next[p];
            if (e + 1 < loaded) load(e + 1);
            const offset from = my.of_lane(e, first);
            const int n = my.of_lane(e, length);
            auto a = mine.a;
            if constexpr (values) a = my.of_lane(e, a);
#pragma unroll
            for (int p = 0; p < ahead; ++p)
                if (now[p].a = a; my.lane + p * lanes < n) f(now[p]);
            for (int m = my.lane + ahead * lanes; m < n; m += parts * lanes) {
                factors<values, L, R> rest[parts];
#pragma unroll
                for (int p = 0; p < parts; ++p)
                    if (m + p * lanes < n) rest[p].load(right, from + m + p * lanes);
#pragma unroll
                for (int p = 0; p < parts; ++p)
                    if (rest[p].a = a; m + p * lanes < n) f(rest[p]);
            }
            __syncwarp(my.mask);
        }
        if (!go_on()) return;
    }
}

/// The lengths of rows, `lanes` lanes a row. Rows by `list`, or all where that is null. What is too
/// long for this table is put on the next one's list.
template <int lanes, int slots, class V, class L, class R>
__global__ void __launch_bounds__(spgemm_threads<slots>)
    count_rows(const std::int32_t* list, std::int64_t count, L left, R right, product_rows<V> to) {
    __shared__ index keys[row_table<lanes, slots>::of_block];
    const row_lanes<lanes> my;
    const std::int64_t r = my.row();
    if (r >= count) return;
    const std::int64_t i = list != nullptr ? list[r] : r;
    row_table<lanes, slots> table(keys, my);
    int mine = 0, total = 0;
    bool is_full = false;
    for_each_product<false>(
        my, left, right, i,
        [&](const auto& p) {
            bool added = false;
            if (!is_full) is_full = table.insert(p.column, added) < 0;
            mine += added;
        },
        [&] {
            total = my.sum(mine);
            return total <= longest_in<slots>;
        });
    if (my.lane > 0) return;
    if (total > longest_in<slots>) {
        to.next[atomicAdd(to.next_size, 1U)] = std::int32_t(i);
    } else {
        to.length[i] = total;
    }
}

/// The entries of rows whose lengths are known. Sums are taken in the CPU's order.
template <int lanes, int slots, class V, class L, class R>
__global__ void __launch_bounds__(spgemm_threads<slots>)
    fill_rows(const std::int32_t* list, std::int64_t count, L left, R right, product_rows<V> to) {
    using rows = row_table<lanes, slots>;
    __shared__ index keys[rows::of_block];
    __shared__ V sums[rows::of_block];
    const row_lanes<lanes> my;
    const std::int64_t r = my.row();
    if (r >= count) return;
    const std::int64_t i = list != nullptr ? list[r] : r;
    if (to.length[i] > longest_in<slots>) return;
    rows table(keys, my);
    V* const sum = table.zeros(sums, my);
    for_each_product<true>(
        my, left, right, i,
        [&](const auto& p) {
            bool added = false;
            sum[table.insert(p.column, added)] += p.product();
        },
        [] { return true; });
    const offset start = to.ptr[i];
    for (int s = my.lane; s < slots; s += lanes) {
        const index j = table.key[s * rows::beside];
        if (j < 0) continue;
        const int at = table.rank(j);
        to.col[start + at] = j, to.val[start + at] = sum[s * rows::beside];
    }
}

/// The values of rows whose columns are known: every product falls on one of them.
template <int lanes, int slots, class V, class L, class R>
__global__ void __launch_bounds__(spgemm_threads<slots>)
    fill_values(const std::int32_t* list, std::int64_t count, L left, R right, product_rows<V> to) {
    using rows = row_table<lanes, slots>;
    __shared__ index keys[rows::of_block];
    __shared__ V sums[rows::of_block];
    const row_lanes<lanes> my;
    const std::int64_t r = my.row();
    if (r >= count) return;
    const std::int64_t i = list != nullptr ? list[r] : r;
    const offset start = to.ptr[i], length = to.length[i];
    if (length > longest_in<slots>) return;
    rows table(keys, my);
    V* const sum = table.zeros(sums, my);
    for (offset k = my.lane; k < length; k += lanes) {
        bool added = false;
        table.insert(to.col[start + k], added);
    }
    __syncwarp(my.mask);
    for_each_product<true>(
        my, left, right, i, [&](const auto& p) { sum[table.find(p.column)] += p.product(); },
        [] { return true; });
    for (offset k = my.lane; k < length; k += lanes)
        to.val[start + k] = sum[table.find(to.col[start + k])];
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
            launch(part::lengths, t, to);
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
            if (nnz > 0 && count_[t] > 0) launch(part::entries, t, to);
        synchronize(on_);  // the lists are given back
        return C;
    }

    /// The values of the product into C, which has its pattern.
    void run_values(csr<V, device>& C) {
        const auto rows = std::size_t(shape_.rows);
        device_array<offset> length(on_, rows);
        device_array<unsigned> size(on_, 1);
        launch_each(on_, shape_.rows, find_lengths{view(C).row_ptr, length.data()});
        const product_rows<W> to{length.data(),    view(C).row_ptr,
                                 C.col_ind.data(), in_kernels(C.val.data()),
                                 nullptr,          nullptr};
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
            launch(part::values, t, to);
        }
        synchronize(on_);  // the lists are given back
    }

  private:
    using W = device_value<V>;
    static constexpr int tables = 6;
    static constexpr offset longest[tables - 1] = {longest_in<16>, longest_in<32>, longest_in<128>,
                                                   longest_in<512>, longest_in<2048>};

    enum class part { lengths, entries, values };
    template <int lanes, int slots>
    void launch_hash(part p, int t, const product_rows<W>& to) {
        const auto kernel = p == part::lengths   ? count_rows<lanes, slots, W, L, R>
                            : p == part::entries ? fill_rows<lanes, slots, W, L, R>
                                                 : fill_values<lanes, slots, W, L, R>;
        constexpr int threads = spgemm_threads<slots>;
        kernel<<<blocks_for(count_[t], threads / lanes), threads, 0, stream_of(on_)>>>(
            lists_[t].data(), count_[t], left_, right_, to);
    }
    void launch(part p, int t, const product_rows<W>& to) {
        if (t == 0) launch_hash<1, 16>(p, t, to);
        if (t == 1) launch_hash<4, 32>(p, t, to);
        if (t == 2) launch_hash<8, 128>(p, t, to);
        if (t == 3) launch_hash<32, 512>(p, t, to);
        if (t == 4) launch_hash<32, 2048>(p, t, to);
        if (t == 5) launch_dense(to);
        check_launch("spgemm");
    }
    void launch_dense(const product_rows<W>& to) {
        constexpr double most_bytes = 256e6;
        const double each = double(shape_.cols) * (sizeof(std::int32_t) + sizeof(V));
        const auto blocks = std::size_t(std::clamp(most_bytes / each, 1.0, double(count_[5])));
        const std::size_t n = blocks * std::size_t(shape_.cols);
        device_array<std::int32_t> stamps(on_, n);
        device_array<V> sums(on_, n);
        fill_bytes(on_, stamps, 0);
        dense_rows<W><<<unsigned(blocks), warp_size, 0, stream_of(on_)>>>(
            lists_[5].data(), count_[5], shape_.cols, left_, right_, to, stamps.data(),
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
