// Sequences of systems with one pattern: what a solver that is kept meets.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "nonzero/gen/generate.hpp"

namespace nz {

/// A sequence over a square grid of n x n cells or points.
class sequence {
  public:
    explicit sequence(index n) : n_(n) {}
    virtual ~sequence() = default;
    /// Fills in A and b of step k, from the solution of the step before (0 at first).
    virtual void step(int k, std::span<const double> x, csr<double, host>& A,
                      host_vector<double>& b) const = 0;
    [[nodiscard]] virtual csr<double, host> pattern() const { return laplace2d<double>(n_, n_); }

  protected:
    [[nodiscard]] double h() const { return 1.0 / double(n_ + 1); }
    [[nodiscard]] index at(index i, index j) const { return j * n_ + i; }
    /// Rows of a 5-point stencil: flux(i, j, di, dj) is the coefficient between a point and its
    /// neighbour, also across the rim, drift what the neighbour's entry has beside it, mass what is
    /// added to the diagonal.
    template <class Flux, class Drift>
    void fill(csr<double, host>& A, Flux flux, Drift drift, double mass) const {
        for (index j = 0; j < n_; ++j)
            for (index i = 0; i < n_; ++i) {
                const auto row = std::size_t(at(i, j));
                double sum = mass;
                std::size_t diagonal = 0;
                const auto entry = [&](index di, index dj) {
                    const double k = flux(i, j, di, dj), d = drift(i, j, di, dj);
                    sum += k + d;
                    for (auto e = std::size_t(A.row_ptr[row]); e < std::size_t(A.row_ptr[row + 1]);
                         ++e)
                        if (i + di >= 0 && i + di < n_ && A.col_ind[e] == at(i + di, j + dj))
                            A.val[e] = -k - d;
                };
                entry(-1, 0), entry(1, 0), entry(0, -1), entry(0, 1);
                for (auto e = std::size_t(A.row_ptr[row]); e < std::size_t(A.row_ptr[row + 1]); ++e)
                    if (A.col_ind[e] == index(row)) diagonal = e;
                A.val[diagonal] = sum;
            }
    }
    index n_;
};

/// Heat whose conductivity is a hundred times larger in a hot spot, which moves along a circle; a
/// step of implicit Euler.
class moving_hot_spot final : public sequence {
  public:
    using sequence::sequence;
    void step(int k, std::span<const double> x, csr<double, host>& A,
              host_vector<double>& b) const override {
        const double cx = 0.5 + 0.3 * std::cos(0.3 * k), cy = 0.5 + 0.3 * std::sin(0.3 * k);
        const auto hot = [&](double px, double py) {
            const double r2 = (px - cx) * (px - cx) + (py - cy) * (py - cy);
            return 1 + 99 * std::exp(-r2 / 0.01);
        };
        const auto flux = [&](index i, index j, index di, index dj) {
            return hot((double(i) + 1 + 0.5 * di) * h(), (double(j) + 1 + 0.5 * dj) * h());
        };
        const double mass = h() * h() / 1e-2;
        fill(
            A, flux, [](index, index, index, index) { return 0.0; }, mass);
        for (index j = 0; j < n_; ++j)
            for (index i = 0; i < n_; ++i) {
                const auto row = std::size_t(at(i, j));
                b[row] =
                    mass * x[row] + h() * h() * hot((double(i) + 1) * h(), (double(j) + 1) * h());
            }
    }
};

/// -div((e + |grad u|^2) grad u) = 1, the p-Laplacian of p = 4: steps of Picard's iteration, whose
/// matrices are those of Newton's method without the term that is not elliptic.
class p_laplacian final : public sequence {
  public:
    using sequence::sequence;
    void step(int, std::span<const double> x, csr<double, host>& A,
              host_vector<double>& b) const override {
        const auto u = [&](index i, index j) {
            return i < 0 || j < 0 || i >= n_ || j >= n_ ? 0.0 : x[std::size_t(at(i, j))];
        };
        const auto flux = [&](index i, index j, index di, index dj) {
            const double along = (u(i + di, j + dj) - u(i, j)) / h();
            const double across = (u(i + dj, j + di) + u(i + di + dj, j + dj + di) -
                                   u(i - dj, j - di) - u(i + di - dj, j + dj - di)) /
                                  (4 * h());
            return 1e-2 + along * along + across * across;
        };
        fill(
            A, flux, [](index, index, index, index) { return 0.0; }, 0);
        b.assign(b.size(), h() * h());
    }
};

/// Diffusion and a wind that turns with every step, by upwind differences: nonsymmetric.
class turning_wind final : public sequence {
  public:
    using sequence::sequence;
    void step(int k, std::span<const double> x, csr<double, host>& A,
              host_vector<double>& b) const override {
        const double wx = 40 * std::cos(0.2 * k), wy = 40 * std::sin(0.2 * k);
        const auto drift = [&](index, index, index di, index dj) {
            return h() * std::max(0.0, -(double(di) * wx + double(dj) * wy));
        };
        const double mass = h() * h() / 1e-2;
        fill(
            A, [](index, index, index, index) { return 1.0; }, drift, mass);
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = mass * x[i] + h() * h();
    }
};

/// Plane stress on squares of bilinear elements, clamped at the left, pulled down at the right
/// edge; the stiffness of each element changes from step to step between 1 and 0.05, as topology
/// optimisation changes it. Two unknowns a node.
class changing_stiffness final : public sequence {
  public:
    explicit changing_stiffness(index n)
        : sequence(n), pattern_(assembled([](index, index) { return 1.0; })) {}
    [[nodiscard]] csr<double, host> pattern() const override { return pattern_; }
    void step(int k, std::span<const double>, csr<double, host>& A,
              host_vector<double>& b) const override {
        A.val = assembled([&](index i, index j) {
                    const double wave =
                        std::sin(0.13 * double(i) + 0.4 * k) * std::cos(0.17 * double(j) - 0.2 * k);
                    return 0.05 + 0.95 * std::pow(0.5 + 0.5 * wave, 3);
                }).val;
        b.assign(b.size(), 0);
        b[std::size_t(unknown(n_, n_ / 2)) + 1] = -1;
    }

