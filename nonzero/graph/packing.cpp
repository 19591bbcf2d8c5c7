#include "nonzero/graph/packing.hpp"

#include <algorithm>
#include <numeric>

#include "nonzero/core/error.hpp"

namespace nz {
namespace {

using bins = host_vector<index>;
using rooms_left = std::vector<std::int64_t>;

// Tenths of a second each.
constexpr std::int64_t most_sums = std::int64_t(1) << 26;
constexpr std::int64_t most_steps = std::int64_t(1) << 22;
constexpr std::int64_t most_room = std::int64_t(1) << 25;  // 8 bytes each

/// Items from `first` on, each into the bin with most room left. False where one does not fit.
bool fill_largest_first(std::span<const index> sizes, std::size_t first, const rooms_left& rooms,
                        bins& bin) {
    // A heap, and of bins with the same room the lowest number first.
    std::vector<std::pair<std::int64_t, index>> heap;
    for (std::size_t b = 0; b < rooms.size(); ++b) heap.emplace_back(rooms[b], -index(b));
    std::make_heap(heap.begin(), heap.end());
    for (std::size_t i = first; i < sizes.size(); ++i) {
        std::pop_heap(heap.begin(), heap.end());
        if ((heap.back().first -= sizes[i]) < 0) return false;
        bin[i] = -heap.back().second;
        std::push_heap(heap.begin(), heap.end());
    }
    return true;
}

/// Which sums of sizes can be reached, one distinct size after the other.
class subset_sums {
  public:
    explicit subset_sums(std::int64_t largest) : sums_(std::size_t(largest) + 1) {}

    /// Adds up to `many` of one size.
    void add(index size, index many) {
        for (auto s = std::size_t(size); s < sums_.size(); ++s) {
            const reached before = sums_[s - std::size_t(size)];
            const index used = before.last == size ? before.many : 0;
            const bool can = s == std::size_t(size) || before.last != 0;
            if (sums_[s].last == 0 && can && used < many) sums_[s] = {size, used + 1};
        }
    }
    /// The lowest sum from lo on, or -1.
    [[nodiscard]] std::int64_t at_least(std::int64_t lo) const {
        for (auto s = std::size_t(lo); s < sums_.size(); ++s)
            if (s == 0 || sums_[s].last != 0) return std::int64_t(s);
        return -1;
    }
    /// f(size, many) of what adds up to the sum.
    template <class F>
    void for_each_of(std::int64_t sum, F f) const {
        while (sum > 0) {
            const auto [size, many] = sums_[std::size_t(sum)];
            f(size, many);
            sum -= std::int64_t(size) * many;
        }
    }

  private:
    /// The size added last, 0 where the sum cannot be reached, and how many of it.
    struct reached {
        index last = 0, many = 0;
    };
    std::vector<reached> sums_;
};

/// Two bins: a sum that fits into the first and leaves no more than the second takes.
std::optional<bins> by_subset_sums(std::span<const index> sizes, const rooms_left& rooms) {
    const auto total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t(0));
    const std::int64_t hi = std::min(rooms[0], total);
    const std::int64_t lo = std::max<std::int64_t>(total - rooms[1], 0);
    if (lo > hi || hi > most_room) return {};
    subset_sums sums(hi);
    std::int64_t found = sums.at_least(lo), steps = 0;
    for (auto at = sizes.begin(); at != sizes.end() && found < 0;) {
        const auto next = std::upper_bound(at, sizes.end(), *at, std::greater<>());
        if ((steps += hi) > most_sums) return {};
        sums.add(*at, index(next - at));
        found = sums.at_least(lo);
        at = next;
    }
    if (found < 0) return {};
    bins bin;
    bin.assign(sizes.size(), 1);
    sums.for_each_of(found, [&](index size, index many) {
        const auto first = std::lower_bound(sizes.begin(), sizes.end(), size, std::greater<>());
        std::fill_n(bin.begin() + (first - sizes.begin()), many, 0);
    });
    return bin;
}

/// The first items go into each bin that takes them, the fullest first; the others largest first.
class packing_search {
  public:
    packing_search(std::span<const index> sizes, rooms_left rooms)
        : sizes_(sizes),
          rooms_(std::move(rooms)),
          searched_(std::min<std::size_t>(sizes.size(), 48)) {
        bin_.assign(sizes.size(), 0);
    }
    std::optional<bins> run() {
        if (descend(0)) return std::move(bin_);
        return {};
    }

  private:
    /// Puts item i and those behind it. A step looks at a bin, and at the end at an item.
    bool descend(std::size_t i) {
        if (i == searched_) {
            steps_ += std::int64_t(sizes_.size() - i) + 1;
            return fill_largest_first(sizes_, i, rooms_, bin_);
        }
        steps_ += std::int64_t(rooms_.size());
        std::vector<std::pair<std::int64_t, index>> takers;
        for (std::size_t b = 0; b < rooms_.size(); ++b)
            if (rooms_[b] >= sizes_[i]) takers.emplace_back(rooms_[b], index(b));
        std::sort(takers.begin(), takers.end());
        std::int64_t last = -1;  // of bins with the same room one is enough
        for (const auto& [room, b] : takers) {
            if (steps_ > most_steps) return false;
            if (std::exchange(last, room) == room) continue;
            bin_[i] = b, rooms_[std::size_t(b)] -= sizes_[i];
            if (descend(i + 1)) return true;
            rooms_[std::size_t(b)] += sizes_[i];
        }
        return false;
    }

    std::span<const index> sizes_;
    rooms_left rooms_;
    std::size_t searched_;
    bins bin_;
    std::int64_t steps_ = 0;
};

}  // namespace

std::optional<bins> pack(std::span<const index> sizes, std::span<const std::int64_t> rooms) {
    if (!std::is_sorted(sizes.begin(), sizes.end(), std::greater<>()) ||
        (!sizes.empty() && sizes.back() < 1))
        throw argument_error("pack: the sizes do not descend to 1 at least");
    const rooms_left left(rooms.begin(), rooms.end());
    bins bin;
    bin.assign(sizes.size(), 0);
    if (sizes.empty()) return bin;
    if (left.empty()) return {};
    if (fill_largest_first(sizes, 0, left, bin)) return bin;
    if (*std::max_element(left.begin(), left.end()) < sizes.front()) return {};
    if (left.size() == 1) return {};
    if (left.size() == 2) return by_subset_sums(sizes, left);
    return packing_search(sizes, left).run();
}

}  // namespace nz
