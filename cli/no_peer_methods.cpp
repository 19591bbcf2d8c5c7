// Stand-in for bench/peers/ in a build without -DNONZERO_PEERS=ON.
#include "cli/peer_methods.hpp"

namespace nz::cli {

template <class V>
std::span<const method<V>> peer_methods() {
    return {};
}

std::vector<peer_library> peer_libraries() { return {}; }

#define NZ_INSTANTIATE(V) template std::span<const method<V>> peer_methods();
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::cli
