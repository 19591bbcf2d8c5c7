#include "nonzero/formats/linear_operator.hpp"

#include <algorithm>
#include <functional>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/formats/columns.hpp"

namespace nz {
namespace {

template <class V, class B>
void check_overlap(const std::string& which, in<V, B> x, out<V, B> y) {
    const std::less<const V*> before;
    if (x.size() > 0 && y.size() > 0 && before(x.data(), y.data() + y.size()) &&
        before(y.data(), x.data() + x.size()))
        throw argument_error(which + " overlap");
}

void check_length(const char* what, const char* name, std::size_t got, std::size_t want) {
    if (got != want)
        throw argument_error(std::string(what) + ": " + name + " has " + std::to_string(got) +
                             " elements, expected " + std::to_string(want));
}

template <class V, class B>
void check_lengths(const char* what, std::size_t want_x, std::size_t want_y, in<V, B> x,
                   out<V, B> y) {
    check_length(what, "x", x.size(), want_x);
    check_length(what, "y", y.size(), want_y);
    check_overlap<V, B>(std::string(what) + ": x and y", x, y);
}

/// Whether a single vector's elements lie side by side.
template <class Array>
bool is_contiguous(const columns<Array>& one, std::size_t len) {
    return !one.by_row() || one.stride == 1 || len <= 1;
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
    check_columns("apply_many", "X", X, Y.count, std::size_t(cols));
    check_columns("apply_many", "Y", Y, Y.count, std::size_t(rows));
    check_overlap<V, B>("apply_many: x and y", X.values, Y.values);
    const auto y_len = std::size_t(rows), x_len = std::size_t(cols);
    if (Y.count == 1 && is_contiguous(X, x_len) && is_contiguous(Y, y_len))
        return apply(alpha, column(X, 0, x_len), beta, column(Y, 0, y_len));
    if (Y.count == 0) return;
    if (alpha != V(0)) return multiply_many(alpha, X, beta, Y);
    scale_many(beta, Y, y_len);
}

template <class V, class B>
void linear_operator<V, B>::apply_transposed_many(transposition op, V alpha, in_columns<V, B> X,
                                                  V beta, out_columns<V, B> Y) const {
    if (op == transposition::plain) return apply_many(alpha, X, beta, Y);
    const auto [rows, cols] = shape();
    check_columns("apply_transposed_many", "X", X, Y.count, std::size_t(rows));
    check_columns("apply_transposed_many", "Y", Y, Y.count, std::size_t(cols));
    check_overlap<V, B>("apply_transposed_many: x and y", X.values, Y.values);
    if (Y.count == 0) return;
    if (alpha == V(0)) return scale_many(beta, Y, std::size_t(cols));
    multiply_transposed_many(op, alpha, X, beta, Y);
}

/// Y = beta Y, of vectors of that length.
template <class V, class B>
void linear_operator<V, B>::scale_many(V beta, out_columns<V, B> Y, std::size_t len) const {
    if (!Y.by_row()) {
        for (index c = 0; c < Y.count; ++c) scale(beta, column(Y, c, len));
        return;
    }
    const auto count = std::size_t(Y.count);
    if constexpr (std::is_same_v<B, cpu>) {
        for (std::size_t i = 0; i < len; ++i)
            for (V& y : Y.values.subspan(i * Y.stride, count))
                y = beta == V(0) ? V(0) : product(beta, y);
    } else if (Y.stride == count) {
        scale(beta, column(Y, 0, len * count));
    } else {
        for (std::size_t i = 0; i < len; ++i) scale(beta, column(Y, index(i), count));
    }
}

template <class V, class B>
void linear_operator<V, B>::multiply_many(V alpha, in_columns<V, B> X, V beta,
                                          out_columns<V, B> Y) const {
    const auto [rows, cols] = shape();
    const auto y_len = std::size_t(rows), x_len = std::size_t(cols);
    if (!X.by_row() && !Y.by_row()) {
        for (index c = 0; c < Y.count; ++c)
            multiply(alpha, column(X, c, x_len), beta, column(Y, c, y_len));
        return;
    }
    if constexpr (std::is_same_v<B, cpu>) {
        host_vector<V> x(x_len), y(y_len);
        for (std::size_t c = 0; c < std::size_t(Y.count); ++c) {
            const auto to = [&](std::size_t i) -> V& {
                return Y.values[i * Y.row_stride() + c * Y.vector_stride()];
            };
            for (std::size_t i = 0; i < x_len; ++i)
                x[i] = X.values[i * X.row_stride() + c * X.vector_stride()];
            if (beta != V(0))
                for (std::size_t i = 0; i < y_len; ++i) y[i] = to(i);
            multiply(alpha, x, beta, y);
            for (std::size_t i = 0; i < y_len; ++i) to(i) = y[i];
        }
    } else {
        throw unavailable("apply_many: this operator takes no row-major vectors on a GPU");
    }
}

template <class V, class B>
void linear_operator<V, B>::multiply_transposed_many(transposition op, V alpha, in_columns<V, B> X,
                                                     V beta, out_columns<V, B> Y) const {
    if (X.by_row() || Y.by_row())
        throw unavailable("apply_transposed_many: this operator takes no row-major vectors");
    const auto [rows, cols] = shape();
    for (index c = 0; c < Y.count; ++c)
        multiply_transposed(op, alpha, column(X, c, std::size_t(rows)), beta,
                            column(Y, c, std::size_t(cols)));
}

template <class V, class B>
bool linear_operator<V, B>::relax_many(const relaxation& how, index count, in<V, B> X,
                                       out<V, B> Y) const {
    const auto [rows, cols] = shape();
    if (rows != cols) throw argument_error("relax_many: the matrix is not square");
    const auto stride = std::size_t(std::max(count, index(0))), len = std::size_t(rows) * stride;
    check_lengths<V, B>("relax_many", len, len, X, Y);
    check_lengths<V, B>("relax_many: b", len, len, how.b, Y);
    if (how.w.size() > 0) check_length("relax_many", "W", how.w.size(), std::size_t(rows));
    if (len == 0) return true;
    constexpr auto order = storage_order::row_major;
    return relax(how, {X, stride, count, order}, {Y, stride, count, order});
}

template <class V, class B>
bool linear_operator<V, B>::apply_fused(V alpha, in<V, B> x, V beta, out<V, B> y,
                                        const fused_update& with) const {
    const auto rows = std::size_t(shape().rows), cols = std::size_t(shape().cols);
    check_lengths<V, B>("apply_fused", cols, rows, x, y);
    if (with.z.size() > 0 || with.b.size() > 0) {
        check_length("apply_fused", "z", with.z.size(), rows);
        check_length("apply_fused", "b", with.b.size(), rows);
        check_overlap<V, B>("apply_fused: b and y", with.b, y);
        if (with.z.data() != with.b.data())
            check_overlap<V, B>("apply_fused: b and z", with.b, with.z);
        for (const in<V, B> other : {x, in<V, B>(y), with.w})
            check_overlap<V, B>("apply_fused: z and another", other, with.z);
    }
    if (with.w.size() > 0) check_length("apply_fused", "w", with.w.size(), rows);
    check_overlap<V, B>("apply_fused: w and y", with.w, y);
    if (with.parts.size() > 0)
        check_length("apply_fused", "parts", with.parts.size(), product_parts());
    return alpha != V(0) && multiply_fused(alpha, x, beta, y, with);
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
