#include "nonzero/graph/partition.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "nonzero/graph/components.hpp"
#include "nonzero/graph/metis.hpp"
#include "nonzero/graph/orders.hpp"
#include "nonzero/graph/packing.hpp"
#include "nonzero/graph/refine.hpp"
#include "nonzero/graph/reorder.hpp"

namespace nz {
namespace {

void check(const adjacency& graph, const partition_options& o) {
    const auto fail = [](const std::string& what) { throw argument_error("partition: " + what); };
    const index n = graph.nodes();
    if (o.parts < 1 || o.parts > std::max(n, 1))
        fail(std::to_string(o.parts) + " parts of " + std::to_string(n) + " nodes, expected 1 to " +
             std::to_string(std::max(n, 1)));
    if (!(o.imbalance >= 0) || std::isinf(o.imbalance))
        fail("the imbalance is negative or not finite");
    if (!(o.fiedler.tol >= 0)) fail("tol is negative or no number");
    if (o.fiedler.max_products < 0) fail("max_products is negative");
    if (o.method != partition_method::metis) return;
    if (!o.with_metis) fail("METIS is asked for, and to be left out");
    if (const std::string why = why_no_metis(); !why.empty()) throw unavailable(why);
    if (graph.edges() > metis_max_edges) fail("METIS takes fewer than 2^30 edges");
}

bool can_use_metis(const adjacency& graph, const partition_options& o) {
    return o.with_metis && why_no_metis().empty() && graph.edges() <= metis_max_edges;
}

/// Nodes that a part may have.
std::int64_t room_of(std::int64_t n, const partition_options& o) {
    const double loose = std::floor((1 + o.imbalance) * double(n) / o.parts);
    return std::max((n + o.parts - 1) / o.parts, std::int64_t(std::min(loose, double(n))));
}

host_vector<index> equal_pieces(const ordering& order, index parts) {
    const auto n = std::int64_t(order.size());
    host_vector<index> part(order.size());
    for (std::int64_t k = 0; k < n; ++k)
        part[std::size_t(order[std::size_t(k)])] = index(k * parts / n);
    return part;
}

host_vector<index> sizes_of(std::span<const index> part, index parts) {
    host_vector<index> sizes;
    sizes.assign(std::size_t(parts), 0);
    for (const index p : part) ++sizes[std::size_t(p)];
    return sizes;
}

/// Nodes a part. METIS 5.1 prints to stdout where it runs out of nodes to halve: seen with a node
/// for each part, and with a tolerance above its own where parts have few nodes. So it is not
/// asked in these cases.
constexpr std::int64_t fewest_where_loose = 16;

/// How METIS cuts a component of `size` nodes into the fewest parts of up to `room`: into equal
/// ones, or into full ones and a last one of what is left, which can be peeled off through few
/// edges and which smaller components make up for.
metis_options options_for(std::int64_t size, std::int64_t room, index parts, bool equal) {
    metis_options o;
    o.scheme = parts <= 8 ? metis_scheme::recursive : metis_scheme::kway;
    o.imbalance = 1e-3;
    const double full = double(room) / double(size) / (1 + o.imbalance);
    const double rest = 1 - full * (parts - 1);
    if (equal || rest * double(size) < fewest_where_loose) {
        o.imbalance = std::clamp(double(room) * parts / double(size) - 1, o.imbalance, 0.2);
        return o;
    }
    o.shares.assign(std::size_t(parts), full);
    o.shares.back() = rest;
    return o;
}

/// The pieces of all components, those larger than `room` cut by METIS: each node's piece.
host_vector<index> cut_what_is_too_large(const adjacency& graph, const components& all,
                                         std::int64_t room, bool equal) {
    host_vector<index> piece(all.of.size());
    std::size_t first = 0;
    index number = 0;
    for (const index size : all.sizes) {
        const auto nodes = std::span(all.nodes).subspan(first, std::size_t(size));
        const auto parts = index((size + room - 1) / room);
        host_vector<index> of;
        of.assign(nodes.size(), 0);
        if (parts > 1) {
            const adjacency part = subgraph(graph, nodes);
            of = metis_parts(part, parts, options_for(size, room, parts, equal));
            refine(part, parts, room, of);
        }
        for (std::size_t k = 0; k < nodes.size(); ++k)
            piece[std::size_t(nodes[k])] = number + of[k];
        number += parts, first += nodes.size();
    }
    return piece;
}

/// Packs pieces of a graph; nothing where no packing is found.
std::optional<host_vector<index>> packed(const host_vector<index>& piece, index parts,
                                         std::int64_t room) {
    const auto sizes = sizes_of(piece, *std::max_element(piece.begin(), piece.end()) + 1);
    host_vector<index> order, descending;
    for (index p = 0; p < index(sizes.size()); ++p)
        if (sizes[std::size_t(p)] > 0) order.push_back(p);
    std::stable_sort(order.begin(), order.end(), [&](index a, index b) {
        return sizes[std::size_t(a)] > sizes[std::size_t(b)];
    });
    for (const index p : order) descending.push_back(sizes[std::size_t(p)]);
    const auto bin = pack(descending, std::vector<std::int64_t>(std::size_t(parts), room));
    if (!bin) return {};
    host_vector<index> of_piece(sizes.size()), part(piece.size());
    for (std::size_t k = 0; k < order.size(); ++k) of_piece[std::size_t(order[k])] = (*bin)[k];
    for (std::size_t i = 0; i < part.size(); ++i) part[i] = of_piece[std::size_t(piece[i])];
    return part;
}

/// Keeps the best of the partitions it is given.
class comparison {
  public:
    comparison(const adjacency& graph, index parts, std::int64_t room, partition_result& result)
        : graph_(graph), parts_(parts), room_(room), result_(result) {}

