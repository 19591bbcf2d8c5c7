#include "nonzero/solve/direct/forecast.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <numeric>
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

/// The columns below i in row i of the pattern of A + A^T in that order, for every i; some come
/// twice.
struct lower_pattern {
    template <class V>
    lower_pattern(const csr<V, host_view>& A, std::span<const index> order)
        : ptr(std::size_t(A.shape.rows) + 1, 0) {
        const auto place = places_in(order, std::size_t(A.shape.rows));
        const auto for_all = [&](auto f) {
            for (std::size_t i = 0; i < std::size_t(A.shape.rows); ++i)
                for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k) {
                    const index here = place[i], across = place[std::size_t(A.col_ind[k])];
                    if (here != across)
                        f(std::size_t(std::max(here, across)), std::min(here, across));
                }
        };
        for_all([&](std::size_t i, index) { ++ptr[i + 1]; });
        for (std::size_t i = 1; i < ptr.size(); ++i) ptr[i] += ptr[i - 1];
        col.resize(std::size_t(ptr.back()));
        std::vector<offset> next(ptr.begin(), ptr.end() - 1);
        for_all([&](std::size_t i, index j) { col[std::size_t(next[i]++)] = j; });
    }
    [[nodiscard]] std::span<const index> row(std::size_t i) const {
        return {col.data() + ptr[i], std::size_t(ptr[i + 1] - ptr[i])};
    }
    std::vector<offset> ptr;
    std::vector<index> col;
};

/// The parent of each node in the elimination tree; -1: a root.
std::vector<index> elimination_tree(const lower_pattern& pattern, std::size_t n) {
    std::vector<index> parent(n, -1), ancestor(n, -1);
    for (std::size_t i = 0; i < n; ++i)
        for (index j : pattern.row(i))
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
    const auto n = std::size_t(A.shape.rows);
    const lower_pattern pattern(A, order);
    const auto parent = elimination_tree(pattern, n);
    std::vector<std::int64_t> below(n, 0);  // entries below the diagonal of each column of L
    std::vector<index> seen(n, -1);
    factor_forecast f{.is_cholesky = is_cholesky};
    const std::int64_t factors = is_cholesky ? 1 : 2;
    f.entries = std::int64_t(n);
    for (std::size_t i = 0; i < n; ++i) {
        seen[i] = index(i);
        for (index j : pattern.row(i))
            for (; seen[std::size_t(j)] != index(i); j = parent[std::size_t(j)]) {
                seen[std::size_t(j)] = index(i);
                ++below[std::size_t(j)], f.entries += factors;
            }
        if (f.entries > most_entries) {
            f.is_complete = false;
            break;
        }
    }
    for (const auto b : below) f.operations += double(factors) * double(b) * double(b);
    set_costs<V>(f);
    return f;
}

#define NZ_INSTANTIATE(V)                                                               \
    template host_vector<index> elimination_order(const csr<V, host_view>&);            \
    template factor_forecast forecast(const csr<V, host_view>&, std::span<const index>, \
                                      std::int64_t, bool);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
