#include "nonzero/solve/least_squares/bidiagonal_solve.hpp"

namespace nz {
namespace {

template <class V, class B>
struct lsmr_method : bidiagonal_frame<V, B, lsmr_scalars> {
    using bidiagonal_frame<V, B, lsmr_scalars>::bidiagonal_frame;
    void move() {
        run_fused(this->of_cols,
                  lsmr_move<V>{{}, this->v.data(), h.data(), hbar.data(), this->x.data()},
                  this->s.data());
    }
    vector<V, B> h = this->of_cols.zero(), hbar = this->of_cols.zero();
};

}  // namespace

bool least_squares_options::report::converged() const {
    using enum endings;
    return ending <= least_squares || ending == solved_to_rounding ||
           ending == least_squares_to_rounding;
}

void least_squares_options::report::end_by(endings e) {
    using enum endings;
    ending = e;
    why = e == exact_at_start                ? "the guess is a solution"
          : e == solved                      ? "A x = b within atol and btol"
          : e == least_squares               ? "x is a least squares solution within atol"
          : e == ill_conditioned             ? "the condition number seems to be above conlim"
          : e == solved_to_rounding          ? "A x = b as far as rounding errors allow"
          : e == least_squares_to_rounding   ? "x is a least squares solution as far as rounding "
                                               "errors allow"
          : e == ill_conditioned_to_rounding ? "A seems to be singular to working precision"
          : e == max_iter                    ? "max_iter iterations were spent"
          : e == max_seconds                 ? "max_seconds were spent"
          : e == stopped_by_caller
              ? "stopped by the caller"
              : "A, b or the guess is not finite, or so far from 1 that squares "
                "are no numbers";
}

template <class V, class B>
least_squares_options::report lsmr(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                                   const least_squares_options& o) {
    check_least_squares<V, B>("lsmr", on, A, b, x, o);
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const communicator* const ranks = ranks_of(on);
        const auto rows = summed_over(ranks, std::int64_t(A.shape().rows)),
                   cols = summed_over(ranks, std::int64_t(A.shape().cols));
        lsmr_method<V, B> method(on, A, x);
        return bidiagonal_solve<V, B, lsmr_method<V, B>>(
                   on, method, o, o.max_iter < 0 ? std::min(rows, cols) : o.max_iter)
            .run(b);
    }
}

template <class V, class B>
least_squares_options::report lsmr(B on, const csr<V, host_view>& A, std::span<const V> b,
                                   std::span<V> x, const least_squares_options& o) {
    return with_planned_pair("lsmr", on, A, b, x, [&](const auto& op, auto rhs, auto there) {
        return lsmr<V, B>(on, op, rhs, there, o);
    });
}

#define NZ_INSTANTIATE(V, B)                                                                     \
    template least_squares_options::report lsmr(B, const linear_operator<V, B>&, in<V, B>,       \
                                                out<V, B>, const least_squares_options&);        \
    template least_squares_options::report lsmr(B, const csr<V, host_view>&, std::span<const V>, \
                                                std::span<V>, const least_squares_options&);
#define NZ_INSTANTIATE_FOR(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
