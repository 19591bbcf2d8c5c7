#include "bench/peers/peers.hpp"

namespace nz::peers {

template <class V>
std::span<const method<V>> peer_methods() {
    static const method<V> table[] = {
        eigen_csr<V>(),
#if defined(NZ_WITH_MKL)
        mkl_csr<V>(),
#endif
    };
    return table;
}

#define NZ_INSTANTIATE(V) template std::span<const method<V>> peer_methods();
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::peers
