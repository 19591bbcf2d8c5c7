// The products that a conformance suite asks of every method, and what must come out.
#pragma once

#include <algorithm>
#include <limits>

#include "nonzero/formats/oracle.hpp"
#include "test/zoo.hpp"

namespace nz::test {

template <class V>
V not_a_number() {
    return V(std::numeric_limits<real<V>>::quiet_NaN());
}

/// A vector between guard words, which must stand after the product.
template <class V>
class guarded {
  public:
    explicit guarded(const host_vector<V>& v) : data_(guards, V(-77)) {
        data_.insert(data_.end(), v.begin(), v.end());
        data_.insert(data_.end(), guards, V(-77));
    }
    std::span<V> span() { return std::span(data_).subspan(guards, data_.size() - 2 * guards); }
    [[nodiscard]] bool intact() const {
        const auto is_guard = [](V v) { return v == V(-77); };
        return std::all_of(data_.begin(), data_.begin() + guards, is_guard) &&
               std::all_of(data_.end() - guards, data_.end(), is_guard);
    }

  private:
    static constexpr std::ptrdiff_t guards = 16;
    host_vector<V> data_;
};

/// One product y = alpha op(A) x + beta y with what it must give, computed once for all methods.
template <class V>
struct product_case {
    transposition how;
    V alpha, beta;
    host_vector<V> x;   ///< NaN where alpha is zero: then it must not be read
    host_vector<V> y0;  ///< NaN where beta is zero: then it must not be read
    reference want;
};

template <class V>
std::vector<product_case<V>> product_cases(const csr<V, host_view>& A,
                                           std::initializer_list<transposition> hows) {
    std::vector<product_case<V>> cases;
    for (const transposition how : hows) {
        const bool swap = how != transposition::plain;
        const auto x = random_vector<V>(std::size_t(swap ? A.shape.rows : A.shape.cols), 1);
        const auto y = random_vector<V>(std::size_t(swap ? A.shape.cols : A.shape.rows), 2);
        for (const V alpha : {V(0), V(1), V(-2.5)})
            for (const V beta : {V(0), V(1), V(-2.5)})
                cases.push_back({how, alpha, beta,
                                 alpha == V(0) ? host_vector<V>(x.size(), not_a_number<V>()) : x,
                                 beta == V(0) ? host_vector<V>(y.size(), not_a_number<V>()) : y,
                                 reference_product<V>(how, alpha, A, x, beta, y)});
    }
    return cases;
}

/// Infinities and NaNs in the elements of x that no entry touches must not reach y, whatever a
/// layout pads with.
template <class V>
struct padding_case {
    csr<V, host> A;
    host_vector<V> x;
    reference want;
};

template <class V>
padding_case<V> padding_never_meets() {
    using R = real<V>;
    std::vector<index> row, col;
    for (index i = 0; i < 67; ++i)
        for (index j = 1; j < 60; j += 2)
            if ((i * 7 + j * 3) % 5 < 1 + i % 3 && (j / 2 + i) % 4 != 0)
                row.push_back(i), col.push_back(j);
    const host_vector<V> ones(row.size(), V(R(1)));
    padding_case<V> c{assemble<V>({67, 60}, row, col, ones), host_vector<V>(60, V(R(1))), {}};
    for (std::size_t j = 0; j < c.x.size(); j += 4)
        c.x[j] = V(std::numeric_limits<R>::infinity()), c.x[j + 2] = not_a_number<V>();
    c.want = reference_product<V>(transposition::plain, V(1), view(c.A), c.x, V(0), {});
    return c;
}

}  // namespace nz::test
