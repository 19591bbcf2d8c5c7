#include "nonzero/solve/multigrid/cycle.hpp"

#include <algorithm>

#include "nonzero/matrix/diagonal.hpp"

namespace nz {
namespace {

/// The ratio of the largest to the smallest eigenvalue that Chebyshev's polynomial damps. With
/// aggregates over two steps a smaller one takes fewer iterations (docs/experiments/multigrid.md).
double eigenvalue_ratio_of(const amg_options& o, int distance) {
    return o.eigenvalue_ratio > 0 ? o.eigenvalue_ratio : distance == 2 ? 8 : 12;
}

template <class V>
std::span<const V> borrowed_from(cpu, const V* at, std::size_t n) {
    return {at, n};
}
template <class V>
device_span<V> borrowed_from(gpu, const V* at, std::size_t n) {
    return {at, n};
}

}  // namespace

template <class V, class B>
multigrid_level<V, B>& multigrid_levels<V, B>::add(std::int64_t rows) {
    levels_.emplace_back().rows = rows;
    return levels_.back();
}

template <class V, class B>
double multigrid_levels<V, B>::set_smoother(std::size_t at, smoother_inputs<V, B> given,
                                            const amg_options& o) {
    level& l = levels_[at];
    invert_each<V>(on_, given.diagonal);
    // Where rows sum to zero the bound is 2, which most stencils all but reach.
    constexpr double of_zero_sums = 2.001;
    double radius = given.bound;
    if (radius > of_zero_sums) {
        const double estimate = spectral_radius<V, B>(on_, *l.A, in<V, B>(given.diagonal),
                                                      o.lanczos_iterations, given.first_row);
        radius = std::min(radius, 1.05 * estimate);
    }
    std::vector<smoother_step> once{{0, 1}};
    if (o.smoother == amg_options::smoothers::chebyshev) {
        const int degree = o.degree + (at > 0);
        const double ratio = eigenvalue_ratio_of(o, given.distance);
        once = chebyshev_steps(degree, radius / ratio, 1.1 * radius);
        l.w = std::move(given.diagonal);
    } else {
        invert_each<V>(on_, given.norm);
        l.w = std::move(given.norm);
    }
    l.steps.clear();
    for (int s = 0; s < o.sweeps; ++s) l.steps.insert(l.steps.end(), once.begin(), once.end());
    return radius;
}

template <class V, class B>
typename multigrid_levels<V, B>::workspaces multigrid_levels<V, B>::make_workspaces() const {
    workspaces all;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
        vector_space<V, B> space(on_, levels_[l].rows);
        auto x = l == 0 ? vector<V, B>() : space.zero();  // the finest is the caller's
        auto r = space.zero(), d = space.zero();
        all.push_back({std::move(space), scalars_on<one_scalar<V>, B>(on_, {V(0)}), std::move(x),
                       std::move(r), std::move(d)});
    }
    return all;
}

/// x += p(W A) W r, the smoother's steps; w.r = b - A x before, and afterwards where `residual`.
template <class V, class B>
void multigrid_levels<V, B>::smooth(const level& l, workspace& w, smoothing from, const V* b,
                                    out<V, B> x, bool residual) const {
    const auto run = [&](const auto& step) { run_fused(w.space, step, w.none.data()); };
    const V *const W = l.w.data(), *const r = w.r.data();
    for (std::size_t k = 0; k < l.steps.size(); ++k) {
        const V f = V(l.steps[k].from_last), c = V(l.steps[k].from_residual);
        const bool first = k == 0 && from == smoothing::zero;
        const V* const last = k == 1 && from == smoothing::zero ? x.data() : w.d.data();
        if (first) {
            run(first_correction<V>{c, W, b, w.r.data(), x.data()});
        } else if (k == 0 && from == smoothing::coarse) {
            run(coarse_correction<V>{c, W, r, w.d.data(), w.d.data(), x.data()});
        } else {
            run(next_correction<V>{f, c, W, r, last, w.d.data(), x.data()});
        }
        if (residual || k + 1 < l.steps.size())
            l.A->apply(V(-1), first ? in<V, B>(x) : in<V, B>(w.d), V(1), w.r);
    }
}

/// One cycle on level l and below for A x = b; b null: w.r holds b - A x.
template <class V, class B>
void multigrid_levels<V, B>::cycle(std::size_t l, workspaces& all, smoothing from, const V* b,
                                   out<V, B> x, bool residual) const {
    const level& here = levels_[l];
    workspace& w = all[l];
    if (here.inverse != nullptr)
        return here.inverse->apply(
            V(1), b != nullptr ? borrowed_from(on_, b, x.size()) : in<V, B>(w.r), V(0), x);
    smooth(here, w, from, b, x, true);
    if (here.P == nullptr) return smooth(here, w, smoothing::again, nullptr, x, residual);
    workspace& below = all[l + 1];
    const bool twice = kind_ == amg_options::cycles::w && levels_[l + 1].inverse == nullptr;
    if (here.R != nullptr)
        here.R->apply(V(1), w.r, V(0), below.r);
    else
        here.P->apply_transposed(transposition::transpose, V(1), w.r, V(0), below.r);
    cycle(l + 1, all, smoothing::zero, nullptr, below.x, twice);
    if (twice) cycle(l + 1, all, smoothing::again, nullptr, below.x, false);
    here.P->apply(V(1), below.x, V(0), w.d);
    here.A->apply(V(-1), w.d, V(1), w.r);
    smooth(here, w, smoothing::coarse, nullptr, x, residual);
}

template <class V, class B>
std::unique_ptr<typename multigrid_levels<V, B>::workspaces>
multigrid_levels<V, B>::take_workspaces() const {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<workspaces>(make_workspaces());
    auto w = std::move(idle_.back());
    idle_.pop_back();
    return w;
}

template <class V, class B>
void multigrid_levels<V, B>::cycle(in<V, B> b, out<V, B> x) const {
    auto all = take_workspaces();
    cycle(0, *all, smoothing::zero, b.data(), x, false);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(all));
}

template <class V, class B>
std::size_t multigrid_levels<V, B>::bytes() const {
    std::size_t sum = 0;
    for (const level& l : levels_) {
        sum += l.w.size() * sizeof(V);
        for (const auto* o : {&l.own, &l.P, &l.R, &l.inverse})
            if (*o != nullptr) sum += (*o)->bytes();
    }
    return sum;
}

template <class V, class B>
double convergence_factor(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M,
                          int steps) {
    if (A.shape() != M.shape() || A.shape().rows != A.shape().cols)
        throw argument_error("convergence_factor: the operators are of different shapes");
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        vector_space<V, B> space(on, A.shape().rows);
        vector<V, B> e = from_host(on, std::span<const V>(hashed_vector<V>(A.shape().rows)));
        auto q = space.make();
        double factor = 0;
        for (int k = 0; k < steps; ++k) {
            const double before = double(space.norm(e));
            if (!(before > 0)) return 0;
            space.scale(V(1 / before), e);
            A.apply(V(1), e, V(0), q);
            M.apply(V(-1), q, V(1), e);
            factor = double(space.norm(e));
        }
        return factor;
    }
}

#define NZ_INSTANTIATE(V)                                                    \
    template class multigrid_levels<V, cpu>;                                 \
    template double convergence_factor(cpu, const linear_operator<V, cpu>&,  \
                                       const linear_operator<V, cpu>&, int); \
    template double convergence_factor(gpu, const linear_operator<V, gpu>&,  \
                                       const linear_operator<V, gpu>&, int); \
    NZ_WITH_CUDA_ONLY(template class multigrid_levels<V, gpu>;)
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
