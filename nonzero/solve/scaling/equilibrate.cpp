#include "nonzero/solve/scaling/equilibrate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nz {
namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();

host_vector<int> rounded(const host_vector<double>& exponents) {
    host_vector<int> all(exponents.size());
    std::ranges::transform(exponents, all.begin(), [](double e) { return int(std::lround(e)); });
    return all;
}

/// Takes half of what is left off the exponents. The farthest that any was from 0.
double halved(host_vector<double>& exponents, const host_vector<double>& left) {
    double farthest = 0;
    for (std::size_t k = 0; k < left.size(); ++k) {
        if (left[k] == nothing) continue;
        exponents[k] -= left[k] / 2;
        farthest = std::max(farthest, std::abs(left[k]));
    }
    return farthest;
}

}  // namespace

template <class V>
host_vector<double> log2_magnitudes(const csr<V, host_view>& A, index first_row) {
    host_vector<double> sizes(A.val.size());
    for (std::size_t i = 0; i < std::size_t(A.shape.rows); ++i)
        for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k) {
            // In double the magnitude of no float overflows; a double's is taken of its half.
            const auto real = double(std::real(A.val[k])) / 2,
                       imag = double(std::imag(A.val[k])) / 2;
            if (!std::isfinite(real) || !std::isfinite(imag))
                throw argument_error("A is not finite in row " +
                                     std::to_string(first_row + std::int64_t(i)) +
                                     " (counted from 0)");
            const double size = is_complex<V> ? std::hypot(real, imag) : std::abs(real);
            sizes[k] = std::log2(size) + 1;
        }
    return sizes;
}

template <class V>
power_scaling equilibration(const csr<V, host_view>& A, index first_row) {
    return equilibration(A, log2_magnitudes(A, first_row));
}

template <class V>
power_scaling equilibration(const csr<V, host_view>& A, std::span<const double> sizes) {
    constexpr int sweeps = 10;
    constexpr double near_enough = 0x1p-5;  // powers are whole numbers
    const auto rows = std::size_t(A.shape.rows), cols = std::size_t(A.shape.cols);
    host_vector<double> of_row(rows, 0.0), of_col(cols, 0.0), in_row(rows), in_col(cols);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        std::ranges::fill(in_col, nothing);
        for (std::size_t i = 0; i < rows; ++i) {
            double most = nothing;
            const double mine = of_row[i];
            for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k) {
                double& in_its = in_col[std::size_t(A.col_ind[k])];
                const double size = sizes[k] + mine + of_col[std::size_t(A.col_ind[k])];
                most = std::max(most, size), in_its = std::max(in_its, size);
            }
            in_row[i] = most;
        }
        if (std::max(halved(of_row, in_row), halved(of_col, in_col)) < near_enough) break;
    }
    return {rounded(of_row), rounded(of_col)};
}

#define NZ_INSTANTIATE(V)                                                          \
    template host_vector<double> log2_magnitudes(const csr<V, host_view>&, index); \
    template power_scaling equilibration(const csr<V, host_view>&, index);         \
    template power_scaling equilibration(const csr<V, host_view>&, std::span<const double>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
