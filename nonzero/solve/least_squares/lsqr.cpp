#include "nonzero/solve/least_squares/bidiagonal_solve.hpp"

namespace nz {
namespace {

template <class V, class B>
struct lsqr_method : bidiagonal_frame<V, B, lsqr_scalars> {
    using base = bidiagonal_frame<V, B, lsqr_scalars>;
    lsqr_method(B on, const linear_operator<V, B>& matrix, out<V, B> solution,
                out<real<V>, B> squares)
        : base(on, matrix, solution), variance(squares) {}
    void move() {
        run_fused(this->of_cols,
                  lsqr_move<V>{{},
                               this->v.data(),
                               w.data(),
                               this->x.data(),
                               variance.size() > 0 ? variance.data() : nullptr},
                  this->s.data());
    }
    vector<V, B> w = this->of_cols.zero();
    out<real<V>, B> variance;
};

}  // namespace

template <class V, class B>
least_squares_options::report lsqr(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                                   const least_squares_options& o, out<real<V>, B> variance) {
    check_least_squares<V, B>("lsqr", on, A, b, x, o);
    agree(ranks_of(on), [&] {
        if (variance.size() > 0 && variance.size() != x.size())
            throw argument_error("lsqr: variance has " + std::to_string(variance.size()) +
                                 " elements, expected " + std::to_string(x.size()));
    });
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto cols = summed_over(ranks_of(on), std::int64_t(A.shape().cols));
        lsqr_method<V, B> method(on, A, x, variance);
        if (variance.size() > 0)
            vector_space<real<V>, B>(on, std::int64_t(variance.size())).fill(real<V>(0), variance);
        return bidiagonal_solve<V, B, lsqr_method<V, B>>(on, method, o,
                                                         o.max_iter < 0 ? 2 * cols : o.max_iter)
            .run(b);
    }
}

template <class V, class B>
least_squares_options::report lsqr(B on, const csr<V, host_view>& A, std::span<const V> b,
                                   std::span<V> x, const least_squares_options& o) {
    return with_planned_pair("lsqr", on, A, b, x, [&](const auto& op, auto rhs, auto there) {
        return lsqr<V, B>(on, op, rhs, there, o);
    });
}

#define NZ_INSTANTIATE(V, B)                                                                     \
    template least_squares_options::report lsqr(B, const linear_operator<V, B>&, in<V, B>,       \
                                                out<V, B>, const least_squares_options&,         \
                                                out<real<V>, B>);                                \
    template least_squares_options::report lsqr(B, const csr<V, host_view>&, std::span<const V>, \
                                                std::span<V>, const least_squares_options&);
#define NZ_INSTANTIATE_FOR(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
