#include "nonzero/solve/multigrid/cycle.hpp"

#include <algorithm>

#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/solve/preconditioners/mixed_precision.hpp"

namespace nz {
namespace {

/// The ratio of the largest to the smallest eigenvalue that Chebyshev's polynomial damps. With
/// aggregates over two steps a smaller one takes fewer iterations (docs/experiments/multigrid.md).
double eigenvalue_ratio_of(const amg_options& o, int distance) {
    return o.eigenvalue_ratio > 0 ? o.eigenvalue_ratio : distance == 2 ? 8 : 12;
}

template <class V>
constexpr transposition adjoint_of =
    is_complex<V> ? transposition::conjugate_transpose : transposition::transpose;

/// y = alpha A x + beta y, of one vector or of several.
template <class V, class B>
void multiply(const linear_operator<V, B>& A, const single_vector<V, B>&, V alpha, const V* x,
              V beta, V* y) {
    const auto [rows, cols] = A.shape();
    A.apply(alpha, in<V, B>{x, std::size_t(cols)}, beta, out<V, B>{y, std::size_t(rows)});
}
template <class V, class B>
void multiply(const linear_operator<V, B>& A, const column_space<V, B>& space, V alpha, const V* x,
              V beta, V* y) {
    const auto [rows, cols] = A.shape();
    A.apply_many(alpha, space.read(x, cols), beta, space.write(y, rows));
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
    using R = real<V>;
    level& l = levels_[at];
    invert_each<R>(on_, given.diagonal);
    // Where rows sum to zero the bound is 2, which most stencils all but reach.
    constexpr double of_zero_sums = 2.001;
    double radius = given.bound;
    if (radius > of_zero_sums) {
        const double estimate = spectral_radius<V, B>(on_, *l.A, in<R, B>(given.diagonal),
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
        invert_each<R>(on_, given.norm);
        l.w = std::move(given.norm);
    }
    l.steps.clear();
    for (int s = 0; s < o.sweeps; ++s) l.steps.insert(l.steps.end(), once.begin(), once.end());
    return radius;
}

template <class V, class B>
template <class Space, class MakeSpace>
std::vector<typename multigrid_levels<V, B>::template workspace<Space>>
multigrid_levels<V, B>::make_levels(MakeSpace space_of) const {
    std::vector<workspace<Space>> all;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
        Space space = space_of(levels_[l].rows);
        const bool is_callers = l == 0 && !converts_;
        auto x = is_callers ? vector<V, B>() : space.make();
        auto r = space.make(), d = space.make();
        auto product = is_callers ? vector<V, B>() : space.make();
        all.push_back(
            {std::move(space), std::move(x), std::move(r), std::move(d), std::move(product)});
    }
    return all;
}

template <class V, class B>
std::unique_ptr<typename multigrid_levels<V, B>::workspaces>
multigrid_levels<V, B>::make_workspaces() const {
    return std::make_unique<workspaces>(
        make_levels<single_vector<V, B>>([&](std::int64_t rows) -> single_vector<V, B> {
            return {vector_space<V, B>(on_, rows), make_vector<one_scalar<V>>(on_, 1)};
        }));
}

template <class V, class B>
std::unique_ptr<typename multigrid_levels<V, B>::block_workspaces>
multigrid_levels<V, B>::make_block_workspaces(index count) const {
    auto all = std::make_unique<block_workspaces>();
    all->most = count;
    all->levels = make_levels<column_space<V, B>>(
        [&](std::int64_t rows) { return column_space<V, B>(on_, rows, count); });
    return all;
}

/// Y = keep X - momentum Y + step W (b - A X) in the place of Y, which then is the iterate. how: a
/// smoother's step, or by the identity the residual.
template <class V, class B>
template <class Space>
void multigrid_levels<V, B>::relax(const level& l, workspace<Space>& w, const V* b,
                                   typename linear_operator<V, B>::relaxation how,
                                   iterates& x) const {
    const index count = w.space.count();
    const std::size_t len = std::size_t(l.rows) * std::size_t(count);
    how.b = {b, len};
    if (!l.A->relax_many(how, count, in<V, B>{x.now, len}, out<V, B>{x.other, len})) {
        V* const Ax = w.product.size() > 0 ? w.product.data() : w.r.data();
        multiply<V, B>(*l.A, w.space, V(1), x.now, V(0), Ax);
        if (how.w.size() == 0)
            w.space.run(iterate_residual<V>{b, Ax, x.other});
        else if (how.momentum == real<V>(0))
            w.space.run(next_iterate<V>{how.keep, how.step, how.w.data(), b, x.now, Ax, x.other});
        else
            w.space.run(next_iterate_with_momentum<V>{how.keep, how.momentum, how.step,
                                                      how.w.data(), b, x.now, Ax, x.other});
    }
    std::swap(x.now, x.other);
}

/// The smoother's steps by the iterates alone: with d = x - the iterate before, from_last d +
/// from_residual W r is a relaxation with momentum, and takes one pass where A's method has it.
template <class V, class B>
template <class Space>
void multigrid_levels<V, B>::smooth(const level& l, workspace<Space>& w, const V* b, bool from_zero,
                                    iterates& x) const {
    using R = real<V>;
    for (std::size_t k = 0; k < l.steps.size(); ++k) {
        const R f = R(l.steps[k].from_last), c = R(l.steps[k].from_residual);
        if (k == 0 && from_zero) {
            w.space.run(first_iterate<V>{c, l.w.data(), b, x.now});
            continue;
        }
        const R momentum = k == 1 && from_zero ? R(0) : f;  // the iterate before is 0
        relax(l, w, b, {1 + f, momentum, c, l.w, {}}, x);
    }
}

/// One cycle on level l and below for A x = b, from x = 0 or from x; b null: w.r holds it. Of the
/// residuals it needs only the one that it restricts.
template <class V, class B>
template <class Space>
void multigrid_levels<V, B>::cycle(std::size_t l, std::vector<workspace<Space>>& all,
                                   bool from_zero, const V* b, V* x) const {
    const level& here = levels_[l];
    auto& w = all[l];
    if (b == nullptr) b = w.r.data();
    if (here.inverse != nullptr) return multiply<V, B>(*here.inverse, w.space, V(1), b, V(0), x);
    // As many steps before as after, and none for the first from zero: the last ends in x.
    iterates now{x, w.d.data()};
    if (from_zero) std::swap(now.now, now.other);
    smooth(here, w, b, from_zero, now);
    if (here.P != nullptr) {
        auto& below = all[l + 1];
        iterates residual = now;
        relax(here, w, b, {0, 0, 1, {}, {}}, residual);
        if (here.R != nullptr)
            multiply<V, B>(*here.R, w.space, V(1), residual.now, V(0), below.r.data());
        else  // over ranks, where there is one vector
            here.P->apply_transposed(adjoint_of<V>, V(1),
                                     in<V, B>{residual.now, std::size_t(here.rows)}, V(0), below.r);
        cycle(l + 1, all, true, nullptr, below.x.data());
        if (kind_ == amg_options::cycles::w && levels_[l + 1].inverse == nullptr)
            cycle(l + 1, all, false, nullptr, below.x.data());
        multiply<V, B>(*here.P, w.space, V(1), below.x.data(), V(1), now.now);
    }
    smooth(here, w, b, false, now);
    NZ_ASSERT(now.now == x);
}

template <class V, class B>
std::unique_ptr<typename multigrid_levels<V, B>::workspaces>
multigrid_levels<V, B>::take_workspaces() const {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return make_workspaces();
    auto w = std::move(idle_.back());
    idle_.pop_back();
    return w;
}

/// Smaller ones give way.
template <class V, class B>
std::unique_ptr<typename multigrid_levels<V, B>::block_workspaces>
multigrid_levels<V, B>::take_block_workspaces(index count) const {
    const std::lock_guard lock(mutex_);
    std::erase_if(idle_blocks_, [&](const auto& w) { return w->most < count; });
    if (idle_blocks_.empty()) return make_block_workspaces(count);
    auto all = std::move(idle_blocks_.back());
    idle_blocks_.pop_back();
    for (auto& w : all->levels) w.space.resize(count);
    return all;
}

template <class V, class B>
template <class U, class Space>
void multigrid_levels<V, B>::cycle_of(std::vector<workspace<Space>>& all, const U* b, U* x) const {
    if constexpr (std::is_same_v<U, V>) {
        cycle(0, all, true, b, x);
    } else {
        auto& finest = all.front();
        finest.space.run(convert_step<V, U>{b, finest.r.data(), factor_});
        cycle(0, all, true, nullptr, finest.x.data());
        finest.space.run(convert_step<U, V>{finest.x.data(), x, 1 / factor_});
    }
}

template <class V, class B>
template <class U>
void multigrid_levels<V, B>::cycle(in<U, B> b, out<U, B> x) const {
    auto all = take_workspaces();
    cycle_of(*all, b.data(), x.data());
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(all));
}

template <class V, class B>
template <class U>
void multigrid_levels<V, B>::cycle_many(in_columns<U, B> b, out_columns<U, B> x) const {
    auto all = take_block_workspaces(x.count);
    cycle_of(all->levels, b.values.data(), x.values.data());
    const std::lock_guard lock(mutex_);
    idle_blocks_.push_back(std::move(all));
}

template <class V, class B>
std::size_t multigrid_levels<V, B>::bytes() const {
    std::size_t sum = 0;
    for (const level& l : levels_) {
        sum += l.w.size() * sizeof(real<V>);
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
            space.scale(V(real<V>(1 / before)), e);
            A.apply(V(1), e, V(0), q);
            M.apply(V(-1), q, V(1), e);
            factor = double(space.norm(e));
        }
        return factor;
    }
}

#define NZ_INSTANTIATE_CYCLES(V, U, B)                                      \
    template void multigrid_levels<V, B>::cycle(in<U, B>, out<U, B>) const; \
    template void multigrid_levels<V, B>::cycle_many(in_columns<U, B>, out_columns<U, B>) const;
#define NZ_INSTANTIATE_ON(V, B)            \
    template class multigrid_levels<V, B>; \
    NZ_INSTANTIATE_CYCLES(V, V, B)
#define NZ_INSTANTIATE(V)                                                    \
    NZ_INSTANTIATE_ON(V, cpu)                                                \
    template double convergence_factor(cpu, const linear_operator<V, cpu>&,  \
                                       const linear_operator<V, cpu>&, int); \
    template double convergence_factor(gpu, const linear_operator<V, gpu>&,  \
                                       const linear_operator<V, gpu>&, int); \
    NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE_ON(V, gpu))
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)
NZ_INSTANTIATE_CYCLES(float, double, cpu)
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE_CYCLES(float, double, gpu))

}  // namespace nz
