#include "nonzero/solve/krylov/cg.hpp"

#include "nonzero/solve/krylov/cg_steps.hpp"
#include "nonzero/solve/krylov/columns/krylov_columns.hpp"

namespace nz {
namespace {

/// Frame: krylov_frame, or columns_frame for several systems.
template <class V, class B, template <class, class, class> class Frame>
struct cg_method : Frame<V, B, cg_scalars> {
    using base = Frame<V, B, cg_scalars>;
    using base::base, base::A, base::M, base::apply, base::q, base::r, base::run, base::space,
        base::x, base::z;
    using typename base::scalars;

    void operator()() {
        if (M != nullptr) {
            apply(*M, r, z);
            run(cg_preconditioned<V>{r.data(), z.data()});
        }
        run(cg_direction<V>{M == nullptr ? r.data() : z.data(), p.data(), x.data()});
        multiply();
        run(cg_residual<V>{q.data(), r.data(), M != nullptr});
    }
    void finalize() { run(cg_finalize<V>{p.data(), x.data()}); }
    void restart(std::span<scalars> all) const {
        for (scalars& now : all) {
            now.alpha = now.beta = 0;
            now.rz = M == nullptr ? now.residual2 : 0;
        }
    }
    std::vector<vector<V, B>*> carried() { return {&x, &r, &p}; }

    vector<V, B> p = space.zero();
    vector<double, B> parts = make_vector<double>(space.on(), A.product_parts());

  private:
    /// q = A p and the curvature, in one pass where A's product gives it.
    void multiply() {
        if constexpr (std::is_same_v<Frame<V, B, cg_scalars>, krylov_frame<V, B, cg_scalars>>)
            if (parts.size() > 0 && A.apply_fused(V(1), p, V(0), q, {.w = p, .parts = parts}))
                return run_fused(space.on(), std::ssize(parts), cg_curvature_of_parts{parts.data()},
                                 base::s.data());
        apply(A, p, q);
        run(cg_curvature<V>{p.data(), q.data()});
    }
};
template <class V, class B>
using cg_of_one = cg_method<V, B, krylov_frame>;

template <class V, class B>
std::vector<solve_report> cg_of_several(B on, const linear_operator<V, B>& A,
                                        const linear_operator<V, B>* M, in_columns<V, B> b,
                                        out_columns<V, B> x, const solve_options& o) {
    const auto alone = [&](in<V, B> one_b, out<V, B> one_x, const solve_options& left) {
        return solve_by<V, B, cg_of_one<V, B>>("cg", on, A, M, one_b, one_x, left);
    };
    return solve_columns_by<V, B, cg_method<V, B, columns_frame>>("cg", on, A, M, b, x, o, alone);
}

}  // namespace

template <class V, class B>
solve_report cg(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                const solve_options& o) {
    return solve_by<V, B, cg_of_one<V, B>>("cg", on, A, nullptr, b, x, o);
}
template <class V, class B>
solve_report cg(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M, in<V, B> b,
                out<V, B> x, const solve_options& o) {
    return solve_by<V, B, cg_of_one<V, B>>("cg", on, A, &M, b, x, o);
}

template <class V, class B>
std::vector<solve_report> cg(B on, const linear_operator<V, B>& A, in_columns<V, B> b,
                             out_columns<V, B> x, const solve_options& o) {
    return cg_of_several<V, B>(on, A, nullptr, b, x, o);
}
template <class V, class B>
std::vector<solve_report> cg(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M,
                             in_columns<V, B> b, out_columns<V, B> x, const solve_options& o) {
    return cg_of_several<V, B>(on, A, &M, b, x, o);
}

#define NZ_INSTANTIATE(V, B)                                                                 \
    template solve_report cg(B, const linear_operator<V, B>&, in<V, B>, out<V, B>,           \
                             const solve_options&);                                          \
    template solve_report cg(B, const linear_operator<V, B>&, const linear_operator<V, B>&,  \
                             in<V, B>, out<V, B>, const solve_options&);                     \
    template std::vector<solve_report> cg(B, const linear_operator<V, B>&, in_columns<V, B>, \
                                          out_columns<V, B>, const solve_options&);          \
    template std::vector<solve_report> cg(B, const linear_operator<V, B>&,                   \
                                          const linear_operator<V, B>&, in_columns<V, B>,    \
                                          out_columns<V, B>, const solve_options&);
#define NZ_INSTANTIATE_FOR(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
