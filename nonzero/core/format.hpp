// What a storage format and a kernel are, and everything that is written once for all of them.
#pragma once

#include <array>
#include <concepts>
#include <string>
#include <string_view>
#include <tuple>

#include "nonzero/core/device_array.hpp"
#include "nonzero/core/error.hpp"
#include "nonzero/core/value.hpp"

namespace nz {

struct shape {
    index rows = 0;
    index cols = 0;
    friend bool operator==(const shape&, const shape&) = default;
};

/// How many rows have one length.
struct length_count {
    std::int64_t length, rows;
    friend bool operator==(const length_count&, const length_count&) = default;
};

/// Rows to a group, for the groupings whose padding the stats know.
inline constexpr std::int64_t stats_groups[] = {32, 256};
/// Sides of the square blocks that the stats count.
inline constexpr index stats_block_sides[] = {2, 3, 4, 6, 8};
/// Rows that SELL-C-sigma's sort may mix, where the stats know its padding (C = 32).
inline constexpr index stats_sort_scope = 1024;

/// Equal shares of the rows, where the stats know how even they are.
inline constexpr std::int64_t stats_shares = 16;
/// Bytes of a sector: what memory and the caches of a GPU move at least.
inline constexpr std::int64_t sector_bytes = 32;

/// What a format may know of a matrix before it is built. Computed by plan/stats.
struct matrix_stats {
    std::int64_t rows = 0, cols = 0, nnz = 0;
    std::vector<length_count> row_lengths;  ///< ascending, only lengths that occur
    std::int64_t diagonals = 0;             ///< occupied, of rows + cols - 1
    std::int64_t bandwidth = 0;             ///< largest |column - row|
    std::int64_t group_width[2] = {};  ///< sum over groups of stats_groups[g] rows of the longest
    std::int64_t last_group_width[2] = {};  ///< the longest in the last, perhaps smaller, group
    std::int64_t sorted_group_width = 0;  ///< the same for 32 rows, sorted by length in each scope
    std::int64_t packed_bytes = 0;        ///< of packed's arrays, for these values
    std::int64_t packed_steps = 0;        ///< of its chunks, 32 stored entries each
    std::int64_t packed_diagonal_steps = 0;  ///< those of them that take a diagonal
    std::int64_t packed_chunks = 0;
    std::int64_t packed_longest = 0;  ///< the most steps of one
    std::int64_t blocks[5] = {};      ///< occupied aligned blocks of side stats_block_sides[b]
    /// Sectors of x, 32 bytes each, as its loads meet them: those to which a row's entries change,
    /// one entry after the other; those to which the k-th entries of stats_groups[0] rows change,
    /// one row after the other; and the different ones of each stats_groups[1] rows.
    std::int64_t row_sectors = 0, column_sectors = 0, near_sectors = 0;
    double row_imbalance = 1;  ///< nonzeros of the heaviest of stats_shares equal shares of rows,
                               ///< over the mean

