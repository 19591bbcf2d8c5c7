// Aggregates on a GPU, round by round as on the CPU.
#include "nonzero/core/gpu/device_steps.cuh"
#include "nonzero/solve/multigrid/aggregate.hpp"

namespace nz {
namespace {

constexpr std::uint64_t inside = 0;                   ///< in the set
constexpr std::uint64_t outside = ~std::uint64_t(0);  ///< within two steps of one that is

struct graph_view {
    device_offset_span ptr;
    const index* col;
    const char* strong;
    /// f(j) for the strong neighbours of i; true ends it.
    template <class F>
    __device__ void for_each(std::int64_t i, F f) const {
        for (offset k = ptr[i]; k < ptr[i + 1]; ++k)
            if (strong[k]) f(col[k]);
    }
};

/// Search for an independent set: of the nodes of `near` that are isolated; null: of all.
struct search {
    graph_view g;
    const index* near;
    std::uint64_t *state, *least;
    std::uint32_t round;
    unsigned* undecided;
    __device__ bool eligible(std::int64_t i) const {
        return near == nullptr || near[i] == isolated;
    }
};

struct begin_search : search {
    __device__ void operator()(std::int64_t i) const {
        bool connected = false;
        if (eligible(i)) g.for_each(i, [&](index) { connected = true; });
        state[i] = least[i] = connected ? priority(index(i), 0) : outside;
    }
};
struct next_priority : search {
    __device__ void operator()(std::int64_t i) const {
        if (state[i] != inside && state[i] != outside) state[i] = priority(index(i), round);
    }
};
struct find_least : search {
    __device__ void operator()(std::int64_t i) const {
        if (least[i] == outside) return;
        std::uint64_t m = state[i];
        g.for_each(i, [&](index j) { m = state[j] < m ? state[j] : m; });
        least[i] = m == inside ? outside : m;
    }
};
struct decide : search {
    __device__ void operator()(std::int64_t i) const {
        const std::uint64_t mine = state[i];
        if (mine == inside || mine == outside) return;
        std::uint64_t low = least[i], high = low;
        g.for_each(i, [&](index j) {
            if (!eligible(j)) return;
            const std::uint64_t m = least[j];
            low = m < low ? m : low, high = m > high ? m : high;
        });
        if (high == outside) {
            state[i] = outside;
        } else if (low == mine) {
            state[i] = inside;
        } else {
            *undecided = 1;  // every thread writes the same
        }
    }
};

/// The independent set for distance 2.
struct wide_search {
    graph_view g;
    std::uint32_t *rank_of, *least;  ///< rank of the undecided; the least in a node's neighbourhood
    char* mark;                      ///< unmarked, or how near the set a node is
    std::uint32_t round;
    unsigned* undecided;
};
enum : char { unmarked, two_steps, root };

struct begin_wide_search : wide_search {
    __device__ void operator()(std::int64_t i) const {
        bool connected = false;
        g.for_each(i, [&](index) { connected = true; });
        rank_of[i] = least[i] = connected ? rank(index(i), 0) : no_rank;
        mark[i] = unmarked;
    }
};
struct find_least_rank : wide_search {
    __device__ void operator()(std::int64_t i) const {
        if (least[i] == no_rank) return;
        std::uint32_t m = rank_of[i];
        g.for_each(i, [&](index j) { m = min(m, rank_of[j]); });
        least[i] = m;
    }
};
/// Marks what has the least rank within three steps, and what is within two steps of that: other
/// threads may write the same value to the same place.
struct mark_roots : wide_search {
    __device__ void operator()(std::int64_t i) const {
        const std::uint32_t mine = rank_of[i];
        if (mine == no_rank || least[i] != mine) return;
        bool beaten = false;
        g.for_each(i, [&](index j) { beaten |= least[j] < mine; });
        if (beaten) return;
        g.for_each(i, [&](index j) {
            if (!beaten) g.for_each(j, [&](index k) { beaten |= least[k] < mine; });
        });
        if (beaten) return;
        g.for_each(i, [&](index j) {
            mark[j] = two_steps;
            g.for_each(j, [&](index k) { mark[k] = two_steps; });
        });
        mark[i] = root;
    }
};
struct rank_what_is_left : wide_search {
    __device__ void operator()(std::int64_t i) const {
        if (rank_of[i] == no_rank) return;
        bool near = mark[i] != unmarked;
        g.for_each(i, [&](index j) { near |= mark[j] != unmarked; });
        rank_of[i] = near ? no_rank : rank(index(i), round + 1);
        if (!near) *undecided = 1;  // every thread writes the same
    }
};
struct number_roots {
    const char* mark;
    offset* is_root;
    __device__ void operator()(std::int64_t i) const { is_root[i] = mark[i] == root; }
};

struct ask_sample {
    graph_view g;
    index nodes;
    int* vote;
    __device__ void operator()(std::int64_t s) const {
        vote[s] = vote_for_two_steps(sampled_node(index(s), nodes),
                                     [&](index i, auto f) { g.for_each(i, f); });
    }
};

/// 1 where a node of the set still finds enough neighbours free, else 0.
struct find_roots {
    graph_view g;
    const std::uint64_t* state;
    const index* near;
    int least_free;
    offset* root;
    __device__ void operator()(std::int64_t i) const {
        int free = 0;
        if (state[i] == inside) g.for_each(i, [&](index j) { free += near[j] == isolated; });
        root[i] = state[i] == inside && free >= least_free;
    }
};
/// `number` counts the roots before each node; no two roots have a free neighbour in common.
struct gather_neighbours {
    graph_view g;
    const offset* number;
    index first;
    index* near;
    __device__ void operator()(std::int64_t i) const {
        if (number[i + 1] == number[i]) return;
        const index mine = first + index(number[i]);
        near[i] = mine;
        g.for_each(i, [&](index j) {
            if (near[j] == isolated) near[j] = mine;
        });
    }
};
/// The aggregate to which a node that is left has most edges, of equal ones the first.
struct join_most_common {
    graph_view g;
    const index* near;
    index* of;
    __device__ void operator()(std::int64_t i) const {
        index best = near[i];
        if (best == isolated) {
            int most = 0;
            g.for_each(i, [&](index j) {
                const index a = near[j];
                if (a == isolated || a == best) return;
                int edges = 0;
                g.for_each(i, [&](index other) { edges += near[other] == a; });
                if (edges > most || (edges == most && a < best)) most = edges, best = a;
            });
        }
        of[i] = best;
    }
};

class builder_on_gpu {
  public:
    builder_on_gpu(gpu on, const strong_graph<device>& g)
        : on_(on),
          n_(g.nodes()),
          g_{g.row_ptr, g.col_ind.data(), g.strong.data()},
          number_(on, std::size_t(n_) + 1),
          near_(on, std::size_t(n_)),
          undecided_(on, 1) {
        fill_bytes(on_, near_, 0xff);  // isolated
    }
    aggregation<device> build(int distance) {
        constexpr int worth_an_aggregate = 3;
        if (distance == 2) {
            find_wide_set();
            gather();
            join();
        } else {
            state_ = device_array<std::uint64_t>(on_, std::size_t(n_));
            least_ = device_array<std::uint64_t>(on_, std::size_t(n_));
            add(nullptr, 0);
            add(near_.data(), worth_an_aggregate);
        }
        join();
        return {count_, std::move(near_)};
    }

