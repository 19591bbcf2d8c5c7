#include "nonzero/matrix/symmetry.hpp"

#include <fmt/core.h>

#include <algorithm>

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
    return first_found(A.shape.rows, [&](std::size_t i) -> std::optional<facing_entries<V>> {
        for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k) {
            const auto j = std::size_t(A.col_ind[k]);
            const V across = at(A, j, index(i));
            if (!mirror_each_other(s, A.val[k], across, std::min(largest[i], largest[j]),
                                   tolerance))
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
std::string why_not_definite(const ascending<V>& A) {
    if (std::string why = why_not_finite(A); !why.empty()) return why;
    const auto found = first_asymmetry(A, self_adjoint<V>);
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
    template std::string why_not_definite(const ascending<V>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
