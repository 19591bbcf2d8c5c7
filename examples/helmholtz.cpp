// Waves of one frequency: Helmholtz's equation, which is indefinite, by GMRES with multigrid of a
// shifted Laplacian, which is not.
#include <algorithm>
#include <complex>
#include <cstdio>
#include <nonzero/nonzero.hpp>

using value = std::complex<double>;

/// -Laplace u + shift(x, y) u on the unit square, n x n points, u = 0 on the boundary, times h^2.
template <class Shift>
nz::csr<value, nz::host> shifted_laplacian(nz::index n, Shift shift) {
    const double h = 1.0 / (n + 1);
    std::vector<nz::index> row, col;
    std::vector<value> val;
    const auto add = [&](nz::index i, nz::index j, value v) {
        row.push_back(i), col.push_back(j), val.push_back(v);
    };
    for (nz::index y = 0; y < n; ++y)
        for (nz::index x = 0; x < n; ++x) {
            const nz::index i = y * n + x;
            add(i, i, 4.0 + h * h * shift((x + 1) * h, (y + 1) * h));
            if (x > 0) add(i, i - 1, -1);
            if (x + 1 < n) add(i, i + 1, -1);
            if (y > 0) add(i, i - n, -1);
            if (y + 1 < n) add(i, i + n, -1);
        }
    return nz::assemble<value>({n * n, n * n}, row, col, val);
}

int main() {
    constexpr nz::index n = 50;
    constexpr double pi = 3.14159265358979, k = 2 * pi * n / 12;  // 12 points a wavelength
    // A layer of a tenth of the square damps the waves before they meet the boundary: A is complex
    // symmetric, not hermitian.
    const auto damping = [](double x, double y) {
        const double depth = 0.1 - std::min({x, y, 1 - x, 1 - y});
        return depth > 0 ? depth / 0.1 : 0.0;
    };
    const auto A =
        shifted_laplacian(n, [&](double x, double y) { return -k * k * value(1, damping(x, y)); });
    // -Laplace + k^2 is hermitian positive definite.
    const auto shifted = shifted_laplacian(n, [&](double, double) { return value(k * k); });

    const nz::cpu on;
    const auto op = nz::build(nz::make_plan(A, on), A);
    const nz::amg<value> M(shifted, on);
    std::vector<value> b(std::size_t(n) * n), x(b.size()), y(b.size());
    b[b.size() / 2 + n / 2] = 1;  // a source in the middle
    nz::gmres_options o;
    o.tol = 1e-6, o.max_iter = 1000, o.restart = 100;
    const auto with = nz::gmres<value, nz::cpu>(on, *op, M, b, x, o);
    const auto without = nz::gmres<value, nz::cpu>(on, *op, b, y, o);
    std::printf("with multigrid of the shifted Laplacian: %lld iterations, without: %lld\n",
                static_cast<long long>(with.iterations),
                static_cast<long long>(without.iterations));
    return with.converged && with.iterations < without.iterations ? 0 : 1;
}
