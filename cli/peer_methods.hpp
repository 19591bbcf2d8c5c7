// The baselines that `nz bench --peers` times beside the registry's methods. bench/peers/ defines
// them in a build with -DNONZERO_PEERS=ON, cli/no_peer_methods.cpp in any other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nonzero/formats/registry.hpp"

namespace nz::cli {

/// Other libraries' products, by name; none in a build without them. Their operators borrow the
/// arrays of the matrix they are built from, which must outlive them.
template <class V>
std::span<const method<V>> peer_methods();

struct peer_library {
    std::string name, version;  ///< the version that runs, not the one that was compiled for
};
/// The libraries that define them; none in a build without them.
std::vector<peer_library> peer_libraries();

}  // namespace nz::cli
