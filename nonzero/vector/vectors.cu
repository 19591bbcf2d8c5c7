// The kernels of vector_space's operations.
#include "nonzero/vector/fused_columns.cuh"

namespace nz {

#define NZ_INSTANTIATE(V)                                                                         \
    template void launch_fused(gpu, std::int64_t, const fill_step<V>&, one_scalar<V>*);           \
    template void launch_fused(gpu, std::int64_t, const axpby_step<V>&, one_scalar<V>*);          \
    template void launch_fused(gpu, std::int64_t, const multiply_step<V>&, one_scalar<V>*);       \
    template void launch_fused(gpu, std::int64_t, const dot_step<V>&, one_scalar<V>*);            \
    template void launch_columns(gpu, std::int64_t, index, const fill_step<V>&, one_scalar<V>*);  \
    template void launch_columns(gpu, std::int64_t, index, const axpby_step<V>&, one_scalar<V>*); \
    template void launch_columns(gpu, std::int64_t, index, const copy_columns<V>&,                \
                                 one_scalar<V>*);                                                 \
    template void launch_columns(gpu, std::int64_t, index, const multiply_columns<V>&,            \
                                 one_scalar<V>*);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
