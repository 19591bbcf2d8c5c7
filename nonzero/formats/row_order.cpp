#include "nonzero/formats/row_order.hpp"

#include <algorithm>

#include "nonzero/core/parallel.hpp"

namespace nz {
namespace {

/// Orders the rows [first, last) into perm[first ... last) by a counting sort; `next` is reused.
void order_scope(offset_span row_ptr, std::int64_t first, std::int64_t last,
                 host_vector<index>& perm, host_vector<index>& next) {
    const auto length = [&](std::int64_t i) {
        return row_ptr[std::size_t(i) + 1] - row_ptr[std::size_t(i)];
    };
    offset longest = 0;
    for (std::int64_t i = first; i < last; ++i) longest = std::max(longest, length(i));
    next.assign(std::size_t(longest) + 1, 0);
    for (std::int64_t i = first; i < last; ++i) ++next[std::size_t(length(i))];
    auto start = index(first);
    for (auto n = next.rbegin(); n != next.rend(); ++n) start += std::exchange(*n, start);
    for (std::int64_t i = first; i < last; ++i)
        perm[std::size_t(next[std::size_t(length(i))]++)] = index(i);
}

}  // namespace

host_vector<index> rows_by_length(offset_span row_ptr, std::int64_t scope) {
    const auto rows = std::int64_t(row_ptr.size()) - 1;
    const std::int64_t scopes = (rows + scope - 1) / scope;
    auto perm = host_vector<index>(std::size_t(rows));
    const int threads = thread_count({});
    parallel(threads, [&](int t) {
        host_vector<index> next;
        const range mine = share(scopes, threads, t);
        for (std::int64_t s = mine.first; s < mine.last; ++s)
            order_scope(row_ptr, s * scope, std::min((s + 1) * scope, rows), perm, next);
    });
    return perm;
}

}  // namespace nz
