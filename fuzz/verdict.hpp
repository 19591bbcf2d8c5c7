// Whether a product is right, for operands that may be anything: NaN, infinite, denormal or huge.
//
// Where all that enters an element is finite and nothing can overflow, it must keep the oracle's
// bound, widened by what underflow loses. Elsewhere the order of the operations, which methods
// choose, decides some results; demanded is what IEEE 754 gives in every order:
//
// - A NaN that enters gives NaN (of complex numbers, a part that is not finite).
// - An infinity that enters gives what is not finite: 0 times it is NaN, all else keeps it or makes
//   a NaN of it. Which one is demanded for real numbers whose other operands can neither overflow
//   nor underflow, and where no column comes twice in the row, whose values may be summed first.
// - With an alpha that is not finite an element without entries may be beta y, or alpha 0 + beta y.
// - A finite element where a partial result may overflow can be anything.
//
// Whatever is in x or y where nothing may read it (padding, no entry, alpha or beta 0) must not
// enter.
#pragma once

#include <cmath>
#include <limits>

#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/formats/oracle.hpp"

namespace nz::fuzz {

using real_l = long double;

/// How large the parts of a number are, added up: at least its magnitude.
template <class V>
real_l size_of(V v) {
    return std::fabs(real_l(std::real(v))) + std::fabs(real_l(std::imag(v)));
}
template <class V>
bool is_nan(V v) {
    return std::isnan(std::real(v)) || std::isnan(std::imag(v));
}
template <class V>
bool is_finite(V v) {
    return std::isfinite(std::real(v)) && std::isfinite(std::imag(v));
}

/// Parts of one element of a product, alpha and beta aside.
struct ingredients {
    std::int64_t entries = 0;
    bool nan = false, infinite = false;
    bool moderate = true;  ///< no finite one is so large or small that products leave the range
    bool twice = false;    ///< two entries are at one place
    real_l a = 0, x = 0, ax = 0, y = 0;  ///< sums of sizes of the finite ones
    /// Of real numbers, the element. The oracle adds 0 i, and 0 i times infinity is NaN.
    real_l plain = 0;

    template <class V>
    void note(V v) {
        nan = nan || is_nan(v);
        infinite = infinite || (!is_nan(v) && !is_finite(v));
        const real_l size = size_of(v);
        if (is_finite(v) && size != 0) moderate = moderate && size > 0x1p-30L && size < 0x1p30L;
    }
};

/// Of every element of y = alpha op(A) x + beta y0.
template <class V>
std::vector<ingredients> ingredients_of(transposition op, V alpha, const csr<V, host_view>& A,
                                        std::span<const V> x, V beta, std::span<const V> y0) {
    const bool swap = op != transposition::plain;
    std::vector<ingredients> all(std::size_t(swap ? A.shape.cols : A.shape.rows));
    std::vector<index> seen(std::size_t(A.shape.cols), -1);  // the last row with that column
    for_each_entry(A, 0, A.shape.rows, [&](index i, index j, V a) {
        ingredients& to = all[std::size_t(swap ? j : i)];
        const V b = x[std::size_t(swap ? i : j)];
        ++to.entries;
        to.twice = to.twice || seen[std::size_t(j)] == i;
        seen[std::size_t(j)] = i;
        if (alpha == V(0)) return;
        to.note(a), to.note(b), to.note(alpha);
        to.plain += real_l(std::real(a)) * real_l(std::real(b));
        to.a += size_of(a), to.x += size_of(b), to.ax += size_of(a) * size_of(b);
    });
    for (std::size_t i = 0; i < all.size(); ++i) {
        ingredients& to = all[i];
        if (to.entries > 0) to.plain *= real_l(std::real(alpha));
        if (beta == V(0)) continue;
        to.note(y0[i]), to.note(beta), to.y = size_of(y0[i]);
        to.plain += real_l(std::real(beta)) * real_l(std::real(y0[i]));
    }
    return all;
}

/// One part of a finite element against the reference's.
template <class V>
bool is_near(real_l got, real_l want, real_l bound, const ingredients& of, V alpha) {
    using limits = std::numeric_limits<real<V>>;
    const real_l underflow = 4 * real_l(limits::denorm_min()) *
                             (of.a + of.x + real_l(of.entries + 2) * (1 + size_of(alpha)) + 4);
    return std::fabs(got - want) <= bound + underflow;
}

/// Whether an element may be `got`; `want` and `bound` are the reference's.
template <class V>
bool may_be(V got, std::complex<real_l> want, std::complex<real_l> bound, const ingredients& of,
            V alpha, V beta) {
    if (of.nan) return is_complex<V> ? !is_finite(got) : is_nan(got);
    const bool alpha_is_finite = is_finite(alpha);
    if (!alpha_is_finite && of.entries == 0) return true;
    if (of.infinite) {
        if (is_finite(got)) return false;
        if (is_complex<V> || !of.moderate || of.twice || !alpha_is_finite || !is_finite(beta))
            return true;
        return is_nan(got) ? std::isnan(of.plain) : real_l(std::real(got)) == of.plain;
    }
    const real_l alpha_size = size_of(alpha), beta_size = size_of(beta);
    const real_l largest = of.a + of.ax + alpha_size * (of.a + of.x + of.ax) + beta_size * of.y;
    if (4 * largest >= real_l(std::numeric_limits<real<V>>::max())) return true;
    return is_near(real_l(std::real(got)), want.real(), bound.real(), of, alpha) &&
           is_near(real_l(std::imag(got)), want.imag(), bound.imag(), of, alpha);
}

}  // namespace nz::fuzz
