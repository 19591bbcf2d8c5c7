#include "nonzero/solve/direct/forecast.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/solve/direct/factor_rates.hpp"

namespace nz {
namespace {

/// The place of each row and column in an order.
std::vector<index> places_in(std::span<const index> order, std::size_t n) {
    std::vector<index> place(n);
    if (order.empty()) std::iota(place.begin(), place.end(), 0);
    for (std::size_t k = 0; k < order.size(); ++k) place[std::size_t(order[k])] = index(k);
    return place;
}

/// The entries off the diagonal of the pattern of A + A^T in that order, each once or twice: for
/// every column those below the diagonal, or for every row those left of it.
struct half_pattern {
    template <class V>
    half_pattern(const csr<V, host_view>& A, std::span<const index> place, bool by_rows)
        : ptr(std::size_t(A.shape.rows) + 1, 0) {
        const auto for_all = [&](auto f) {
            for (std::size_t i = 0; i < std::size_t(A.shape.rows); ++i)
                for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k) {
                    const auto [low, high] =
                        std::minmax(place[i], place[std::size_t(A.col_ind[k])]);
                    if (low != high)
                        by_rows ? f(std::size_t(high), low) : f(std::size_t(low), high);
                }
        };
        for_all([&](std::size_t i, index) { ++ptr[i + 1]; });
        for (std::size_t i = 1; i < ptr.size(); ++i) ptr[i] += ptr[i - 1];
        others.resize(std::size_t(ptr.back()));
        std::vector<offset> next(ptr.begin(), ptr.end() - 1);
        for_all([&](std::size_t i, index j) { others[std::size_t(next[i]++)] = j; });
    }
    [[nodiscard]] std::span<const index> of(std::size_t i) const {
        return {others.data() + ptr[i], std::size_t(ptr[i + 1] - ptr[i])};
    }
    std::vector<offset> ptr;
    std::vector<index> others;
};

/// The parent of each node in the elimination tree; -1: a root. rows: left of the diagonal.
std::vector<index> elimination_tree(const half_pattern& rows, std::size_t n) {
    std::vector<index> parent(n, -1), ancestor(n, -1);
    for (std::size_t i = 0; i < n; ++i)
        for (index j : rows.of(i))
            while (j != index(i)) {
                index& up = ancestor[std::size_t(j)];
                const index above = up;
                up = index(i);  // shortens the path for those that come after
                if (above < 0) {
                    parent[std::size_t(j)] = index(i);
                    break;
                }
                j = above;
            }
    return parent;
}

/// The nodes of a forest, children before their parents and subtrees together. A parent has a
/// larger number than its children.
std::vector<index> postorder(std::span<const index> parent) {
    const std::size_t n = parent.size();
    std::vector<index> nodes(n, 1), order(n);  // nodes: of the subtree
    for (std::size_t j = 0; j < n; ++j)
        if (parent[j] >= 0) nodes[std::size_t(parent[j])] += nodes[j];
    std::vector<index> end(n);  // one behind the subtree's last place, which is the node's
    index left = index(n);
    for (std::size_t j = n; j-- > 0;) {
        index& behind = parent[j] < 0 ? left : end[std::size_t(parent[j])];
        order[std::size_t(behind) - 1] = index(j);
        end[j] = behind - 1;
        behind -= nodes[j];
    }
    return order;
}

/// The root of j's tree in a forest of ancestors, whose paths it shortens.
index root_of(std::vector<index>& ancestor, index j) {
    while (ancestor[std::size_t(j)] != j) {
        index& up = ancestor[std::size_t(j)];
        j = up = ancestor[std::size_t(up)];
    }
    return j;
}

/// Entries of each column of L, its diagonal with them. A row of L is a subtree of the elimination
/// tree whose leaves are entries of A; each leaf counts one, and the node where two paths meet that
/// would be counted twice counts one less. columns: below the diagonal.
std::vector<std::int64_t> column_counts(const half_pattern& columns,
                                        std::span<const index> parent) {
    const std::size_t n = parent.size();
    const auto order = postorder(parent);
    std::vector<index> first(n, -1);  // place of the first node of the subtree
    std::vector<std::int64_t> count(n, 0);
    for (std::size_t k = 0; k < n; ++k) {
        count[std::size_t(order[k])] = first[std::size_t(order[k])] < 0 ? 1 : 0;
        for (index j = order[k]; j >= 0 && first[std::size_t(j)] < 0; j = parent[std::size_t(j)])
            first[std::size_t(j)] = index(k);
    }
    std::vector<index> ancestor(n), last_leaf(n, -1), last_first(n, -1);  // of rows
    std::iota(ancestor.begin(), ancestor.end(), 0);
    for (const index node : order) {
        const auto j = std::size_t(node);
        for (const index row : columns.of(j)) {
            const auto i = std::size_t(row);
            if (first[j] <= last_first[i]) continue;  // no leaf: the last one is below it
            last_first[i] = first[j];
            ++count[j];
            const index before = std::exchange(last_leaf[i], node);
            if (before >= 0) --count[std::size_t(root_of(ancestor, before))];
        }
        if (parent[j] < 0) continue;
        --count[std::size_t(parent[j])];
        ancestor[j] = parent[j];
    }
    for (const index j : order)
        if (const index up = parent[std::size_t(j)]; up >= 0)
            count[std::size_t(up)] += count[std::size_t(j)];
    return count;
}

}  // namespace

template <class V>
host_vector<index> elimination_order(const csr<V, host_view>& A) {
    if (A.shape.rows == 0) return {};
    // The rows are the columns of A^T, whose order is the same: it is that of A + A^T.
    using pattern = Eigen::SparseMatrix<char, Eigen::ColMajor, index>;
    std::vector<index> ptr(std::size_t(A.shape.rows) + 1);
    for (std::size_t i = 0; i < ptr.size(); ++i) ptr[i] = index(A.row_ptr[i]);
    const std::vector<char> ones(A.val.size(), 1);
    const pattern P = Eigen::Map<const pattern>(A.shape.rows, A.shape.cols, index(ones.size()),
                                                ptr.data(), A.col_ind.data(), ones.data());
    Eigen::AMDOrdering<index>::PermutationType order;
    Eigen::AMDOrdering<index>()(P, order);
    const auto& all = order.indices();
    return {all.data(), all.data() + all.size()};
}

template <class V>
factor_forecast forecast(const csr<V, host_view>& A, std::span<const index> order,
                         std::int64_t most_entries, bool is_cholesky) {
    const auto place = places_in(order, std::size_t(A.shape.rows));
    const auto parent = elimination_tree(half_pattern(A, place, true), place.size());
    const std::int64_t factors = is_cholesky ? 1 : 2;
    factor_forecast f{.entries = A.shape.rows, .is_cholesky = is_cholesky};
    for (const auto count : column_counts(half_pattern(A, place, false), parent)) {
        const auto below = double(count - 1);
        f.entries += factors * (count - 1);
        f.operations += double(factors) * below * below;
    }
    f.is_complete = f.entries <= most_entries;
    set_costs<V>(f);
    return f;
}

#define NZ_INSTANTIATE(V)                                                               \
    template host_vector<index> elimination_order(const csr<V, host_view>&);            \
    template factor_forecast forecast(const csr<V, host_view>&, std::span<const index>, \
                                      std::int64_t, bool);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