    void add(const char* name, host_vector<index> part) {
        partition_candidate c{name, cut_of(graph_, part)};
        const auto sizes = sizes_of(part, parts_);
        c.heaviest = *std::max_element(sizes.begin(), sizes.end());
        refine(graph_, parts_, room_, part);
        c.refined = cut_of(graph_, part);
        if (result_.winner.empty() || c.refined < result_.cut) {
            result_.cut = c.refined;
            result_.winner = c.name;
            result_.part = std::move(part);
        }
        result_.candidates.push_back(std::move(c));
    }

  private:
    const adjacency& graph_;
    index parts_;
    std::int64_t room_;
    partition_result& result_;
};

void add_metis(const adjacency& graph, const components& pieces, const partition_options& o,
               std::int64_t room, comparison& all) {
    using enum metis_scheme;
    const std::int64_t n = graph.nodes();
    const double imbalance = std::max(o.imbalance, 1e-3);
    if (n == o.parts) return;
    all.add("metis.recursive", metis_parts(graph, o.parts, {recursive}));
    all.add("metis.kway", metis_parts(graph, o.parts, {kway}));
    if (n < fewest_where_loose * o.parts) return;
    all.add("metis.recursive.loose", metis_parts(graph, o.parts, {recursive, imbalance}));
    if (o.imbalance != 0.03)  // which is its own
        all.add("metis.kway.loose", metis_parts(graph, o.parts, {kway, imbalance}));
    if (pieces.count() == 1 || room < 2 * fewest_where_loose) return;
    for (const bool equal : {true, false})
        if (auto part = packed(cut_what_is_too_large(graph, pieces, room, equal), o.parts, room))
            all.add(equal ? "metis.pieces" : "metis.peeled", std::move(*part));
}

template <class B>
void compare(B on, const adjacency& graph, const components& pieces, const partition_options& o,
             std::int64_t room, partition_result& result) {
    comparison all(graph, o.parts, room, result);
    if (can_use_metis(graph, o)) add_metis(graph, pieces, o, room, all);
    // Parts of one node have no choice.
    if (room > 1 && result.method == partition_method::spectral) {
        auto spectral = spectral_parts(on, graph, o.parts, room, o.fiedler);
        result.search = std::move(spectral.search);
        all.add("spectral", std::move(spectral.part));
    }
    all.add("rcm", equal_pieces(reverse_cuthill_mckee(graph), o.parts));
    ordering natural(static_cast<std::size_t>(graph.nodes()));
    std::iota(natural.begin(), natural.end(), 0);
    all.add("natural", equal_pieces(natural, o.parts));
}

}  // namespace

template <class B>
partition_result partition(B on, const adjacency& graph, const partition_options& o) {
    const components pieces = components_of(graph);
    check(graph, o);
    partition_result result;
    result.components = pieces.count();
    result.isolated = pieces.isolated();
    result.largest = pieces.largest();
    result.method = o.method != partition_method::automatic ? o.method
                    : can_use_metis(graph, o)               ? partition_method::metis
                                                            : partition_method::spectral;
    const std::int64_t room = room_of(graph.nodes(), o);
    const std::vector<std::int64_t> rooms(std::size_t(o.parts), room);
    if (const auto bin = pack(pieces.sizes, rooms)) {
        result.winner = "components";
        for (const index c : pieces.of) result.part.push_back((*bin)[std::size_t(c)]);
    } else {
        compare(on, graph, pieces, o, room, result);
    }
    result.sizes = sizes_of(result.part, o.parts);
    const index heaviest = *std::max_element(result.sizes.begin(), result.sizes.end());
    if (result.winner == "components") result.candidates = {{"components", 0, heaviest, 0}};
    if (graph.nodes() > 0)
        result.imbalance = double(heaviest) * o.parts / double(graph.nodes()) - 1;
    return result;
}

template <class V>
partition_result partition(const csr<V, host_view>& A, const partition_options& o) {
    return partition(cpu{}, adjacency_of(A), o);
}

offset cut_of(const adjacency& graph, std::span<const index> part) {
    if (part.size() != std::size_t(graph.nodes()))
        throw argument_error("cut_of: parts of " + std::to_string(part.size()) +
                             " nodes, expected " + std::to_string(graph.nodes()));
    offset twice = 0;
    for (index i = 0; i < graph.nodes(); ++i)
        for (const index j : graph.neighbours(i))
            twice += part[std::size_t(i)] != part[std::size_t(j)];
    return twice / 2;
}

double expected_random_cut(const adjacency& graph, index parts) {
    if (parts < 1)
        throw argument_error("expected_random_cut: " + std::to_string(parts) +
                             " parts, expected 1 or more");
    const double n = graph.nodes();
    if (n < 2) return 0;
    const double small = std::floor(n / parts),
                 larger = n - small * parts;  // how many parts get small + 1
    const double within =
        (parts - larger) * small * (small - 1) + larger * (small + 1) * small;  // pairs, twice
    return double(graph.edges()) * (1 - within / (n * (n - 1)));
}

template partition_result partition(cpu, const adjacency&, const partition_options&);
template partition_result partition(gpu, const adjacency&, const partition_options&);
#define NZ_INSTANTIATE(V) \
    template partition_result partition(const csr<V, host_view>&, const partition_options&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
