#include "nonzero/solve/preconditioners/fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "nonzero/core/error.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/matrix/transpose.hpp"

namespace nz {
namespace {

/// Rows a thread takes at a time.
constexpr std::int64_t run_of_rows = 256;

/// Breadth first, for one thread.
template <class V>
class fill_search {
  public:
    fill_search(const csr<V, host_view>& A, int level)
        : A_(A), level_(level), met_by_(std::size_t(A.shape.rows), -1) {}
    /// The columns, in any order.
    std::vector<index>& operator()(index i) {
        found_.clear(), wave_.assign(1, i), met_by_[std::size_t(i)] = i;
        for (int length = 0; length <= level_ && !wave_.empty(); ++length) {
            next_.clear();
            for (const index h : wave_) expand(i, std::size_t(h));
            wave_.swap(next_);
        }
        return found_;
    }

  private:
    void expand(index i, std::size_t h) {
        for (auto k = std::size_t(A_.row_ptr[h]); k < std::size_t(A_.row_ptr[h + 1]); ++k) {
            const index j = A_.col_ind[k];
            if (met_by_[std::size_t(j)] == i) continue;
            met_by_[std::size_t(j)] = i;
            (j > i ? found_ : next_).push_back(j);
        }
    }

    const csr<V, host_view>& A_;
    int level_;
    std::vector<index> met_by_;  ///< the last row that has met a column
    std::vector<index> found_, wave_, next_;
};

/// Running sums, from 0: where each row begins.
host_vector<offset> starts_of(const host_vector<offset>& lengths) {
    host_vector<offset> ptr(lengths.size() + 1);
    ptr[0] = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) ptr[i + 1] = ptr[i] + lengths[i];
    return ptr;
}

bool are_equal(offset_span a, offset_span b) {
    for (std::size_t k = 0; k < a.size(); ++k)
        if (a[k] != b[k]) return false;
    return a.size() == b.size();
}

/// The columns of a matrix's nodes, for one thread.
template <class V>
class node_columns {
  public:
    node_columns(const csr<V, host_view>& A, index block, index first_row)
        : A_(A), block_(block), before_(first_row % block) {}
    [[nodiscard]] index count() const { return (before_ + A_.shape.rows + block_ - 1) / block_; }
    /// A node's unknowns that are A's.
    [[nodiscard]] range unknowns(index node) const {
        return {std::max<std::int64_t>(std::int64_t(node) * block_ - before_, 0),
                std::min<std::int64_t>((std::int64_t(node) + 1) * block_ - before_, A_.shape.rows)};
    }
    /// All columns of the nodes that this one is coupled with, ascending.
    const std::vector<index>& operator()(index node) {
        const range rows = unknowns(node);
        nodes_.clear(), columns_.clear();
        for (auto k = A_.row_ptr[std::size_t(rows.first)]; k < A_.row_ptr[std::size_t(rows.last)];
             ++k)
            nodes_.push_back((before_ + A_.col_ind[std::size_t(k)]) / block_);
        std::ranges::sort(nodes_);
        nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
        for (const index n : nodes_) {
            const range cols = unknowns(n);
            for (std::int64_t j = cols.first; j < cols.last; ++j) columns_.push_back(index(j));
        }
        return columns_;
    }

  private:
    const csr<V, host_view>& A_;
    index block_, before_;  ///< before_: unknowns of the first node that are not A's
    std::vector<index> nodes_, columns_;
};

/// The columns that a row has before its diagonal and behind it.
struct row_sides {
    std::span<const index> before, behind;
};

/// A's own columns, for level 0.
template <class V>
row_sides sides_of(const csr<V, host_view>& A, std::size_t i) {
    const auto row =
        A.col_ind.subspan(std::size_t(A.row_ptr[i]), std::size_t(A.row_ptr[i + 1] - A.row_ptr[i]));
    const auto at = std::size_t(std::ranges::lower_bound(row, index(i)) - row.begin());
    const bool has_diagonal = at < row.size() && row[at] == index(i);
    return {row.first(at), row.subspan(at + (has_diagonal ? 1 : 0))};
}

/// A's values of a row on columns that include its own, and zeros.
template <class V>
void fill_values(const csr<V, host_view>& A, std::size_t i, std::span<const index> col,
                 std::span<V> val) {
    std::ranges::fill(val, V(0));
    std::size_t at = 0;
    for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k) {
        while (col[at] < A.col_ind[k]) ++at;
        val[at] = A.val[k];
    }
}

