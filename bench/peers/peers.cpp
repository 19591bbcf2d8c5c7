#include "bench/peers/peers.hpp"

namespace nz {

template <class V>
std::span<const method<V>> cli::peer_methods() {
    static const std::vector<method<V>> table = [] {
        std::vector<method<V>> all;
#if defined(NZ_WITH_CUSPARSE)
        if constexpr (std::floating_point<V>) {
            all = peers::cusparse_methods<V>();
            for (const method<V>& m : peers::cusparse_spmm_methods<V>()) all.push_back(m);
        }
#endif
#if defined(NZ_WITH_CUSPARSE_SPMVOP)
        if constexpr (std::floating_point<V>)
            for (const method<V>& m : peers::cusparse_spmvop_methods<V>()) all.push_back(m);
#endif
        all.push_back(peers::eigen_csr<V>());
#if defined(NZ_WITH_MKL)
        all.push_back(peers::mkl_csr<V>());
#endif
#if defined(NZ_AOCL_SPARSE)
        if constexpr (std::floating_point<V>) all.push_back(peers::aocl_csr<V>());
#endif
        return all;
    }();
    return table;
}

std::vector<cli::peer_library> cli::peer_libraries() {
    std::vector<peer_library> all;
#if defined(NZ_WITH_CUSPARSE)
    all.push_back({"cuSPARSE", peers::cusparse_version()});
#endif
    all.push_back({"Eigen", peers::eigen_version()});
#if defined(NZ_WITH_MKL)
    all.push_back({"MKL", peers::mkl_version()});
#endif
#if defined(NZ_AOCL_SPARSE)
    all.push_back({"AOCL-Sparse", peers::aocl_version()});
#endif
    return all;
}

#define NZ_INSTANTIATE(V) template std::span<const method<V>> cli::peer_methods();
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
