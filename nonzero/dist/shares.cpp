#include "nonzero/dist/shares.hpp"

#include <algorithm>
#include <limits>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/error.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/dist/share_out.hpp"

namespace nz {
namespace {

void check_parts(std::int64_t n, int parts) {
    if (n < 0) throw argument_error("shares: " + std::to_string(n) + " rows, expected 0 or more");
    if (parts < 1)
        throw argument_error("shares: " + std::to_string(parts) + " ranks, expected 1 or more");
}

}  // namespace

int shares::owner(index i) const {
    return int(std::upper_bound(first.begin(), first.end(), i) - first.begin()) - 1;
}

shares equal_shares(index n, int parts) {
    check_parts(n, parts);
    shares all;
    for (int p = 0; p < parts; ++p) all.first.push_back(index(share(n, parts, p).last));
    return all;
}

shares balanced_shares(offset_span row_ptr, int parts) {
    const auto rows = std::int64_t(row_ptr.size()) - 1;
    check_parts(rows, parts);
    const auto before = [&](index i) { return row_ptr[std::size_t(i)] + i; };
    shares all;
    for (int p = 1; p < parts; ++p) {
        const std::int64_t wanted = share(before(index(rows)), parts, p).first;
        index low = all.first.back(), high = index(rows);  // the first row with that much before
        while (low < high) {
            const index middle = low + (high - low) / 2;
            before(middle) < wanted ? low = middle + 1 : high = middle;
        }
        all.first.push_back(low);
    }
    all.first.push_back(index(rows));
    return all;
}

shares whole_blocks(shares all, index block) {
    for (std::size_t r = 0; r + 1 < all.first.size(); ++r) all.first[r] -= all.first[r] % block;
    return all;
}

shares joined_ranges(const shares& all, int parts) {
    shares joined = all;
    for (int p = 0; p < parts; ++p) {
        const range group = share(all.parts(), parts, p);
        for (std::int64_t r = group.first + 1; r < group.last; ++r)
            joined.first[std::size_t(r)] = all.first[std::size_t(group.last)];
    }
    return joined;
}

shares gathered_shares(const communicator& ranks, index count) {
    std::int64_t end = 0;
    shares all;
    for (const index n : gathered(ranks, count)) {
        check_parts(n, 1);
        end += n;
        if (end > std::numeric_limits<index>::max())
            throw argument_error("shares: more than 2^31 - 1 rows or columns over all ranks");
        all.first.push_back(index(end));
    }
    return all;
}

}  // namespace nz
