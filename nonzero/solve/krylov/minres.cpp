#include "nonzero/solve/krylov/minres.hpp"

#include "nonzero/solve/krylov/minres_steps.hpp"

namespace nz {
namespace {

template <class V, class B>
struct minres_method {
    using scalars = minres_scalars;

    minres_method(B on, const linear_operator<V, B>& matrix,
                  const linear_operator<V, B>* preconditioner, out<V, B> solution)
        : space(on, matrix.shape().rows),
          A(matrix),
          M(preconditioner),
          x(solution),
          r(space.make()),
          v(space.zero()),
          v_before(space.zero()),
          w_even(space.zero()),
          w_odd(space.zero()),
          q(space.make()),
          s(on, {}) {
        if (M != nullptr) z = space.make();
    }

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
    [[nodiscard]] int at_a_time() const { return iterations_at_a_time(M); }
    void finalize() { run(minres_finalize<V>{w_even.data(), w_odd.data(), x.data()}); }
    void restart(scalars& now) {
        space.copy(r, v);
        if (M == nullptr) return now.begin(std::sqrt(now.residual2));
        M->apply(V(1), v, V(0), z);
        s.write(now);
        run(minres_begin<V>{v.data(), z.data()});
        now = s.read();
    }

    template <class Step>
    void run(const Step& step) {
        space.run(step, s.data());
    }

    vector_space<V, B> space;
    const linear_operator<V, B>& A;
    const linear_operator<V, B>* M;
    out<V, B> x;
    vector<V, B> r, v, v_before, w_even, w_odd, q, z;
    scalars_on<scalars, B> s;
};

template <class V, class B>
solve_report solve(B on, const linear_operator<V, B>& A, const linear_operator<V, B>* M, in<V, B> b,
                   out<V, B> x, const solve_options& o) {
    check_system<V, B>("minres", A, M, b, x, o);
    return solve_in_scale<V, B>(on, A, b, x, o, [&](in<V, B> rhs) {
        return krylov_solve<V, B, minres_method<V, B>>(A, rhs, x, o, on, A, M, x).run();
    });
}

}  // namespace

template <class V, class B>
solve_report minres(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                    const solve_options& o) {
    return solve<V, B>(on, A, nullptr, b, x, o);
}
template <class V, class B>
solve_report minres(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M,
                    in<V, B> b, out<V, B> x, const solve_options& o) {
    return solve<V, B>(on, A, &M, b, x, o);
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
