// Memory accesses of the warps of csr_adaptive.cu.
#pragma once

#include "nonzero/formats/csr/csr_adaptive.hpp"
#include "nonzero/formats/trace.hpp"

namespace nz {

inline constexpr int adaptive_warps = 8, adaptive_threads = adaptive_warps * warp_lanes;

template <class V>
std::vector<warp_grid> launches(csr_adaptive_blocks, const csr_adaptive<V, host_view>& A) {
    return {grid_of_warps("adaptive_kernel", std::int64_t(A.block_part.size()) * adaptive_warps,
                          adaptive_warps)};
}

/// The entries of a block, or of a part of a long row: eight a thread, then their x.
template <class V>
void trace_entries(const csr_adaptive<V, host_view>& A, offset begin, offset end,
                   std::int64_t first_thread, warp_trace& to) {
    constexpr int most = csr_adaptive_most / adaptive_threads;
    const bool streams = A.val.size() * (sizeof(V) + sizeof(index)) > streamed_bytes;
    std::array<per_lane, most> at;
    for (int u = 0; u < most; ++u) {
        const offset k = begin + first_thread + u * adaptive_threads;
        at[std::size_t(u)] = each_lane([&](int l) { return k + l < end ? k + l : idle; });
        to.load(columns_of("col_ind", streams), at[std::size_t(u)]);
        to.load(values_of<V>("val", streams), at[std::size_t(u)]);
    }
    for (const per_lane& k : at) to.load(x_of<V>(), take_each(A.col_ind, k));
}

/// sum_rows: the bounds of the lanes' rows, then y; products lie in shared memory.
template <class V>
void trace_sums(const csr_adaptive<V, host_view>& A, index first, index last, int lanes,
                std::int64_t first_thread, warp_trace& to) {
    const traced_array ptr = structure_of("row_ptr", A.row_ptr);
    to.broadcast(ptr, first);
    for (std::int64_t base = first; base < last; base += adaptive_threads / lanes) {
        const per_lane row = each_lane([&](int l) {
            const std::int64_t i = base + (first_thread + l) / lanes;
            return i < last ? i : idle;
        });
        to.load(ptr, moved(row, 1));
        to.load(ptr, row);
        to.store(y_of<V>(),
                 each_lane([&](int l) { return l % lanes == 0 ? row[std::size_t(l)] : idle; }));
    }
}

/// sum_wide_rows: several warps a row; the first warp stores them all.
template <class V>
void trace_wide_sums(const csr_adaptive<V, host_view>& A, index first, index last, int warps,
                     std::int64_t first_thread, warp_trace& to) {
    const traced_array ptr = structure_of("row_ptr", A.row_ptr);
    to.broadcast(ptr, first);
    const std::int64_t i = first + first_thread / warp_lanes / warps;
    if (i < last) to.broadcast(ptr, i + 1), to.broadcast(ptr, i);
    to.store(y_of<V>(), each_lane([&](int l) {
                 const std::int64_t row = first + first_thread + l;
                 return row < last ? row : idle;
             }));
}

/// A part of a long row. The last part to arrive, here the last of them, adds the sums of all.
template <class V>
void trace_part(const csr_adaptive<V, host_view>& A, index row, index part,
                std::int64_t first_thread, warp_trace& to) {
    const traced_array ptr = structure_of("row_ptr", A.row_ptr);
    to.broadcast(ptr, row + 1);
    to.broadcast(ptr, row);
    const offset start = A.row_ptr[std::size_t(row)], row_end = A.row_ptr[std::size_t(row) + 1];
    const offset begin = start + offset(part) * A.capacity;
    trace_entries(A, begin, std::min(begin + A.capacity, row_end), first_thread, to);
    to.broadcast(ptr, row);  // again, for the number of parts
    const traced_array sums{"part_sum", array_role::y, sizeof(V)};
    if (first_thread == 0) to.store(sums, first_lane(part));
    const std::int64_t parts = (row_end - start + A.capacity - 1) / A.capacity;
    if (part != parts - 1) return;
    for (std::int64_t p = first_thread; p < parts; p += adaptive_threads)
        to.load(sums, each_lane([&](int l) { return p + l < parts ? p + l : idle; }));
    if (first_thread == 0) to.store(y_of<V>(), first_lane(row));
}

/// A block of eight warps multiplies its entries together, then sums its rows with as many lanes
/// each as there are to spare.
template <class V>
void trace(csr_adaptive_blocks, const csr_adaptive<V, host_view>& A, std::int64_t warp,
           warp_trace& to) {
    const auto block = std::size_t(warp / adaptive_warps);
    const std::int64_t first_thread = warp % adaptive_warps * warp_lanes;
    to.broadcast(structure_of("block_row"), std::int64_t(block));
    to.broadcast(structure_of("block_part"), std::int64_t(block));
    const index first = A.block_row[block], part = A.block_part[block];
    if (part >= 0) return trace_part(A, first, part, first_thread, to);
    to.broadcast(structure_of("block_row"), std::int64_t(block) + 1);
    const index last = A.block_row[block + 1], rows = last - first;
    const traced_array ptr = structure_of("row_ptr", A.row_ptr);
    to.broadcast(ptr, first);
    to.broadcast(ptr, last);
    trace_entries(A, A.row_ptr[std::size_t(first)], A.row_ptr[std::size_t(last)], first_thread, to);
    int lanes = 1;
    while (lanes <= warp_lanes && rows <= adaptive_threads / (2 * lanes)) lanes *= 2;
    if (lanes <= warp_lanes) return trace_sums(A, first, last, lanes, first_thread, to);
    trace_wide_sums(A, first, last, rows > 2 ? 2 : rows > 1 ? 4 : 8, first_thread, to);
}

}  // namespace nz
