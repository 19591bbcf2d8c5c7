// A system whose solution is known: what is solved where the user gives no right-hand side.
#pragma once

#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/gen/counter.hpp"
#include "nonzero/nonzero.hpp"

namespace nz::cli {

/// These elements of x*: numbers of one size, the same in every run.
template <class V>
host_vector<V> known_solution(range rows) {
    host_vector<V> x;
    for (auto i = std::uint64_t(rows.first); i < std::uint64_t(rows.last); ++i)
        x.push_back(counter(0, i).value<V>(0));
    return x;
}

/// A x, the right-hand side whose solution is x.
template <class V>
host_vector<V> product_with(cpu on, const csr<V, host_view>& A, const host_vector<V>& x) {
    host_vector<V> b(std::size_t(A.shape.rows));
    spmv(on, csr_balanced{}, V(1), A, std::span<const V>(x), V(0), std::span<V>(b));
    return b;
}

}  // namespace nz::cli
