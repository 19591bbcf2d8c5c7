// Symmetry of a matrix on a GPU.
#include "nonzero/core/gpu/device_steps.cuh"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/vector/scalar.cuh"

namespace nz {
namespace {

/// The largest finite magnitude of a row.
template <class V>
struct find_largest {
    csr<device_value<V>, device_view> A;
    real<V>* largest;
    __device__ void operator()(std::int64_t i) const {
        real<V> most(0);
        for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
            const real<V> size = magnitude(A.val[k]);
            if (size > most && !isinf(size)) most = size;
        }
        largest[i] = most;
    }
};

/// An entry of a row, and the one across the diagonal; 0 where none is stored.
template <class V>
__device__ facing_entries<V> facing(const csr<V, device_view>& A, index i, offset k) {
    const index j = A.col_ind[k];
    const offset start = A.row_ptr[j], length = A.row_ptr[j + 1] - start;
    const offset at = start + first_at_least(A.col_ind.ptr + start, length, std::int64_t(i));
    return {i, j, A.val[k], at < start + length && A.col_ind[at] == i ? A.val[at] : V(0)};
}

/// Whether an entry is one to be found: one that is not finite, or, unless these alone are looked
/// for, not what faces it across the diagonal.
template <class V>
struct fault {
    using W = device_value<V>;
    csr<W, device_view> A;
    const real<V>* largest;  ///< of rows; null: only what is not finite is looked for
    double tolerance;
    __device__ bool at(index i, offset k) const {
        if (!isfinite(magnitude(A.val[k]))) return true;
        if (largest == nullptr) return false;
        const auto [row, col, here, beyond] = facing(A, i, k);
        const W across = conjugated(transposition::conjugate_transpose, beyond);
        const double size = double(min(largest[row], largest[col]));
        return !(here == across || double(magnitude(here - across)) <= tolerance * size);
    }
};

/// The smallest row with a fault.
template <class V>
struct find_fault {
    fault<V> is_fault;
    unsigned* first;
    __device__ void operator()(std::int64_t i) const {
        const auto& ptr = is_fault.A.row_ptr;
        for (offset k = ptr[i]; k < ptr[i + 1]; ++k) {
            if (!is_fault.at(index(i), k)) continue;
            atomicMin(first, unsigned(i));
            return;
        }
    }
};

/// The first fault of a row that has one, by a single thread.
template <class V>
struct tell_fault {
    fault<V> is_fault;
    std::int64_t row;
    facing_entries<V>* to;
    __device__ void operator()(std::int64_t) const {
        offset k = is_fault.A.row_ptr[row];
        while (!is_fault.at(index(row), k)) ++k;
        *to = facing(is_fault.A, index(row), k);
        if (is_fault.largest == nullptr) to->across = V(0);
    }
};

template <class V>
device_array<real<V>> largest_of_rows(gpu on, const csr<V, device_view>& A) {
    device_array<real<V>> largest(on, std::size_t(A.shape.rows));
    launch_each(on, A.shape.rows, find_largest<V>{in_kernels(A), largest.data()});
    return largest;
}

template <class V>
std::int64_t first_row(gpu on, const fault<V>& is_fault) {
    device_array<unsigned> first(on, 1);
    fill_bytes(on, first, 0xff);
    launch_each(on, is_fault.A.shape.rows, find_fault<V>{is_fault, first.data()});
    const unsigned found = read_back(on, first.data());
    return found == ~0U ? -1 : std::int64_t(found);
}

template <class V>
std::optional<facing_entries<V>> first_entry(gpu on, const fault<V>& is_fault) {
    const std::int64_t row = first_row(on, is_fault);
    if (row < 0) return {};
    device_array<facing_entries<V>> found(on, 1);
    launch_each(on, 1, tell_fault<V>{is_fault, row, found.data()});
    return read_back(on, found.data());
}

}  // namespace

template <class V>
std::int64_t first_asymmetric_row(gpu on, const csr<V, device_view>& A) {
    const device_guard guard(on);
    const auto largest = largest_of_rows(on, A);
    return first_row(on, fault<V>{in_kernels(A), largest.data(), symmetry_tolerance<V>});
}

template <class V>
std::optional<facing_entries<V>> first_asymmetry(gpu on, const csr<V, device_view>& A) {
    const device_guard guard(on);
    const auto largest = largest_of_rows(on, A);
    return first_entry(on, fault<V>{A, largest.data(), symmetry_tolerance<V>});
}
template <class V>
std::optional<facing_entries<V>> first_not_finite(gpu on, const csr<V, device_view>& A) {
    const device_guard guard(on);
    return first_entry(on, fault<V>{A, nullptr, 0});
}

#define NZ_INSTANTIATE(V) \
    template std::int64_t first_asymmetric_row(gpu, const csr<V, device_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)
#undef NZ_INSTANTIATE
#define NZ_INSTANTIATE(V)                                                                       \
    template std::optional<facing_entries<V>> first_asymmetry(gpu, const csr<V, device_view>&); \
    template std::optional<facing_entries<V>> first_not_finite(gpu, const csr<V, device_view>&);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
