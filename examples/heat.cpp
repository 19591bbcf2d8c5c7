// Heat in a plate whose material conducts better where it is hot: one system a step of implicit
// Euler, all of one pattern, by a solver that is kept. With the argument gpu it runs on a GPU.
#include <cstdio>
#include <nonzero/nonzero.hpp>
#include <string_view>

namespace {

constexpr nz::index n = 80;  // points along an edge
constexpr double h = 1.0 / (n + 1);
constexpr double dt = 1e-3;

/// Conductivity between two points, of the temperatures there.
double conductivity(double u, double v) { return 1 + 5 * (u + v); }

/// The step's matrix: h^2 I + dt K(u), on the pattern that A has.
void assemble_step(const std::vector<double>& u, nz::csr<double, nz::host>& A) {
    for (nz::index i = 0; i < A.shape.rows; ++i) {
        const auto row = std::size_t(i);
        const auto mine = u[row];
        double sum = h * h + dt * double(4 - (A.row_ptr[row + 1] - A.row_ptr[row] - 1)) *
                                 conductivity(mine, 0);  // to the cold rim
        std::size_t diagonal = 0;
        for (auto k = std::size_t(A.row_ptr[row]); k < std::size_t(A.row_ptr[row + 1]); ++k) {
            const nz::index j = A.col_ind[k];
            if (j == i) {
                diagonal = k;
                continue;
            }
            A.val[k] = -dt * conductivity(mine, u[std::size_t(j)]);
            sum -= A.val[k];
        }
        A.val[diagonal] = sum;
    }
}

template <class B>
int run(B on) {
    nz::csr<double, nz::host> A = nz::laplace2d<double>(n, n);
    std::vector<double> u(std::size_t(A.shape.rows), 0.0), b(u.size());
    u[u.size() / 2 + n / 2] = 1 / (h * h);  // all heat in one point
    assemble_step(u, A);
    nz::solver<double, B> solver(on, A);
    long long iterations = 0;
    for (int step = 0; step < 10; ++step) {
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = h * h * u[i];
        const nz::system_report report = solver.solve(b, u);
        if (!report.converged()) return 1;
        iterations += report.result().report.iterations;
        assemble_step(u, A);
        solver.take_values(A);
    }
    double heat = 0;
    for (const double v : u) heat += h * h * v;
    std::printf("10 steps, %lld iterations: %.3f of the heat is left\n", iterations, heat);
    return heat > 0 && heat < 1 ? 0 : 1;  // some has left by the rim
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc > 1 && std::string_view(argv[1]) == "gpu") {
            const nz::gpu_stream stream;
            return run<nz::gpu>(stream);
        }
        return run(nz::cpu{});
    } catch (const nz::error& e) {
        return std::fprintf(stderr, "%s\n", e.what()), 1;
    }
}
