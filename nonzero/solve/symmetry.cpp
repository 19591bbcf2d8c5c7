#include "nonzero/solve/symmetry.hpp"

#include <fmt/format.h>

#include "nonzero/matrix/first_wrong_row.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"

namespace nz {

template <class V>
std::string why_not_definite(const csr<V, host_view>& A) {
    if (std::string why = why_not_finite(A); !why.empty()) return why;
    const auto found = first_asymmetry(A, self_adjoint<V>);
    const auto diagonal = diagonal_of(A);
    const auto row = first_wrong_row(
        A.shape.rows, [&](index i) { return !(std::real(diagonal[std::size_t(i)]) > 0); });
    if (row >= 0 && (!found || row <= found->row))
        return fmt::format("A is not positive definite: its diagonal is {:.6g} in row {}",
                           double(std::real(diagonal[std::size_t(row)])), row);
    return found ? text_of_asymmetry(*found) : "";
}

#define NZ_INSTANTIATE(V) template std::string why_not_definite(const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
