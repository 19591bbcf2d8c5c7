#include "nonzero/solve/saddle/block_inverse.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include "nonzero/gen/noise.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/preconditioners/ic.hpp"
#include "nonzero/solve/preconditioners/ilu.hpp"
#include "nonzero/solve/preconditioners/ilut.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {

template <class V, class B>
double residual_of_trial(B on, const linear_operator<V, B>& K, const linear_operator<V, B>& M,
                         in<V, B> b) {
    auto x = vector_space<V, B>(on, K.shape().rows).zero();
    gmres_options o;
    o.restart = 10, o.max_iter = 10, o.tol = 0;
    const auto report = gmres<V, B>(on, K, M, b, x, o);
    return std::isfinite(report.relative) ? report.relative
                                          : std::numeric_limits<double>::infinity();
}

namespace {

template <class V, class B>
struct candidate {
    const char* name;
    std::function<std::unique_ptr<linear_operator<V, B>>()> make;
};

/// In the order in which they are tried.
template <class V, class B>
std::vector<candidate<V, B>> candidates_for(B on, const ascending<V>& K,
                                            const linear_operator<V, B>& product) {
    std::vector<candidate<V, B>> all;
    const bool is_definite = why_not_definite(K).empty();
    if constexpr (!is_complex<V>)
        if (is_definite)
            all.push_back({"amg", [&K, &product, on] {
                               return std::make_unique<amg<V, B>>(
                                   K, on, amg_options{.check = false}, candidates<V>{}, &product);
                           }});
    if (is_definite) {
        // By approximate inverses of the factors Stokes flow took 144 iterations on a GPU.
        const incomplete_options by_exact_solves{.solves =
                                                     incomplete_options::triangular_solves::exact};
        all.push_back({"ic", [&K, on, by_exact_solves] { return ic(on, K, by_exact_solves); }});
    } else {
        all.push_back({"ilu", [&K, on] { return ilu(on, K); }});
        all.push_back({"ilut", [&K, on] { return ilut(on, K); }});
    }
    return all;
}

}  // namespace

template <class V, class B>
block_inverse<V, B> invert_block(B on, const ascending<V>& K) {
    constexpr double good = 0.1;
    block_inverse<V, B> best{plan_and_build(K, on).op, nullptr, {}};
    const auto b = from_host(on, std::span<const V>(noise<V>({0, K.view().shape.rows}, 1)));
    double least = std::numeric_limits<double>::infinity();
    std::exception_ptr failure;
    for (const auto& [name, make] : candidates_for(on, K, *best.product)) try {
            auto M = make();
            const double left = residual_of_trial<V, B>(on, *best.product, *M, b);
            if (best.inverse == nullptr || left < least)
                best.inverse = std::move(M), best.name = name, least = left;
            if (least <= good) break;
        } catch (const argument_error&) {
            failure = std::current_exception();
        }
    if (best.inverse == nullptr) std::rethrow_exception(failure);
    return best;
}

#define NZ_INSTANTIATE(V, B)                                           \
    template block_inverse<V, B> invert_block(B, const ascending<V>&); \
    template double residual_of_trial(B, const linear_operator<V, B>&, \
                                      const linear_operator<V, B>&, in<V, B>);
#define NZ_INSTANTIATE_FOR(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