  private:
    void find_set(const index* among) {
        search s{g_, among, state_.data(), least_.data(), 0, undecided_.data()};
        launch_each(on_, n_, begin_search{s});
        for (bool more = n_ > 0; more; ++s.round) {
            fill_bytes(on_, undecided_, 0);
            if (s.round > 0) launch_each(on_, n_, next_priority{s});
            launch_each(on_, n_, find_least{s});
            launch_each(on_, n_, decide{s});
            more = read_back(on_, undecided_.data()) != 0;
        }
    }
    /// Its roots in number_.
    void find_wide_set() {
        device_array<std::uint32_t> rank_of(on_, static_cast<std::size_t>(n_)),
            least(on_, rank_of.size());
        device_array<char> mark(on_, rank_of.size());
        wide_search s{g_, rank_of.data(), least.data(), mark.data(), 0, undecided_.data()};
        launch_each(on_, n_, begin_wide_search{s});
        for (bool more = n_ > 0; more; ++s.round) {
            fill_bytes(on_, undecided_, 0);
            launch_each(on_, n_, find_least_rank{s});
            launch_each(on_, n_, mark_roots{s});
            launch_each(on_, n_, rank_what_is_left{s});
            more = read_back(on_, undecided_.data()) != 0;
        }
        fill_bytes(on_, number_, 0);
        launch_each(on_, n_, number_roots{mark.data(), number_.data()});
        synchronize(on_);  // before the marks go
    }
    void add(const index* among, int least_free) {
        find_set(among);
        fill_bytes(on_, number_, 0);
        launch_each(on_, n_,
                    find_roots{g_, state_.data(), near_.data(), least_free, number_.data()});
        gather();
    }
    /// The neighbours of the roots in number_.
    void gather() {
        sum_before(on_, number_.data(), number_.data(), n_ + 1);
        launch_each(on_, n_, gather_neighbours{g_, number_.data(), count_, near_.data()});
        count_ += index(read_back(on_, number_.data() + n_));
    }
    void join() {
        device_array<index> of(on_, static_cast<std::size_t>(n_));
        launch_each(on_, n_, join_most_common{g_, near_.data(), of.data()});
        synchronize(on_);  // before what it reads goes
        near_ = std::move(of);
    }

    gpu on_;
    std::int64_t n_;
    graph_view g_;
    device_array<std::uint64_t> state_, least_;
    device_array<offset> number_;
    device_array<index> near_;
    device_array<unsigned> undecided_;
    index count_ = 0;
};

}  // namespace

aggregation<device> aggregate(gpu on, const strong_graph<device>& g, int distance) {
    const device_guard guard(on);
    return builder_on_gpu(on, g).build(distance);
}

int suitable_distance(gpu on, const strong_graph<device>& g) {
    if (g.nodes() == 0) return 1;
    const device_guard guard(on);
    device_array<int> on_device(on, distance_sample);
    launch_each(
        on, distance_sample,
        ask_sample{{g.row_ptr, g.col_ind.data(), g.strong.data()}, g.nodes(), on_device.data()});
    int votes[distance_sample], sum = 0;
    copy_to_host(on, on_device.data(), votes, sizeof(votes));
    for (const int v : votes) sum += v;
    return sum > 0 ? 2 : 1;
}

}  // namespace nz
