#include "nonzero/solve/krylov/bicgstab.hpp"

#include "nonzero/solve/krylov/bicgstab_steps.hpp"
#include "nonzero/solve/krylov/columns/krylov_columns.hpp"

namespace nz {
namespace {

/// Frame: krylov_frame, or columns_frame for several systems.
template <class V, class B, template <class, class, class> class Frame>
struct bicgstab_method : Frame<V, B, bicgstab_scalars<wide_value<V>>> {
    using base = Frame<V, B, bicgstab_scalars<wide_value<V>>>;
    using base::base, base::A, base::M, base::apply, base::copy, base::q, base::r, base::run,
        base::space, base::x, base::z;
    using typename base::scalars;
    static constexpr bool is_erratic = true;

    void operator()() {
        // Without a preconditioner y is p and z is r.
        const V* const y_or_p = M == nullptr ? p.data() : y.data();
        const V* const z_or_r = M == nullptr ? r.data() : z.data();
        run(bicgstab_direction<V>{{}, r.data(), v.data(), p.data()});
        multiply(p, y, v);
        run(bicgstab_alpha<V>{{}, u.data(), v.data()});
        run(bicgstab_half<V>{{}, v.data(), r.data()});
        multiply(r, z, q);
        run(bicgstab_omega<V>{{}, q.data(), r.data()});
        run(bicgstab_update<V>{{}, y_or_p, z_or_r, q.data(), u.data(), x.data(), r.data()});
    }
    void finalize() {}
    void restart(std::span<scalars> all) {
        copy(r, u);
        for (scalars& now : all) {
            now.rho = now.least2 = now.residual2;
            now.alpha = now.beta = now.omega = 0;
        }
    }
    std::vector<vector<V, B>*> carried() { return {&x, &r, &u, &p, &v}; }

    /// AMw = A M w, with Mw for M w.
    void multiply(const vector<V, B>& w, vector<V, B>& Mw, vector<V, B>& AMw) {
        if (M != nullptr) apply(*M, w, Mw);
        apply(A, M == nullptr ? w : Mw, AMw);
    }

    vector<V, B> u = space.make(), p = space.zero(), v = space.zero();  // q is the t of the text
    vector<V, B> y = M == nullptr ? vector<V, B>() : space.make();
};
template <class V, class B>
using bicgstab_of_one = bicgstab_method<V, B, krylov_frame>;

template <class V, class B>
std::vector<solve_report> bicgstab_of_several(B on, const linear_operator<V, B>& A,
                                              const linear_operator<V, B>* M, in_columns<V, B> b,
                                              out_columns<V, B> x, const solve_options& o) {
    const auto alone = [&](in<V, B> one_b, out<V, B> one_x, const solve_options& left) {
        return solve_by<V, B, bicgstab_of_one<V, B>>("bicgstab", on, A, M, one_b, one_x, left);
    };
    return solve_columns_by<V, B, bicgstab_method<V, B, columns_frame>>("bicgstab", on, A, M, b, x,
                                                                        o, alone);
}

}  // namespace

template <class V, class B>
solve_report bicgstab(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                      const solve_options& o) {
    return solve_by<V, B, bicgstab_of_one<V, B>>("bicgstab", on, A, nullptr, b, x, o);
}
template <class V, class B>
solve_report bicgstab(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M,
                      in<V, B> b, out<V, B> x, const solve_options& o) {
    return solve_by<V, B, bicgstab_of_one<V, B>>("bicgstab", on, A, &M, b, x, o);
}

template <class V, class B>
std::vector<solve_report> bicgstab(B on, const linear_operator<V, B>& A, in_columns<V, B> b,
                                   out_columns<V, B> x, const solve_options& o) {
    return bicgstab_of_several<V, B>(on, A, nullptr, b, x, o);
}
template <class V, class B>
std::vector<solve_report> bicgstab(B on, const linear_operator<V, B>& A,
                                   const linear_operator<V, B>& M, in_columns<V, B> b,
                                   out_columns<V, B> x, const solve_options& o) {
    return bicgstab_of_several<V, B>(on, A, &M, b, x, o);
}

#define NZ_INSTANTIATE(V, B)                                                                       \
    template solve_report bicgstab(B, const linear_operator<V, B>&, in<V, B>, out<V, B>,           \
                                   const solve_options&);                                          \
    template solve_report bicgstab(B, const linear_operator<V, B>&, const linear_operator<V, B>&,  \
                                   in<V, B>, out<V, B>, const solve_options&);                     \
    template std::vector<solve_report> bicgstab(B, const linear_operator<V, B>&, in_columns<V, B>, \
                                                out_columns<V, B>, const solve_options&);          \
    template std::vector<solve_report> bicgstab(B, const linear_operator<V, B>&,                   \
                                                const linear_operator<V, B>&, in_columns<V, B>,    \
                                                out_columns<V, B>, const solve_options&);
#define NZ_INSTANTIATE_FOR(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
