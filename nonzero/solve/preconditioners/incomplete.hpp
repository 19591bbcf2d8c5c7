// The factors of ilu, ic, ict and fsai, and spai's inverse, before anything is solved with them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "nonzero/solve/preconditioners/fsai.hpp"
#include "nonzero/solve/preconditioners/ic.hpp"
#include "nonzero/solve/preconditioners/ict.hpp"
#include "nonzero/solve/preconditioners/ilu.hpp"
#include "nonzero/solve/preconditioners/spai.hpp"
#include "nonzero/solve/preconditioners/triangular/triangular.hpp"

namespace nz {

/// L with ones on its diagonal, and U.
template <class V>
struct incomplete_lu {
    triangle<V> lower, upper;
};
/// A = L U on the pattern of both. Throws as ilu.
template <class V>
incomplete_lu<V> ilu_factors(cpu on, const ascending<V>& A, const incomplete_options&,
                             index first_row, factor_report&);

/// Throws the argument_error of the preconditioner `name` that a row is to blame for; -1: none is.
inline void refuse_row(const char* name, std::int64_t row, index first_row, const char* why) {
    if (row >= 0)
        throw argument_error(
            fmt::format("{}: {} in row {} (counted from 0)", name, why, first_row + row));
}

/// The least part of A's diagonal, of those tried, that must be added for factor(part) to find a
/// factor: to return -1 and no row. Throws argument_error where none is enough.
template <class F>
double least_shift(const char* name, index first_row, const F& factor) {
    constexpr double first = 1e-3, largest = 1e3;
    double shift = 0;
    for (std::int64_t failed; (failed = factor(shift)) >= 0;) {
        shift = shift == 0 ? first : 2 * shift;
        if (shift > largest)
            throw argument_error(fmt::format(
                "{}: there is no factor, whatever is added to the diagonal, seen in row {} "
                "(counted from 0)",
                name, first_row + failed));
    }
    return shift;
}

/// Leaves the `most` largest entries of a row; of those of one size, the first columns.
template <class V>
void keep_largest(std::vector<std::pair<index, V>>& row, std::size_t most) {
    const auto is_before = [](const auto& a, const auto& b) {
        const auto of_a = std::abs(a.second), of_b = std::abs(b.second);
        return of_a != of_b ? of_a > of_b : a.first < b.first;
    };
    if (row.size() <= most) return;
    std::nth_element(row.begin(), row.begin() + std::ptrdiff_t(most), row.end(), is_before);
    row.resize(most);
}

/// A, with what is added to its diagonal, = L L^H on the pattern of L. Throws as ic.
template <class V>
triangle<V> ic_factor(cpu on, const ascending<V>& A, const incomplete_options&, index first_row,
                      factor_report&);

/// A, with what is added to its diagonal, near L L^H. Throws as ict.
template <class V>
triangle<V> ict_factor(const ascending<V>& A, const ilut_options&, index first_row, factor_report&);

/// L^H of an L below the diagonal, the columns of its rows from the last to the first.
template <class V>
triangle<V> mirrored(cpu on, const triangle<V>& L);

/// M of spai, whose throws it has.
template <class V>
csr<V, host> spai_inverse(cpu on, const ascending<V>& A, const incomplete_options&, index first_row,
                          factor_report&);

/// G of fsai, whose throws it has.
template <class V>
csr<V, host> fsai_factor(cpu on, const ascending<V>& A, const incomplete_options& = {},
                         index first_row = 0);

}  // namespace nz
