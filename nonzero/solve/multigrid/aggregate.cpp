#include "nonzero/solve/multigrid/aggregate.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "nonzero/core/parallel.hpp"

namespace nz {
namespace {

/// Nodes that a thread takes at once: their lists stay in a part of their own, so that threads
/// shorten them without asking each other.
constexpr std::int64_t patch = 4096;

constexpr std::uint64_t inside = 0;                   ///< in the set
constexpr std::uint64_t outside = ~std::uint64_t(0);  ///< within two steps of one that is
constexpr std::uint64_t foreign = outside - 1;        ///< not eligible

/// f(p, first, last) for the patches of n nodes, in parallel.
template <class F>
void for_each_patch(cpu on, std::int64_t n, F f) {
    const std::int64_t patches = (n + patch - 1) / patch;
    parallel_for(thread_count(on), patches, 1, [&](std::int64_t p) {
        f(std::size_t(p), index(p * patch), index(std::min(n, p * patch + patch)));
    });
}

/// Some of the nodes, ascending within each patch.
class worklist {
  public:
    explicit worklist(std::int64_t n)
        : node_(static_cast<std::size_t>(n)), count_(std::size_t((n + patch - 1) / patch)) {}
    void set_count(std::size_t p, std::int64_t n) { count_[p] = n; }
    [[nodiscard]] index* of(std::size_t p) { return node_.data() + p * std::size_t(patch); }
    [[nodiscard]] std::span<const index> list(std::size_t p) const {
        return {node_.data() + p * std::size_t(patch), std::size_t(count_[p])};
    }
    /// Leaves the nodes of patch p for which keep(i) holds. No branch: half of them may.
    template <class Keep>
    void filter(std::size_t p, Keep keep) {
        index* const mine = of(p);
        std::int64_t n = 0;
        for (std::int64_t k = 0; k < count_[p]; ++k) {
            const index i = mine[k];
            mine[n] = i;
            n += keep(i);
        }
        count_[p] = n;
    }
    [[nodiscard]] bool empty() const {
        return std::all_of(count_.begin(), count_.end(), [](std::int64_t n) { return n == 0; });
    }

  private:
    host_vector<index> node_;
    std::vector<std::int64_t> count_;
};

/// Looks for independent sets among a graph's nodes, in rounds.
class set_search {
  public:
    set_search(cpu on, const strong_graph<host>& g)
        : on_(on),
          g_(g),
          n_(g.nodes()),
          state_(static_cast<std::size_t>(n_)),
          least_(static_cast<std::size_t>(n_)),
          undecided_(n_),
          open_(n_) {}

    /// Finds independent_set of the graph of the eligible nodes, in place of what was found before.
    template <class Eligible>
    void run(Eligible eligible) {
        for_each_patch(on_, n_, [&](std::size_t p, index first, index last) {
            index *const undecided = undecided_.of(p), *const open = open_.of(p);
            std::int64_t n = 0;
            for (index i = first; i < last; ++i) {
                const bool takes_part = eligible(i), connected = !g_.neighbours(i).empty();
                state_[std::size_t(i)] = takes_part && connected ? priority(i, 0) : outside;
                least_[std::size_t(i)] = takes_part ? outside : foreign;
                undecided[n] = open[n] = i;
                n += takes_part && connected;
            }
            undecided_.set_count(p, n), open_.set_count(p, n);
        });
        for (std::uint32_t round = 0; !undecided_.empty(); ++round) run_round(round);
    }
    [[nodiscard]] bool has(index i) const { return state_[std::size_t(i)] == inside; }

  private:
    void run_round(std::uint32_t round) {
        for_each_patch(on_, n_, [&](std::size_t p, index, index) {
            open_.filter(p, [&](index i) { return find_least(i) != outside; });
        });
        for_each_patch(on_, n_, [&](std::size_t p, index, index) {
            undecided_.filter(p, [&](index i) { return !decide(i, round); });
        });
    }
    /// The least state of a node's neighbourhood with itself.
    std::uint64_t find_least(index i) {
        std::uint64_t m = state_[std::size_t(i)];
        for (const index j : g_.neighbours(i)) m = std::min(m, state_[std::size_t(j)]);
        return least_[std::size_t(i)] = m == inside ? outside : m;
    }
    /// Whether node i is in the set or near it; otherwise it has its priority of the next round.
    bool decide(index i, std::uint32_t round) {
        const std::uint64_t mine = state_[std::size_t(i)], own = least_[std::size_t(i)];
        bool near = own == outside, beaten = own != mine;
        if (round > 0 || !beaten)  // at first there is no set to be near to
            for (const index j : g_.neighbours(i)) {
                const std::uint64_t m = least_[std::size_t(j)];
                near |= m == outside, beaten |= m < mine;
            }
        state_[std::size_t(i)] = near ? outside : beaten ? priority(i, round + 1) : inside;
        return near | !beaten;
    }

