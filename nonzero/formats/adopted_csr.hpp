// The operator of a kernel that reads CSR, made of a matrix itself and not of a copy.
#pragma once

#include <utility>

#include "nonzero/formats/kernel_operator.hpp"
#include "nonzero/formats/kernels.hpp"

namespace nz {

/// Takes over A, which must be a CSR, in any order; null, with A as it was, where the method of
/// that name reads another layout.
template <class V>
std::unique_ptr<linear_operator<V, cpu>> adopted_csr(cpu on, std::string_view method,
                                                     csr<V, host>& A) {
    std::unique_ptr<linear_operator<V, cpu>> op;
    all_kernels::for_each([&]<class K>() {
        if constexpr (reads_csr<K, V> && runs_on<K, cpu, V>) {
            if (method == K::name)
                op = std::make_unique<cpu_operator<V, csr>>(on, std::move(A), kernel_on_cpu<K, V>);
        }
    });
    return op;
}

}  // namespace nz
