#include "nonzero/core/memory.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "nonzero/core/error.hpp"
#include "nonzero/core/text/numbers.hpp"

namespace nz {

std::int64_t memory_bytes() {
    const std::int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const std::int64_t physical = pages > 0 && page > 0 ? pages * page : 0;
    for (const char* limit :
         {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
        std::int64_t n = 0;
        if (std::ifstream(limit) >> n && n > 0)  // not where it says "max"
            return physical > 0 ? std::min(n, physical) : n;
    }
    return physical;
}

void expect_memory(const std::string& what, double bytes) {
    const auto available = double(memory_bytes());
    if (available > 0 && bytes > available)
        throw out_of_memory(fmt::format("{} needs {} of memory, this machine has {}", what,
                                        text_of_bytes(bytes), text_of_bytes(available)));
}

}  // namespace nz