    cpu on_;
    const strong_graph<host>& g_;
    std::int64_t n_;
    host_vector<std::uint64_t> state_;  ///< state of a node
    host_vector<std::uint64_t> least_;  ///< least state in a node's neighbourhood with itself
    worklist undecided_, open_;
};

/// Looks for the distance-3 independent set of a graph, in rounds.
class wide_search {
  public:
    wide_search(cpu on, const strong_graph<host>& g)
        : on_(on),
          g_(g),
          n_(g.nodes()),
          rank_(static_cast<std::size_t>(n_)),
          least_(static_cast<std::size_t>(n_)),
          mark_(static_cast<std::size_t>(n_)),
          undecided_(n_),
          open_(n_) {
        for_each_patch(on_, n_, [&](std::size_t p, index first, index last) {
            index *const undecided = undecided_.of(p), *const open = open_.of(p);
            std::int64_t n = 0;
            for (index i = first; i < last; ++i) {
                const bool connected = !g_.neighbours(i).empty();
                rank_[std::size_t(i)] = least_[std::size_t(i)] = connected ? rank(i, 0) : no_rank;
                mark_[std::size_t(i)] = unmarked;
                undecided[n] = open[n] = i;
                n += connected;
            }
            undecided_.set_count(p, n), open_.set_count(p, n);
        });
        for (std::uint32_t round = 0; !undecided_.empty(); ++round) run_round(round);
    }
    [[nodiscard]] bool has(index i) const { return mark_[std::size_t(i)] == root; }

  private:
    /// How near a node is to the set as far as it has been found.
    enum : char { unmarked, two_steps, root };

    void run_round(std::uint32_t round) {
        for_each_patch(on_, n_, [&](std::size_t p, index, index) {
            open_.filter(p, [&](index i) { return find_least(i) != no_rank; });
        });
        for_each_patch(on_, n_, [&](std::size_t p, index, index) {
            for (const index i : undecided_.list(p))
                if (is_least(i)) mark_from(i);
        });
        for_each_patch(on_, n_, [&](std::size_t p, index, index) {
            undecided_.filter(p, [&](index i) {
                const bool left = !is_near(i);
                rank_[std::size_t(i)] = left ? rank(i, round + 1) : no_rank;
                return left;
            });
        });
    }
    /// The least rank of a node's neighbourhood with itself.
    std::uint32_t find_least(index i) {
        std::uint32_t m = rank_[std::size_t(i)];
        for (const index j : g_.neighbours(i)) m = std::min(m, rank_[std::size_t(j)]);
        return least_[std::size_t(i)] = m;
    }
    /// Whether no undecided node within three steps has a lower rank.
    [[nodiscard]] bool is_least(index i) const {
        const std::uint32_t mine = rank_[std::size_t(i)];
        std::uint32_t m = least_[std::size_t(i)];
        if (m != mine) return false;
        for (const index j : g_.neighbours(i)) m = std::min(m, least_[std::size_t(j)]);
        for (const index j : g_.neighbours(i)) {
            if (m != mine) return false;
            for (const index k : g_.neighbours(j)) m = std::min(m, least_[std::size_t(k)]);
        }
        return m == mine;
    }
    /// A root and the nodes within two steps of it, at which several threads may write the same.
    void mark_from(index i) {
        for (const index j : g_.neighbours(i))
            for (const index k : g_.neighbours(j)) set_mark(k, two_steps);
        for (const index j : g_.neighbours(i)) set_mark(j, two_steps);
        set_mark(i, root);
    }
    void set_mark(index i, char to) {
        std::atomic_ref(mark_[std::size_t(i)]).store(to, std::memory_order_relaxed);
    }
    [[nodiscard]] bool is_near(index i) const {
        char m = mark_[std::size_t(i)];
        for (const index j : g_.neighbours(i)) m = char(m | mark_[std::size_t(j)]);
        return m != unmarked;
    }

