#include <cstdio>

#include "nonzero/nonzero.hpp"

int main() {
    const nz::csr<double, nz::host> A{{2, 2}, {0, 1, 3}, {0, 0, 1}, {2, 3, 4}};
    const nz::cpu on{};
    const nz::host_vector<double> x{1, 10};
    nz::host_vector<double> y(2);
    nz::build(nz::make_plan(A, on), A)->apply(1, x, 0, y);
    std::printf("%g %g\n", y[0], y[1]);
    return y[0] == 2 && y[1] == 43 ? 0 : 1;
}
