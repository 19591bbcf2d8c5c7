#include "nonzero/matrix/symmetry.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/matrix/first_wrong_row.hpp"
#include "nonzero/matrix/mirror.hpp"

namespace nz {
namespace {

/// The value in row i and column j; 0 where none is stored.
template <class V>
V at(const csr<V, host_view>& A, std::size_t i, index j) {
    const auto first = A.col_ind.begin() + A.row_ptr[i],
               last = A.col_ind.begin() + A.row_ptr[i + 1];
    const auto found = std::lower_bound(first, last, j);
    return found == last || *found != j ? V(0) : A.val[std::size_t(found - A.col_ind.begin())];
}

/// The next entry of each row, as the columns before the diagonal are met in ascending order.
template <class V>
class facing_places {
  public:
    /// first: the first column that is met.
    facing_places(const csr<V, host_view>& A, index first)
        : A_(A), first_(first), next_(std::size_t(A.shape.rows), not_met) {}
    /// The value in row i and column j; null where the next entry of the row is another.
    const V* take(std::size_t i, index j) {
        std::int32_t& next = next_[i];
        const auto row = A_.col_ind.begin() + A_.row_ptr[i],
                   end = A_.col_ind.begin() + A_.row_ptr[i + 1];
        if (next == not_met) next = std::int32_t(std::lower_bound(row, end, first_) - row);
        if (row + next == end || row[next] != j) return nullptr;
        return &A_.val[std::size_t(A_.row_ptr[i] + next++)];
    }

  private:
    static constexpr std::int32_t not_met = -1;
    const csr<V, host_view>& A_;
    index first_;
    std::vector<std::int32_t> next_;
};

/// Whether each entry of a square A faces one that is stored and mirrors it. A thread takes the
/// entries behind the diagonal of its rows, one after the other: what they face is next in its row,
/// so that nothing is searched for.
template <class V, class Mirrors>
bool faces_its_image(const csr<V, host_view>& A, Mirrors mirrors) {
    constexpr int most_threads = 8;  // each has four bytes for each row
    const int threads = std::min(thread_count({}, std::ssize(A.val)), most_threads);
    std::atomic<bool> all = true;
    std::atomic<std::int64_t> more_before = 0;  // entries before the diagonal than behind it
    parallel(threads, [&](int t) {
        const range mine = share(A.shape.rows, threads, t);
        facing_places<V> facing(A, index(mine.first));
        std::int64_t more = 0;
        for (auto i = std::size_t(mine.first); i < std::size_t(mine.last) && all; ++i)
            for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k) {
                const auto j = std::size_t(A.col_ind[k]);
                if (j < i) {
                    ++more;
                    continue;
                }
                const V* const across = j == i ? &A.val[k] : facing.take(j, index(i));
                if (across == nullptr || !mirrors(i, j, A.val[k], *across))
                    return void(all = false);
                if (j > i) --more;
            }
        more_before += more;
    });
    return all && more_before == 0;
}

/// The first of find(row), of which each is an entry of that row or nothing. In parallel.
template <class Find>
auto first_found(index rows, Find find) {
    const auto row = first_wrong_row(rows, [&](index i) { return bool(find(std::size_t(i))); });
    return row < 0 ? std::nullopt : find(std::size_t(row));
}

std::string text(double v) { return fmt::format("{:.6g}", v); }
template <class R>
std::string text(std::complex<R> v) {
    return text(double(v.real())) + (v.imag() < 0 ? " - " : " + ") +
           text(std::abs(double(v.imag()))) + "i";
}

}  // namespace

template <class V>
host_vector<real<V>> largest_of_rows(const csr<V, host_view>& A) {
    host_vector<real<V>> largest(std::size_t(A.shape.rows), 0);
    parallel_for(thread_count({}, std::ssize(A.val)), A.shape.rows, 1024, [&](std::int64_t row) {
        const auto i = std::size_t(row);
        for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k) {
            const real<V> size = std::abs(A.val[k]);
            if (std::isfinite(size)) largest[i] = std::max(largest[i], size);
        }
    });
    return largest;
}

