#include <array>

#include "nonzero/solve/columns_in_step.hpp"
#include "nonzero/solve/multigrid/coarsen.hpp"
#include "nonzero/solve/prepared_system.hpp"
#include "nonzero/solve/system_arguments.hpp"

namespace nz {

template <class V, class B>
system_report solve(B on, matrix_slice<V> A, std::span<const V> b, std::span<V> x,
                    const system_options& o) {
    if (on.ranks == nullptr) throw argument_error("solve: on.ranks is null");
    const communicator& ranks = *on.ranks;
    expect_square(A.shape());
    expect_equal(&ranks, "solve",
                 std::array{o.method ? double(*o.method) : -1,
                            o.preconditioner ? double(*o.preconditioner) : -1, double(o.block),
                            double(o.fill_level), double(o.overlap), double(o.iterative),
                            double(o.direct_solver), double(o.near.count)});
    host_vector<V> diagonal;
    agree(&ranks, [&] {
        check_arguments(std::size_t(A.rows.count(ranks.rank())), b.size(), x.size(), o);
        diagonal = own_diagonal(A, ranks.rank());
    });
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else if constexpr (!over_ranks<V, B>) {
        throw unavailable("solve: complex values are shared out over ranks on the CPUs only");
    } else {
        const auto start = steady_clock::now();
        system_over_ranks<V, B> system(on, {on, std::move(A), std::move(diagonal), o.overlap}, o,
                                       to_follow::nothing);
        return with_vectors<V>(on, b, x, [&](const auto& from, const auto& to) {
            return system.solve(from, to, start);
        });
    }
}

#define NZ_INSTANTIATE(V, B)                                                           \
    template system_report solve(B, matrix_slice<V>, std::span<const V>, std::span<V>, \
                                 const system_options&);
#define NZ_INSTANTIATE_FOR(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