/// One row of a factor's pattern, with A's values in it.
template <class V>
void fill_row(const csr<V, host_view>& A, std::size_t i, const row_sides& sides,
              std::span<index> col, std::span<V> val) {
    std::ranges::copy(sides.before, col.begin());
    col[sides.before.size()] = index(i);
    std::ranges::copy(sides.behind, col.begin() + std::ptrdiff_t(sides.before.size()) + 1);
    fill_values<V>(A, i, col, val);
}

/// sides(i): the columns of row i, which include A's.
template <class V, class Sides>
filled_rows<V> filled_by(cpu on, const csr<V, host_view>& A, const Sides& sides) {
    const std::int64_t n = A.shape.rows;
    const int threads = thread_count(on, n + std::ssize(A.val));
    host_vector<offset> lengths(A.row_ptr.size() - 1);
    parallel_for(threads, n, [&](std::int64_t i) {
        const row_sides row = sides(std::size_t(i));
        lengths[std::size_t(i)] = offset(row.before.size() + 1 + row.behind.size());
    });
    filled_rows<V> F{{A.shape, {}, {}, {}}, starts_of(lengths), std::move(lengths)};
    F.rows.row_ptr = offset_vector(F.ptr);
    F.rows.col_ind.resize(std::size_t(F.ptr.back())), F.rows.val.resize(F.rows.col_ind.size());
    parallel_for(threads, n, [&](std::int64_t row) {
        const auto i = std::size_t(row), first = std::size_t(F.ptr[i]);
        const std::size_t length = std::size_t(F.ptr[i + 1]) - first;
        const row_sides columns = sides(i);
        F.diagonal[i] = offset(first + columns.before.size());
        fill_row<V>(A, i, columns, {F.rows.col_ind.data() + first, length},
                    {F.rows.val.data() + first, length});
    });
    return F;
}

/// The entries of a lower factor below the diagonal: by rows, from those of the transpose, which
/// are `upper` where the pattern is its own mirror image.
template <class V>
csr<V, host> lower_fill(cpu on, const csr<V, host_view>& A, const csr<V, host>& upper, int level) {
    const csr<V, host> At = transposed(on, A);
    const bool mirrored =
        std::ranges::equal(At.col_ind, A.col_ind) && are_equal(At.row_ptr, A.row_ptr);
    return transposed(on, view(mirrored ? upper : upper_fill(on, view(At), level)));
}

}  // namespace

template <class V>
ascending<V> in_whole_nodes(cpu on, const ascending<V>& in_order, index block, index first_row) {
    if (block < 1 || block > 64)
        throw argument_error(fmt::format("block is {}, expected 1 to 64", block));
    if (block == 1) return in_order;
    const csr<V, host_view>& A = in_order.view();
    const auto make = [&] { return node_columns<V>(A, block, first_row); };
    const index nodes = make().count();
    const int threads = thread_count(on, A.shape.rows + std::ssize(A.val));
    host_vector<offset> lengths(A.row_ptr.size() - 1);
    parallel_for(threads, nodes, run_of_rows, make, [&](std::int64_t node, node_columns<V>& of) {
        const range rows = of.unknowns(index(node));
        const offset length = std::ssize(of(index(node)));
        for (auto i = rows.first; i < rows.last; ++i) lengths[std::size_t(i)] = length;
    });
    const auto ptr = starts_of(lengths);
    csr<V, host> whole{A.shape, offset_vector(ptr), host_vector<index>(std::size_t(ptr.back())),
                       host_vector<V>(std::size_t(ptr.back()))};
    parallel_for(threads, nodes, run_of_rows, make, [&](std::int64_t node, node_columns<V>& of) {
        const range rows = of.unknowns(index(node));
        const std::span<const index> columns = of(index(node));
        for (auto i = rows.first; i < rows.last; ++i) {
            const auto first = std::size_t(ptr[std::size_t(i)]);
            fill_values(A, std::size_t(i), columns, {whole.val.data() + first, columns.size()});
            std::ranges::copy(columns, whole.col_ind.begin() + std::ptrdiff_t(first));
        }
    });
    return ascending<V>(std::move(whole));
}

