#include "bench/peers/peers.hpp"

namespace nz::peers {

template <class V>
std::span<const method<V>> peer_methods() {
    static const std::vector<method<V>> table = [] {
        std::vector<method<V>> all;
#if defined(NZ_WITH_CUSPARSE)
        if constexpr (std::floating_point<V>) all = cusparse_methods<V>();
#endif
        all.push_back(eigen_csr<V>());
#if defined(NZ_WITH_MKL)
        all.push_back(mkl_csr<V>());
#endif
        return all;
    }();
    return table;
}

#define NZ_INSTANTIATE(V) template std::span<const method<V>> peer_methods();
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::peers
