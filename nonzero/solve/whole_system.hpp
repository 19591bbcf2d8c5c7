// The system of a matrix that one process has as a whole: compiled once, in solve.cpp.
#pragma once

#include "nonzero/solve/prepared_system.hpp"
#include "nonzero/solve/whole_matrix.hpp"

namespace nz {

template <class V, class B>
using whole_system = prepared_system<V, B, whole_matrix<V, B>>;

#define NZ_DECLARE(V) extern template class prepared_system<V, cpu, whole_matrix<V, cpu>>;
NZ_FOR_EACH_VALUE(NZ_DECLARE)
#undef NZ_DECLARE
NZ_WITH_CUDA_ONLY(extern template class prepared_system<float, gpu, whole_matrix<float, gpu>>;
                  extern template class prepared_system<double, gpu, whole_matrix<double, gpu>>;)

}  // namespace nz
