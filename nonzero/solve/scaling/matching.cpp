#include "nonzero/solve/scaling/matching.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <vector>

namespace nz {
namespace {

constexpr double far = std::numeric_limits<double>::infinity();

/// The search for the cheapest perfect matching, where entry (i, j) costs what its logarithm lacks
/// to the largest in its row. No reduced cost, cost - of_row[i] - of_col[j], is negative, and that
/// of a match is 0.
class assignment {
  public:
    /// sizes: A's log2_magnitudes.
    template <class V>
    assignment(const csr<V, host_view>& A, index first_row, host_vector<double> sizes)
        : n_(A.shape.rows),
          ptr_(A.row_ptr),
          col_(A.col_ind),
          first_row_(first_row),
          cost_(std::move(sizes)),
          largest_(std::size_t(n_), 0.0),
          of_row_(std::size_t(n_), 0.0),
          of_col_(std::size_t(n_), far),
          row_of_(std::size_t(n_), -1),
          col_of_(std::size_t(n_), -1),
          distance_(std::size_t(n_), far),
          before_(std::size_t(n_), -1),
          is_final_(std::size_t(n_), false) {
        for (index i = 0; i < n_; ++i) set_costs(i);
        for (double& v : of_col_)
            if (v == far) v = 0;
    }
    matching run() {
        for (index i = 0; i < n_; ++i) match_for_nothing(i);
        for (index i = 0; i < n_; ++i)
            if (col_of_[std::size_t(i)] < 0) augment(i);
        return result();
    }

  private:
    [[nodiscard]] std::size_t first(index i) const { return std::size_t(ptr_[std::size_t(i)]); }
    [[nodiscard]] std::size_t last(index i) const { return std::size_t(ptr_[std::size_t(i) + 1]); }
    [[nodiscard]] double reduced(index i, std::size_t k) const {
        return cost_[k] - of_row_[std::size_t(i)] - of_col_[std::size_t(col_[k])];
    }

    void set_costs(index i) {
        double& most = largest_[std::size_t(i)] = -far;
        for (auto k = first(i); k < last(i); ++k) most = std::max(most, cost_[k]);
        if (most == -far) most = 0;
        for (auto k = first(i); k < last(i); ++k) {
            cost_[k] = most - cost_[k];  // infinite where the entry is zero
            double& least = of_col_[std::size_t(col_[k])];
            least = std::min(least, cost_[k]);
        }
    }

    /// Takes a column at no cost, its own or, if its row has another such one, a neighbour's.
    void match_for_nothing(index i) {
        double least = far;
        for (auto k = first(i); k < last(i); ++k)
            least = std::min(least, cost_[k] - of_col_[std::size_t(col_[k])]);
        if (least == far) return;
        of_row_[std::size_t(i)] = least;
        for (auto k = first(i); k < last(i); ++k)
            if (reduced(i, k) == 0 && row_of_[std::size_t(col_[k])] < 0) return pair(i, col_[k]);
        for (auto k = first(i); k < last(i); ++k) {
            if (reduced(i, k) != 0) continue;
            const index j = col_[k], other = row_of_[std::size_t(j)];
            for (auto l = first(other); l < last(other); ++l)
                if (reduced(other, l) == 0 && row_of_[std::size_t(col_[l])] < 0) {
                    pair(other, col_[l]);
                    return pair(i, j);
                }
        }
    }
    void pair(index i, index j) { row_of_[std::size_t(j)] = i, col_of_[std::size_t(i)] = j; }

    /// Matches row i along the shortest path from it to a column that has no row.
    void augment(index start) {
        index end = -1;
        const double length = search(start, end);
        if (end >= 0) {
            of_row_[std::size_t(start)] += length;
            for (const index j : reached_)
                if (is_final_[std::size_t(j)]) {
                    const double less = length - distance_[std::size_t(j)];
                    of_row_[std::size_t(row_of_[std::size_t(j)])] += less;
                    of_col_[std::size_t(j)] -= less;
                }
            for (index j = end, i = -1; i != start;) {
                i = before_[std::size_t(j)];
                const index next = col_of_[std::size_t(i)];
                pair(i, j);
                j = next;
            }
        }
        for (const index j : reached_)
            distance_[std::size_t(j)] = far, is_final_[std::size_t(j)] = false;
        reached_.clear();
    }

    /// Dijkstra's algorithm over columns. The length of the path, and the column where it ends.
    double search(index start, index& end) {
        using place = std::pair<double, index>;
        std::priority_queue<place, std::vector<place>, std::greater<>> near;
        // Columns as near as the last one: many, as a match costs nothing. They need no queue.
        std::vector<index> nearest;
        double shortest = far, base = 0;
        for (index i = start;;) {
            for (auto k = first(i); k < last(i) && shortest > base; ++k) {
                const index j = col_[k];
                const double d = base + std::max(0.0, reduced(i, k));
                if (d >= shortest || d >= distance_[std::size_t(j)]) continue;
                if (distance_[std::size_t(j)] == far) reached_.push_back(j);
                distance_[std::size_t(j)] = d, before_[std::size_t(j)] = i;
                if (row_of_[std::size_t(j)] < 0)
                    shortest = d, end = j;
                else if (d == base)
                    nearest.push_back(j);
                else
                    near.emplace(d, j);
            }
            if (shortest == base) return shortest;
            if (nearest.empty()) {
                while (!near.empty() && is_final_[std::size_t(near.top().second)]) near.pop();
                if (near.empty() || near.top().first >= shortest) return shortest;
                nearest.push_back(near.top().second);
                base = near.top().first;
                near.pop();
            }
            const index j = nearest.back();
            nearest.pop_back();
            is_final_[std::size_t(j)] = true;
            i = row_of_[std::size_t(j)];
        }
    }