    [[nodiscard]] std::int64_t max_row_nnz() const {
        return row_lengths.empty() ? 0 : row_lengths.back().length;
    }
    [[nodiscard]] std::int64_t min_row_nnz() const {
        return row_lengths.empty() ? 0 : row_lengths.front().length;
    }
    [[nodiscard]] std::int64_t empty_rows() const {
        return min_row_nnz() > 0 || row_lengths.empty() ? 0 : row_lengths.front().rows;
    }
};

/// What a method says of a matrix: what one product takes, or why it declines. Declining is no
/// error. What a method does not say is left 0, and stands for the usual.
struct estimate {
    double matrix_bytes = 0;    ///< of the arrays built, each read once a product     [bytes]
    double vector_bytes = 0;    ///< of x and y, each moved once                       [bytes]
    std::string declined = {};  ///< empty, or the reason in one sentence
    double launches = 1;        ///< kernels, or parallel regions, one after the other
    /// Loads of x that no neighbouring lane or entry shares: sectors of 32 bytes. 0: one a nonzero.
    double gathers = 0;
    /// What the workers (a CPU's threads, the warps that a GPU holds at once) do one after the
    /// other, summed over all of them: entries on a CPU, loads that wait for the load before on a
    /// GPU. 0: one a nonzero, 32 of which a warp does at once.
    double steps = 0;
    double critical_steps = 0;  ///< of the worker that has most to do, however many there are
    double imbalance = 1;    ///< work of the busiest worker over the mean, where it is shared out
    bool passes_by = false;  ///< on a GPU a large matrix leaves the first-level cache to x
    /// Bytes that the building moves on the CPU; 0: CSR read twice and the layout written once.
    double setup_bytes = 0;
    /// Bytes that the building moves on the GPU, where it builds there and needs no setup_bytes.
    double gpu_setup_bytes = 0;
    [[nodiscard]] double bytes() const { return matrix_bytes + vector_bytes; }
};

/// Rows that a warp of a GPU takes at once: columns and diagonals stored one after the other start
/// at multiples of it.
inline constexpr offset warp_rows = 32;
/// `rows` up to the next multiple of warp_rows.
constexpr offset whole_warps(offset rows) { return (rows + warp_rows - 1) / warp_rows * warp_rows; }

/// A layout that pads declines where it would store more entries than this a nonzero.
inline constexpr double max_stored_per_nonzero = 3;
/// Empty, or why a layout that would store `stored` entries for `nnz` nonzeros declines.
std::string declined_padding(double stored, double nnz);

/// y = beta y, y not read where beta is 0.
template <class V>
void scale_vector(cpu, V beta, std::span<V> y) {
    for (V& v : y) v = beta == V(0) ? V(0) : product(beta, v);
}

/// Bytes of x read once and y written once.
template <class V>
double vector_bytes(const matrix_stats& s) {
    return double(s.rows + s.cols) * sizeof(V);
}

template <class V, class S>
struct csr;

/// A format: one struct over a space, with its arrays listed once.
template <class F>
concept format = requires(F& own, const matrix_stats& s,
                          const csr<typename F::value, host_view>& A) {
    typename F::template in_space<host_view>;
    { F::cost(s) } -> std::same_as<estimate>;
    { F::from(A) } -> std::same_as<F>;
    F::scalars(own);
    F::arrays(own);
    requires std::is_trivially_copyable_v<typename F::template in_space<device_view>>;
};

/// A kernel K (an empty tag that names itself, its layout and its source) runs on backend B for
/// values V: some header declares spmv(B, K, ...). Nothing else says so.
///
/// What every kernel keeps: y = alpha A x + beta y, with y not read where beta is zero and
/// padding never in a sum; no check, allocation, synchronisation, output or exception. alpha is
/// not zero: the operator at the border scales y alone then, without A or x.
template <class K, class B, class V = double>
concept runs_on = requires(B on, const typename K::template layout<V, typename B::view>& A,
                           in<V, B> x, out<V, B> y) {
    spmv(on, K{}, V(1), A, x, V(0), y);
};

/// The same for products with A^T and A^H.
template <class K, class B, class V = double>
concept runs_transposed_on = requires(B on,
                                      const typename K::template layout<V, typename B::view>& A,
                                      in<V, B> x, out<V, B> y) {
    spmv_transposed(on, K{}, transposition::transpose, V(1), A, x, V(0), y);
};

/// The same for products with several vectors: `spmv_many(on, K{}, alpha, A, X, beta, Y)`.
template <class K, class B, class V = double>
concept runs_many_on = requires(B on, const typename K::template layout<V, typename B::view>& A,
                                in_columns<V, B> X, out_columns<V, B> Y) {
    spmv_many(on, K{}, V(1), A, X, V(0), Y);
};

/// What a kernel's tag derives from to say which layout it reads.
template <template <class, class> class L>
struct kernel_of {
    template <class V, class S>
    using layout = L<V, S>;
};

/// What a kernel does besides moving bytes, in the units of estimate. Its tag says so by
/// `work_on_cpu(stats)` and `work_on_gpu(stats)`; a kernel without stands for the usual.
struct work {
    double gathers = 0, steps = 0, critical_steps = 0, launches = 1;
    double imbalance = 1;
    bool passes_by = false;
};

/// Steps of a warp besides those of its entries: its block is started, it looks for its row, adds
/// up its lanes and writes y.
inline constexpr double steps_of_a_warp = 6;

/// One thread a row: `widths` is the sum over the warps of the longest row of each.
work thread_a_row_work(const matrix_stats&, double widths, double widest, double steps_an_entry);
/// Steps an entry of sum_strided (formats/panel.cuh), which takes eight at a time: their columns
/// and values, then x in two parts, as padding is asked for in between.
inline constexpr double strided_steps = 3.0 / 8;
/// Steps an entry of a plain loop unrolled four times: columns and values, then x.
inline constexpr double unrolled_steps = 2.0 / 4;

// The steps of loops on a CPU below, and of those that formats tell of themselves, were fitted to
// the times of twenty-five matrices on one thread of a 2-core EPYC (docs/decisions/planner.md).

/// What a loop over `stored` entries of so many rows does on a CPU that asks of each whether it is
/// padding.
inline work padded_work(double stored, double rows) { return {.steps = 0.9 * stored + 3 * rows}; }
/// The same where threads share every stored column, so that what one of them reads is no one
/// stretch of memory: as many stretches as a row is long, which prefetchers do not follow. By
/// thirty matrices on one and two threads; from within the caches half as many.
inline work strided_work(double stored) { return {.steps = 2.2 * stored}; }

/// The longest row that one GPU thread may walk alone: 0.1 ms at an estimated 0.1 us an entry. With
/// it no kernel under this rule ran over 50 times slower than the best (H200, thirty matrices).
inline constexpr std::int64_t longest_walk_on_gpu = 1024;
/// What the tag of a GPU kernel derives from that gives a row to one thread, or to one warp.
struct thread_a_row {
    static std::int64_t longest_row_on_gpu(const matrix_stats&) { return longest_walk_on_gpu; }
    static work work_on_gpu(const matrix_stats& s) {
        return thread_a_row_work(s, double(s.group_width[0]), double(s.max_row_nnz()),
                                 strided_steps);
    }
};
struct warp_a_row {
    static std::int64_t longest_row_on_gpu(const matrix_stats&) { return longest_walk_on_gpu * 32; }
    /// 32 lanes take 128 entries with two steps, and as long for a row of four.
    static work work_on_gpu(const matrix_stats&);
};

/// Borrows an owning matrix, on the CPU or on the GPU.
template <class F>
auto view(const F& a) {
    typename F::template in_space<view_of<typename F::space>> v{};
    v.scalars(v) = a.scalars(a);
    v.arrays(v) = a.arrays(a);
    return v;
}

template <class T>
void copy(gpu on, std::span<const T> from, device_array<T>& to) {
    to = device_array<T>(on, from.size());
    copy_to_device(on, from.data(), to.data(), from.size() * sizeof(T));
}
template <class T>
void copy(gpu on, const host_vector<T>& from, device_array<T>& to) {
    copy(on, std::span<const T>(from), to);
}
/// What stays on the host goes along.
template <class T>
void copy(gpu, const host_vector<T>& from, host_vector<T>& to) {
    to = from;
}
inline void copy(gpu, const offset_vector& from, offset_vector& to) { to = from; }
inline void copy(gpu on, const offset_span& from, device_offsets& to) {
    const std::size_t bytes = from.size() * (from.wide() ? 8 : 4);
    to = {device_array<std::byte>(on, bytes), from.size(), from.wide()};
    copy_to_device(on, from.data(), to.bytes.data(), bytes);
}
inline void copy(gpu on, const offset_vector& from, device_offsets& to) {
    copy(on, offset_span(from), to);
}

template <class T>
void copy(gpu on, device_span<T> from, device_array<T>& to) {
    to = device_array<T>(on, from.size());
    copy_on_device(on, from.data(), to.data(), from.size() * sizeof(T));
}
inline void copy(gpu on, const device_offset_span& from, device_offsets& to) {
    const std::size_t bytes = from.size() * (from.wide ? 8 : 4);
    to = {device_array<std::byte>(on, bytes), from.size(), from.wide};
    copy_on_device(on, from.ptr, to.bytes.data(), bytes);
}

/// Copies a matrix to the GPU, whoever owns it here; and one that lies there already, whose copy is
/// made in the order of the stream. Throws device_error.
template <class F>
auto upload(gpu on, const F& a) {
    typename F::template in_space<device> d{};
    d.scalars(d) = a.scalars(a);
    std::apply(
        [&](auto&... to) {
            std::apply([&](const auto&... from) { (copy(on, from, to), ...); }, a.arrays(a));
        },
        d.arrays(d));
    return d;
}

template <class T>
void copy(gpu on, device_span<T> from, host_vector<T>& to) {
    to.resize(from.size());
    copy_to_host(on, from.data(), to.data(), to.size() * sizeof(T));
}
template <class T>
void copy(gpu on, const device_array<T>& from, host_vector<T>& to) {
    copy(on, device_span<T>(from), to);
}
inline void copy(gpu on, const device_offset_span& from, offset_vector& to) {
    const auto fetch = [&]<class T>(host_vector<T> p) {
        copy_to_host(on, from.ptr, p.data(), p.size() * sizeof(T));
        return p;
    };
    to = from.wide ? offset_vector::wide(fetch(host_vector<std::int64_t>(from.len)))
                   : offset_vector(fetch(host_vector<std::int32_t>(from.len)));
}
inline void copy(gpu on, const device_offsets& from, offset_vector& to) {
    copy(on, device_offset_span(from), to);
}

/// Copies a matrix back from the GPU, whoever owns it there. Throws device_error.
template <class F>
auto download(gpu on, const F& a) {
    typename F::template in_space<host> h{};
    h.scalars(h) = a.scalars(a);
    std::apply(
        [&](auto&... to) {
            std::apply([&](const auto&... from) { (copy(on, from, to), ...); }, a.arrays(a));
        },
        h.arrays(h));
    return h;
}

/// Bytes held by one array, on either side.
template <class T>
std::size_t array_bytes(const T& x) {
    return x.size() * sizeof(typename T::value_type);
}
inline std::size_t array_bytes(const offset_vector& x) {
    return x.size() * (offset_span(x).wide() ? 8 : 4);
}
inline std::size_t array_bytes(const offset_span& x) { return x.size() * (x.wide() ? 8 : 4); }
inline std::size_t array_bytes(const device_offsets& x) { return x.bytes.size(); }
inline std::size_t array_bytes(const device_offset_span& x) { return x.len * (x.wide ? 8 : 4); }

/// Bytes held by the arrays of a matrix, padding included.
template <class F>
std::size_t bytes(const F& a) {
    return std::apply([](const auto&... x) { return (std::size_t(0) + ... + array_bytes(x)); },
                      a.arrays(a));
}

}  // namespace nz
