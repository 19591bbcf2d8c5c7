#include "nonzero/graph/reorder.hpp"

#include <algorithm>
#include <numeric>

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/graph/metis.hpp"
#include "nonzero/graph/orders.hpp"
#include "nonzero/matrix/ascending.hpp"

namespace nz {
namespace {

/// Breadth-first searches within components that are not numbered yet.
class level_search {
  public:
    explicit level_search(const adjacency& graph) : graph_(graph) {
        seen_.assign(std::size_t(graph.nodes()), 0);
    }

    /// A node of start's component that is about as far from some other one as any.
    index rim(index start) {
        index depth = search(start);
        for (;;) {
            const index candidate = lowest_of_last_level();
            const index reached = search(candidate);
            if (reached <= depth) return start;
            start = candidate, depth = reached;
        }
    }

  private:
    /// Levels that it takes to reach all from start; the last is kept.
    index search(index start) {
        ++round_;
        level_.assign(1, start);
        seen_[std::size_t(start)] = round_;
        for (index depth = 0;; ++depth) {
            next_.clear();
            for (const index i : level_)
                for (const index j : graph_.neighbours(i))
                    if (std::exchange(seen_[std::size_t(j)], round_) != round_) next_.push_back(j);
            if (next_.empty()) return depth;
            std::swap(level_, next_);
        }
    }
    [[nodiscard]] index lowest_of_last_level() const {
        return *std::min_element(level_.begin(), level_.end(), [&](index a, index b) {
            return std::pair(graph_.degree(a), a) < std::pair(graph_.degree(b), b);
        });
    }

    const adjacency& graph_;
    host_vector<std::int64_t> seen_;  ///< the last round that came by
    std::int64_t round_ = 0;
    std::vector<index> level_, next_;
};

void require_square(nz::shape shape) {
    if (shape.rows != shape.cols)
        throw argument_error("reorder: the matrix is " + std::to_string(shape.rows) + " x " +
                             std::to_string(shape.cols) + ", expected a square one");
}

ordering inverse_of(const ordering& order) {
    ordering place(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) place[std::size_t(order[k])] = index(k);
    return place;
}

}  // namespace

ordering reverse_cuthill_mckee(const adjacency& graph) {
    const auto n = std::size_t(graph.nodes());
    level_search search(graph);
    ordering order;
    order.reserve(n);
    std::vector<bool> numbered(n, false);
    const auto append = [&](index i) { order.push_back(i), numbered[std::size_t(i)] = true; };
    for (std::size_t i = 0; i < n; ++i) {
        if (numbered[i]) continue;
        std::size_t at = order.size();
        const std::size_t component = at;
        for (append(search.rim(index(i))); at < order.size(); ++at) {
            const auto before = std::ptrdiff_t(order.size());
            for (const index j : graph.neighbours(order[at]))
                if (!numbered[std::size_t(j)]) append(j);
            std::stable_sort(order.begin() + before, order.end(),
                             [&](index a, index b) { return graph.degree(a) < graph.degree(b); });
        }
        std::reverse(order.begin() + std::ptrdiff_t(component), order.end());
    }
    return order;
}

template <class V>
ordering reverse_cuthill_mckee(const csr<V, host_view>& A) {
    return reverse_cuthill_mckee(adjacency_of(A));
}

ordering metis_order(const adjacency& graph, index parts) {
    const auto part = metis_parts(graph, parts);
    ordering order(part.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](index a, index b) { return part[std::size_t(a)] < part[std::size_t(b)]; });
    return order;
}

void check_order(const ordering& order, index n) {
    if (order.size() != std::size_t(n))
        throw argument_error("an order of " + std::to_string(order.size()) + " rows, expected " +
                             std::to_string(n));
    std::vector<bool> seen(order.size(), false);
    for (const index i : order) {
        if (i < 0 || i >= n || seen[std::size_t(i)])
            throw argument_error("an order that has " + std::to_string(i) +
                                 " twice or beyond its end: no permutation");
        seen[std::size_t(i)] = true;
    }
}

template <class V>
csr<V, host> reordered(const csr<V, host_view>& any_A, const ordering& order) {
    require_square(any_A.shape);
    const ascending in_order(any_A);
    const csr<V, host_view>& A = in_order.view();
    check_order(order, A.shape.rows);
    const ordering place = inverse_of(order);
    const std::size_t n = order.size();
    host_vector<offset> first;
    first.assign(n + 1, 0);
    for (std::size_t k = 0; k < n; ++k) {
        const auto i = std::size_t(order[k]);
        first[k + 1] = first[k] + A.row_ptr[i + 1] - A.row_ptr[i];
    }
    host_vector<index> col(A.col_ind.size());
    host_vector<V> val(A.val.size());
    using entries = std::vector<std::pair<index, V>>;
    const auto take_row = [&](std::int64_t k, entries& row) {
        row.clear();
        const std::int64_t from = order[std::size_t(k)];
        for_each_entry(A, from, from + 1,
                       [&](index, index j, V v) { row.emplace_back(place[std::size_t(j)], v); });
        std::sort(row.begin(), row.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        auto to = std::size_t(first[std::size_t(k)]);
        for (const auto& [j, v] : row) col[to] = j, val[to++] = v;
    };
    parallel_for(
        thread_count({}), A.shape.rows, 512, [] { return entries(); }, take_row);
    return {A.shape, offset_vector(first), std::move(col), std::move(val)};
}

template <class V>
host_vector<V> reordered(std::span<const V> v, const ordering& order) {
    check_order(order, index(v.size()));
    host_vector<V> of(v.size());
    for (std::size_t k = 0; k < v.size(); ++k) of[k] = v[std::size_t(order[k])];
    return of;
}

template <class V>
host_vector<V> restored(std::span<const V> v, const ordering& order) {
    check_order(order, index(v.size()));
    return reordered(v, inverse_of(order));
}

template <class V>
nearness measure_nearness(const csr<V, host_view>& any_A, index blocks) {
    require_square(any_A.shape);
    if (blocks < 1) throw argument_error("reorder: blocks is not positive");
    const ascending in_order(any_A);
    const csr<V, host_view>& A = in_order.view();
    const std::int64_t n = A.shape.rows;
    nearness m;
    std::int64_t inside = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
        const range mine = share(n, blocks, b);
        for (std::int64_t i = mine.first; i < mine.last; ++i) {
            index first = index(i);
            for_each_entry(A, i, i + 1, [&](index, index j, V) {
                m.bandwidth = std::max(m.bandwidth, std::abs(std::int64_t(j) - i));
                first = std::min(first, j);
                inside += j >= mine.first && j < mine.last;
            });
            m.profile += i - first;
        }
    }
    if (!A.col_ind.empty()) m.in_blocks = double(inside) / double(A.col_ind.size());
    return m;
}

#define NZ_INSTANTIATE(V)                                                       \
    template ordering reverse_cuthill_mckee(const csr<V, host_view>&);          \
    template csr<V, host> reordered(const csr<V, host_view>&, const ordering&); \
    template host_vector<V> reordered(std::span<const V>, const ordering&);     \
    template host_vector<V> restored(std::span<const V>, const ordering&);      \
    template nearness measure_nearness(const csr<V, host_view>&, index);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
