#include "nonzero/matrix/diagonal.hpp"

#include <fmt/core.h>

#include <cmath>
#include <numeric>

#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/matrix/first_wrong_row.hpp"
#include "nonzero/vector/scalar.hpp"

namespace nz {

template <class V>
void refuse_diagonal(V value, std::int64_t row) {
    throw argument_error(fmt::format(
        "amg: the matrix is not positive definite: its diagonal is {} in row {}", value, row));
}

template <class V>
void require_positive(cpu, std::span<const V> diagonal, std::int64_t first_row) {
    const auto wrong = [&](index row) {
        const V d = diagonal[std::size_t(row)];
        return !(d > V(0)) || std::isinf(d);
    };
    if (const auto i = first_wrong_row(index(diagonal.size()), wrong); i >= 0)
        refuse_diagonal(diagonal[std::size_t(i)], first_row + i);
}

template <class V>
host_vector<V> diagonal_of(cpu on, const csr<V, host_view>& A, index first_row) {
    host_vector<V> d(std::size_t(A.shape.rows));
    A.row_ptr.visit([&](const auto* row_ptr) {
        parallel_for(thread_count(on), A.shape.rows, [&](std::int64_t row) {
            const auto i = index(row);
            const auto k = position_of(row_ptr, A.col_ind.data(), i, first_row + i);
            d[std::size_t(i)] = k < row_ptr[row + 1] ? A.val[std::size_t(k)] : V(0);
        });
    });
    return d;
}

template <class V>
csr<V, host> diagonal_matrix(host_vector<V> diagonal) {
    const auto n = index(diagonal.size());
    host_vector<index> at(diagonal.size());
    std::iota(at.begin(), at.end(), 0);
    host_vector<offset> ptr(diagonal.size() + 1);
    std::iota(ptr.begin(), ptr.end(), 0);
    return {{n, n}, offset_vector(ptr), std::move(at), std::move(diagonal)};
}

template <class V>
host_vector<V> magnitudes(std::span<const V> v) {
    host_vector<V> sizes(v.size());
    std::ranges::transform(v, sizes.begin(), [](V each) { return V(std::abs(each)); });
    return sizes;
}

template <class V>
host_vector<real<V>> real_parts(cpu on, host_vector<V> v) {
    if constexpr (is_complex<V>) {
        host_vector<real<V>> parts(v.size());
        parallel_for(thread_count(on), std::ssize(v),
                     [&](std::int64_t i) { parts[std::size_t(i)] = v[std::size_t(i)].real(); });
        return parts;
    } else {
        return v;
    }
}

template <class V>
host_vector<real<V>> l1_norms(cpu on, const csr<V, host_view>& A) {
    host_vector<real<V>> norm(std::size_t(A.shape.rows));
    A.row_ptr.visit([&](const auto* row_ptr) {
        parallel_for(thread_count(on), A.shape.rows, [&](std::int64_t i) {
            real<V> sum(0);
            for (auto k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
                sum += magnitude(A.val[std::size_t(k)]);
            norm[std::size_t(i)] = sum;
        });
    });
    return norm;
}

template <class V>
double gershgorin_bound(cpu on, std::span<const V> diagonal, std::span<const V> norm) {
    const auto bound_of = [&](std::int64_t i) {
        return norm[std::size_t(i)] / diagonal[std::size_t(i)];
    };
    return double(
        parallel_reduce(thread_count(on), std::ssize(diagonal), V(0), larger_of(), bound_of));
}

template <class V>
void mend_diagonal(cpu on, const csr<V, host_view>& R, std::span<const real<V>> diagonal,
                   index rows, csr<V, host>& C) {
    const auto of_row = [&](index i) {
        real<V> sum(0);
        for_each_entry(R, i, i + 1, [&](index, index j, V r) {
            sum += rounded_product(squared(r), diagonal[std::size_t(j)]);
        });
        return sum;
    };
    view(C).row_ptr.visit([&](const auto* row_ptr) {
        parallel_for(thread_count(on), rows, [&](std::int64_t row) {
            const auto i = index(row);
            const auto k = position_of(row_ptr, C.col_ind.data(), i, i);
            if (k == row_ptr[row + 1]) return;
            V& entry = C.val[std::size_t(k)];
            entry = mended_entry(entry, of_row(i));
        });
    });
}

template <class V>
void invert_each(cpu on, std::span<V> v) {
    parallel_for(thread_count(on), std::ssize(v),
                 [&](std::int64_t i) { v[std::size_t(i)] = V(1) / v[std::size_t(i)]; });
}

#define NZ_INSTANTIATE(V)                                                          \
    template void refuse_diagonal(V, std::int64_t);                                \
    template void require_positive(cpu, std::span<const V>, std::int64_t);         \
    template double gershgorin_bound(cpu, std::span<const V>, std::span<const V>); \
    template void invert_each(cpu, std::span<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)
#undef NZ_INSTANTIATE
#define NZ_INSTANTIATE(V)                                                                       \
    template host_vector<V> diagonal_of(cpu, const csr<V, host_view>&, index);                  \
    template host_vector<real<V>> real_parts(cpu, host_vector<V>);                              \
    template host_vector<real<V>> l1_norms(cpu, const csr<V, host_view>&);                      \
    template void mend_diagonal(cpu, const csr<V, host_view>&, std::span<const real<V>>, index, \
                                csr<V, host>&);                                                 \
    template csr<V, host> diagonal_matrix(host_vector<V>);                                      \
    template host_vector<V> magnitudes(std::span<const V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
