#include "nonzero/solve/solve.hpp"

#include "nonzero/solve/system_arguments.hpp"
#include "nonzero/solve/whole_system.hpp"

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
        auto diagonal = diagonal_of(worth(cpu{}, std::ssize(A.val)), A);
        return whole_system<V, B>(on, {on, in_order}, std::move(diagonal), o, to_follow::nothing)
            .solve(b, x, start);
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
        auto diagonal = diagonal_of(worth(cpu{}, std::ssize(A.val)), A);
        return whole_system<V, B>(on, {on, in_order}, std::move(diagonal), o,
                                  b.count > 1 ? to_follow::right_hand_sides : to_follow::nothing)
            .solve_columns(b, x, start);
    }
}

#define NZ_INSTANTIATE(V, B)                                                                    \
    template system_report solve(B, const csr<V, host_view>&, std::span<const V>, std::span<V>, \
                                 const system_options&);                                        \
    template std::vector<system_report> solve(B, const csr<V, host_view>&, in_columns<V, cpu>,  \
                                              out_columns<V, cpu>, const system_options&);
#define NZ_INSTANTIATE_ON_CPU(V)                                  \
    template class prepared_system<V, cpu, whole_matrix<V, cpu>>; \
    NZ_INSTANTIATE(V, cpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_ON_CPU)
NZ_WITH_CUDA_ONLY(template class prepared_system<float, gpu, whole_matrix<float, gpu>>;
                  template class prepared_system<double, gpu, whole_matrix<double, gpu>>;)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