  private:
    /// Of node (i, j), 1 <= i <= n: those at i = 0 are clamped.
    [[nodiscard]] index unknown(index i, index j) const { return 2 * (j * n_ + i - 1); }
    /// Stiffness of a square of four nodes, counterclockwise, Poisson's ratio 0.3.
    static double of_element(int a, int b) {
        constexpr double nu = 0.3;
        constexpr double k[] = {1. / 2 - nu / 6,
                                1. / 8 + nu / 8,
                                -1. / 4 - nu / 12,
                                -1. / 8 + 3 * nu / 8,
                                -1. / 4 + nu / 12,
                                -1. / 8 - nu / 8,
                                nu / 6,
                                1. / 8 - 3 * nu / 8};
        constexpr int which[8][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 7, 6, 5, 4, 3, 2},
                                     {2, 7, 0, 5, 6, 3, 4, 1}, {3, 6, 5, 0, 7, 2, 1, 4},
                                     {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 3, 2, 1, 0, 7, 6},
                                     {6, 3, 4, 1, 2, 7, 0, 5}, {7, 2, 1, 4, 3, 6, 5, 0}};
        return k[which[a][b]] / (1 - nu * nu);
    }
    template <class Stiffness>
    [[nodiscard]] csr<double, host> assembled(Stiffness stiffness) const {
        const index rows = 2 * n_ * (n_ + 1);
        std::vector<index> row, col;
        std::vector<double> val;
        for (index j = 0; j < n_; ++j)
            for (index i = 0; i < n_; ++i) {
                const index x[] = {i, i + 1, i + 1, i}, y[] = {j, j, j + 1, j + 1};
                const double s = stiffness(i, j);
                for (int a = 0; a < 8; ++a)
                    for (int c = 0; c < 8; ++c) {
                        if (x[a / 2] == 0 || x[c / 2] == 0) continue;
                        row.push_back(unknown(x[a / 2], y[a / 2]) + a % 2);
                        col.push_back(unknown(x[c / 2], y[c / 2]) + c % 2);
                        val.push_back(s * of_element(a, c));
                    }
            }
        return assemble<double>({rows, rows}, row, col, val);
    }
    csr<double, host> pattern_;
};

}  // namespace nz
