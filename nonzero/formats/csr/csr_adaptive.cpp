#include "nonzero/formats/csr/csr_adaptive.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "nonzero/core/stream.hpp"
#include "nonzero/formats/csr/csr_adaptive_blocks.hpp"

namespace nz {
namespace {

// Blocks that a GPU wants at least before a block is made larger: some for each multiprocessor.
constexpr std::int64_t wanted_blocks = 1024;
constexpr index least_capacity = 256;

index default_capacity(std::int64_t nnz) {
    index capacity = least_capacity;
    while (capacity < csr_adaptive_most && capacity * wanted_blocks < nnz) capacity *= 2;
    return capacity;
}

struct row_blocks {
    host_vector<index> row, part;  ///< as block_row and block_part
};

row_blocks blocks_of(const offset_span& row_ptr, index rows, index capacity) {
    row_blocks b;
    const auto end = [&](index i) { return row_ptr[std::size_t(i) + 1]; };
    for (index i = 0; i < rows;) {
        const offset start = row_ptr[std::size_t(i)], length = end(i) - start;
        if (length > capacity) {
            const auto parts = index((length + capacity - 1) / capacity);
            for (index part = 0; part < parts; ++part) b.row.push_back(i), b.part.push_back(part);
            ++i;
            continue;
        }
        b.row.push_back(i), b.part.push_back(-1);
        const index most_rows = std::min(rows - i, capacity) + i;
        while (i < most_rows && end(i) - start <= capacity) ++i;
    }
    b.row.push_back(rows);
    return b;
}

}  // namespace

work csr_adaptive_blocks::work_on_gpu(const matrix_stats& s) {
    const index capacity = default_capacity(s.nnz);
    constexpr double units_of_block_warp = 11;
    constexpr double units_of_segments = 4;  // of a row that several blocks share
    constexpr double units_of_sums = 4;      // of 32 rows whose products are in shared memory
    // Greedy blocks of short rows are nearly full: about a tenth more of them than full ones.
    const double warps = 8 * (1.1 * double(s.nnz + s.rows) / capacity + 1);
    return {.sector_requests = double(s.row_sectors),
            .work_units = warps * units_of_block_warp + double(s.rows) / warp_rows * units_of_sums,
            .critical_units =
                units_of_block_warp + (s.max_row_nnz() > capacity ? units_of_segments : 0)};
}

std::string csr_adaptive_blocks::declined_on_gpu(const matrix_stats& s) {
    constexpr std::int64_t threads_per_block = 256;
    constexpr std::int64_t most = std::numeric_limits<index>::max() - threads_per_block;
    if (s.rows <= most) return {};
    return "its blocks count up to " + std::to_string(most) + " rows";
}

template <class V, class S>
estimate csr_adaptive<V, S>::cost(const matrix_stats& s) {
    estimate e = csr<V, S>::cost(s);
    // Two consecutive blocks hold more than one capacity: at most twice nnz / capacity, and as
    // rows count as well as entries, twice rows / capacity.
    const double blocks = 2.0 * double(s.nnz + s.rows) / default_capacity(s.nnz) + 1;
    e.matrix_bytes += blocks * 2 * sizeof(index);
    return e;
}

template <class V, class S>
csr_adaptive<V, host> csr_adaptive<V, S>::from(const csr<V, host_view>& A) {
    return from(A, default_capacity(std::int64_t(A.val.size())));
}

template <class V, class S>
csr_adaptive<V, host> csr_adaptive<V, S>::from(const csr<V, host_view>& A, index capacity) {
    if (capacity < 1 || capacity > csr_adaptive_most)
        throw argument_error("csr_adaptive: capacity " + std::to_string(capacity) +
                             ", expected 1 to " + std::to_string(csr_adaptive_most));
    csr<V, host> own = csr<V, host>::from(A);
    csr_adaptive<V, host> B{
        A.shape, capacity, std::move(own.row_ptr), std::move(own.col_ind), std::move(own.val),
        {},      {}};
    row_blocks list = blocks_of(A.row_ptr, A.shape.rows, capacity);
    B.block_row = std::move(list.row), B.block_part = std::move(list.part);
    return B;
}

template <class V>
csr_adaptive<V, device> adapt(gpu on, const csr<V, device_view>& A) {
    if constexpr (!is_built<gpu>) {
        refuse_gpu();
    } else {
        const index capacity = default_capacity(std::int64_t(A.val.size()));
        device_row_blocks blocks = row_blocks_of(on, A.row_ptr, A.shape.rows, capacity);
        auto own = upload(on, A);
        return {A.shape,
                capacity,
                std::move(own.row_ptr),
                std::move(own.col_ind),
                std::move(own.val),
                std::move(blocks.row),
                std::move(blocks.part)};
    }
}

#define NZ_INSTANTIATE(V)                                                                        \
    template estimate csr_adaptive<V, host>::cost(const matrix_stats&);                          \
    template csr_adaptive<V, host> csr_adaptive<V, host>::from(const csr<V, host_view>&);        \
    template csr_adaptive<V, host> csr_adaptive<V, host>::from(const csr<V, host_view>&, index); \
    template csr_adaptive<V, device> adapt(gpu, const csr<V, device_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
