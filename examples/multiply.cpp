// Reads a matrix and multiplies it by a vector of ones, by a method chosen by name.
#include <cstdio>
#include <nonzero/nonzero.hpp>
#include <string>

int main(int argc, char** argv) {
    if (argc != 3) return std::fprintf(stderr, "usage: multiply A.mtx METHOD\n"), 2;
    try {
        const nz::csr<double, nz::host> A = nz::read<double>(argv[1]);
        const auto op = nz::build(nz::find_method<double>(argv[2]), nz::cpu{}, nz::view(A));
        const std::vector<double> x(std::size_t(A.shape.cols), 1.0);
        std::vector<double> y(std::size_t(A.shape.rows));
        op->apply(1.0, x, 0.0, y);
        double sum = 0;
        for (const double v : y) sum += v;
        std::printf("the entries of A sum to %.17g; %s holds it in %zu bytes\n", sum, argv[2],
                    op->bytes());
    } catch (const nz::error& e) {
        return std::fprintf(stderr, "%s\n", e.what()), 1;
    }
}
