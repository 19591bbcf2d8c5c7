// Linear systems with known solutions, and how a computed one stands against them.
#pragma once

#include <algorithm>
#include <cmath>

#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/formats/oracle.hpp"
#include "nonzero/gen/problems.hpp"
#include "test/zoo.hpp"

namespace nz::test {

template <class V>
struct linear_system {
    std::string name;
    csr<V, host> A;
    host_vector<V> b;
};

/// b = A x for a random x.
template <class V>
linear_system<V> manufactured(std::string name, csr<V, host> A) {
    const auto x = random_vector<V>(std::size_t(A.shape.cols), 9);
    const auto Ax = reference_product<V>(transposition::plain, V(1), view(A), x, V(0), {});
    host_vector<V> b(x.size());
    for (std::size_t i = 0; i < b.size(); ++i) {
        if constexpr (is_complex<V>) {
            b[i] = V(real<V>(Ax.y[i].real()), real<V>(Ax.y[i].imag()));
        } else {
            b[i] = V(Ax.y[i].real());
        }
    }
    return {std::move(name), std::move(A), std::move(b)};
}

/// D A D^H for a diagonal D of unit numbers: hermitian where A is symmetric, of the same spectrum.
template <class V>
csr<V, host> rotated(csr<V, host> A) {
    if constexpr (is_complex<V>) {
        for (index i = 0; i < A.shape.rows; ++i)
            for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
                 k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
                A.val[k] *= std::polar(real<V>(1), real<V>(i % 7 - A.col_ind[k] % 7));
    }
    return A;
}

/// The Laplacian of a plane in a magnetic field, `flux` through each cell: Peierls' phases.
inline csr<std::complex<double>, host> in_field(index n, double flux) {
    auto A = laplace2d<std::complex<double>>(n, n);
    for (index i = 0; i < A.shape.rows; ++i) {
        const index line = i / n;
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            if (const index step = A.col_ind[k] - i; std::abs(step) == 1)
                A.val[k] *= std::polar(1.0, step * flux * double(line));
    }
    return A;
}

/// The same matrix, the entries of each row in the other order.
template <class V>
csr<V, host> rows_reversed(csr<V, host> A) {
    for (index i = 0; i < A.shape.rows; ++i) {
        const auto first = A.row_ptr[std::size_t(i)], last = A.row_ptr[std::size_t(i) + 1];
        std::reverse(A.col_ind.begin() + first, A.col_ind.begin() + last);
        std::reverse(A.val.begin() + first, A.val.begin() + last);
    }
    return A;
}

/// Symmetric (hermitian) positive definite systems.
template <class V>
std::vector<linear_system<V>> definite_systems() {
    std::vector<linear_system<V>> all;
    all.push_back(manufactured("1x1", laplace2d<V>(1, 1)));
    all.push_back(manufactured("laplace2d", rotated(laplace2d<V>(37, 23))));
    all.push_back(manufactured("laplace3d", rotated(laplace3d<V>(13, 9, 11))));
    all.push_back(manufactured("elasticity3d", rotated(elasticity3d<V>(4, 3, 3, 0.3))));
    all.push_back(manufactured("circuit", rotated(circuit<V>(500, 3, 4, 1))));
    return all;
}

/// H above B above 0, symmetric (hermitian) and indefinite: the optimality conditions of minimising
/// (x, H x) / 2 - (f, x) where B x = g. H positive definite; B takes differences of neighbours.
template <class V>
csr<V, host> kkt(const csr<V, host>& H, index constraints) {
    const index n = H.shape.rows;
    host_vector<index> row, col;
    host_vector<V> val;
    const auto add = [&](index i, index j, V v) {
        row.push_back(i), col.push_back(j), val.push_back(v);
    };
    for_each_entry(view(H), 0, n, add);
    for (index k = 0; k < constraints; ++k)
        for (const auto& [j, v] : {std::pair(3 * k, V(1)), std::pair(3 * k + 1, V(-1))})
            add(n + k, j, v), add(j, n + k, v);
    return assemble<V>({n + constraints, n + constraints}, row, col, val);
}

/// A - shift I, where A's whole diagonal is stored.
template <class V>
csr<V, host> shifted(csr<V, host> A, real<V> shift) {
    for (index i = 0; i < A.shape.rows; ++i)
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            if (A.col_ind[k] == i) A.val[k] -= shift;
    return A;
}

/// Symmetric (hermitian) regular systems that are not definite.
template <class V>
std::vector<linear_system<V>> indefinite_systems() {
    std::vector<linear_system<V>> all;
    all.push_back(manufactured("kkt", rotated(kkt(laplace2d<V>(12, 11), 40))));
    all.push_back(manufactured("kkt 3d", rotated(kkt(laplace3d<V>(7, 9, 8), 100))));
    all.push_back(manufactured("shifted", rotated(shifted(laplace2d<V>(31, 17), real<V>(1.21)))));
    all.push_back(manufactured("negative", rotated(shifted(laplace2d<V>(9, 9), real<V>(9)))));
    return all;
}

/// With convection: what stands left of the diagonal weighs more than what stands right of it.
template <class V>
csr<V, host> convected(csr<V, host> A) {
    for (index i = 0; i < A.shape.rows; ++i)
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            A.val[k] *= A.col_ind[k] < i   ? real<V>(1.5)
                        : A.col_ind[k] > i ? real<V>(0.5)
                                           : real<V>(1);
    return A;
}

/// Regular systems that are not symmetric.
template <class V>
std::vector<linear_system<V>> general_systems() {
    std::vector<linear_system<V>> all;
    all.push_back(manufactured("1x1", laplace2d<V>(1, 1)));
    all.push_back(manufactured("convection 2d", rotated(convected(laplace2d<V>(31, 17)))));
    all.push_back(manufactured("convection 3d", rotated(convected(laplace3d<V>(9, 8, 11)))));
    auto with_diagonal = random<V>(300, 300, 5, 3);
    for (V& v : with_diagonal.val) v *= real<V>(0.1);
    host_vector<index> row, col;
    host_vector<V> val;
    for_each_entry(view(with_diagonal), 0, 300, [&](index i, index j, V v) {
        row.push_back(i), col.push_back(j), val.push_back(v);
    });
    for (index i = 0; i < 300; ++i) row.push_back(i), col.push_back(i), val.push_back(V(1));
    all.push_back(manufactured("random, dominant", assemble<V>({300, 300}, row, col, val)));
    return all;
}

/// |b - A x| in long double, and the norm of what A x may be wrong by in V.
struct true_residual {
    long double norm, rounding, rhs;
};
template <class V>
true_residual residual_of(const csr<V, host>& A, const host_vector<V>& x, const host_vector<V>& b) {
    const auto Ax = reference_product<V>(transposition::plain, V(1), view(A), x, V(0), {});
    long double r2 = 0, e2 = 0, b2 = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        r2 += std::norm(std::complex<long double>(b[i]) - Ax.y[i]);
        e2 += std::norm(Ax.bound[i]);
        b2 += std::norm(std::complex<long double>(b[i]));
    }
    return {std::sqrt(r2), std::sqrt(e2), std::sqrt(b2)};
}

}  // namespace nz::test
