#include "nonzero/solve/prepared_system.hpp"
#include "nonzero/solve/system_arguments.hpp"

namespace nz {

template <class V>
system_report solve(gpu on, const csr<V, device_view>& A, device_span<V> b, device_out<V> x,
                    const system_options& o) {
    if constexpr (!is_built<gpu>) {
        refuse_gpu();
    } else if constexpr (is_complex<V>) {
        refuse_complex("solve");
    } else {
        require_gpu(on);
        expect_square(A.shape);
        check_arguments(std::size_t(A.shape.rows), b.size(), x.size(), o);
        const auto start = steady_clock::now();
        return system_on_gpu<V>(on, {on, ascending<V, gpu>(A, on)}, o, to_follow::nothing)
            .solve(b, x, start);
    }
}

template <class V>
std::vector<system_report> solve(gpu on, const csr<V, device_view>& A, in_columns<V, gpu> b,
                                 out_columns<V, gpu> x, const system_options& o) {
    if constexpr (!is_built<gpu>) {
        refuse_gpu();
    } else if constexpr (is_complex<V>) {
        refuse_complex("solve");
    } else {
        require_gpu(on);
        expect_square(A.shape);
        check_arguments(std::size_t(A.shape.rows), b, x, o);
        const auto start = steady_clock::now();
        return system_on_gpu<V>(on, {on, ascending<V, gpu>(A, on)}, o, follows(b.count))
            .template solve_columns<gpu>(b, x, start);
    }
}

#define NZ_INSTANTIATE(V)                                                                          \
    template system_report solve(gpu, const csr<V, device_view>&, device_span<V>, device_out<V>,   \
                                 const system_options&);                                           \
    template std::vector<system_report> solve(gpu, const csr<V, device_view>&, in_columns<V, gpu>, \
                                              out_columns<V, gpu>, const system_options&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
