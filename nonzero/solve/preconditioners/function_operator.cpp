#include "nonzero/solve/preconditioners/function_operator.hpp"

#include "nonzero/core/error.hpp"
#include "nonzero/formats/columns.hpp"
#include "nonzero/vector/fused_columns.hpp"

namespace nz {
namespace {

template <class V, class B>
in_columns<V, B> as_input(const out_columns<V, B>& Y) {
    return {Y.values, Y.stride, Y.count, Y.order};
}

/// Whether vectors lie by rows without gaps.
template <class Array>
bool is_block(const columns<Array>& all) {
    return all.by_row() && all.stride == std::size_t(all.count);
}

}  // namespace

template <class V, class B>
void matrix_free_operator<V, B>::multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const {
    if (alpha == V(1) && beta == V(0)) return map(x, y);
    vector_space<V, B> space(on_, shape_.rows);
    auto fx = space.make();
    map(x, fx);
    space.axpby(alpha, fx, beta, y);
}

template <class V, class B>
void matrix_free_operator<V, B>::multiply_many(V alpha, in_columns<V, B> X, V beta,
                                               out_columns<V, B> Y) const {
    if (!X.by_row() && !Y.by_row()) return linear_operator<V, B>::multiply_many(alpha, X, beta, Y);
    const bool many = maps_many();
    for (index first = 0; first < Y.count;) {
        const index count = many ? std::min(most_columns, Y.count - first) : 1;
        const auto x = some_of(X, first, count);
        const auto y = some_of(Y, first, count);
        first += count;
        if (many && is_block(x) && is_block(y) && alpha == V(1) && beta == V(0)) {
            map_many(x, y);
            continue;
        }
        column_space<V, B> of_x(on_, shape_.cols, count), of_y(on_, shape_.rows, count);
        auto from = of_x.make(), to = of_y.make();
        of_x.copy(x, of_x.write(from));
        many ? map_many(of_x.read(from), of_y.write(to)) : map(from, to);
        if (alpha != V(1) || beta != V(0)) {
            auto before = of_y.make();
            if (beta != V(0)) of_y.copy(as_input<V, B>(y), of_y.write(before));
            of_y.run(axpby_step<V>{alpha, to.data(), beta, before.data()});
            to = std::move(before);
        }
        of_y.copy(of_y.read(to), y);
    }
}

template <class V, class B>
void matrix_free_operator<V, B>::multiply_transposed(transposition, V, in<V, B>, V,
                                                     out<V, B>) const {
    throw unavailable("an operator given by its function has no transposed product");
}

template <class V, class B>
void matrix_free_operator<V, B>::scale(V beta, out<V, B> y) const {
    vector_space<V, B> space(on_, shape_.rows);
    beta == V(0) ? space.fill(V(0), y) : space.scale(beta, y);
}

template class matrix_free_operator<float, cpu>;
template class matrix_free_operator<double, cpu>;
template class matrix_free_operator<std::complex<float>, cpu>;
template class matrix_free_operator<std::complex<double>, cpu>;
template class matrix_free_operator<float, gpu>;
template class matrix_free_operator<double, gpu>;
template class matrix_free_operator<std::complex<float>, gpu>;
template class matrix_free_operator<std::complex<double>, gpu>;

}  // namespace nz
