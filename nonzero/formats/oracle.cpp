#include "nonzero/formats/oracle.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/csr/to_csr.hpp"

namespace nz {
namespace {

using real_l = long double;
using complex_l = std::complex<long double>;

template <class V>
complex_l wide(V v) {
    if constexpr (is_complex<V>) {
        return {real_l(v.real()), real_l(v.imag())};
    } else {
        return {real_l(v), 0};
    }
}

complex_l magnitude(complex_l v) { return {std::fabs(v.real()), std::fabs(v.imag())}; }

/// The sum of the magnitudes of what is added in the real and in the imaginary part of a * b.
complex_l magnitude_product(complex_l a, complex_l b) {
    return {a.real() * b.real() + a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// gamma_n = n u / (1 - n u).
template <class V>
real_l gamma(std::int64_t n) {
    const real_l nu = real_l(n) * real_l(std::numeric_limits<real<V>>::epsilon()) / 2;
    return nu < 1 ? nu / (1 - nu) : std::numeric_limits<real_l>::infinity();
}

double ratio(real_l error, real_l bound) {
    if (error <= bound) return error == 0 ? 0 : double(error / bound);
    return std::isnan(error) || bound == 0 ? std::numeric_limits<double>::infinity()
                                           : double(error / bound);
}

/// Parts of the rows that threads share: as many whatever the number of threads, so that sums over
/// them have the same bits.
constexpr std::int64_t parts = 64;

/// f(rows, part) for each part of n rows.
template <class F>
void for_each_part(std::int64_t n, const F& f) {
    parallel_for(thread_count({}), parts, 1,
                 [&](std::int64_t p) { f(share(n, parts, p), std::size_t(p)); });
}

}  // namespace

template <class V>
reference reference_product(transposition op, V alpha, const csr<V, host_view>& A,
                            std::span<const V> x, V beta, std::span<const V> y0) {
    const bool swap = op != transposition::plain;
    const auto len = std::size_t(swap ? A.shape.cols : A.shape.rows);
    if (x.size() != std::size_t(swap ? A.shape.rows : A.shape.cols))
        throw argument_error("reference_product: x has the wrong length");
    if (beta != V(0) && y0.size() != len)
        throw argument_error("reference_product: y has the wrong length");
    reference r{std::vector<complex_l>(len), std::vector<complex_l>(len)};
    std::vector<std::int64_t> terms(len, 0);
    const auto add = [&](index i, index j, V v) {
        if (swap) std::swap(i, j);
        const complex_l a = wide(conjugated(op, v)), b = wide(x[std::size_t(j)]);
        r.y[std::size_t(i)] += product(a, b);
        r.bound[std::size_t(i)] += magnitude_product(magnitude(a), magnitude(b));
        ++terms[std::size_t(i)];
    };
    const auto finish = [&](std::size_t i) {
        r.y[i] = product(wide(alpha), r.y[i]);
        r.bound[i] = magnitude_product(magnitude(wide(alpha)), r.bound[i]);
        if (beta != V(0)) {
            const complex_l b = wide(beta), y = wide(y0[i]);
            r.y[i] += product(b, y);
            r.bound[i] += magnitude_product(magnitude(b), magnitude(y));
        }
        r.bound[i] *= gamma<V>(is_complex<V> ? 2 * terms[i] + 6 : terms[i] + 3);
    };
    if (swap) {
        for_each_entry(A, 0, A.shape.rows, add);
    } else {
        for_each_part(A.shape.rows, [&](range rows, std::size_t) {
            for_each_entry(A, rows.first, rows.last, add);
        });
    }
    parallel_for(thread_count({}), std::int64_t(len),
                 [&](std::int64_t i) { finish(std::size_t(i)); });
    return r;
}

template <class V>
agreement compare(std::span<const V> y, const reference& r) {
    if (y.size() != r.y.size()) throw argument_error("compare: y has the wrong length");
    std::array<agreement, parts> of_part;
    std::array<real_l, parts> squares{};
    for_each_part(std::ssize(y), [&](range rows, std::size_t p) {
        agreement& a = of_part[p];
        for (auto i = std::size_t(rows.first); i < std::size_t(rows.last); ++i) {
            const complex_l error = magnitude(wide(y[i]) - r.y[i]);
            squares[p] += error.real() * error.real() + error.imag() * error.imag();
            const double here = std::max(ratio(error.real(), r.bound[i].real()),
                                         ratio(error.imag(), r.bound[i].imag()));
            if (here > a.worst) a.worst = here, a.row = i;
        }
    });
    agreement all;
    real_l sum = 0;
    for (std::size_t p = 0; p < parts; ++p) {
        if (of_part[p].worst > all.worst) all = of_part[p];
        sum += squares[p];
    }
    all.l2 = double(std::sqrt(sum));
    return all;
}

#define NZ_INSTANTIATE(V)                                                            \
    template reference reference_product(transposition, V, const csr<V, host_view>&, \
                                         std::span<const V>, V, std::span<const V>); \
    template agreement compare(std::span<const V>, const reference&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
