// Other values in levels that are there: aggregates, couplings and all patterns stay.
#include "nonzero/core/threads.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/matrix/spgemm.hpp"
#include "nonzero/solve/multigrid/coarsen.hpp"
#include "nonzero/solve/multigrid/first_candidates.hpp"
#include "nonzero/solve/multigrid/hierarchy.hpp"
#include "nonzero/solve/multigrid/level_product.hpp"

namespace nz {
namespace {

/// Gives an operator of M, which has other values now, these values.
template <class V, class B, class S>
void retake(B on, std::unique_ptr<linear_operator<V, B>>& op, const std::shared_ptr<csr<V, S>>& M) {
    if constexpr (std::is_same_v<S, typename B::memory>)
        if (op->take_values(view(*M))) return;
    op = product_with(on, M);
}

/// The setup's loop over levels that are there. C: where they were made.
template <class V, class B, class C>
class retaking {
  public:
    using view_of = csr<V, typename C::view>;
    retaking(B on, C here, const amg_options& o, amg_options::keeps keeps,
             const linear_operator<V, B>* finest, hierarchy<V, B>& made, amg_report& report)
        : on_(on), here_(here), o_(o), keeps_(keeps), made_(made), report_(report) {
        made_.levels.at(0).A = finest;
    }

    void run(const view_of& finest) {
        view_of A = finest;
        start_candidates(A);
        for (std::size_t l = 0; l < made_.levels.size(); ++l) {
            if (l > 0) A = view(*kept(l).A);
            const C here = worth(here_, A.shape.rows + std::ssize(A.val));
            const bool is_last = l + 1 == made_.levels.size();
            if (is_last && report_.direct) {
                retake_inverse(l, here, A);
                break;
            }
            retake_product(l, A);
            auto& level = made_.levels.at(l);
            const auto diagonal = real_diagonal_of<V>(here, A);
            report_.levels[l].method = level.A->method_name();
            report_.levels[l].spectral_radius = retake_smoother(l, here, A, diagonal);
            if (is_last) break;
            if (keeps_ == amg_options::keeps::aggregates) retake_prolongation(l, here, A, diagonal);
            auto& k = kept(l);
            auto& coarser = *kept(l + 1).A;
            galerkin_values(here, view(*k.R), A, view(*k.P), k.AP, coarser);
            mend_diagonal<V>(here, view(*k.R), diagonal, coarser.shape.rows, coarser);
        }
        if (in_single_) finish_levels(on_, finest, o_, made_, report_);
    }

  private:
    kept_level<V, C>& kept(std::size_t l) { return std::get<kept_level<V, C>>(made_.kept[l]); }

    /// Of complex values they depend on those of A, unless they were given.
    void start_candidates(const view_of& A) {
        if constexpr (is_complex<V>) {
            if (!made_.has_found || o_.block != 1 || keeps_ != amg_options::keeps::aggregates)
                return;
            by_phases_ = has_phases<V>(here_, nullptr, in<V, C>(A.val), o_, {});
            near_ = first_candidates(here_, candidates<V>(), {0, A.shape.rows}, 1);
        }
    }
    void retake_candidates(C here, const view_of& A, kept_level<V, C>& k) {
        if constexpr (is_complex<V>) {
            if (near_.count == 0) return;
            if (by_phases_) near_.val = phases(here, A, k.groups);
            auto T = tentative_prolongation(here, k.groups, 1, std::move(near_));
            k.T = std::move(T.fine), near_ = std::move(T.coarse);
        }
    }
    void retake_product(std::size_t l, const view_of& A) {
        auto& level = made_.levels.at(l);
        if (l > 0) {
            if (in_single_)
                level.own = unpacked_product_with(on_, kept(l).A);
            else
                retake(on_, level.own, kept(l).A);
            level.A = level.own.get();
        } else if (level.A == nullptr) {
            update_values(made_.finest->op, made_.finest->plan, A);
            level.A = made_.finest->op.get();
        }
    }
    double retake_smoother(std::size_t l, C here, const view_of& A,
                           const vector<real<V>, C>& diagonal) {
        auto norm = l1_norms(here, A);
        smoother_inputs<V, B> smoothed{{}, {}, 0, kept(l).distance};
        using R = real<V>;
        smoothed.bound = gershgorin_bound<R>(here, diagonal, norm);
        smoothed.diagonal = moved_to(on_, with_halo<R>(here, nullptr, {}, in<R, C>(diagonal)));
        smoothed.norm = moved_to(on_, std::move(norm));
        return made_.levels.set_smoother(l, std::move(smoothed), o_);
    }
    void retake_prolongation(std::size_t l, C here, const view_of& A,
                             const vector<real<V>, C>& diagonal) {
        auto& k = kept(l);
        retake_candidates(here, A, k);
        const double omega = o_.omega / report_.levels[l].spectral_radius;
        smoothed_values<V>(here, A, k.block, k.strong, omega, k.groups, k.T, diagonal, *k.P);
        adjoint_values(here, view(*k.P), *k.R);
        if (in_single_) return;
        auto& level = made_.levels.at(l);
        retake(on_, level.P, k.P);
        retake(on_, level.R, k.R);
    }
    void retake_inverse(std::size_t l, C here, const view_of& A) {
        auto inverse = inverse_matrix<V>(here, A);
        if (in_single_)
            kept(l).inverse = std::move(inverse);
        else
            made_.levels.at(l).inverse = product_with(on_, std::move(inverse));
    }

    B on_;
    C here_;
    const amg_options& o_;
    amg_options::keeps keeps_;
    hierarchy<V, B>& made_;
    amg_report& report_;
    bool in_single_ = made_.rounded != nullptr;
    bool by_phases_ = false;
    candidates<V, typename C::memory> near_ = {};  ///< of the next level; none: all stay
};

}  // namespace

template <class V, class B>
void retake_levels(B on, const csr<V, host_view>& A, const amg_options& o, amg_options::keeps keeps,
                   const linear_operator<V, B>* finest, hierarchy<V, B>& made, amg_report& report) {
    retaking<V, B, cpu>(on, helpers(on), o, keeps, finest, made, report).run(A);
}

template <class V>
void retake_levels(gpu on, const csr<V, device_view>& A, const amg_options& o,
                   amg_options::keeps keeps, const linear_operator<V, gpu>* finest,
                   hierarchy<V, gpu>& made, amg_report& report) {
    const device_guard guard(on);
    retaking<V, gpu, gpu>(on, on, o, keeps, finest, made, report).run(A);
}

#define NZ_INSTANTIATE(V, B)                                                      \
    template void retake_levels(B, const csr<V, host_view>&, const amg_options&,  \
                                amg_options::keeps, const linear_operator<V, B>*, \
                                hierarchy<V, B>&, amg_report&);
#define NZ_INSTANTIATE_ON_GPU(V)                                                     \
    NZ_INSTANTIATE(V, gpu)                                                           \
    template void retake_levels(gpu, const csr<V, device_view>&, const amg_options&, \
                                amg_options::keeps, const linear_operator<V, gpu>*,  \
                                hierarchy<V, gpu>&, amg_report&);
#define NZ_INSTANTIATE_FOR(V) \
    NZ_INSTANTIATE(V, cpu)    \
    NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE_ON_GPU(V))
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
