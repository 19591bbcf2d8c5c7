// nz bench over several processes: the product of a matrix that is shared out over them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nonzero/core/communicator.hpp"

namespace nz::cli {

/// Options of a measurement over ranks.
struct ranks_bench {
    std::vector<std::string> paths = {};
    std::vector<std::string> methods = {};  ///< those that each rank plans with; empty: all
    std::string type = {}, json = {};
    int threads = 1;  ///< of each rank
    double seconds = 0;
    std::uint64_t seed = 1;  ///< of distinct values
    bool on_gpu = false, share_gpu = false;
    bool distinct = false;  ///< no two values equal, the same for any number of ranks
    bool transpose = false;
    bool table = false;  ///< on 1, 2, 4, ... ranks too, then with speed-up and efficiency
};

/// Measures, and prints on rank 0. Returns an exit_code. Called by all ranks.
int bench_on_ranks(const ranks_bench&, const communicator& ranks);

}  // namespace nz::cli
