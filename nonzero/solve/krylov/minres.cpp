#include "nonzero/solve/krylov/minres.hpp"

#include "nonzero/solve/krylov/columns/krylov_columns.hpp"
#include "nonzero/solve/krylov/minres_steps.hpp"

namespace nz {
namespace {

/// Frame: krylov_frame, or columns_frame for several systems.
template <class V, class B, template <class, class, class> class Frame>
struct minres_method : Frame<V, B, minres_scalars> {
    using base = Frame<V, B, minres_scalars>;
    using base::base, base::A, base::M, base::apply, base::copy, base::q, base::r, base::run,
        base::run_before, base::space, base::x, base::z;
    using typename base::scalars;

    void operator()() {
        const V* const z_or_v = M == nullptr ? v.data() : z.data();
        apply(A, M == nullptr ? v : z, q);
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
        apply(*M, v, z);
        run(minres_preconditioned<V>{{}, v.data(), z.data()});
        run(minres_residual<V>{{}, v.data(), r.data()});
    }
    void finalize() { run(minres_finalize<V>{w_even.data(), w_odd.data(), x.data()}); }
    void restart(std::span<scalars> all) {
        copy(r, v);
        if (M != nullptr) {
            apply(*M, v, z);
            return run_before(minres_begin<V>{v.data(), z.data()}, all);
        }
        for (scalars& now : all) now.begin(std::sqrt(now.residual2));
    }
    std::vector<vector<V, B>*> carried() {
        std::vector<vector<V, B>*> all{&x, &r, &v, &v_before, &w_even, &w_odd};
        if (M != nullptr) all.push_back(&z);
        return all;
    }

    vector<V, B> v = space.zero(), v_before = space.zero();
    vector<V, B> w_even = space.zero(), w_odd = space.zero();
};
template <class V, class B>
using minres_of_one = minres_method<V, B, krylov_frame>;

template <class V, class B>
std::vector<solve_report> minres_of_several(B on, const linear_operator<V, B>& A,
                                            const linear_operator<V, B>* M, in_columns<V, B> b,
                                            out_columns<V, B> x, const solve_options& o) {
    const auto alone = [&](in<V, B> one_b, out<V, B> one_x, const solve_options& left) {
        return solve_by<V, B, minres_of_one<V, B>>("minres", on, A, M, one_b, one_x, left);
    };
    return solve_columns_by<V, B, minres_method<V, B, columns_frame>>("minres", on, A, M, b, x, o,
                                                                      alone);
}

}  // namespace

template <class V, class B>
solve_report minres(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                    const solve_options& o) {
    return solve_by<V, B, minres_of_one<V, B>>("minres", on, A, nullptr, b, x, o);
}
template <class V, class B>
solve_report minres(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M,
                    in<V, B> b, out<V, B> x, const solve_options& o) {
    return solve_by<V, B, minres_of_one<V, B>>("minres", on, A, &M, b, x, o);
}

template <class V, class B>
std::vector<solve_report> minres(B on, const linear_operator<V, B>& A, in_columns<V, B> b,
                                 out_columns<V, B> x, const solve_options& o) {
    return minres_of_several<V, B>(on, A, nullptr, b, x, o);
}
template <class V, class B>
std::vector<solve_report> minres(B on, const linear_operator<V, B>& A,
                                 const linear_operator<V, B>& M, in_columns<V, B> b,
                                 out_columns<V, B> x, const solve_options& o) {
    return minres_of_several<V, B>(on, A, &M, b, x, o);
}

#define NZ_INSTANTIATE(V, B)                                                                     \
    template solve_report minres(B, const linear_operator<V, B>&, in<V, B>, out<V, B>,           \
                                 const solve_options&);                                          \
    template solve_report minres(B, const linear_operator<V, B>&, const linear_operator<V, B>&,  \
                                 in<V, B>, out<V, B>, const solve_options&);                     \
    template std::vector<solve_report> minres(B, const linear_operator<V, B>&, in_columns<V, B>, \
                                              out_columns<V, B>, const solve_options&);          \
    template std::vector<solve_report> minres(B, const linear_operator<V, B>&,                   \
                                              const linear_operator<V, B>&, in_columns<V, B>,    \
                                              out_columns<V, B>, const solve_options&);
#define NZ_INSTANTIATE_FOR(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
