#include "nonzero/solve/symmetry.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <mutex>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"

namespace nz {
namespace {

std::string text(double v) {
    std::string s(32, '\0');
    s.resize(std::size_t(std::snprintf(s.data(), s.size(), "%.6g", v)));
    return s;
}
template <class R>
std::string text(std::complex<R> v) {
    return text(double(v.real())) + (v.imag() < 0 ? " - " : " + ") +
           text(std::abs(double(v.imag()))) + "i";
}

/// The value in row i and column j; 0 where none is stored.
template <class V>
V at(const csr<V, host_view>& A, std::size_t i, index j) {
    const auto first = A.col_ind.begin() + A.row_ptr[i],
               last = A.col_ind.begin() + A.row_ptr[i + 1];
    const auto found = std::lower_bound(first, last, j);
    return found == last || *found != j ? V(0) : A.val[std::size_t(found - A.col_ind.begin())];
}

/// Empty, or what is wrong with row i.
template <class V>
std::string fault_of_row(const csr<V, host_view>& A, std::size_t i, double tolerance) {
    const std::string row = std::to_string(i);
    const double d = double(std::real(at(A, i, index(i))));
    if (!(d > 0))
        return "A is not positive definite: its diagonal is " + text(d) + " in row " + row;
    for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k) {
        const V here = A.val[k], mirrored = at(A, std::size_t(A.col_ind[k]), index(i));
        const V partner = conjugated(transposition::conjugate_transpose, mirrored);
        if (std::abs(here - partner) <= tolerance) continue;
        const std::string col = std::to_string(A.col_ind[k]);
        return std::string("A is not ") + (is_complex<V> ? "hermitian" : "symmetric") + ": row " +
               row + ", column " + col + " has " + text(here) + ", and row " + col + ", column " +
               row + " has " + text(mirrored);
    }
    return {};
}

}  // namespace

template <class V>
std::string why_not_definite(const csr<V, host_view>& A) {
    if (A.shape.rows != A.shape.cols)
        return "A is " + std::to_string(A.shape.rows) + " x " + std::to_string(A.shape.cols) +
               ", not square";
    if (order_of(A) == row_order::any) return why_not_definite(view(canonical(A)));
    double largest = 0;
    for (const V& v : A.val) largest = std::max(largest, double(std::abs(v)));
    const double tolerance = largest * (std::is_same_v<real<V>, float> ? 1e-4 : symmetry_tolerance);
    std::atomic<std::int64_t> first = A.shape.rows;
    std::mutex one_at_a_time;
    parallel_for(thread_count({}, std::ssize(A.val)), A.shape.rows, 1024, [&](std::int64_t i) {
        if (i >= first || fault_of_row(A, std::size_t(i), tolerance).empty()) return;
        const std::lock_guard lock(one_at_a_time);
        first = std::min(first.load(), i);
    });
    return first < A.shape.rows ? fault_of_row(A, std::size_t(first), tolerance) : std::string();
}

template <class V>
bool is_symmetric(const csr<V, host_view>& A) {
    if (A.shape.rows != A.shape.cols) return false;
    if (order_of(A) == row_order::any) return is_symmetric(view(canonical(A)));
    double largest = 0;
    for (const V& v : A.val) largest = std::max(largest, double(std::abs(v)));
    const double tolerance = largest * (std::is_same_v<real<V>, float> ? 1e-4 : symmetry_tolerance);
    const auto row_is = [&](std::int64_t i) {
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k) {
            const V mirrored = at(A, std::size_t(A.col_ind[k]), index(i));
            const V partner = conjugated(transposition::conjugate_transpose, mirrored);
            if (!(std::abs(A.val[k] - partner) <= tolerance)) return false;
        }
        return true;
    };
    return parallel_reduce(thread_count({}, std::ssize(A.val)), A.shape.rows, true,
                           std::logical_and<>(), row_is);
}

#define NZ_INSTANTIATE(V)                                            \
    template std::string why_not_definite(const csr<V, host_view>&); \
    template bool is_symmetric(const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
