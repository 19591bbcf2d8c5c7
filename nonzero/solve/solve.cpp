#include "nonzero/solve/solve.hpp"

#include "nonzero/solve/columns_in_step.hpp"
#include "nonzero/solve/prepared_system.hpp"
#include "nonzero/solve/system_arguments.hpp"

namespace nz {

template <class V, class B>
system_report solve(B on, const csr<V, host_view>& given, std::span<const V> b, std::span<V> x,
                    const system_options& o) {
    const ascending<V> in_order(given);
    const csr<V, host_view>& A = in_order.view();
    expect_square(A.shape);
    check_arguments(std::size_t(A.shape.rows), b.size(), x.size(), o);
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        whole_system<V, B> system(on, {on, in_order}, o, to_follow::nothing);
        return with_vectors<V>(on, b, x, [&](const auto& from, const auto& to) {
            return system.solve(from, to, start);
        });
    }
}

template <class V, class B>
std::vector<system_report> solve(B on, const csr<V, host_view>& given, in_columns<V, cpu> b,
                                 out_columns<V, cpu> x, const system_options& o) {
    const ascending<V> in_order(given);
    const csr<V, host_view>& A = in_order.view();
    expect_square(A.shape);
    check_arguments(std::size_t(A.shape.rows), b, x, o);
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        return whole_system<V, B>(on, {on, in_order}, o, follows(b.count))
            .template solve_columns<cpu>(b, x, start);
    }
}

#define NZ_INSTANTIATE(V, B)                                                                    \
    template system_report solve(B, const csr<V, host_view>&, std::span<const V>, std::span<V>, \
                                 const system_options&);                                        \
    template std::vector<system_report> solve(B, const csr<V, host_view>&, in_columns<V, cpu>,  \
                                              out_columns<V, cpu>, const system_options&);
#define NZ_INSTANTIATE_FOR(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
