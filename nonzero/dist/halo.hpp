// Which elements of x travel between which ranks in a product.
#pragma once

#include "nonzero/dist/shares.hpp"

namespace nz {

/// Elements of an array that go to one rank, or come from it.
struct halo_segment {
    int peer;
    std::size_t first, count;  ///< elements of `halo::sent`, or of `halo::columns`
};

/// Elements that one rank exchanges with the others before it can multiply.
///
///     rank 0: x0 x1 | needs x2, x5          columns = 2 5   receives: x2 from 1, x5 from 2
///     rank 1: x2 x3 | needs nothing         sent    = 0     (its first element, x2) to 0
///     rank 2: x4 x5 | needs nothing         sent    = 1     (its second one, x5) to 0
struct halo {
    host_vector<index> columns;          ///< others' columns that own rows have, ascending
    std::vector<halo_segment> receives;  ///< of `columns`, in rank order
    host_vector<index> sent;             ///< own elements others need, peer after peer
    std::vector<halo_segment> sends;     ///< of `sent`, in rank order
};

/// The halo of a rank whose rows have these columns of others', ascending and distinct. Called by
/// all ranks.
halo make_halo(const communicator& ranks, const shares& cols, host_vector<index> columns);

}  // namespace nz
