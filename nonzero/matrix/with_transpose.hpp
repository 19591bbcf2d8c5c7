// A matrix and its transpose, each in the layout that suits it, behind one operator.
#pragma once

#include "nonzero/formats/registry.hpp"

namespace nz {

/// Multiplies by A with the one, and by A^T and A^H with the other, which is of A^T: a gather where
/// the layouts of A could only scatter. For A^H it conjugates x, y and the factors, on a GPU in
/// scratch memory as long as x. Throws argument_error where the shapes are not each other's.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> with_transpose(
    B on, std::unique_ptr<linear_operator<V, B>> of_A,
    std::unique_ptr<linear_operator<V, B>> of_transpose);

}  // namespace nz
