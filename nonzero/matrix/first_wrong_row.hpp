// A search over the rows of a matrix that all threads share.
#pragma once

#include <algorithm>
#include <mutex>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/threads.hpp"

namespace nz {

/// The first row that `wrong` names, or -1. In parallel.
template <class Wrong>
std::int64_t first_wrong_row(index rows, Wrong wrong) {
    std::int64_t first = rows;
    std::mutex one_at_a_time;
    const int threads = thread_count({}, rows);
    parallel(threads, [&](int t) {
        const range mine = share(rows, threads, t);
        std::int64_t i = mine.first;
        while (i < mine.last && !wrong(index(i))) ++i;
        const std::lock_guard lock(one_at_a_time);
        if (i < mine.last) first = std::min(first, i);
    });
    return first == rows ? -1 : first;
}

}  // namespace nz
