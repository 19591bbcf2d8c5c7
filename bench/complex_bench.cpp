// Multigrid of complex hermitian matrices beside the real ones of the same stencil: iterations of
// conjugate gradients to 1e-8, b standard normal, x0 = 0. Of each real A: A itself; A stored as
// complex; D^H A D, D of unit numbers at random, whose candidate is found, given as D^H 1, or the
// constant; and with candidates found by relaxation. Then Laplacians in magnetic fields.
//   OMP_NUM_THREADS=2 complex_bench
// One JSON object on standard output.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <random>

#include "nonzero/core/threads.hpp"
#include "nonzero/gen/generate.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/plan/machine.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero_commit.hpp"

namespace {

using namespace nz;
using json = nlohmann::json;
using complex = std::complex<double>;
using nz::index;

/// f(i, j, value) of every entry.
template <class V, class F>
void for_each_value(csr<V, host>& A, F f) {
    for (index i = 0; i < A.shape.rows; ++i)
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            f(i, A.col_ind[k], A.val[k]);
}

/// Five points, couplings across the rows of the grid `across`.
csr<double, host> stretched5(index n, double across) {
    auto A = laplace2d<double>(n, n);
    for_each_value(A, [&](index i, index j, double& v) {
        if (i == j) v = 2 + 2 * across;
        if (std::abs(i - j) == n) v = -across;
    });
    return A;
}

/// Bilinear elements, along x 1 / sqrt(across) times as short as along y.
csr<double, host> stretched9(index n, double across) {
    constexpr double stiffness[] = {2, -1}, mass[] = {4.0 / 6, 1.0 / 6};
    auto A = laplace27<double>(n, n, 1);
    for_each_value(A, [&](index i, index j, double& v) {
        const index dx = std::abs(i % n - j % n), dy = std::abs(i / n - j / n);
        v = stiffness[dx] * mass[dy] + across * mass[dx] * stiffness[dy];
    });
    return A;
}

/// Diffusion whose coefficients, a node each, jump over six decades.
csr<double, host> jumps(index n) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> exponent(-3, 3);
    host_vector<double> c(std::size_t(n) * std::size_t(n));
    for (double& v : c) v = std::pow(10.0, exponent(random));
    auto A = laplace2d<double>(n, n);
    host_vector<double> sum(c.size(), 0), neighbours(c.size(), 0);
    for_each_value(A, [&](index i, index j, double& v) {
        if (i == j) return;
        v = -2 / (1 / c[std::size_t(i)] + 1 / c[std::size_t(j)]);
        sum[std::size_t(i)] -= v, ++neighbours[std::size_t(i)];
    });
    for_each_value(A, [&](index i, index j, double& v) {
        const auto k = std::size_t(i);
        if (i == j) v = sum[k] + (4 - neighbours[k]) * c[k];
    });
    return A;
}

csr<complex, host> as_complex(const csr<double, host>& A) {
    return {A.shape, A.row_ptr, A.col_ind, {A.val.begin(), A.val.end()}};
}

/// Peierls' phases in Landau's gauge: `flux` through each cell.
csr<complex, host> in_field(index n, double flux) {
    auto A = as_complex(laplace2d<double>(n, n));
    for_each_value(A, [&](index i, index j, complex& v) {
        if (std::abs(j - i) == 1) v *= std::polar(1.0, (j - i) * flux * double(i / n));
    });
    return A;
}

template <class V>
json solved(const csr<V, host>& A, const amg_options& o = {}, const candidates<V>& near = {}) {
    const auto op = build(make_plan(A, cpu{}), A);
    const amg<V, cpu> M(A, cpu{}, o, near, op.get());
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    host_vector<V> b(std::size_t(A.shape.rows)), x(b.size(), V(0));
    for (V& v : b) v = V(normal(random));
    const auto r = cg<V, cpu>(cpu{}, *op, M, b, x, {.tol = 1e-8, .max_iter = 500});
    return {{"iterations", r.iterations},
            {"converged", r.converged},
            {"relative_residual", r.relative_residual()},
            {"setup_s", M.report().setup_s}};
}

candidates<complex> constant(index rows) { return candidates<complex>::constant(rows); }

json beside(const csr<double, host>& A) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> angle(0, 6.283185307179586);
    host_vector<double> d(std::size_t(A.shape.rows));
    for (double& v : d) v = angle(random);
    auto turned = as_complex(A);
    for_each_value(turned, [&](index i, index j, complex& v) {
        v *= std::polar(1.0, d[std::size_t(j)] - d[std::size_t(i)]);
    });
    candidates<complex> exact{1, host_vector<complex>(d.size())};
    for (std::size_t i = 0; i < d.size(); ++i) exact.val[i] = std::polar(1.0, -d[i]);
    json r{{"rows", A.shape.rows}, {"real", solved(A)}, {"stored", solved(as_complex(A))}};
    r["found"] = solved(turned);
    r["given"] = solved(turned, {}, exact);
    r["constant"] = solved(turned, {}, constant(A.shape.rows));
    for (const int k : {1, 2})
        r[fmt::format("adaptive_{}", k)] = solved(turned, {.adaptive_candidates = k});
    return r;
}

}  // namespace

int main() {
    try {
        json all{{"command", fmt::format("OMP_NUM_THREADS={} complex_bench", thread_count(cpu{}))},
                 {"commit", built_commit},
                 {"dirty", built_dirty},
                 {"threads", thread_count(cpu{})},
                 {"cpu", describe_machine().cpu}};
        auto& of = all["problems"];
        of["laplace2d 120^2"] = beside(laplace2d<double>(120, 120));
        of["laplace2d 250^2"] = beside(laplace2d<double>(250, 250));
        of["laplace3d 32^3"] = beside(laplace3d<double>(32, 32, 32));
        of["laplace27 20^3"] = beside(laplace27<double>(20, 20, 20));
        of["circuit 20000"] = beside(circuit<double>(20000, 5, 7, 3));
        of["five points 150^2, 0.1 across"] = beside(stretched5(150, 0.1));
        of["five points 150^2, 0.01 across"] = beside(stretched5(150, 0.01));
        of["bilinear 150^2"] = beside(stretched9(150, 1));
        of["bilinear 150^2, 0.1 across"] = beside(stretched9(150, 0.1));
        of["bilinear 150^2, 0.01 across"] = beside(stretched9(150, 0.01));
        of["jumps 150^2"] = beside(jumps(150));
        for (const double flux : {0.0, 1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.3, 1.0, 3.0})
            all["fields"][fmt::format("{}", flux)] = {
                {"found", solved(in_field(150, flux))},
                {"constant", solved(in_field(150, flux), {}, constant(22500))}};
        fmt::print("{}\n", all.dump(1));
    } catch (const error& e) {
        fmt::print(stderr, "{}\n", e.what());
        return 3;
    }
}
