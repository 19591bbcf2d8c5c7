// Multiplies by a matrix in the user's own CSR arrays, which are borrowed to plan and build from.
#include <cstdint>
#include <cstdio>
#include <nonzero/nonzero.hpp>

int main() {
    //     | 1 . 2 |
    // A = | . 3 . |
    //     | 4 . 5 |
    const std::vector<std::int32_t> row_ptr{0, 2, 3, 5}, col_ind{0, 2, 1, 0, 2};
    const std::vector<double> val{1, 2, 3, 4, 5}, x{1, 10, 100};
    const nz::csr<double, nz::host_view> A{
        {3, 3}, std::span<const std::int32_t>(row_ptr), col_ind, val};
    nz::validate(A);  // once, where the arrays come from outside

    const auto op = nz::build(nz::find_method<double>("csr.balanced"), nz::cpu{}, A);
    std::vector<double> y(3);
    op->apply(1.0, x, 0.0, y);
    std::printf("A x = %g %g %g\n", y[0], y[1], y[2]);
    return y == std::vector<double>{201, 30, 504} ? 0 : 1;
}
