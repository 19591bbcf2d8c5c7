#include "nonzero/solve/solve.hpp"

#include "nonzero/core/threads.hpp"
#include "nonzero/matrix/order.hpp"
#include "nonzero/solve/columns_in_step.hpp"
#include "nonzero/solve/prepared_system.hpp"
#include "nonzero/solve/system_arguments.hpp"

namespace nz {
namespace {

/// f of A's system, on a GPU of a copy there where that is worth it, on a CPU by one thread where A
/// is small and nothing follows. Throws argument_error unless A is a CSR.
template <class V, class B, class F>
auto with_system(B on, const csr<V, host_view>& A, const system_options& o, to_follow follows,
                 F f) {
    if constexpr (std::is_same_v<B, gpu> && !is_complex<V>)
        if (auto copy = copy_where_worth(on, A)) {
            ascending<V, gpu> there(*std::move(copy), on);
            std::optional<ascending<V>> original;
            if (there.given_in_order()) original = ascending<V>::known(A);
            system_on_gpu<V> system(on, {on, std::move(there), std::move(original)}, o, follows);
            return f(system);
        }
    if (follows == to_follow::nothing) on = worth(on, A.shape.rows + std::int64_t(A.val.size()));
    const thread_limit limit(on);
    whole_system<V, B> system(on, {on, ascending<V>(A)}, o, follows);
    return f(system);
}

}  // namespace

template <class V, class B>
system_report solve(B on, const csr<V, host_view>& A, std::span<const V> b, std::span<V> x,
                    const system_options& o) {
    check_sizes(A);
    expect_square(A.shape);
    check_arguments(std::size_t(A.shape.rows), b.size(), x.size(), o);
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        return with_system<V>(on, A, o, to_follow::nothing, [&](auto& system) {
            return with_vectors<V>(on, b, x, [&](const auto& from, const auto& to) {
                return system.solve(from, to, start);
            });
        });
    }
}

template <class V, class B>
std::vector<system_report> solve(B on, const csr<V, host_view>& A, in_columns<V, cpu> b,
                                 out_columns<V, cpu> x, const system_options& o) {
    check_sizes(A);
    expect_square(A.shape);
    check_arguments(std::size_t(A.shape.rows), b, x, o);
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        return with_system<V>(on, A, o, follows(b.count), [&](auto& system) {
            return system.template solve_columns<cpu>(b, x, start);
        });
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
