// Facts about a matrix on a GPU that choices are made by.
#include "nonzero/solve/facts_on_gpu.hpp"

#include "nonzero/core/gpu/device_steps.cuh"
#include "nonzero/vector/vectors.hpp"

namespace nz {
namespace {

/// Adds the number of threads for which it holds, by one addition a warp.
__device__ void count_where(bool holds, unsigned* count) {
    const unsigned active = __activemask(), votes = __ballot_sync(active, holds);
    if (votes != 0 && int(threadIdx.x % warp_size) == __ffs(int(active)) - 1)
        atomicAdd(count, unsigned(__popc(votes)));
}

/// As diagonal_signs; a row is ~0 where there is none.
struct sign_counts {
    unsigned above, below, first_not_positive, first_zero;
};

template <class V>
struct count_signs {
    const V* diagonal;
    sign_counts* to;
    __device__ void operator()(std::int64_t i) const {
        const V d = diagonal[i];
        if (!(d > V(0))) atomicMin(&to->first_not_positive, unsigned(i));
        if (d == V(0)) atomicMin(&to->first_zero, unsigned(i));
        count_where(d > V(0), &to->above);
        count_where(d < V(0), &to->below);
    }
};

/// Counts rows of the second block, and those that stand against a saddle point: longer ones than
/// any may be, and those of the second block that are not dominant there.
template <class V>
struct count_constraints {
    csr<V, device_view> A;
    const V* diagonal;
    V sign;
    double rounding;
    offset longest_row;
    unsigned *second, *against;
    __device__ bool is_second(index i) const { return !(sign * diagonal[i] > V(0)); }
    __device__ bool is_dominant(index i) const {
        double beside = 0, centre = 0;
        for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
            const index j = A.col_ind[k];
            if (is_second(j)) (j == i ? centre : beside) += fabs(double(A.val[k]));
        }
        return beside <= (1 + rounding) * centre;
    }
    __device__ void operator()(std::int64_t row) const {
        const auto i = index(row);
        const bool is_long = A.row_ptr[i + 1] - A.row_ptr[i] > longest_row;
        const bool mine = is_second(i);
        const bool is_against = is_long || (mine && !is_dominant(i));
        count_where(mine, second);
        count_where(is_against, against);
    }
};

template <class V>
struct row_of_magnitudes {
    csr<V, device_view> A;
    const V *b, *x;
    double *of_b, *of_row;
    __device__ void operator()(std::int64_t i) const {
        double sum = fabs(double(b[i]));
        of_b[i] = sum;
        for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
            sum += fabs(double(A.val[k])) * fabs(double(x[A.col_ind[k]]));
        of_row[i] = sum;
    }
};

template <class V>
struct largest_of_row {
    csr<V, device_view> A;
    double* to;
    __device__ void operator()(std::int64_t i) const {
        double most = 0;
        for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
            most = fmax(most, fabs(double(A.val[k])));
        to[i] = most;
    }
};

std::int64_t row_or_none(unsigned row) { return row == ~0U ? -1 : std::int64_t(row); }

}  // namespace

template <class V>
diagonal_signs signs_of(gpu on, device_span<V> diagonal) {
    const device_guard guard(on);
    const sign_counts none{0, 0, ~0U, ~0U};
    const auto counts = to_device<sign_counts>(on, std::span(&none, 1));
    launch_each(on, std::int64_t(diagonal.size()), count_signs<V>{diagonal.data(), counts.data()});
    const auto found = read_back(on, counts.data());
    return {found.above, found.below, row_or_none(found.first_not_positive),
            row_or_none(found.first_zero)};
}

template <class V>
std::int64_t constraints_of(gpu on, const csr<V, device_view>& A, device_span<V> diagonal,
                            const diagonal_signs& signs, offset longest_row) {
    const device_guard guard(on);
    device_array<unsigned> counts(on, 2);
    fill_bytes(on, counts, 0);
    constexpr double rounding = 16 * double(std::numeric_limits<V>::epsilon());
    const V sign = signs.below > signs.above ? V(-1) : V(1);
    launch_each(on, A.shape.rows,
                count_constraints<V>{A, diagonal.data(), sign, rounding, longest_row, counts.data(),
                                     counts.data() + 1});
    const auto found = to_host<unsigned>(on, counts);
    const bool is_so = found[1] == 0 && std::int64_t(found[0]) < A.shape.rows;
    return is_so ? std::int64_t(found[0]) : 0;
}

template <class V>
double rounding_scale(gpu on, const csr<V, device_view>& A, device_span<V> b, device_span<V> x) {
    const device_guard guard(on);
    device_array<double> of_b(on, b.size()), of_row(on, b.size());
    launch_each(on, A.shape.rows,
                row_of_magnitudes<V>{A, b.data(), x.data(), of_b.data(), of_row.data()});
    vector_space<double, gpu> space(on, std::int64_t(b.size()));
    return space.norm(of_row) / space.norm(of_b);
}

template <class V>
std::vector<double> row_sizes(gpu on, const csr<V, device_view>& A) {
    const device_guard guard(on);
    device_array<double> sizes(on, std::size_t(A.shape.rows));
    launch_each(on, A.shape.rows, largest_of_row<V>{A, sizes.data()});
    const auto here = to_host<double>(on, sizes);
    return {here.begin(), here.end()};
}

#define NZ_INSTANTIATE(V)                                                                 \
    template diagonal_signs signs_of(gpu, device_span<V>);                                \
    template std::int64_t constraints_of(gpu, const csr<V, device_view>&, device_span<V>, \
                                         const diagonal_signs&, offset);                  \
    template double rounding_scale(gpu, const csr<V, device_view>&, device_span<V>,       \
                                   device_span<V>);                                       \
    template std::vector<double> row_sizes(gpu, const csr<V, device_view>&);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
