#include "nonzero/graph/refine.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace nz {
namespace {

class refinement {
  public:
    refinement(const adjacency& graph, index parts, std::int64_t room, std::span<index> part)
        : graph_(graph),
          room_(room),
          part_(part),
          sizes_(std::size_t(parts), 0),
          links_(std::size_t(parts), 0) {
        for (const index p : part) ++sizes_[std::size_t(p)];
    }

    void balance() {
        for (index p = 0; p < index(sizes_.size()); ++p)
            if (sizes_[std::size_t(p)] > room_) relieve(p);
    }
    /// Edges that are not cut any more.
    offset pass() {
        offset saved = 0;
        for (index i = 0; i < graph_.nodes(); ++i) {
            const auto [to, gain] = best_move(i);
            if (to < 0 || gain < 0) continue;
            const auto from = std::size_t(part_[std::size_t(i)]);
            if (gain == 0 && sizes_[std::size_t(to)] + 1 >= sizes_[from]) continue;
            move(i, to);
            saved += gain;
        }
        return saved;
    }

  private:
    struct step {
        index to = -1;    ///< -1: no part with room has a neighbour
        offset gain = 0;  ///< edges that are no longer cut; negative: edges cut in addition
    };

    /// To the part with room that most neighbours of i are in; of equal ones to the lightest, then
    /// to that with the lowest number.
    step best_move(index i) {
        const index own = part_[std::size_t(i)];
        met_.clear();
        for (const index j : graph_.neighbours(i)) {
            const index p = part_[std::size_t(j)];
            if (links_[std::size_t(p)]++ == 0) met_.push_back(p);
        }
        const auto weight = [&](index p) {
            return std::tuple(links_[std::size_t(p)], -sizes_[std::size_t(p)], -p);
        };
        step best;
        for (const index p : met_)
            if (p != own && sizes_[std::size_t(p)] < room_ &&
                (best.to < 0 || weight(p) > weight(best.to)))
                best.to = p;
        best.gain = (best.to < 0 ? 0 : links_[std::size_t(best.to)]) - links_[std::size_t(own)];
        for (const index p : met_) links_[std::size_t(p)] = 0;
        return best;
    }
    void move(index i, index to) {
        --sizes_[std::size_t(part_[std::size_t(i)])];
        ++sizes_[std::size_t(to)];
        part_[std::size_t(i)] = to;
    }
    void relieve(index p) {
        std::vector<std::pair<offset, index>> cheapest;
        for (index i = 0; i < graph_.nodes(); ++i) {
            if (part_[std::size_t(i)] == p) cheapest.emplace_back(-best_move(i).gain, i);
        }
        const auto out = std::ptrdiff_t(sizes_[std::size_t(p)] - room_);
        std::partial_sort(cheapest.begin(), cheapest.begin() + out, cheapest.end());
        for (std::ptrdiff_t k = 0; k < out; ++k) {
            const index i = cheapest[std::size_t(k)].second;
            const index to = best_move(i).to;
            move(i, to >= 0 ? to : any_with_room());
        }
    }
    /// While parts are relieved those that are full stay so.
    index any_with_room() {
        while (sizes_[std::size_t(with_room_)] >= room_) ++with_room_;
        return with_room_;
    }

    const adjacency& graph_;
    std::int64_t room_;
    std::span<index> part_;
    std::vector<std::int64_t> sizes_;  ///< the sizes of the parts
    std::vector<offset> links_;        ///< links of a node to each part; 0 between the calls
    std::vector<index> met_;           ///< parts that its neighbours are in
    index with_room_ = 0;
};

}  // namespace

void refine(const adjacency& graph, index parts, std::int64_t room, std::span<index> part) {
    validate(graph);
    const auto fail = [](const std::string& what) { throw argument_error("refine: " + what); };
    if (parts < 1) fail(std::to_string(parts) + " parts, expected 1 or more");
    if (part.size() != std::size_t(graph.nodes()))
        fail("parts of " + std::to_string(part.size()) + " nodes, expected " +
             std::to_string(graph.nodes()));
    if (std::any_of(part.begin(), part.end(), [=](index p) { return p < 0 || p >= parts; }))
        fail("a part out of range");
    if (room < (graph.nodes() + std::int64_t(parts) - 1) / parts)
        fail("the parts do not hold all nodes");
    refinement state(graph, parts, room, part);
    state.balance();
    constexpr int most_passes = 16;
    for (int k = 0; k < most_passes && state.pass() > 0; ++k) continue;
}

}  // namespace nz
