// Items in bins: all that can be packed where the search is exact, and rooms that hold.
#include "nonzero/graph/packing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "nonzero/core/error.hpp"

namespace nz::test {
namespace {

using rooms = std::vector<std::int64_t>;

bool fits(const std::vector<index>& sizes, const rooms& room) {
    const auto bin = pack(sizes, room);
    if (!bin) return false;
    rooms left = room;
    EXPECT_EQ(bin->size(), sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) left.at(std::size_t((*bin)[i])) -= sizes[i];
    for (const auto r : left) EXPECT_GE(r, 0);
    EXPECT_EQ(bin, pack(sizes, room));
    return true;
}

/// Every choice of bins, one after the other.
bool can_fit(const std::vector<index>& sizes, rooms room, std::size_t i = 0) {
    if (i == sizes.size()) return true;
    for (auto& r : room) {
        if (r < sizes[i]) continue;
        r -= sizes[i];
        if (can_fit(sizes, room, i + 1)) return true;
        r += sizes[i];
    }
    return false;
}

TEST(packing, finds_what_the_largest_first_does_not) {
    EXPECT_TRUE(fits({3, 3, 2, 2, 2}, {6, 6}));
    EXPECT_TRUE(fits({7, 7, 6, 6, 5, 5, 4, 4, 4}, {16, 16, 16}));
    EXPECT_TRUE(fits({5, 5, 4, 4, 3, 3, 3}, {9, 9, 9}));
    EXPECT_FALSE(fits({4, 4, 4}, {6, 6}));
    EXPECT_FALSE(fits({7}, {6, 6}));
    EXPECT_TRUE(fits({7, 1}, {1, 7}));
}

TEST(packing, of_nothing) {
    EXPECT_TRUE(fits({}, {0, 0}));
    EXPECT_TRUE(fits({}, {}));
    EXPECT_FALSE(fits({1}, {}));
    EXPECT_FALSE(fits({1}, {0, -1}));
    EXPECT_THROW((void)pack(std::vector<index>{1, 2}, rooms{9}), argument_error);
    EXPECT_THROW((void)pack(std::vector<index>{1, 0}, rooms{9}), argument_error);
}

/// All multisets of up to 7 sizes of at most 5, into 2 and 3 bins as small as they can be.
TEST(packing, is_exact_for_few_items) {
    int packed = 0, refused = 0;
    std::vector<index> sizes;
    const auto check = [&] {
        const auto total = std::accumulate(sizes.begin(), sizes.end(), 0);
        for (const std::int64_t k : {2, 3}) {
            const rooms room(std::size_t(k), (total + k - 1) / k);
            const bool can = can_fit(sizes, room);
            EXPECT_EQ(fits(sizes, room), can);
            ++(can ? packed : refused);
        }
        const rooms uneven = {total / 4, total - total / 4};
        EXPECT_EQ(fits(sizes, uneven), can_fit(sizes, uneven));
    };
    const auto extend = [&](auto& self, index largest) -> void {
        if (!sizes.empty()) check();
        if (sizes.size() == 7) return;
        for (index s = largest; s >= 1; --s) {
            sizes.push_back(s);
            self(self, s);
            sizes.pop_back();
        }
    };
    extend(extend, 5);
    EXPECT_GT(packed, 500);
    EXPECT_GT(refused, 100);
}

TEST(packing, of_many_small_ones_around_few_large_ones) {
    const auto with_dust = [](std::vector<index> sizes) {
        sizes.resize(sizes.size() + 10, 7);
        sizes.resize(sizes.size() + 1000, 1);
        return sizes;
    };
    const auto two = with_dust({90000, 75000, 65000, 60000, 40000});
    EXPECT_TRUE(fits(two, {165535, 165535}));
    EXPECT_FALSE(fits(two, {165535, 165534}));
    const auto three = with_dust({70000, 60000, 50000, 50000, 40000, 30000, 30000});
    EXPECT_TRUE(fits(three, {110357, 110357, 110356}));
    EXPECT_FALSE(fits(three, {110357, 110356, 110356}));
}

}  // namespace
}  // namespace nz::test
