#include "nonzero/solve/preconditioners/function_operator.hpp"

#include "nonzero/core/error.hpp"
#include "nonzero/vector/vector_space.hpp"

namespace nz {

template <class V, class B>
void matrix_free_operator<V, B>::multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const {
    if (alpha == V(1) && beta == V(0)) return map(x, y);
    vector_space<V, B> space(on_, shape_.rows);
    auto fx = space.make();
    map(x, fx);
    space.axpby(alpha, fx, beta, y);
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

}  // namespace nz
