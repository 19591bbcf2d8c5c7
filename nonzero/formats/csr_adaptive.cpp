#include "nonzero/formats/csr_adaptive.hpp"

#include <algorithm>

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

}  // namespace

work csr_adaptive_blocks::work_on_gpu(const matrix_stats& s) {
    const index capacity = default_capacity(s.nnz);
    constexpr double steps = 11, steps_of_parts = 4;  // of a row that several blocks share
    // Greedy blocks of short rows are nearly full: about a tenth more of them than full ones.
    const double warps = 8 * (1.1 * double(s.nnz + s.rows) / capacity + 1);
    return {.gathers = double(s.row_sectors),
            .steps = warps * steps,
            .critical_steps = steps + (s.max_row_nnz() > capacity ? steps_of_parts : 0)};
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
    const auto length = [&](index i) {
        return A.row_ptr[std::size_t(i) + 1] - A.row_ptr[std::size_t(i)];
    };
    for (index i = 0; i < A.shape.rows;) {
        if (length(i) > capacity) {
            const auto parts = index((length(i) + capacity - 1) / capacity);
            for (index part = 0; part < parts; ++part)
                B.block_row.push_back(i), B.block_part.push_back(part);
            ++i;
            continue;
        }
        B.block_row.push_back(i), B.block_part.push_back(-1);
        const offset start = A.row_ptr[std::size_t(i)];
        const index most_rows = std::min(A.shape.rows - i, capacity) + i;
        while (i < most_rows && A.row_ptr[std::size_t(i) + 1] - start <= capacity) ++i;
    }
    B.block_row.push_back(A.shape.rows);
    return B;
}

#define NZ_INSTANTIATE(V)                                                                 \
    template estimate csr_adaptive<V, host>::cost(const matrix_stats&);                   \
    template csr_adaptive<V, host> csr_adaptive<V, host>::from(const csr<V, host_view>&); \
    template csr_adaptive<V, host> csr_adaptive<V, host>::from(const csr<V, host_view>&, index);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