    [[nodiscard]] matching result() const {
        matching m{row_of_, {host_vector<int>(std::size_t(n_)), host_vector<int>(std::size_t(n_))}};
        for (index i = n_; i-- > 0;) {
            const auto at = std::size_t(i);
            m.scaling.rows[at] = int(std::lround(of_row_[at] - largest_[at]));
            m.scaling.cols[at] = int(std::lround(of_col_[at]));
            if (col_of_[at] < 0) m.row = first_row_ + i;
            if (row_of_[at] < 0) m.col = first_row_ + i;
        }
        return m;
    }

    index n_;
    array<offset, host_view> ptr_;
    std::span<const index> col_;
    index first_row_;
    host_vector<double> cost_, largest_;  ///< largest_: log2 of each row's
    host_vector<double> of_row_, of_col_;
    host_vector<index> row_of_, col_of_;
    host_vector<double> distance_;  ///< of columns, in one search; infinite between two
    host_vector<index> before_;     ///< the row from which each was reached
    std::vector<bool> is_final_;
    std::vector<index> reached_;
};

}  // namespace

template <class V>
matching match(const csr<V, host_view>& A, index first_row) {
    if (A.shape.rows != A.shape.cols)
        throw argument_error("match: A is " + std::to_string(A.shape.rows) + " x " +
                             std::to_string(A.shape.cols) + ", expected a square matrix");
    return assignment(A, first_row, log2_magnitudes(A, first_row)).run();
}

template <class V>
matching match_where_needed(const csr<V, host_view>& A, index first_row) {
    if (A.shape.rows != A.shape.cols) return match(A, first_row);  // which refuses it
    constexpr double least = 0x1p-7;
    constexpr int farthest = 40;
    const auto n = std::size_t(A.shape.rows);
    auto sizes = log2_magnitudes(A, first_row);
    matching as_it_is{host_vector<index>(n), equilibration(A, sizes)};
    for (std::size_t i = 0; i < n; ++i) {
        double size = 0;
        for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k)
            if (std::size_t(A.col_ind[k]) == i)
                size = std::abs(times_power_of_2(
                    A.val[k], as_it_is.scaling.rows[i] + as_it_is.scaling.cols[i]));
        if (size >= least) {
            as_it_is.row_of[i] = index(i);
            continue;
        }
        matching other = assignment(A, first_row, std::move(sizes)).run();
        const auto is_near = [](int a, int b) { return std::abs(a - b) <= farthest; };
        const auto& [rows, cols] = as_it_is.scaling;
        if (!std::ranges::equal(other.scaling.rows, rows, is_near) ||
            !std::ranges::equal(other.scaling.cols, cols, is_near))
            other.scaling = as_it_is.scaling;
        return other;
    }
    return as_it_is;
}

void require_perfect(const matching& m) {
    if (m.is_perfect()) return;
    throw argument_error(
        "A is structurally singular: no choice of an entry for each row has one "
        "for row " +
        std::to_string(m.row) + " and for column " + std::to_string(m.col) + " (counted from 0)");
}

rearrangement onto_diagonal(const matching& m, std::span<const index> order) {
    require_perfect(m);
    const std::size_t n = m.row_of.size();
    rearrangement r;
    for (auto* const v : {&r.rows, &r.cols}) v->resize(n);
    for (auto* const v : {&r.row_powers, &r.col_powers}) v->resize(n);
    for (std::size_t k = 0; k < n; ++k) {
        const index col = order.empty() ? index(k) : order[k], row = m.row_of[std::size_t(col)];
        r.rows[k] = row, r.cols[k] = col;
        r.row_powers[k] = m.scaling.rows[std::size_t(row)];
        r.col_powers[k] = m.scaling.cols[std::size_t(col)];
    }
    return r;
}

template <class W, class V>
csr<W, host> rearranged(const csr<V, host_view>& A, const rearrangement& to) {
    const std::size_t n = to.rows.size();
    host_vector<index> place(n);  // of each column
    for (std::size_t l = 0; l < n; ++l) place[std::size_t(to.cols[l])] = index(l);
    csr<W, host> M{A.shape, {}, host_vector<index>(A.val.size()), host_vector<W>(A.val.size())};
    host_vector<offset> ptr(n + 1, 0);
    std::vector<std::pair<index, W>> row;
    for (std::size_t k = 0; k < n; ++k) {
        const auto i = std::size_t(to.rows[k]);
        row.clear();
        for (auto at = std::size_t(A.row_ptr[i]); at < std::size_t(A.row_ptr[i + 1]); ++at) {
            const index l = place[std::size_t(A.col_ind[at])];
            row.emplace_back(l, times_power_of_2(W(A.val[at]),
                                                 to.row_powers[k] + to.col_powers[std::size_t(l)]));
        }
        if (!std::ranges::is_sorted(row, {}, &std::pair<index, W>::first))
            std::ranges::sort(row, {}, &std::pair<index, W>::first);
        ptr[k + 1] = ptr[k];
        for (const auto& [l, v] : row) {
            const auto at = std::size_t(ptr[k + 1]++);
            M.col_ind[at] = l, M.val[at] = v;
        }
    }
    M.row_ptr = offset_vector(ptr);
    return M;
}

#define NZ_INSTANTIATE(V)                                                  \
    template matching match(const csr<V, host_view>&, index);              \
    template matching match_where_needed(const csr<V, host_view>&, index); \
    template csr<V, host> rearranged<V>(const csr<V, host_view>&, const rearrangement&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)
template csr<double, host> rearranged<double>(const csr<float, host_view>&, const rearrangement&);
template csr<std::complex<double>, host> rearranged<std::complex<double>>(
    const csr<std::complex<float>, host_view>&, const rearrangement&);

}  // namespace nz
