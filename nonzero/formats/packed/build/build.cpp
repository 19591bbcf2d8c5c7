// Packing on the CPU: values, windows, sizes, then all chunks in parallel.
#include <cmath>
#include <mutex>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/formats/packed/build/fill.hpp"

namespace nz {
namespace {

void check(const packed_options& o) {
    const auto in = [](const char* name, double v, double least, double most) {
        if (!(v >= least && v <= most))
            throw argument_error(std::string("packed: ") + name + " is " + std::to_string(v) +
                                 ", expected from " + std::to_string(least) + " to " +
                                 std::to_string(most));
    };
    in("lane_width", o.lane_width, 1, 1024);
    in("few_chunks", o.few_chunks, 0, 1 << 20);
    in("split", o.split, 32, 32 * 1024);
    in("most_diagonals", o.most_diagonals, 0, 1024);
    in("diagonal_fill", o.diagonal_fill, 1.0 / 32, 2);
    in("constant_fill", o.constant_fill, 1.0 / 32, 2);
    in("sort_gain", o.sort_gain, 0, HUGE_VAL);
    in("local_scope", o.local_scope, 0, packed_window);
    in("most_values", o.most_values, 0, 4096);
    in("tile_gain", o.tile_gain, 0, HUGE_VAL);
    in("tile_share", o.tile_share, 0, 1);
    in("pair_min_chunks", double(o.pair_min_chunks), 1, HUGE_VAL);
    in("quad_min_chunks", double(o.quad_min_chunks), 1, HUGE_VAL);
}

void count(const packed_chunk& c, matrix_stats::packed_size& size) {
    ++size.chunks;
    size.width += c.width;
    if (c.kind <= packed_chunk::diagonals) size.diagonal_width += c.width;
    if (is_tile(c.kind)) size.tile_width += c.width;
    if (c.kind == packed_chunk::delta32) size.wide_width += c.width;
    size.max_width = std::max<std::int64_t>(size.max_width, c.width);
}

void count(const window_partition& w, std::size_t bytes_a_value, matrix_stats::packed_size& size) {
    size.bytes += std::int64_t((w.segments.size() + w.chunks.size()) * sizeof(packed_chunk) +
                               w.perm.size() * sizeof(index) + w.words * sizeof(std::uint32_t) +
                               w.values * bytes_a_value);
    for (const auto* const chunks : {&w.segments, &w.chunks})
        for (const packed_chunk& c : *chunks) count(c, size);
}

void add(const matrix_stats::packed_size& part, matrix_stats::packed_size& all) {
    all.bytes += part.bytes, all.width += part.width, all.chunks += part.chunks;
    all.diagonal_width += part.diagonal_width, all.tile_width += part.tile_width;
    all.wide_width += part.wide_width;
    all.max_width = std::max(all.max_width, part.max_width);
}

/// Whether b, the chunk behind a, has the next rows and diagonals of the same offsets, or with
/// `values`, which are the same but for their masks.
bool have_identical_offsets(const packed_chunk& a, const packed_chunk& b,
                            const std::uint32_t* indices, bool values) {
    if (a.kind > packed_chunk::diagonals || b.kind != a.kind || b.width != a.width) return false;
    if (a.rows != warp_rows || b.rows != warp_rows || b.first_row != a.first_row + warp_rows)
        return false;
    const std::size_t words = words_a_column(a.kind);
    const std::uint32_t* const of_a = indices + std::size_t(a.index_at) * packed_index_unit;
    const std::uint32_t* const of_b = indices + std::size_t(b.index_at) * packed_index_unit;
    for (std::size_t k = 0; k < words * a.width; ++k)
        if (of_a[k] != of_b[k] && (k % words == 0 || (values && k % words > 1))) return false;
    return true;
}

/// As chunks_per_warp wants them.
std::int64_t count_pairs(std::span<const packed_chunk> chunks, const std::uint32_t* indices,
                         bool by_table) {
    const auto kind = by_table ? packed_chunk::constant_diagonals : packed_chunk::diagonals;
    const auto is_pair = [&](std::int64_t k) -> std::int64_t {
        const packed_chunk &a = chunks[std::size_t(k)], &b = chunks[std::size_t(k) + 1];
        return a.kind == kind && a.first_row / packed_window == b.first_row / packed_window &&
               have_identical_offsets(a, b, indices, false);
    };
    return parallel_reduce(thread_count({}), std::ssize(chunks) - 1, std::int64_t(0), std::plus<>(),
                           is_pair);
}

/// Marks the first of every four, or else two, chunks with identical offsets.
void mark_identical_offsets(std::span<packed_chunk> chunks, const std::uint32_t* indices) {
    const auto are_identical = [&](std::size_t k) {
        return k + 1 < chunks.size() &&
               have_identical_offsets(chunks[k], chunks[k + 1], indices, true);
    };
    parallel_for(thread_count({}), (std::ssize(chunks) + 3) / 4, [&](std::int64_t four) {
        const auto k = std::size_t(4 * four);
        const bool first = are_identical(k), second = are_identical(k + 2);
        if (first) chunks[k].identical = second && are_identical(k + 1) ? 4 : 2;
        if (second) chunks[k + 2].identical = 2;
    });
}

std::int64_t window_count(std::int64_t rows) { return (rows + packed_window - 1) / packed_window; }

template <class V>
window_partition partition_window(const csr<V, host_view>& A, const chunk_partitioner<V>& cut,
                                  std::int64_t w) {
    return cut.cut(index(w * packed_window),
                   index(std::min<std::int64_t>(A.shape.rows, (w + 1) * packed_window)));
}

constexpr std::int64_t windows_at_once = 4;  ///< windows that a thread takes

template <class V>
std::vector<window_partition> partition_windows(const csr<V, host_view>& A,
                                                const chunk_partitioner<V>& cut) {
    const std::int64_t count = window_count(A.shape.rows);
    std::vector<window_partition> windows(std::size_t(count), window_partition{});
    parallel_for(thread_count({}), count, windows_at_once,
                 [&](std::int64_t w) { windows[std::size_t(w)] = partition_window(A, cut, w); });
    return windows;
}

matrix_stats::packed_size size_of(const std::vector<window_partition>& windows,
                                  std::size_t bytes_a_value) {
    matrix_stats::packed_size all;
    for (const window_partition& w : windows) count(w, bytes_a_value, all);
    return all;
}

/// Measured without keeping the windows.
template <class V>
matrix_stats::packed_size size_of_windows(const csr<V, host_view>& A,
                                          const chunk_partitioner<V>& cut,
                                          std::size_t bytes_a_value) {
    matrix_stats::packed_size all;
    shared_range windows(window_count(A.shape.rows), windows_at_once);
    std::mutex one_at_a_time;
    parallel(thread_count({}), [&](int) {
        matrix_stats::packed_size mine;
        windows.take(
            [&](std::int64_t k) { count(partition_window(A, cut, k), bytes_a_value, mine); });
        const std::lock_guard lock(one_at_a_time);
        add(mine, all);
    });
    return all;
}

struct stream_sizes {
    std::size_t words = 0, values = 0;
};

/// Moves the places of every window behind those of the windows before it.
stream_sizes set_end_to_end(std::vector<window_partition>& windows) {
    stream_sizes all;
    std::size_t rows = 0;
    for (window_partition& w : windows) {
        for (std::vector<packed_chunk>* const chunks : {&w.segments, &w.chunks})
            for (packed_chunk& c : *chunks) {
                if (c.rows == 0) continue;
                c.index_at += std::uint32_t(all.words / packed_index_unit);
                c.val_at += std::uint32_t(all.values / packed_value_unit);
                if (c.sorted) c.number += index(rows);
            }
        rows += w.perm.size(), all.words += w.words, all.values += w.values;
    }
    return all;
}

/// `count` zeros, written by all threads.
template <class T>
host_vector<T> zeros(std::size_t count) {
    host_vector<T> all(count);
    const int threads = thread_count({});
    parallel(threads, [&](int t) {
        const range mine = share(std::int64_t(count), threads, t);
        std::fill(all.begin() + mine.first, all.begin() + mine.last, T(0));
    });
    return all;
}

/// Places are counted in 32 bits, and chunks in 31.
void check_reach(std::size_t words, std::size_t values, std::size_t chunks) {
    const std::size_t most = std::size_t(padding32);
    if (words / packed_index_unit > most || values / packed_value_unit > most || chunks > most / 2)
        throw argument_error("packed: the matrix is too large for 32-bit places of its chunks");
}

/// The options with the width of a lane that suits A's columns. As find_diagonals counts on a GPU.
template <class V>
packed_options suited_to_columns(const csr<V, host_view>& A, packed_options o) {
    if (o.few_chunks == 0) return o;
    const auto of_group = [&](std::int64_t g) {
        list_forecast found;
        index least = std::numeric_limits<index>::max(), most = -1;
        const std::int64_t end = std::min<std::int64_t>(A.shape.rows, (g + 1) * warp_rows);
        for (std::int64_t i = g * warp_rows; i < end; ++i) {
            const offset first = A.row_ptr[std::size_t(i)], last = A.row_ptr[std::size_t(i) + 1];
            if (last - first > o.split) continue;
            found.lanes += 1ULL << log_lanes_for(last - first, o.lane_width);
            if (first == last) continue;
            found.entries += static_cast<unsigned long long>(last - first);
            least = std::min(least, A.col_ind[std::size_t(first)]);
            most = std::max(most, A.col_ind[std::size_t(last) - 1]);
        }
        if (std::int64_t(most) - least > std::int64_t(max_delta16))
            found.far_entries = found.entries;
        return found;
    };
    const auto sum = [](list_forecast a, const list_forecast& b) {
        a.entries += b.entries, a.far_entries += b.far_entries, a.lanes += b.lanes;
        return a;
    };
    const std::int64_t groups = (std::int64_t(A.shape.rows) + warp_rows - 1) / warp_rows;
    o.lane_width =
        parallel_reduce(thread_count({}), groups, list_forecast{}, sum, of_group).lane_width(o);
    return o;
}

template <class V>
value_encoder<V> values_of(const csr<V, host_view>& A, const packed_options& o) {
    return value_encoder<V>::of(A.val, std::min(most_table_values<V>, std::size_t(o.most_values)));
}

}  // namespace

packed_options packed_options::suited_to(cpu on, std::int64_t nnz) {
    packed_options o = suited_to(gpu{}, nnz);
    // Vector registers hold 32 values. In a larger table each look-up is a load, which takes longer
    // than that of the value itself where the cores' second-level caches hold all values, with
    // columns of 16 bits (docs/experiments/packed.md).
    constexpr std::int64_t cache_bytes = 2 << 20, entry_bytes = 10;
    if (nnz * entry_bytes < thread_count(on) * cache_bytes) o.most_values = 32;
    // A core has no warps to fill, and spends time on the begin and the end of each chunk: long
    // chunks are faster where a cache holds the matrix. A matrix that streams from memory gets
    // shorter ones, which have less padding (docs/experiments/packed.md).
    const bool streams = nnz >= 6'000'000;
    o.lane_width = streams ? 32 : 64, o.few_chunks = 0;
    o.split = streams ? 2048 : 4096;
    o.local_scope = 256;
    // A small matrix gets short lists on a GPU, to fill the machine, and so few diagonals. A core
    // takes three entries of a diagonal while it gathers one (docs/experiments/packed.md).
    o.most_diagonals = 64;
    o.tile_gain = HUGE_VAL;
    return o;
}

packed_options packed_options::suited_to(gpu, std::int64_t nnz) {
    packed_options o;
    o.lane_width = nnz < 1'000'000 ? 8 : nnz < 6'000'000 ? 16 : 32;
    constexpr index warps_at_once = 132 * 64;         // of an H200
    constexpr std::int64_t worth_the_wait = 1 << 17;  // below, the launch takes longer than x
    if (nnz >= worth_the_wait) o.few_chunks = warps_at_once;
    o.split = index(std::clamp<std::int64_t>(nnz / 4752 / 32 * 32, 256, 2048));
    o.most_diagonals = 2 * o.lane_width;
    // An entry of a tile takes about as long as 1.2 of a list: mdual, which takes the same bytes
    // as either, is 1.2 times as slow by tiles (docs/experiments/packed.md).
    if (nnz >= 6'000'000) o.tile_gain = 1.2;
    return o;
}

index packed_options::chunks_per_warp(value_encoding encoding, const matrix_stats::packed_size& s,
                                      std::int64_t pairs) const {
    // nlpkkt80, where half of the chunks have identical offsets, gains nothing from pairs. Chunks
    // with many diagonals, each with values of its own, stream from memory as fast one by one
    // (docs/experiments/packed.md).
    constexpr double least_pairs = 0.8;
    constexpr std::int64_t max_width_in_pairs = 5, max_width_in_quads = 3;
    if (double(pairs) < least_pairs * double(s.chunks)) return 1;
    const bool by_table = encoding < value_encoding::float32;
    if (s.chunks >= quad_min_chunks && (by_table || s.width <= max_width_in_quads * s.chunks))
        return 4;
    return s.chunks >= pair_min_chunks && (by_table || s.width <= max_width_in_pairs * s.chunks)
               ? 2
               : 1;
}

template <class V, class S>
packed<V, host> packed<V, S>::from(const csr<V, host_view>& A) {
    return from(A, packed_options::suited_to(cpu{}, std::int64_t(A.val.size())));
}

template <class V, class S>
packed<V, host> packed<V, S>::from(const csr<V, host_view>& A, const packed_options& given) {
    check(given);
    const thread_limit limit(worth(cpu{}, A.shape.rows + std::ssize(A.val)));
    const packed_options o = suited_to_columns(A, given);
    const auto values = values_of(A, o);
    chunk_partitioner<V> cut(A, o, values);
    std::vector<window_partition> windows = partition_windows(A, cut);
    matrix_stats::packed_size size = size_of(windows, values.bytes());
    if (o.tiles_are_few(size)) {
        cut.leave_out_tiles();
        windows = partition_windows(A, cut);
        size = size_of(windows, values.bytes());
    }
    packed<V, host> P{A.shape, values.encoding, 0, 1, 0, {}, {}, {}, {}, {}};
    P.table.assign(values.table.begin(), values.table.end());
    const auto [words, stored] = set_end_to_end(windows);
    std::size_t chunks = 0;
    for (const window_partition& w : windows) chunks += w.segments.size() + w.chunks.size();
    check_reach(words, stored, chunks);
    P.chunks.reserve(chunks);
    const auto append = [](auto& to, const auto& more) {
        to.insert(to.end(), more.begin(), more.end());
    };
    for (const window_partition& w : windows) append(P.chunks, w.segments);
    P.segment_chunks = index(P.chunks.size());
    for (const window_partition& w : windows) append(P.chunks, w.chunks), append(P.perm, w.perm);
    P.indices = zeros<std::uint32_t>(words);
    P.val = zeros<std::byte>(stored * values.bytes());
    const chunk_encoder<V> fill(A, cut, values, P);
    parallel_for(thread_count({}), std::ssize(P.chunks), 64,
                 [&](std::int64_t c) { fill.fill(P.chunks[std::size_t(c)]); });
    P.tiles = index(std::count_if(P.chunks.begin(), P.chunks.end(),
                                  [](const packed_chunk& c) { return is_tile(c.kind); }));
    if (P.segment_chunks > 0 || P.tiles > 0) return P;
    const std::int64_t pairs = count_pairs(P.chunks, P.indices.data(), !P.table.empty());
    P.chunks_per_warp = o.chunks_per_warp(P.encoding, size, pairs);
    if (P.chunks_per_warp > 1) mark_identical_offsets(P.chunks, P.indices.data());
    return P;
}

std::optional<packed<float, host>> rounded(const packed<double, host_view>& P) {
    if (P.encoding == value_encoding::dictionary16) return {};
    const bool by_table = P.encoding < value_encoding::float32;
    packed<float, host> R{P.shape,
                          by_table ? P.encoding : value_encoding::none,
                          P.segment_chunks,
                          P.chunks_per_warp,
                          P.tiles,
                          {P.chunks.begin(), P.chunks.end()},
                          {P.perm.begin(), P.perm.end()},
                          host_vector<std::uint32_t>(P.indices.size()),
                          {},
                          host_vector<float>(P.table.size())};
    std::transform(P.table.begin(), P.table.end(), R.table.begin(),
                   [](double v) { return float(v); });
    const int threads = thread_count({});
    parallel_for(
        threads, std::ssize(P.indices),
        [from = P.indices.data(), to = R.indices.data()](std::int64_t k) { to[k] = from[k]; });
    parallel_for(threads, std::ssize(R.chunks), [&](std::int64_t k) {
        const packed_chunk& c = R.chunks[std::size_t(k)];
        if (c.kind != packed_chunk::constant_diagonals) return;
        std::uint32_t* word = R.indices.data() + std::size_t(c.index_at) * packed_index_unit + 2;
        for (std::uint32_t s = 0; s < c.width; ++s, word += 4) {
            double v = 0;
            std::memcpy(&v, word, sizeof v);
            const auto single = float(v);
            std::memcpy(word, &single, sizeof single);
            word[1] = 0;
        }
    });
    if (by_table ||
        P.encoding == value_encoding::float32) {  // the same table indices, or floats already
        R.val.assign(P.val.begin(), P.val.end());
        return R;
    }
    const auto* const from = reinterpret_cast<const double*>(P.val.data());
    R.val = host_vector<std::byte>(P.val.size() / sizeof(double) * sizeof(float));
    auto* const to = reinterpret_cast<float*>(R.val.data());
    parallel_for(threads, std::ssize(P.val) / std::int64_t(sizeof(double)),
                 [from, to](std::int64_t k) { to[k] = float(from[k]); });
    return R;
}

template <class V>
matrix_stats::packed_size size_of_packed(const csr<V, host_view>& A, const packed_options& given) {
    const packed_options o = suited_to_columns(A, given);
    const auto values = values_of(A, o);
    chunk_partitioner<V> cut(A, o, values);
    matrix_stats::packed_size size = size_of_windows(A, cut, values.bytes());
    if (o.tiles_are_few(size)) {
        cut.leave_out_tiles();
        size = size_of_windows(A, cut, values.bytes());
    }
    size.bytes += std::int64_t(values.table.size() * sizeof(V));
    return size;
}

#define NZ_INSTANTIATE(V)                                                       \
    template packed<V, host> packed<V, host>::from(const csr<V, host_view>&);   \
    template packed<V, host> packed<V, host>::from(const csr<V, host_view>&,    \
                                                   const packed_options&);      \
    template matrix_stats::packed_size size_of_packed(const csr<V, host_view>&, \
                                                      const packed_options&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
