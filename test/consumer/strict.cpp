// All public headers, and templates of theirs that warnings may hide in until somebody uses them.
#include <cstdio>
#include <nonzero/nonzero.hpp>

namespace {

template <class V>
V use_vectors(nz::cpu on) {
    nz::vector_space<V, nz::cpu> space(on, 1000);
    auto x = space.make(), y = space.make();
    space.fill(V(2), x);
    space.copy(x, y);
    space.axpy(V(1), x, y);
    return V(space.norm(y)) + space.dot(x, y);
}

template <class V>
std::int64_t use_matrices(nz::cpu on) {
    const auto A = nz::laplace2d<V>(9, 9);
    const auto v = nz::view(A);
    const auto B = nz::canonical(v);
    const nz::plan<V, nz::cpu> p = nz::make_plan(v, on);
    const auto op = nz::build(p, v);
    const nz::host_vector<V> b(81, V(1));
    nz::host_vector<V> x(81, V(0));
    const auto report = nz::solve<V, nz::cpu>(on, v, b, x);
    const auto M = nz::make_operator<V>(on, A.shape, [](nz::in<V, nz::cpu> from, auto to) {
        std::copy(from.begin(), from.end(), to.begin());
    });
    const auto more = nz::gmres<V, nz::cpu>(on, *op, M, b, x);
    return report.result().report.iterations + more.iterations + std::int64_t(nz::bytes(B));
}

}  // namespace

int main() {
    const nz::cpu on;
    const double numbers = use_vectors<double>(on) + double(use_vectors<float>(on));
    const auto counts =
        use_matrices<double>(on) + use_matrices<float>(on) + use_matrices<std::complex<double>>(on);
    std::printf("%g %ld\n", numbers, long(counts));
}
