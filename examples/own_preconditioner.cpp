// One's own preconditioner, and one's own matrix that is never stored: any function from vectors to
// vectors serves.
#include <cstdio>
#include <nonzero/nonzero.hpp>

int main() {
    // -u'' with a stiffness that jumps from 1 to 1000 in the middle of a rod of n points.
    constexpr nz::index n = 200;
    const auto stiffness = [](std::size_t i) { return i <= n / 2 ? 1.0 : 1000.0; };
    const nz::cpu on;
    const auto A =
        nz::make_operator<double>(on, {n, n}, [&](std::span<const double> x, std::span<double> y) {
            for (std::size_t i = 0; i < y.size(); ++i) {
                const double left = i > 0 ? x[i - 1] : 0, right = i + 1 < y.size() ? x[i + 1] : 0;
                y[i] = stiffness(i) * (x[i] - left) + stiffness(i + 1) * (x[i] - right);
            }
        });
    // A tridiagonal system has a direct solver, Thomas's algorithm: with it one iteration is
    // enough.
    const auto M =
        nz::make_operator<double>(on, {n, n}, [&](std::span<const double> r, std::span<double> z) {
            std::vector<double> upper(r.size());
            double before = 0, z_before = 0;  // of the row above
            for (std::size_t i = 0; i < r.size(); ++i) {
                const double pivot =
                    stiffness(i) + stiffness(i + 1) - (i > 0 ? stiffness(i) * before : 0);
                upper[i] = before = stiffness(i + 1) / pivot;
                z[i] = z_before = (r[i] + (i > 0 ? stiffness(i) * z_before : 0)) / pivot;
            }
            for (std::size_t i = r.size() - 1; i-- > 0;) z[i] += upper[i] * z[i + 1];
        });

    const std::vector<double> b(n, 1.0);
    std::vector<double> x(n, 0.0), y(n, 0.0);
    const auto plain = nz::cg<double, nz::cpu>(on, A, b, x);
    const auto preconditioned = nz::cg<double, nz::cpu>(on, A, M, b, y);
    std::printf("without: %lld iterations, with: %lld\n", static_cast<long long>(plain.iterations),
                static_cast<long long>(preconditioned.iterations));
    return preconditioned.converged && preconditioned.iterations <= 3 ? 0 : 1;
}
