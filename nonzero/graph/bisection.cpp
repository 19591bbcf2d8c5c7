#include "nonzero/graph/bisection.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "nonzero/graph/components.hpp"
#include "nonzero/graph/packing.hpp"
#include "nonzero/graph/partition.hpp"

namespace nz {
namespace {

/// Nodes that one side may have.
struct size_range {
    std::int64_t lo, hi;
    [[nodiscard]] double middle() const { return double(lo + hi) / 2; }
};

/// The largest component, sorted and cut behind `at` nodes; then the `others` largest of the other
/// components go to side 0, with the first or the last nodes of the cut one.
struct cut_choice {
    offset cut = 0;
    double off = 0;  ///< how far side 0 is from the middle of its range
    std::int64_t at = 0;
    bool first = true;
    std::size_t others = 0;

    [[nodiscard]] auto rank() const { return std::tuple(cut, off, at, !first); }
};

/// The edges that run between the first q nodes of an order and the others, for every q.
host_vector<offset> prefix_cuts(const adjacency& graph, const host_vector<index>& order) {
    std::vector<bool> in(order.size(), false);
    host_vector<offset> cuts;
    cuts.assign(order.size() + 1, 0);
    for (std::size_t q = 0; q < order.size(); ++q) {
        const auto neighbours = graph.neighbours(order[q]);
        const auto inside = std::count_if(neighbours.begin(), neighbours.end(),
                                          [&](index j) { return in[std::size_t(j)]; });
        cuts[q + 1] = cuts[q] + offset(neighbours.size()) - 2 * inside;
        in[std::size_t(order[q])] = true;
    }
    return cuts;
}

/// Sums of the sizes of the other components: none, the largest, the two largest, ...
host_vector<std::int64_t> sums_of_others(const components& pieces) {
    host_vector<std::int64_t> sums(pieces.sizes.size());
    sums[0] = 0;
    std::partial_sum(pieces.sizes.begin() + 1, pieces.sizes.end(), sums.begin() + 1,
                     std::plus<std::int64_t>());
    return sums;
}

/// Where the largest component, in this order, is cut through the fewest edges so that side 0 gets
/// a size in the range; of equal cuts that which comes nearest to its middle. There is one: no
/// other component is larger than the largest, so that a gap between two sums can be filled.
cut_choice best_cut(const adjacency& largest, const host_vector<index>& order,
                    const host_vector<std::int64_t>& sums, size_range range) {
    const auto cuts = prefix_cuts(largest, order);
    const auto n = std::int64_t(order.size());
    cut_choice best{std::numeric_limits<offset>::max()};
    const auto consider = [&](std::int64_t q, bool first) {
        const std::int64_t mine = first ? q : n - q;
        const auto up = std::lower_bound(sums.begin(), sums.end(), range.middle() - double(mine),
                                         [](std::int64_t s, double x) { return double(s) < x; });
        for (auto s = up == sums.begin() ? up : up - 1; s != sums.end() && s <= up; ++s) {
            if (mine + *s < range.lo || mine + *s > range.hi) continue;
            const cut_choice choice{cuts[std::size_t(q)],
                                    std::abs(double(mine + *s) - range.middle()), q, first,
                                    std::size_t(s - sums.begin())};
            if (choice.rank() < best.rank()) best = choice;
        }
    };
    for (std::int64_t q = 0; q <= n; ++q) {
        if (cuts[std::size_t(q)] > best.cut) continue;
        consider(q, true);
        consider(q, false);
    }
    NZ_ASSERT(best.cut < std::numeric_limits<offset>::max());
    return best;
}

host_vector<index> order_by(const host_vector<double>& v) {
    host_vector<index> order(v.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](index a, index b) {
        return std::pair(v[std::size_t(a)], a) < std::pair(v[std::size_t(b)], b);
    });
    return order;
}

std::span<const index> nodes_of_largest(const components& pieces) {
    return std::span(pieces.nodes).first(std::size_t(pieces.largest()));
}

/// Side 0 or 1 of every node, cut through the largest component by its vector.
host_vector<index> sides_by(const host_vector<double>& v, const adjacency& largest,
                            const components& pieces, size_range range) {
    const auto order = order_by(v);
    const auto sums = sums_of_others(pieces);
    const cut_choice c = best_cut(largest, order, sums, range);
    host_vector<index> side;
    side.assign(pieces.of.size(), 1);
    for (std::size_t i = 0; i < side.size(); ++i)
        if (pieces.of[i] > 0 && pieces.of[i] <= index(c.others)) side[i] = 0;
    const auto nodes = nodes_of_largest(pieces);
    for (std::size_t q = 0; q < order.size(); ++q)
        side[std::size_t(nodes[std::size_t(order[q])])] = (std::int64_t(q) < c.at) != c.first;
    return side;
}

/// Each node's bin, as its component's.
host_vector<index> of_nodes(const components& pieces, const host_vector<index>& bin) {
    host_vector<index> of(pieces.of.size());
    for (std::size_t i = 0; i < of.size(); ++i) of[i] = bin[std::size_t(pieces.of[i])];
    return of;
}

void add(const fiedler_result& f, spectral_report& to) {
    if (to.searches++ == 0) to.connectivity = f.connectivity;
    if (to.searches == 1 || (to.converged && !f.converged)) to.why = f.why;
    to.residual = std::max(to.residual, f.residual);
    to.converged = to.converged && f.converged;
    to.products += f.products;
}

template <class B>
class recursive_bisection {
  public:
    recursive_bisection(B on, std::int64_t room, const fiedler_options& o, std::size_t nodes)
        : on_(on), room_(room), options_(o) {
        result_.part.assign(nodes, 0);
    }
    spectral_parts_result take() { return std::move(result_); }

