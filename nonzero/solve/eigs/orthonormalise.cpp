#include "nonzero/solve/eigs/orthonormalise.hpp"

namespace nz {
namespace {

/// The upper triangular C of a positive definite G = C^T C, column by column; of G the triangle is
/// read that vector_basis::gram gives. Nothing where a vector is no longer than `least`, or where
/// half its length or more lies in those before it.
std::vector<double> cholesky_factor(int count, std::span<const double> G, double least) {
    const auto k = std::size_t(count);
    std::vector<double> C(k * k);
    for (std::size_t j = 0; j < k; ++j) {
        double left = G[j * (k + 1)];
        const double whole = left;
        if (!(std::sqrt(whole) > least) || !std::isfinite(whole)) return {};
        for (std::size_t i = 0; i < j; ++i) {
            double c = G[j * k + i];
            for (std::size_t p = 0; p < i; ++p) c -= C[i * k + p] * C[j * k + p];
            C[j * k + i] = c / C[i * (k + 1)];
            left -= C[j * k + i] * C[j * k + i];
        }
        if (!(left > whole / 4)) return {};
        C[j * (k + 1)] = std::sqrt(left);
    }
    return C;
}
/// The inverse of an upper triangular C.
std::vector<double> inverse_triangle(int count, std::span<const double> C) {
    const auto k = std::size_t(count);
    std::vector<double> X(k * k);
    for (std::size_t j = 0; j < k; ++j) {
        X[j * (k + 1)] = 1 / C[j * (k + 1)];
        for (std::size_t i = j; i-- > 0;) {
            double sum = 0;
            for (std::size_t p = i + 1; p <= j; ++p) sum += C[p * k + i] * X[j * k + p];
            X[j * k + i] = -sum / C[i * (k + 1)];
        }
    }
    return X;
}
/// B C of upper triangular matrices.
std::vector<double> product_of_triangles(int count, std::span<const double> B,
                                         std::span<const double> C) {
    const auto k = std::size_t(count);
    std::vector<double> all(k * k);
    for (std::size_t j = 0; j < k; ++j)
        for (std::size_t p = 0; p <= j; ++p)
            for (std::size_t i = 0; i <= p; ++i) all[j * k + i] += B[p * k + i] * C[j * k + p];
    return all;
}

}  // namespace

template <class V, class B>
std::vector<double> orthonormalise(vector_basis<V, B>& U, int count, double least) {
    std::vector<double> R;
    for (int pass = 0; pass < 2; ++pass) {
        const auto C = cholesky_factor(count, U.gram(count), least);
        if (C.empty()) return R;
        U.rotate(count, count, inverse_triangle(count, C));
        R = R.empty() ? C : product_of_triangles(count, C, R);
        least = 0;
    }
    return R;
}

template std::vector<double> orthonormalise(vector_basis<float, cpu>&, int, double);
template std::vector<double> orthonormalise(vector_basis<double, cpu>&, int, double);
NZ_WITH_CUDA_ONLY(template std::vector<double> orthonormalise(vector_basis<float, gpu>&, int,
                                                              double);)
NZ_WITH_CUDA_ONLY(template std::vector<double> orthonormalise(vector_basis<double, gpu>&, int,
                                                              double);)

}  // namespace nz
