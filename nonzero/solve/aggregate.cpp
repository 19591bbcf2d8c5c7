#include "nonzero/solve/aggregate.hpp"

#include <algorithm>
#include <numeric>

namespace nz {
namespace {

constexpr std::int64_t run = 512;  // nodes that a thread takes at once

constexpr std::uint64_t inside = 0;                   ///< in the set
constexpr std::uint64_t outside = ~std::uint64_t(0);  ///< within two steps of one that is

/// The elements of `list` that pass, in the same order.
template <class Keep>
host_vector<index> filtered(cpu on, const host_vector<index>& list, Keep keep) {
    const int parts = thread_count(on);
    const auto n = std::int64_t(list.size());
    std::vector<std::int64_t> start(std::size_t(parts) + 1, 0);
    const auto each = [&](int p, auto f) {
        const range mine = share(n, parts, p);
        for (std::int64_t k = mine.first; k < mine.last; ++k)
            if (keep(list[std::size_t(k)])) f(list[std::size_t(k)]);
    };
#pragma omp parallel for schedule(static, 1) num_threads(parts)
    for (int p = 0; p < parts; ++p) each(p, [&](index) { ++start[std::size_t(p) + 1]; });
    std::partial_sum(start.begin(), start.end(), start.begin());
    host_vector<index> kept(static_cast<std::size_t>(start.back()));
#pragma omp parallel for schedule(static, 1) num_threads(parts)
    for (int p = 0; p < parts; ++p) {
        index* to = kept.data() + start[std::size_t(p)];
        each(p, [&](index i) { *to++ = i; });
    }
    return kept;
}

/// f(i) for every node of the list, in parallel.
template <class F>
void for_each(cpu on, const host_vector<index>& list, F f) {
    const auto n = std::int64_t(list.size());
#pragma omp parallel for schedule(dynamic, run) num_threads(thread_count(on))
    for (std::int64_t k = 0; k < n; ++k) f(list[std::size_t(k)]);
}

/// independent_set of the graph of the eligible nodes.
template <class Eligible>
host_vector<char> independent_set_among(cpu on, const strong_graph& g, Eligible eligible) {
    const auto n = std::size_t(g.nodes());
    host_vector<std::uint64_t> state(n), least(n);  // of a node; of its neighbourhood with itself
    host_vector<index> all(n);
    std::iota(all.begin(), all.end(), 0);
    const auto connected = [&](index i) { return eligible(i) && !g.neighbours(i).empty(); };
    for_each(on, all, [&](index i) { state[std::size_t(i)] = least[std::size_t(i)] = outside; });
    host_vector<index> undecided = filtered(on, all, connected), open = undecided;
    for (std::uint32_t round = 0; !undecided.empty(); ++round) {
        for_each(on, undecided, [&](index i) { state[std::size_t(i)] = priority(i, round); });
        for_each(on, open, [&](index i) {
            std::uint64_t m = state[std::size_t(i)];
            for (const index j : g.neighbours(i)) m = std::min(m, state[std::size_t(j)]);
            least[std::size_t(i)] = m == inside ? outside : m;
        });
        for_each(on, undecided, [&](index i) {
            const std::uint64_t mine = state[std::size_t(i)];
            std::uint64_t low = least[std::size_t(i)], high = low;
            for (const index j : g.neighbours(i))
                if (eligible(j))
                    low = std::min(low, least[std::size_t(j)]),
                    high = std::max(high, least[std::size_t(j)]);
            if (high == outside) {
                state[std::size_t(i)] = outside;
            } else if (low == mine && high == mine) {
                state[std::size_t(i)] = inside;
            }
        });
        undecided = filtered(on, undecided, [&](index i) {
            return state[std::size_t(i)] != inside && state[std::size_t(i)] != outside;
        });
        open = filtered(on, open, [&](index i) { return least[std::size_t(i)] != outside; });
    }
    host_vector<char> in(n);
    for_each(on, all, [&](index i) { in[std::size_t(i)] = state[std::size_t(i)] == inside; });
    return in;
}

/// Joins a node to the aggregate among its neighbours' with most edges to it.
index most_common(const strong_graph& g, const host_vector<index>& of, index i,
                  std::vector<index>& found) {
    found.clear();
    for (const index j : g.neighbours(i))
        if (const index a = of[std::size_t(j)]; a != alone) found.push_back(a);
    std::sort(found.begin(), found.end());
    index best = alone;
    std::ptrdiff_t most = 0;
    for (auto first = found.begin(); first != found.end();) {
        const auto last = std::upper_bound(first, found.end(), *first);
        if (last - first > most) most = last - first, best = *first;
        first = last;
    }
    return best;
}

}  // namespace

host_vector<char> independent_set(cpu on, const strong_graph& g) {
    return independent_set_among(on, g, [](index) { return true; });
}

aggregation aggregate(cpu on, const strong_graph& g) {
    constexpr int worth_an_aggregate = 3;  // neighbours that a later root must still find free
    const auto n = std::int64_t(g.nodes());
    host_vector<index> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    aggregation near{0, host_vector<index>(std::size_t(n), alone)};
    const auto free = [&](index i) { return near.of[std::size_t(i)] == alone; };
    // No two roots have a free neighbour in common: each writes its own only.
    const auto add = [&](const host_vector<char>& set, int least) {
        const auto roots = filtered(on, all, [&](index i) {
            const auto near_it = g.neighbours(i);
            return set[std::size_t(i)] != 0 &&
                   std::count_if(near_it.begin(), near_it.end(), free) >= least;
        });
        const auto count = std::int64_t(roots.size());
#pragma omp parallel for schedule(static) num_threads(thread_count(on))
        for (std::int64_t a = 0; a < count; ++a) {
            const index i = roots[std::size_t(a)];
            near.of[std::size_t(i)] = near.count + index(a);
            for (const index j : g.neighbours(i))
                if (free(j)) near.of[std::size_t(j)] = near.count + index(a);
        }
        near.count += index(count);
    };
    add(independent_set(on, g), 0);
    add(independent_set_among(on, g, free), worth_an_aggregate);
    aggregation result = near;
#pragma omp parallel num_threads(thread_count(on))
    {
        std::vector<index> found;
#pragma omp for schedule(dynamic, run)
        for (std::int64_t i = 0; i < n; ++i)
            if (free(index(i)))
                result.of[std::size_t(i)] = most_common(g, near.of, index(i), found);
    }
    return result;
}

}  // namespace nz
