// How much memory each process takes, beside its share of the matrix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "nonzero/core/json.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/dist/slice.hpp"

namespace nz::cli {

/// Watches this process from its construction on, by what Linux says of it.
class memory_watch {
  public:
    /// Gives back what is free and has the system forget the peak before.
    memory_watch();
    /// f(), whose memory does not count, such as what it takes to measure the machine once.
    void leave_out(const std::function<void()>& f);
    /// The most that was resident at once since then, beyond what was resident then.
    [[nodiscard]] double most_bytes() const;

  private:
    std::int64_t before_, most_ = 0;
};

/// Memory that a rank needs: its rows in CSR, and its elements of x and of y. [bytes]
template <class V>
double share_bytes(const matrix_slice<V>& A, int rank) {
    return double(bytes(A.own)) +
           double(A.rows.count(rank) + A.cols.count(rank)) * double(sizeof(V));
}

/// Of every rank, in rank order.
struct rank_memory {
    double most_bytes = 0, share_bytes = 0;
    [[nodiscard]] double over_share() const { return most_bytes / std::max(share_bytes, 1.0); }
};
using memory_of_ranks = std::vector<rank_memory>;

/// Called by all ranks, with the share of each.
memory_of_ranks gathered_memory(const communicator&, const memory_watch&, double share_bytes);

/// The rank that holds the most. all: not empty.
const rank_memory& heaviest(const memory_of_ranks& all);

nz::json to_json(const memory_of_ranks&);
/// "2.1 GB on the heaviest rank, 1.31 times its share".
std::string to_text(const memory_of_ranks&);

}  // namespace nz::cli
