// Products for bench/arm_instructions.py, which counts their instructions under an emulator: one
// thread, doubles, uniform values.
//   arm_instructions METHOD MATRIX PRODUCTS
// Prints rows, entries and the bits of y summed up, as two builds must agree in them.
#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <random>
#include <string_view>

#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/gen/problems.hpp"

namespace {

using namespace nz;

host_vector<double> uniform(std::size_t n, unsigned seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> any(-1, 1);
    host_vector<double> v(n);
    for (double& e : v) e = any(random);
    return v;
}

csr<double, host> matrix(std::string_view name) {
    if (name == "random_16") return nz::random<double>(1500, 1500, 16, 1);
    auto A = laplace27<double>(9, 9, 9);  // all values distinct
    if (name == "stencil_27") A.val = uniform(A.val.size(), 2);
    return A;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return EXIT_FAILURE;
    const std::string_view method = argv[1];
    const auto A = matrix(argv[2]);
    const int products = std::atoi(argv[3]);
    const auto rows = std::size_t(A.shape.rows), cols = std::size_t(A.shape.cols);
    const auto x = uniform(cols, 3);
    host_vector<double> y(rows, 0.0);
    const cpu one{1};

    const auto multiply = [&](auto kernel, const auto& B) {
        for (int p = 0; p < products; ++p)
            spmv(one, kernel, 1.0, view(B), std::span<const double>(x), 0.0, std::span<double>(y));
    };
    if (method == "csr.serial") multiply(csr_serial{}, A);
    if (method == "packed.warp") multiply(packed_warp{}, packed<double, host>::from(view(A)));

    std::uint64_t bits = 0;
    for (const double v : y) bits = bits * 31 + std::bit_cast<std::uint64_t>(v);
    fmt::print("{} {} {:016x}\n", rows, A.val.size(), bits);
}
