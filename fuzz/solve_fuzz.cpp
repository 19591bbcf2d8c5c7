// libFuzzer on nz::solve and on factorizations: every method and preconditioner, of square matrices
// made from the bytes. Whatever the values, what is thrown is an nz::error or std::bad_alloc, and
// an x that is said to solve the system does.
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "fuzz/matrix_of_bytes.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "nonzero/solve/direct/factorization.hpp"
#include "nonzero/solve/direct/sparse_factors.hpp"
#include "nonzero/solve/names.hpp"
#include "nonzero/solve/solve.hpp"

namespace nz::fuzz {
namespace {

/// The leading square of A, its columns in order; now and then with what makes it symmetric.
template <class V>
csr<V, host> squared(const csr<V, host>& A, bool symmetric) {
    const index n = std::min(A.shape.rows, A.shape.cols);
    csr<V, host> S{{n, n}, {}, {}, {}};
    host_vector<offset> ptr{0};
    std::vector<host_vector<std::pair<index, V>>> rows(static_cast<std::size_t>(n));
    for_each_entry(view(A), 0, n, [&](index i, index j, V v) {
        if (j >= n) return;
        rows[std::size_t(i)].push_back({j, v});
        if (!symmetric || i == j) return;
        V mirror = v;
        if constexpr (is_complex<V>) mirror = std::conj(v);
        rows[std::size_t(j)].push_back({i, mirror});
    });
    for (const auto& row : rows) {
        for (const auto& [j, v] : row) S.col_ind.push_back(j), S.val.push_back(v);
        ptr.push_back(offset(S.val.size()));
    }
    S.row_ptr = offset_vector(ptr);
    return canonical(view(S));
}

/// Ends the process where |b - A x| is above tol |b| by more than rounding errors.
template <class V>
void expect_solved(const csr<V, host>& A, const host_vector<V>& b, const host_vector<V>& x,
                   double tol, const system_report& r) {
    using wide = std::conditional_t<is_complex<V>, std::complex<long double>, long double>;
    long double rest2 = 0, size2 = 0, rhs2 = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        wide sum(b[i]);
        long double size = std::abs(sum);
        rhs2 += size * size;
        for_each_entry(view(A), index(i), index(i) + 1, [&](index, index j, V v) {
            const wide term = wide(v) * wide(x[std::size_t(j)]);
            sum -= term, size += std::abs(term);
        });
        rest2 += std::abs(sum) * std::abs(sum), size2 += size * size;
    }
    constexpr long double unit = std::numeric_limits<real<V>>::epsilon();
    const long double denormal = std::numeric_limits<real<V>>::min();
    const long double most =
        (long double)(1.01 * tol) * std::sqrt(rhs2) + 20 * unit * std::sqrt(size2) + denormal;
    if (std::sqrt(rest2) <= most) return;
    std::fprintf(stderr, "%d rows, %s with %s: said to be solved, |b - A x| is %Lg of %Lg\n",
                 A.shape.rows, std::string(name_of(r.result().method)).c_str(),
                 std::string(name_of(r.result().preconditioner)).c_str(), std::sqrt(rest2),
                 std::sqrt(rhs2));
    std::abort();
}

template <class F>
void may_throw(F f) {
    try {
        f();
    } catch (const error&) {
    } catch (const std::bad_alloc&) {
    }
}

template <class V>
void check(byte_reader in, std::uint8_t method, std::uint8_t preconditioner, bool symmetric) {
    system_options o;
    o.max_iter = 60, o.tol = std::is_same_v<real<V>, float> ? 1e-4 : 1e-8;
    o.fill_level = preconditioner / 64;
    const auto methods = std::size(krylov_method_names);
    const auto preconditioners = std::size(preconditioning_names);
    if (method % (methods + 1) < methods) o.method = krylov_method(method % (methods + 1));
    if (preconditioner % 64 % (preconditioners + 1) < preconditioners)
        o.preconditioner = preconditioning(preconditioner % 64 % (preconditioners + 1));
    if (o.method == krylov_method::direct) o.preconditioner = {};
    const std::uint8_t of_b = in.next();
    const auto A = squared(read_matrix<V>(in), symmetric);
    const auto n = std::size_t(A.shape.rows);
    const auto b = of_b % 8 == 0 ? read_values<V>(in, n) : host_vector<V>(n, V(real<V>(of_b)));
    may_throw([&] {
        host_vector<V> x(n, V(0));
        const auto r = solve<V>(cpu{1}, view(A), b, x, o);
        if (r.converged()) expect_solved(A, b, x, *o.tol, r);
    });
    using libraries = factor_forecast::libraries;
    for (const auto by : {libraries::eigen, libraries::cholmod, libraries::umfpack, libraries::klu})
        if (o.method == krylov_method::direct && why_no(by).empty())
            may_throw([&] {
                host_vector<V> x(n);
                (void)factorization<V>(view(A), 0, by).solve(b, x);
            });
}

}  // namespace
}  // namespace nz::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    omp_set_num_threads(1);  // where nobody says how many: that is faster for what is small
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    nz::fuzz::byte_reader in(data, size);
    const std::uint8_t type = in.next(), method = in.next(), preconditioner = in.next();
    const bool symmetric = type / 4 % 2 == 1;
    switch (type % 4) {
        case 0:
            nz::fuzz::check<float>(in, method, preconditioner, symmetric);
            break;
        case 1:
            nz::fuzz::check<double>(in, method, preconditioner, symmetric);
            break;
        case 2:
            nz::fuzz::check<std::complex<float>>(in, method, preconditioner, symmetric);
            break;
        default:
            nz::fuzz::check<std::complex<double>>(in, method, preconditioner, symmetric);
    }
    return 0;
}
