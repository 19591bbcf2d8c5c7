#include "nonzero/solve/krylov/cg.hpp"

#include "nonzero/solve/krylov/cg_steps.hpp"

namespace nz {
namespace {

template <class V, class B>
struct cg_method : krylov_frame<V, B, cg_scalars> {
    using base = krylov_frame<V, B, cg_scalars>;
    using base::base, base::A, base::M, base::q, base::r, base::run, base::space, base::x, base::z;
    using typename base::scalars;

    void operator()() {
        if (M != nullptr) {
            M->apply(V(1), r, V(0), z);
            run(cg_preconditioned<V>{r.data(), z.data()});
        }
        run(cg_direction<V>{M == nullptr ? r.data() : z.data(), p.data(), x.data()});
        A.apply(V(1), p, V(0), q);
        run(cg_curvature<V>{p.data(), q.data()});
        run(cg_residual<V>{q.data(), r.data(), M != nullptr});
    }
    void finalize() { run(cg_finalize<V>{p.data(), x.data()}); }
    void restart(scalars& now) const {
        now.alpha = now.beta = 0;
        now.rz = M == nullptr ? now.residual2 : 0;
    }

    vector<V, B> p = space.zero();
};

}  // namespace

template <class V, class B>
solve_report cg(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                const solve_options& o) {
    return solve_by<V, B, cg_method<V, B>>("cg", on, A, nullptr, b, x, o);
}
template <class V, class B>
solve_report cg(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M, in<V, B> b,
                out<V, B> x, const solve_options& o) {
    return solve_by<V, B, cg_method<V, B>>("cg", on, A, &M, b, x, o);
}

#define NZ_INSTANTIATE(V, B)                                                                \
    template solve_report cg(B, const linear_operator<V, B>&, in<V, B>, out<V, B>,          \
                             const solve_options&);                                         \
    template solve_report cg(B, const linear_operator<V, B>&, const linear_operator<V, B>&, \
                             in<V, B>, out<V, B>, const solve_options&);
#define NZ_INSTANTIATE_ON_CPU(V) NZ_INSTANTIATE(V, cpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_ON_CPU)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
