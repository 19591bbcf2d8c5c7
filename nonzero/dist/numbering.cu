// A rank's numbers of columns, on a GPU.
#include "nonzero/dist/numbering.hpp"

#include <cub/device/device_select.cuh>

#include "nonzero/core/format.hpp"
#include "nonzero/core/gpu/device_steps.cuh"

namespace nz {
namespace {

struct is_outside {
    range own;
    __host__ __device__ bool operator()(index j) const { return j < own.first || j >= own.last; }
};

/// Writes a row of A with local numbers: own columns, then those before, then those behind.
template <class V>
struct number_row {
    csr<V, device_view> A;
    range own;
    const index* others;
    std::int64_t count;  ///< of others
    index* col;
    V* val;
    __device__ index local_of(index j) const {
        if (j >= own.first && j < own.last) return index(j - own.first);
        return index(own.last - own.first + first_at_least(others, count, j));
    }
    __device__ void operator()(std::int64_t i) const {
        const offset begin = A.row_ptr[i], end = A.row_ptr[i + 1];
        offset first = begin;
        while (first < end && A.col_ind[first] < own.first) ++first;
        offset last = first;
        while (last < end && A.col_ind[last] < own.last) ++last;
        for (offset k = begin; k < end; ++k) {
            const offset to = k < first ? k + (last - first) : k < last ? k - (first - begin) : k;
            col[to] = local_of(A.col_ind[k]), val[to] = A.val[k];
        }
    }
};

struct renumber_other {
    index own;
    const index* to;
    index* col;
    __device__ void operator()(std::int64_t k) const {
        if (col[k] >= own) col[k] = own + to[col[k] - own];
    }
};

}  // namespace

template <class V>
host_vector<index> columns_outside(gpu on, const csr<V, device_view>& A, range own) {
    const device_guard guard(on);
    const auto nnz = std::int64_t(A.col_ind.size());
    if (nnz == 0) return {};
    device_array<std::int64_t> count(on, 1);
    device_array<index> all(on, std::size_t(nnz));
    with_scratch(on, [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceSelect::If(scratch, bytes, A.col_ind.data(), all.data(), count.data(),
                                     nnz, is_outside{own}, stream_of(on));
    });
    const std::int64_t n = read_back(on, count.data());
    if (n == 0) return {};
    device_array<index> sorted(on, std::size_t(n));
    with_scratch(on, [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortKeys(scratch, bytes, all.data(), sorted.data(), n, 0, 32,
                                              stream_of(on));
    });
    with_scratch(on, [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceSelect::Unique(scratch, bytes, sorted.data(), all.data(), count.data(), n,
                                         stream_of(on));
    });
    const auto distinct = std::size_t(read_back(on, count.data()));
    return to_host(on, device_span<index>{all.data(), distinct});
}

template <class V>
csr<V, device> numbered_locally(gpu on, const csr<V, device_view>& A,
                                const local_columns& columns) {
    const device_guard guard(on);
    const std::size_t nnz = A.val.size();
    csr<V, device> B{{A.shape.rows, columns.count()},
                     {},
                     device_array<index>(on, nnz),
                     device_array<V>(on, nnz)};
    copy(on, A.row_ptr, B.row_ptr);
    const auto others = to_device(on, std::span<const index>(columns.others));
    launch_each(on, A.shape.rows,
                number_row<V>{A, columns.own, others.data(), std::int64_t(others.size()),
                              B.col_ind.data(), B.val.data()});
    return B;
}

template <class V>
void renumber_others(gpu on, csr<V, device>& A, index own, std::span<const index> to, index cols) {
    const device_guard guard(on);
    const auto there = to_device(on, to);
    launch_each(on, std::int64_t(A.col_ind.size()),
                renumber_other{own, there.data(), A.col_ind.data()});
    A.shape.cols = cols;
}

#define NZ_INSTANTIATE(V)                                                                \
    template host_vector<index> columns_outside(gpu, const csr<V, device_view>&, range); \
    template csr<V, device> numbered_locally(gpu, const csr<V, device_view>&,            \
                                             const local_columns&);                      \
    template void renumber_others(gpu, csr<V, device>&, index, std::span<const index>, index);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