template <class V>
std::optional<facing_entries<V>> first_asymmetry(const ascending<V>& in_order, symmetry s,
                                                 double tolerance) {
    const csr<V, host_view>& A = in_order.view();
    const auto largest = largest_of_rows(A);
    const auto mirrors = [&](std::size_t i, std::size_t j, V here, V across) {
        return mirror_each_other(s, here, across, std::min(largest[i], largest[j]), tolerance);
    };
    if (faces_its_image(A, mirrors)) return std::nullopt;
    return first_found(A.shape.rows, [&](std::size_t i) -> std::optional<facing_entries<V>> {
        for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k) {
            const auto j = std::size_t(A.col_ind[k]);
            const V across = at(A, j, index(i));
            if (!mirrors(i, j, A.val[k], across))
                return facing_entries<V>{index(i), index(j), A.val[k], across};
        }
        return std::nullopt;
    });
}

template <class V>
std::optional<facing_entries<V>> first_not_finite(const ascending<V>& in_order) {
    const csr<V, host_view>& A = in_order.given();
    return first_found(A.shape.rows, [&](std::size_t i) -> std::optional<facing_entries<V>> {
        for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k)
            if (!is_finite(A.val[k]))
                return facing_entries<V>{index(i), A.col_ind[k], A.val[k], V(0)};
        return std::nullopt;
    });
}

template <class V>
std::string text_of_not_finite(const facing_entries<V>& found) {
    return fmt::format("A is not finite: row {}, column {} has {}", found.row, found.col,
                       text(found.here));
}

template <class V>
std::string text_of_asymmetry(const facing_entries<V>& found) {
    const auto& [row, col, here, across] = found;
    return fmt::format("A is not {}: row {}, column {} has {}, and row {}, column {} has {}",
                       is_complex<V> ? "hermitian" : "symmetric", row, col, text(here), col, row,
                       text(across));
}

std::string text_of_diagonal(double value, std::int64_t row) {
    return fmt::format("A is not positive definite: its diagonal is {:.6g} in row {}", value, row);
}

template <class V>
std::string why_not_finite(const ascending<V>& A) {
    const auto [rows, cols] = A.view().shape;
    if (rows != cols) return fmt::format("A is {} x {}, not square", rows, cols);
    const auto found = first_not_finite(A);
    return found ? text_of_not_finite(*found) : "";
}

template <class V>
std::string why_not_symmetric(const ascending<V>& A) {
    if (std::string why = why_not_finite(A); !why.empty()) return why;
    const auto found = first_asymmetry(A, self_adjoint<V>);
    return found ? text_of_asymmetry(*found) : "";
}

template <class V>
bool is_symmetric(const ascending<V>& A) {
    return why_not_symmetric(A).empty();
}

template <class V>
std::string why_not_definite(const ascending<V>& A, bool* is_symmetric) {
    if (is_symmetric != nullptr) *is_symmetric = false;
    if (std::string why = why_not_finite(A); !why.empty()) return why;
    const auto found = first_asymmetry(A, self_adjoint<V>);
    if (is_symmetric != nullptr) *is_symmetric = !found;
    const auto diagonal = diagonal_of(worth(cpu{}, std::ssize(A.view().val)), A.view());
    const auto row = first_wrong_row(
        A.view().shape.rows, [&](index i) { return !(std::real(diagonal[std::size_t(i)]) > 0); });
    if (row >= 0 && (!found || row <= found->row))
        return text_of_diagonal(double(std::real(diagonal[std::size_t(row)])), row);
    return found ? text_of_asymmetry(*found) : "";
}

#define NZ_INSTANTIATE(V)                                                                    \
    template host_vector<real<V>> largest_of_rows(const csr<V, host_view>&);                 \
    template std::optional<facing_entries<V>> first_asymmetry(const ascending<V>&, symmetry, \
                                                              double);                       \
    template std::optional<facing_entries<V>> first_not_finite(const ascending<V>&);         \
    template std::string text_of_not_finite(const facing_entries<V>&);                       \
    template std::string text_of_asymmetry(const facing_entries<V>&);                        \
    template std::string why_not_finite(const ascending<V>&);                                \
    template bool is_symmetric(const ascending<V>&);                                         \
    template std::string why_not_symmetric(const ascending<V>&);                             \
    template std::string why_not_definite(const ascending<V>&, bool*);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
