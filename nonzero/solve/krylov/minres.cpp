#include "nonzero/solve/krylov/minres.hpp"

#include "nonzero/solve/krylov/minres_steps.hpp"

namespace nz {
namespace {

template <class V, class B>
struct minres_method : krylov_frame<V, B, minres_scalars> {
    using base = krylov_frame<V, B, minres_scalars>;
    using base::base, base::A, base::M, base::q, base::r, base::run, base::s, base::space, base::x,
        base::z;
    using typename base::scalars;

    void operator()() {
        const V* const z_or_v = M == nullptr ? v.data() : z.data();
        A.apply(V(1), M == nullptr ? in<V, B>(v) : in<V, B>(z), V(0), q);
        run(minres_curvature<V>{{}, q.data(), z_or_v});
        run(minres_direction<V>{{},
                                q.data(),
                                z_or_v,
                                v.data(),
                                v_before.data(),
                                w_even.data(),
                                w_odd.data(),
                                x.data(),
                                M != nullptr});
        if (M == nullptr) return;
        M->apply(V(1), v, V(0), z);
        run(minres_preconditioned<V>{{}, v.data(), z.data()});
        run(minres_residual<V>{{}, v.data(), r.data()});
    }
    void finalize() { run(minres_finalize<V>{w_even.data(), w_odd.data(), x.data()}); }
    void restart(std::span<scalars> all) {
        scalars& now = all.front();
        space.copy(r, v);
        if (M == nullptr) return now.begin(std::sqrt(now.residual2));
        M->apply(V(1), v, V(0), z);
        s.write(now);
        run(minres_begin<V>{v.data(), z.data()});
        now = s.read();
    }

    vector<V, B> v = space.zero(), v_before = space.zero();
    vector<V, B> w_even = space.zero(), w_odd = space.zero();
};

}  // namespace

template <class V, class B>
solve_report minres(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                    const solve_options& o) {
    return solve_by<V, B, minres_method<V, B>>("minres", on, A, nullptr, b, x, o);
}
template <class V, class B>
solve_report minres(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M,
                    in<V, B> b, out<V, B> x, const solve_options& o) {
    return solve_by<V, B, minres_method<V, B>>("minres", on, A, &M, b, x, o);
}

#define NZ_INSTANTIATE(V, B)                                                                    \
    template solve_report minres(B, const linear_operator<V, B>&, in<V, B>, out<V, B>,          \
                                 const solve_options&);                                         \
    template solve_report minres(B, const linear_operator<V, B>&, const linear_operator<V, B>&, \
                                 in<V, B>, out<V, B>, const solve_options&);
#define NZ_INSTANTIATE_ON_CPU(V) NZ_INSTANTIATE(V, cpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_ON_CPU)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