template <class V>
csr<V, host> upper_fill(cpu on, const csr<V, host_view>& A, int level) {
    const std::int64_t n = A.shape.rows;
    const int threads = thread_count(on, n + std::ssize(A.val));
    const auto make = [&] { return fill_search<V>(A, level); };
    host_vector<offset> lengths(A.row_ptr.size() - 1);
    parallel_for(threads, n, run_of_rows, make, [&](std::int64_t i, fill_search<V>& search) {
        lengths[std::size_t(i)] = std::ssize(search(index(i)));
    });
    const auto ptr = starts_of(lengths);
    csr<V, host> U{A.shape, offset_vector(ptr), {}, {}};
    U.col_ind.resize(std::size_t(ptr.back())), U.val.assign(U.col_ind.size(), V(0));
    parallel_for(threads, n, run_of_rows, make, [&](std::int64_t i, fill_search<V>& search) {
        auto& found = search(index(i));
        std::ranges::sort(found);
        std::ranges::copy(found, U.col_ind.begin() + ptr[std::size_t(i)]);
    });
    return U;
}

template <class V>
filled_rows<V> filled(cpu on, const ascending<V>& in_order, int level) {
    const csr<V, host_view>& A = in_order.view();
    if (level == 0) return filled_by(on, A, [&](std::size_t i) { return sides_of(A, i); });
    const auto upper = upper_fill(on, A, level);
    const auto lower = lower_fill(on, A, upper, level);
    const auto columns = [](const csr<V, host>& M, std::size_t i) {
        return std::span(M.col_ind).subspan(std::size_t(M.row_ptr[i]),
                                            std::size_t(M.row_ptr[i + 1] - M.row_ptr[i]));
    };
    return filled_by(on, A, [&](std::size_t i) {
        return row_sides{columns(lower, i), columns(upper, i)};
    });
}

namespace {

/// length(i) entries of each row; entry(i, k): where the k-th of them is in F.
template <class V, class Length, class Entry>
csr<V, host> parts_of_rows(cpu on, const filled_rows<V>& F, const Length& length,
                           const Entry& entry) {
    const std::size_t n = F.diagonal.size();
    host_vector<offset> ptr(n + 1);
    ptr[0] = 0;
    for (std::size_t i = 0; i < n; ++i) ptr[i + 1] = ptr[i] + length(i);
    csr<V, host> M{F.rows.shape, offset_vector(ptr), host_vector<index>(std::size_t(ptr[n])),
                   host_vector<V>(std::size_t(ptr[n]))};
    parallel_for(thread_count(on, ptr[n]), std::int64_t(n), [&](std::int64_t row) {
        const auto i = std::size_t(row);
        for (offset k = ptr[i]; k < ptr[i + 1]; ++k) {
            const auto from = std::size_t(entry(i, k - ptr[i]));
            M.col_ind[std::size_t(k)] = F.rows.col_ind[from];
            M.val[std::size_t(k)] = F.rows.val[from];
        }
    });
    return M;
}

}  // namespace

template <class V>
csr<V, host> before_diagonal(cpu on, const filled_rows<V>& F) {
    return parts_of_rows(
        on, F, [&](std::size_t i) { return F.diagonal[i] - F.ptr[i]; },
        [&](std::size_t i, offset k) { return F.ptr[i] + k; });
}

template <class V>
csr<V, host> behind_diagonal(cpu on, const filled_rows<V>& F) {
    return parts_of_rows(
        on, F, [&](std::size_t i) { return F.ptr[i + 1] - F.diagonal[i] - 1; },
        [&](std::size_t i, offset k) { return F.ptr[i + 1] - 1 - k; });
}

#define NZ_INSTANTIATE(V)                                                         \
    template ascending<V> in_whole_nodes(cpu, const ascending<V>&, index, index); \
    template csr<V, host> upper_fill(cpu, const csr<V, host_view>&, int);         \
    template filled_rows<V> filled(cpu, const ascending<V>&, int);                \
    template csr<V, host> before_diagonal(cpu, const filled_rows<V>&);            \
    template csr<V, host> behind_diagonal(cpu, const filled_rows<V>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