    /// Gives the nodes of `graph`, which are `ids` of the whole one, the parts from `first` on.
    void divide(const adjacency& graph, const host_vector<index>& ids, index parts, index first) {
        if (parts == 1) return set(ids, first, nullptr);
        const components pieces = components_of(graph);
        const std::vector<std::int64_t> rooms(std::size_t(parts), room_);
        if (const auto bin = pack(pieces.sizes, rooms)) {
            const auto of = of_nodes(pieces, *bin);
            return set(ids, first, &of);
        }
        const index half = parts - parts / 2;
        const auto side = split(graph, pieces, half, parts);
        for (const index s : {0, 1}) {
            host_vector<index> nodes, mine;
            for (std::size_t i = 0; i < ids.size(); ++i)
                if (side[i] == s) nodes.push_back(index(i)), mine.push_back(ids[i]);
            divide(subgraph(graph, nodes), mine, s == 0 ? half : parts - half,
                   s == 0 ? first : first + half);
        }
    }

  private:
    void set(const host_vector<index>& ids, index first, const host_vector<index>* of) {
        for (std::size_t i = 0; i < ids.size(); ++i)
            result_.part[std::size_t(ids[i])] = first + (of == nullptr ? 0 : (*of)[i]);
    }
    /// The most nodes for `some` of `parts` parts: the mean and a share of the way that is left.
    [[nodiscard]] std::int64_t most(std::int64_t n, index some, index parts) const {
        const double slack = double(room_) * parts / double(n);
        const double levels = std::bit_width(unsigned(parts) - 1);
        const double mean = double(n) * some / parts;
        const auto equal = (n * some + parts - 1) / parts;
        return std::min(room_ * some,
                        std::max(equal, std::int64_t(mean * std::pow(slack, 1 / levels))));
    }
    host_vector<index> split(const adjacency& graph, const components& pieces, index half,
                             index parts) {
        const std::int64_t n = graph.nodes();
        const std::int64_t rooms[] = {most(n, half, parts), most(n, parts - half, parts)};
        if (const auto bin = pack(pieces.sizes, rooms)) return of_nodes(pieces, *bin);
        const std::int64_t all_there_is[] = {room_ * half, room_ * (parts - half)};
        if (const auto bin = pack(pieces.sizes, all_there_is)) return of_nodes(pieces, *bin);
        const adjacency largest = subgraph(graph, nodes_of_largest(pieces));
        const auto f = fiedler(on_, largest, options_);
        add(f, result_.search);
        return sides_by(f.v, largest, pieces, {n - rooms[1], rooms[0]});
    }

    B on_;
    std::int64_t room_;
    const fiedler_options& options_;
    spectral_parts_result result_;
};

}  // namespace

template <class B>
bisection bisect(B on, const adjacency& graph, const bisection_options& o) {
    const components pieces = components_of(graph);
    const index n = graph.nodes(), lower = (n + 1) / 2;
    bisection halved;
    halved.sizes[0] = lower, halved.sizes[1] = n - lower;
    halved.fiedler.assign(std::size_t(n), 0);
    halved.part.assign(std::size_t(n), 0);
    if (pieces.largest() < 2) {
        for (index i = lower; i < n; ++i) halved.part[std::size_t(i)] = 1;
        halved.search.converged = true;
        halved.search.why = "there is nothing to cut";
        return halved;
    }
    const auto nodes = nodes_of_largest(pieces);
    const adjacency largest = subgraph(graph, nodes);
    halved.search = fiedler(on, largest, o);
    const auto v = std::exchange(halved.search.v, {});
    for (std::size_t k = 0; k < nodes.size(); ++k) halved.fiedler[std::size_t(nodes[k])] = v[k];
    const std::int64_t rooms[] = {lower, n - lower};
    const auto bin = pack(pieces.sizes, rooms);
    halved.part = bin ? of_nodes(pieces, *bin) : sides_by(v, largest, pieces, {lower, lower});
    halved.connectivity = pieces.count() > 1 ? 0 : halved.search.connectivity;
    halved.cut = cut_of(graph, halved.part);
    return halved;
}

template <class B>
spectral_parts_result spectral_parts(B on, const adjacency& graph, index parts, std::int64_t room,
                                     const fiedler_options& o) {
    validate(graph);
    const index n = graph.nodes();
    if (parts < 1 || room < (n + std::int64_t(parts) - 1) / parts)
        throw argument_error("spectral_parts: " + std::to_string(parts) + " parts of up to " +
                             std::to_string(room) + " nodes, expected 1 or more that hold " +
                             std::to_string(n));
    host_vector<index> ids(static_cast<std::size_t>(n));
    std::iota(ids.begin(), ids.end(), 0);
    recursive_bisection<B> bisections(on, std::min<std::int64_t>(room, n), o, ids.size());
    bisections.divide(graph, ids, parts, 0);
    return bisections.take();
}

#define NZ_INSTANTIATE(B)                                                                   \
    template bisection bisect(B, const adjacency&, const bisection_options&);               \
    template spectral_parts_result spectral_parts(B, const adjacency&, index, std::int64_t, \
                                                  const fiedler_options&);
NZ_INSTANTIATE(cpu)
NZ_INSTANTIATE(gpu)

}  // namespace nz
