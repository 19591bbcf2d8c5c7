#include "nonzero/solve/krylov/idrs.hpp"

#include "nonzero/gen/noise.hpp"
#include "nonzero/solve/krylov/idrs_steps.hpp"

namespace nz {
namespace {

template <class V, class B>
struct idrs_method : krylov_frame<V, B, idrs_scalars<wide_value<V>>> {
    using base = krylov_frame<V, B, idrs_scalars<wide_value<V>>>;
    using base::base, base::A, base::M, base::q, base::r, base::run, base::space, base::x, base::z;
    using typename base::scalars;
    static constexpr bool is_erratic = true;

    void operator()() {
        const std::int64_t n = space.dimension();
        run(idrs_project<V>{{}, P.data(), r.data(), n});
        run(idrs_rest<V>{{}, r.data(), G.data(), u.data(), n});
        if (M != nullptr) M->apply(V(1), u, V(0), z);
        run(idrs_direction<V>{{}, M == nullptr ? u.data() : z.data(), U.data(), u.data(), n});
        A.apply(V(1), u, V(0), q);
        run(idrs_products<V>{{}, P.data(), q.data(), r.data(), n});
        run(idrs_update<V>{{}, q.data(), u.data(), G.data(), U.data(), x.data(), r.data(), n});
    }
    void finalize() {}
    void restart(std::span<scalars> all) {
        scalars& now = all.front();
        several.fill(V(0), G), several.fill(V(0), U);
        now.begin();
    }

    /// The vectors P, of random numbers.
    vector<V, B> shadows() const {
        const range mine = own_elements(ranks_of(space.on()), space.dimension());
        host_vector<V> all;
        for (std::uint64_t k = 0; k < idrs_vectors; ++k) {
            const auto one = noise<V>(mine, k);
            all.insert(all.end(), one.begin(), one.end());
        }
        return from_host(space.on(), std::span<const V>(all));
    }

    vector_space<V, B> several{space.on(), idrs_vectors* space.dimension()};
    vector<V, B> P = shadows(), G = several.make(), U = several.make(), u = space.zero();
};

}  // namespace

template <class V, class B>
solve_report idrs(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                  const solve_options& o) {
    return solve_by<V, B, idrs_method<V, B>>("idrs", on, A, nullptr, b, x, o);
}
template <class V, class B>
solve_report idrs(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M, in<V, B> b,
                  out<V, B> x, const solve_options& o) {
    return solve_by<V, B, idrs_method<V, B>>("idrs", on, A, &M, b, x, o);
}

#define NZ_INSTANTIATE(V, B)                                                                  \
    template solve_report idrs(B, const linear_operator<V, B>&, in<V, B>, out<V, B>,          \
                               const solve_options&);                                         \
    template solve_report idrs(B, const linear_operator<V, B>&, const linear_operator<V, B>&, \
                               in<V, B>, out<V, B>, const solve_options&);
#define NZ_INSTANTIATE_FOR(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