    cpu on_;
    const strong_graph<host>& g_;
    std::int64_t n_;
    host_vector<std::uint32_t> rank_;   ///< rank of an undecided node
    host_vector<std::uint32_t> least_;  ///< least rank in a node's neighbourhood
    host_vector<char> mark_;
    worklist undecided_, open_;
};

/// Joins a node to the aggregate among its neighbours' with most edges to it.
index most_common(const strong_graph<host>& g, const host_vector<index>& of, index i,
                  std::vector<index>& found) {
    found.clear();
    for (const index j : g.neighbours(i))
        if (const index a = of[std::size_t(j)]; a != isolated) found.push_back(a);
    std::sort(found.begin(), found.end());
    index best = isolated;
    std::ptrdiff_t most = 0;
    for (auto first = found.begin(); first != found.end();) {
        const auto last = std::upper_bound(first, found.end(), *first);
        if (last - first > most) most = last - first, best = *first;
        first = last;
    }
    return best;
}

}  // namespace

host_vector<char> independent_set(cpu on, const strong_graph<host>& g, int distance) {
    host_vector<char> in(static_cast<std::size_t>(g.nodes()));
    const auto take = [&](const auto& set) {
        for_each_patch(on, g.nodes(), [&](std::size_t, index first, index last) {
            for (index i = first; i < last; ++i) in[std::size_t(i)] = set.has(i);
        });
    };
    if (distance == 2) {
        take(wide_search(on, g));
    } else {
        set_search set(on, g);
        set.run([](index) { return true; });
        take(set);
    }
    return in;
}

namespace {

/// Aggregates as they grow.
class gathering {
  public:
    gathering(cpu on, const strong_graph<host>& g)
        : on_(on), g_(g), n_(g.nodes()), near_(std::size_t(n_)), roots_(n_) {
        for_each_patch(on_, n_, [&](std::size_t, index first, index last) {
            std::fill(near_.begin() + first, near_.begin() + last, isolated);
        });
    }
    [[nodiscard]] bool is_free(index i) const { return near_[std::size_t(i)] == isolated; }

    /// Every node of the set that finds `least_free` free neighbours is a root, and they join it.
    template <class Set>
    void add(const Set& set, int least_free) {
        std::vector<index> before((std::size_t(n_) + patch - 1) / patch + 1, count_);
        for_each_patch(on_, n_, [&](std::size_t p, index first, index last) {
            index* const mine = roots_.of(p);
            index n = 0;
            for (index i = first; i < last; ++i)
                if (set.has(i) && free_neighbours(i) >= least_free) mine[n++] = i;
            before[p + 1] = n;
        });
        std::partial_sum(before.begin(), before.end(), before.begin());
        // No two roots have a free neighbour in common: each writes its own only.
        for_each_patch(on_, n_, [&](std::size_t p, index, index) {
            for (index a = before[p]; a < before[p + 1]; ++a) {
                const index i = roots_.of(p)[a - before[p]];
                near_[std::size_t(i)] = a;
                for (const index j : g_.neighbours(i))
                    if (is_free(j)) near_[std::size_t(j)] = a;
            }
        });
        count_ = before.back();
    }
    /// Nodes that are left join the aggregate of most neighbours, in `passes` passes.
    aggregation<host> finish(int passes) {
        aggregation<host> result{count_, host_vector<index>(std::size_t(n_))};
        for (int pass = 0; pass < passes; ++pass) {
            if (pass > 0) std::swap(near_, result.of);
            for_each_patch(on_, n_, [&](std::size_t, index first, index last) {
                std::vector<index> found;
                for (index i = first; i < last; ++i)
                    result.of[std::size_t(i)] =
                        is_free(i) ? most_common(g_, near_, i, found) : near_[std::size_t(i)];
            });
        }
        return result;
    }

  private:
    [[nodiscard]] int free_neighbours(index i) const {
        int n = 0;
        for (const index j : g_.neighbours(i)) n += is_free(j);
        return n;
    }
    cpu on_;
    const strong_graph<host>& g_;
    std::int64_t n_;
    host_vector<index> near_;
    worklist roots_;
    index count_ = 0;
};

}  // namespace

int suitable_distance(cpu, const strong_graph<host>& g) {
    const auto for_each_neighbour = [&](index i, auto f) {
        for (const index j : g.neighbours(i)) f(j);
    };
    int votes = 0;
    for (index s = 0; s < distance_sample && g.nodes() > 0; ++s)
        votes += vote_for_two_steps(sampled_node(s, g.nodes()), for_each_neighbour);
    return votes > 0 ? 2 : 1;
}

aggregation<host> aggregate(cpu on, const strong_graph<host>& g, int distance) {
    constexpr int worth_an_aggregate = 3;  // neighbours that a later root must still find free
    gathering all(on, g);
    if (distance == 2) {
        all.add(wide_search(on, g), 0);
        return all.finish(2);
    }
    set_search set(on, g);
    set.run([](index) { return true; });
    all.add(set, 0);
    set.run([&](index i) { return all.is_free(i); });
    all.add(set, worth_an_aggregate);
    return all.finish(1);
}

}  // namespace nz
