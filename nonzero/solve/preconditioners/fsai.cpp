#include "nonzero/solve/preconditioners/fsai.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/matrix/spgemm.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/solve/preconditioners/fill.hpp"
#include "nonzero/solve/preconditioners/first_row.hpp"
#include "nonzero/solve/preconditioners/incomplete.hpp"
#include "nonzero/solve/preconditioners/triangular/triangular.hpp"

namespace nz {
namespace {

/// Entries of row i up to the diagonal.
template <class V>
range up_to_diagonal(const csr<V, host_view>& A, std::size_t i) {
    const auto first = A.col_ind.begin() + A.row_ptr[i],
               last = A.col_ind.begin() + A.row_ptr[i + 1];
    return {A.row_ptr[i], std::upper_bound(first, last, index(i)) - A.col_ind.begin()};
}

/// The magnitudes of A, scaled to a diagonal of ones.
template <class V>
csr<real<V>, host> scaled_magnitudes(cpu on, const csr<V, host_view>& A) {
    const auto diagonal = diagonal_of(on, A);
    const auto root = [&](std::size_t i) { return std::sqrt(double(std::real(diagonal[i]))); };
    host_vector<offset> ptr(A.row_ptr.size());
    for (std::size_t i = 0; i < ptr.size(); ++i) ptr[i] = A.row_ptr[i];
    csr<real<V>, host> M{A.shape,
                         offset_vector(ptr),
                         {A.col_ind.begin(), A.col_ind.end()},
                         host_vector<real<V>>(A.val.size())};
    parallel_for(on.threads, A.shape.rows, [&](std::int64_t i) {
        for (auto k = std::size_t(ptr[std::size_t(i)]); k < std::size_t(ptr[std::size_t(i) + 1]);
             ++k)
            M.val[k] = real<V>(double(std::abs(A.val[k])) / root(std::size_t(i)) /
                               root(std::size_t(A.col_ind[k])));
    });
    return M;
}

/// The columns of G's row i: the diagonal, and the largest of `pattern` before it.
template <class R>
void choose_columns(const csr<R, host_view>& pattern, std::size_t i, std::size_t longest,
                    std::vector<std::pair<R, index>>& by_size, std::vector<index>& chosen) {
    by_size.clear(), chosen.clear();
    const range row = up_to_diagonal(pattern, i);
    for (std::int64_t k = row.first; k < row.last; ++k)
        if (const index j = pattern.col_ind[std::size_t(k)]; j < index(i))
            by_size.emplace_back(-pattern.val[std::size_t(k)], j);
    const std::size_t kept = std::min(longest - 1, by_size.size());
    std::nth_element(by_size.begin(), by_size.begin() + std::ptrdiff_t(kept), by_size.end());
    for (std::size_t k = 0; k < kept; ++k) chosen.push_back(by_size[k].second);
    std::ranges::sort(chosen);
    chosen.push_back(index(i));
}

/// Computes rows of G, for one thread.
template <class V>
class factor_row {
  public:
    explicit factor_row(const csr<V, host_view>& A) : A_(A) {}
    /// The values of G's last row on these columns; false where that part of A is not definite.
    bool operator()(std::span<const index> columns, std::span<V> g) {
        const std::size_t n = columns.size();
        dense_.assign(n * n, V(0));
        for (std::size_t p = 0; p < n; ++p) copy_row(columns.first(p + 1), dense_.data() + p * n);
        for (std::size_t p = 0; p < n; ++p)
            if (!eliminate(n, p)) return false;
        // The last row of the inverse of the factor, C: C^H g = the last column of the identity.
        std::ranges::fill(g, V(0));
        g[n - 1] = V(1);
        for (std::size_t q = n; q-- > 0;) {
            g[q] *= dense_[q * n + q];
            for (std::size_t p = 0; p < q; ++p) g[p] -= product(conjugate(dense_[q * n + p]), g[q]);
        }
        for (V& v : g) v = conjugate(v);
        return std::ranges::all_of(g, [](V v) { return std::isfinite(norm2(v)); });
    }

