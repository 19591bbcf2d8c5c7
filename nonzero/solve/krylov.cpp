#include "nonzero/solve/krylov.hpp"

namespace nz {

template <class V, class B>
void check_system(const char* what, const linear_operator<V, B>& A, const linear_operator<V, B>* M,
                  in<V, B> b, in<V, B> x, const solve_options& o) {
    const auto fail = [&](const std::string& why) {
        throw argument_error(std::string(what) + ": " + why);
    };
    const auto text = [](nz::shape s) {
        return std::to_string(s.rows) + " x " + std::to_string(s.cols);
    };
    const nz::shape shape = A.shape();
    if (shape.rows != shape.cols) fail("A is " + text(shape) + ", expected a square matrix");
    if (M != nullptr && M->shape() != shape)
        fail("the preconditioner is " + text(M->shape()) + ", expected " + text(shape));
    for (const std::size_t len : {b.size(), x.size()})
        if (len != std::size_t(shape.rows))
            fail("a vector of " + std::to_string(len) + " elements, expected " +
                 std::to_string(shape.rows));
    if (!(o.tol >= 0)) fail("tol is " + std::to_string(o.tol) + ", expected 0 or more");
    if (o.max_iter < 0) fail("max_iter is negative");
    if (o.replace_every < 0) fail("replace_every is negative");
}

std::string describe(verdict v) {
    switch (v) {
        case verdict::indefinite_matrix:
            return "A is not positive definite: (p, A p) is not positive for a direction p";
        case verdict::indefinite_preconditioner:
            return "the preconditioner M is not positive definite: (r, M r) is not positive for a "
                   "residual r";
        case verdict::breakdown:
            return "broke down: a scalar product to divide by is zero";
        case verdict::not_finite:
            return "a product of A or M, or a sum, is not finite";
        default:
            return "converged";
    }
}

#define NZ_INSTANTIATE(V, B)                                                     \
    template void check_system(const char*, const linear_operator<V, B>&,        \
                               const linear_operator<V, B>*, in<V, B>, in<V, B>, \
                               const solve_options&);
#define NZ_INSTANTIATE_ON_CPU(V) NZ_INSTANTIATE(V, cpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_ON_CPU)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
