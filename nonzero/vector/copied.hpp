// Copies of long arrays, made by all threads.
#pragma once

#include <algorithm>
#include <span>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/space.hpp"

namespace nz {

/// A thread writes its equal share, and so the pages of that lie beside its core.
template <class T>
[[nodiscard]] host_vector<T> copied(std::span<const T> from) {
    host_vector<T> to(from.size());
    const auto n = std::int64_t(from.size());
    const int threads = thread_count({}, n);
    parallel(threads, [&](int t) {
        const range mine = share(n, threads, t);
        std::copy(from.begin() + mine.first, from.begin() + mine.last, to.begin() + mine.first);
    });
    return to;
}

}  // namespace nz