  private:
    static V conjugate(V v) { return conjugated(transposition::conjugate_transpose, v); }
    /// A's row of the last of the columns, on these.
    void copy_row(std::span<const index> columns, V* to) const {
        const range row = up_to_diagonal(A_, std::size_t(columns.back()));
        const auto first = A_.col_ind.begin() + row.first, last = A_.col_ind.begin() + row.last;
        auto k = std::size_t(std::lower_bound(first, last, columns.front()) - A_.col_ind.begin());
        for (std::size_t q = 0; q < columns.size() && k < std::size_t(row.last);) {
            const index j = A_.col_ind[k];
            if (j == columns[q]) to[q] = A_.val[k];
            if (j <= columns[q]) ++k;
            if (j >= columns[q]) ++q;
        }
    }
    /// Row p of Cholesky's factor, 1 over its diagonal in the diagonal's place.
    bool eliminate(std::size_t n, std::size_t p) {
        V* const row = dense_.data() + p * n;
        const double a = double(std::real(row[p]));
        double pivot = a;
        for (std::size_t q = 0; q < p; ++q) {
            const V* const before = dense_.data() + q * n;
            for (std::size_t r = 0; r < q; ++r) row[q] -= product(row[r], conjugate(before[r]));
            row[q] *= before[q];
            pivot -= norm2(row[q]);
        }
        if (!(pivot > double(std::numeric_limits<real<V>>::epsilon()) * a)) return false;
        row[p] = V(real<V>(1 / std::sqrt(pivot)));
        return true;
    }

    const csr<V, host_view>& A_;
    std::vector<V> dense_;
};

template <class V>
void check_fsai(const ascending<V>& A, const incomplete_options& o) {
    if (std::string why = why_not_definite(A); !why.empty()) throw argument_error("fsai: " + why);
    if (o.level < 0 || o.level > 1)
        throw argument_error(fmt::format("fsai: level is {}, expected 0 or 1", o.level));
    if (o.longest_row < 1 || o.longest_row > 1000)
        throw argument_error(
            fmt::format("fsai: longest_row is {}, expected 1 to 1000", o.longest_row));
}

/// The row pointers of G.
template <class V>
host_vector<offset> row_starts(const csr<V, host_view>& pattern, index longest) {
    host_vector<offset> ptr(pattern.row_ptr.size());
    ptr[0] = 0;
    for (std::size_t i = 0; i + 1 < ptr.size(); ++i) {
        const range row = up_to_diagonal(pattern, i);
        const bool has_diagonal =
            row.last > row.first && pattern.col_ind[std::size_t(row.last) - 1] == index(i);
        ptr[i + 1] = ptr[i] + std::min<offset>(row.last - row.first + !has_diagonal, longest);
    }
    return ptr;
}

}  // namespace

template <class V>
csr<V, host> fsai_factor(cpu on, const ascending<V>& in_order, const incomplete_options& o,
                         index first_row) {
    check_fsai(in_order, o);
    const auto whole = in_whole_nodes(on, in_order, o.block, first_row);
    const csr<V, host_view>& A = whole.view();
    const cpu here = worth(on, std::ssize(A.val));
    auto pattern = scaled_magnitudes(here, A);
    if (o.level == 1) pattern = spgemm(here, view(pattern), view(pattern));
    const auto ptr = row_starts(view(pattern), o.longest_row);
    csr<V, host> G{A.shape, offset_vector(ptr), host_vector<index>(std::size_t(ptr.back())),
                   host_vector<V>(std::size_t(ptr.back()))};
    struct scratch {
        factor_row<V> compute;
        std::vector<std::pair<real<V>, index>> by_size = {};
        std::vector<index> columns = {};
    };
    first_row_noted indefinite;
    const auto row = [&](std::int64_t i, scratch& mine) {
        choose_columns(view(pattern), std::size_t(i), std::size_t(o.longest_row), mine.by_size,
                       mine.columns);
        const offset at = ptr[std::size_t(i)];
        std::ranges::copy(mine.columns, G.col_ind.begin() + at);
        if (!mine.compute(mine.columns, {G.val.data() + at, mine.columns.size()}))
            indefinite.note(i);
    };
    parallel_for(
        here.threads, A.shape.rows, 64, [&] { return scratch{factor_row<V>(A)}; }, row);
    if (indefinite.row() >= 0)
        throw argument_error(
            fmt::format("fsai: A is not positive definite: seen in row {} (counted from 0)",
                        first_row + indefinite.row()));
    return G;
}

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> fsai(B on, const ascending<V>& A,
                                            const incomplete_options& o, index first_row) {
    auto G = fsai_factor(helpers(on), A, o, first_row);
    auto GH = adjoint(helpers(on), G);
    return operator_of_two<V, B>(on, std::move(G), std::move(GH));
}

#define NZ_INSTANTIATE_ON(V, B)                                                  \
    template std::unique_ptr<linear_operator<V, B>> fsai(B, const ascending<V>&, \
                                                         const incomplete_options&, index);
#define NZ_INSTANTIATE(V)                                                                          \
    template csr<V, host> fsai_factor(cpu, const ascending<V>&, const incomplete_options&, index); \
    NZ_INSTANTIATE_ON(V, cpu) NZ_INSTANTIATE_ON(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
