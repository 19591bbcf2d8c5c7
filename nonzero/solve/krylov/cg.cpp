#include "nonzero/solve/krylov/cg.hpp"

#include "nonzero/solve/krylov/cg_steps.hpp"

namespace nz {
namespace {

template <class V, class B>
struct cg_method {
    using scalars = cg_scalars;

    cg_method(B on, const linear_operator<V, B>& matrix,
              const linear_operator<V, B>* preconditioner, out<V, B> solution)
        : space(on, matrix.shape().rows),
          A(matrix),
          M(preconditioner),
          x(solution),
          r(space.make()),
          p(space.zero()),
          q(space.make()),
          s(on, {}) {
        if (M != nullptr) z = space.make();
    }

    void operator()() {
        if (M != nullptr) {
            M->apply(V(1), r, V(0), z);
            space.run(cg_preconditioned<V>{r.data(), z.data()}, s.data());
        }
        space.run(cg_direction<V>{M == nullptr ? r.data() : z.data(), p.data(), x.data()},
                  s.data());
        A.apply(V(1), p, V(0), q);
        space.run(cg_curvature<V>{p.data(), q.data()}, s.data());
        space.run(cg_residual<V>{q.data(), r.data(), M != nullptr}, s.data());
    }
    [[nodiscard]] int at_a_time() const { return iterations_at_a_time(M); }
    void finalize() { space.run(cg_finalize<V>{p.data(), x.data()}, s.data()); }
    void restart(scalars& now) const {
        now.alpha = now.beta = 0;
        now.rz = M == nullptr ? now.residual2 : 0;
    }

    vector_space<V, B> space;
    const linear_operator<V, B>& A;
    const linear_operator<V, B>* M;
    out<V, B> x;
    vector<V, B> r, p, q, z;
    scalars_on<scalars, B> s;
};

template <class V, class B>
solve_report solve(B on, const linear_operator<V, B>& A, const linear_operator<V, B>* M, in<V, B> b,
                   out<V, B> x, const solve_options& o) {
    check_system<V, B>("cg", A, M, b, x, o);
    return solve_in_scale<V, B>(on, A, b, x, o, [&](in<V, B> rhs) {
        return krylov_solve<V, B, cg_method<V, B>>(A, rhs, x, o, on, A, M, x).run();
    });
}

}  // namespace

template <class V, class B>
solve_report cg(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                const solve_options& o) {
    return solve<V, B>(on, A, nullptr, b, x, o);
}
template <class V, class B>
solve_report cg(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M, in<V, B> b,
                out<V, B> x, const solve_options& o) {
    return solve<V, B>(on, A, &M, b, x, o);
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
