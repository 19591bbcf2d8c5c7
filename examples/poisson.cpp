// -Laplace u = 1 on the unit cube, u = 0 on its surface: made, planned, solved, and looked at in
// the middle. With the argument gpu all of it happens on a GPU.
#include <cstdio>
#include <nonzero/nonzero.hpp>
#include <string_view>

namespace {

template <class B>
int solve(B on, nz::index n) {
    const nz::csr<double, nz::host> A = nz::laplace3d<double>(n, n, n);
    const auto op = nz::build(nz::make_plan(A, on), A);
    const auto M = nz::gauss_seidel(on, nz::view(A));

    nz::vector_space<double, B> space(on, A.shape.rows);
    auto b = space.make(), u = space.zero();
    const double h = 1.0 / (n + 1);
    space.fill(h * h, b);
    const nz::solve_report report = nz::cg<double, B>(on, *op, *M, b, u, {.tol = 1e-10});

    const auto solution = nz::to_host<double>(on, nz::in<double, B>(u));
    const auto middle = std::size_t(n / 2) * (std::size_t(n) * std::size_t(n) + std::size_t(n) + 1);
    std::printf("%s after %lld iterations by %s: u in the middle is %.6f\n", report.why.c_str(),
                static_cast<long long>(report.iterations), std::string(op->method_name()).c_str(),
                solution[middle]);
    // The series solution has 0.056213 there; the grid's error is of the order h^2.
    const double error = solution[middle] - 0.056213;
    return report.converged && error * error < h * h * h * h ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    constexpr nz::index points = 31;
    try {
        if (argc > 1 && std::string_view(argv[1]) == "gpu") {
            const nz::gpu_stream stream;
            return solve<nz::gpu>(stream, points);
        }
        return solve(nz::cpu{}, points);
    } catch (const nz::error& e) {
        return std::fprintf(stderr, "%s\n", e.what()), 1;
    }
}
