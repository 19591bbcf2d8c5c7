#include <cstdio>
#include <nonzero/nonzero.hpp>

int main() {
    const nz::csr<double, nz::host> A{{3, 3}, {0, 2, 3, 5}, {0, 2, 1, 0, 2}, {1, 2, 3, 4, 5}};
    nz::write<double>("A.npz", nz::view(A));
    const auto B = nz::read<double>("A.npz");
    const auto op = nz::build(nz::find_method<double>("csr.balanced"), nz::cpu{}, nz::view(B));
    nz::host_vector<double> x(3, 1), y(3);
    op->apply(1, x, 0, y);
    std::printf("%g %g %g\n", y[0], y[1], y[2]);
}
