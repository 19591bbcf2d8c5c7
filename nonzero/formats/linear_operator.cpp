#include "nonzero/formats/linear_operator.hpp"

#include <functional>

namespace nz {
namespace {

template <class V, class B>
void check_overlap(const char* what, in<V, B> x, out<V, B> y) {
    const std::less<const V*> before;
    if (x.size() > 0 && y.size() > 0 && before(x.data(), y.data() + y.size()) &&
        before(y.data(), x.data() + x.size()))
        throw argument_error(std::string(what) + ": x and y overlap");
}

template <class V, class B>
void check_lengths(const char* what, std::size_t want_x, std::size_t want_y, in<V, B> x,
                   out<V, B> y) {
    const auto length = [&](const char* name, std::size_t got, std::size_t want) {
        if (got != want)
            throw argument_error(std::string(what) + ": " + name + " has " + std::to_string(got) +
                                 " elements, expected " + std::to_string(want));
    };
    length("x", x.size(), want_x);
    length("y", y.size(), want_y);
    check_overlap<V, B>(what, x, y);
}

/// Throws unless there are `count` vectors of `len` elements each.
template <class Array>
void check_columns(const char* name, const columns<Array>& all, index count, std::size_t len) {
    const auto wrong = [&](const std::string& what) {
        throw argument_error(std::string("apply_many: ") + name + what);
    };
    if (all.count != count || count < 0)
        wrong(" has " + std::to_string(all.count) + " vectors, expected " + std::to_string(count));
    if (count > 1 && all.stride < len)
        wrong("'s stride is " + std::to_string(all.stride) + ", expected at least " +
              std::to_string(len));
    const std::size_t size = all.values.size();
    const auto fits = [&] {
        if (count == 0) return true;
        if (size < len) return false;
        // Divided, as the product with a large stride would wrap around.
        return count == 1 || (size - len) / std::size_t(count - 1) >= all.stride;
    };
    if (!fits())
        wrong(" has " + std::to_string(size) + " elements, too few for " + std::to_string(count) +
              " vectors of " + std::to_string(len) + " at a stride of " +
              std::to_string(all.stride));
}

}  // namespace

template <class V, class B>
void linear_operator<V, B>::apply(V alpha, in<V, B> x, V beta, out<V, B> y) const {
    const auto [rows, cols] = shape();
    check_lengths<V, B>("apply", std::size_t(cols), std::size_t(rows), x, y);
    if (alpha == V(0)) return scale(beta, y);
    multiply(alpha, x, beta, y);
}

template <class V, class B>
void linear_operator<V, B>::apply_transposed(transposition op, V alpha, in<V, B> x, V beta,
                                             out<V, B> y) const {
    if (op == transposition::plain) return apply(alpha, x, beta, y);
    const auto [rows, cols] = shape();
    check_lengths<V, B>("apply_transposed", std::size_t(rows), std::size_t(cols), x, y);
    if (alpha == V(0)) return scale(beta, y);
    multiply_transposed(op, alpha, x, beta, y);
}

template <class V, class B>
void linear_operator<V, B>::apply_many(V alpha, in_columns<V, B> X, V beta,
                                       out_columns<V, B> Y) const {
    const auto [rows, cols] = shape();
    check_columns("X", X, Y.count, std::size_t(cols));
    check_columns("Y", Y, Y.count, std::size_t(rows));
    check_overlap<V, B>("apply_many", X.values, Y.values);
    if (Y.count == 1)
        return apply(alpha, column(X, 0, std::size_t(cols)), beta, column(Y, 0, std::size_t(rows)));
    if (alpha == V(0)) {
        for (index c = 0; c < Y.count; ++c) scale(beta, column(Y, c, std::size_t(rows)));
        return;
    }
    if (Y.count > 0) multiply_many(alpha, X, beta, Y);
}

template <class V, class B>
void linear_operator<V, B>::multiply_many(V alpha, in_columns<V, B> X, V beta,
                                          out_columns<V, B> Y) const {
    const auto [rows, cols] = shape();
    for (index c = 0; c < Y.count; ++c)
        multiply(alpha, column(X, c, std::size_t(cols)), beta, column(Y, c, std::size_t(rows)));
}

template <class V, class B>
bool linear_operator<V, B>::take_values(const csr<V, typename B::view>& A) {
    if (A.shape != shape()) throw argument_error("take_values: the matrix is of another shape");
    return takes_values() && replace_values(A);
}

#define NZ_INSTANTIATE(V)                   \
    template class linear_operator<V, cpu>; \
    template class linear_operator<V, gpu>;
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
