// The setup of multigrid on either backend: one loop over levels.
#include "nonzero/solve/multigrid/amg.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/matrix/spgemm.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/solve/multigrid/coarsening.hpp"
#include "nonzero/solve/multigrid/level_plan.hpp"
#include "nonzero/solve/multigrid/pseudo_inverse.hpp"

namespace nz {

namespace {

/// A's diagonal. Throws argument_error, saying why, where A cannot be symmetric positive definite.
template <class V>
host_vector<V> suitable_diagonal(const csr<V, host_view>& A, bool symmetric) {
    if (A.shape.rows != A.shape.cols)
        throw argument_error(
            fmt::format("amg: the matrix is {} x {}, not square", A.shape.rows, A.shape.cols));
    auto diagonal = diagonal_of(cpu{}, A);
    require_positive<V>(cpu{}, diagonal);
    if (!symmetric) return diagonal;
    if (const auto why = why_not_finite(A); !why.empty()) throw argument_error("amg: " + why);
    if (const auto found = first_asymmetry(A, symmetry::symmetric))
        throw argument_error(fmt::format("amg: the matrix is not symmetric in row {}", found->row));
    return diagonal;
}

/// The host's threads that help a level on B.
cpu helpers(cpu on) { return on; }
cpu helpers(gpu) { return {}; }

/// A coarser level's matrix, kept as it was made.
template <class V, class B>
class level_product final : public linear_operator<V, B> {
  public:
    using matrix = csr<V, space_of<B>>;
    using kernel = std::conditional_t<std::is_same_v<B, cpu>, csr_balanced, csr_subwarp>;
    level_product(B on, matrix M) : on_(on), M_(std::move(M)) {}
    [[nodiscard]] nz::shape shape() const override { return M_.shape; }
    [[nodiscard]] std::size_t bytes() const override { return nz::bytes(M_); }
    [[nodiscard]] std::string_view method_name() const override { return kernel::name; }

  protected:
    void multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const override {
        if constexpr (std::is_same_v<B, cpu>) {
            spmv(on_, kernel{}, alpha, view(M_), x, beta, y);
        } else if constexpr (has_cuda) {
            const device_guard guard(on_);
            if (y.size() > 0) spmv(on_, kernel{}, alpha, view(M_), x, beta, y);
            check_launch(kernel::name.data());
        }
    }
    void multiply_transposed(transposition, V, in<V, B>, V, out<V, B>) const override {
        throw unavailable("a level's product is not transposed");
    }
    void scale(V beta, out<V, B> y) const override {
        vector_space<V, B> space(on_, std::int64_t(y.size()));
        beta == V(0) ? space.fill(V(0), y) : space.scale(beta, y);
    }

  private:
    B on_;
    matrix M_;
};

/// The operator that multiplies by M, which it takes or leaves. On a CPU, planning the coarser
/// levels and building what is planned would take longer than that gains over the few dozen
/// products of a solve (docs/decisions/multigrid.md). Rounded values are packed, as CSR would gain
/// nothing.
template <class V>
std::unique_ptr<linear_operator<V, cpu>> product_with(cpu on, csr<V, host>&& M, value_storage how) {
    const stored_matrix stored(on, view(M), how);
    if (stored.rounded.empty()) return std::make_unique<level_product<V, cpu>>(on, std::move(M));
    return find_method<V>("packed.warp").on_cpu(on, stored.view);
}
template <class V>
std::unique_ptr<linear_operator<V, gpu>> product_with(gpu on, const csr<V, host>& M,
                                                      value_storage how) {
    if (M.val.size() < worth_packing) return find_method<V>("csr.subwarp").on_gpu(on, view(M));
    plan_options o = product_options<V>(on);
    o.storage = how;
    return build(make_plan(view(M), on, o), view(M));
}
/// Packs M, which stays as it is, or takes it.
template <class V>
std::unique_ptr<linear_operator<V, gpu>> product_with(gpu on, csr<V, device>&& M,
                                                      value_storage how) {
    const auto pack = find_method<V>("packed.warp").from_device;
    if (M.val.size() >= worth_packing && pack != nullptr)
        return pack(on, stored_matrix(on, view(M), how).view, {});
    return std::make_unique<level_product<V, gpu>>(on, std::move(M));
}

/// The next coarser level, where the setup runs.
template <class V, class C>
struct coarser {
    csr<V, space_of<C>> P, R, A;
    candidates_on<V, C> near;
};

/// The finest level's matrix where the setup runs, in `there` where that is not A itself.
template <class V>
csr<V, host_view> first_matrix(cpu, const csr<V, host_view>& A, csr<V, host>&) {
    return A;
}
template <class V>
csr<V, device_view> first_matrix(gpu on, const csr<V, host_view>& A, csr<V, device>& there) {
    there = upload(on, A);
    return view(there);
}

/// The finest level's candidates; on a GPU the constant is made there.
template <class V>
candidates<V> first_candidates(cpu, const candidates<V>& given, index rows, index block) {
    return given.count > 0 ? given : constant_candidates<V>(rows, block);
}
template <class V>
device_candidates<V> first_candidates(gpu on, const candidates<V>& given, index rows, index block) {
    if (given.count == 0 && block == 1) {
        device_candidates<V> ones{1, device_array<V>(on, std::size_t(rows))};
        vector_space<V, gpu>(on, rows).fill(V(1), ones.val);
        return ones;
    }
    const auto near = first_candidates(cpu{}, given, rows, block);
    return {near.count, from_host(on, std::span<const V>(near.val))};
}

/// How a level is made from the one before.
struct coarsening {
    index block;
    int distance;
    double eps, omega;
    offset most;  ///< entries
};

/// Empty where A's couplings are too weak for a level that is smaller.
template <class V, class C, class Graph>
coarser<V, C> coarsen(C on, const csr<V, typename C::view>& A, Graph strong, const coarsening& how,
                      in<V, C> diagonal, candidates_on<V, C> near) {
    coarser<V, C> c;
    const auto groups = aggregate(on, strong, how.distance);
    const double rows = double(groups.count) * near.count;
    if (rows == 0 || rows > worth_a_level * A.shape.rows) return c;
    constexpr bool on_gpu = std::is_same_v<C, gpu>;
    if constexpr (!on_gpu) strong = {};  // its memory serves what follows
    auto T = tentative_prolongation(on, groups, how.block, std::move(near));
    if constexpr (on_gpu)
        c.P = smoothed_prolongation(on, A, how.block, strong, how.omega, groups, T.fine);
    else
        c.P = smoothed_prolongation(on, A, how.block, how.eps, how.omega, groups, T.fine, diagonal);
    c.near = std::move(T.coarse);
    c.R = transposed(on, view(c.P));
    c.A = galerkin_product(on, view(c.R), A, view(c.P), how.most);
    replace_zero_diagonal(on, c.A);  // of a candidate that an aggregate was too small for
    return c;
}

/// The diagonal for the smoother, which takes it. On a CPU the coarsening needs it as well: a copy,
/// made by all threads; a vector's own copy constructor uses one.
template <class V>
host_vector<V> for_smoother(cpu on, const host_vector<V>& diagonal) {
    vector_space<V, cpu> space(on, std::int64_t(diagonal.size()));
    auto copy = space.make();
    space.copy(diagonal, copy);
    return copy;
}
template <class V>
device_array<V> for_smoother(gpu, device_array<V>& diagonal) {
    return std::move(diagonal);
}

/// By the CPU.
template <class V>
csr<V, host> pseudo_inverse(gpu on, const csr<V, device_view>& A) {
    return nz::pseudo_inverse(cpu{}, view(download(on, A)));
}

}  // namespace

template <class V, class B>
amg<V, B>::amg(const csr<V, host_view>& any_A, B on, const amg_options& o,
               const candidates<V>& near, const linear_operator<V, B>* finest)
    : matrix_free_operator<V, B>(on, any_A.shape), levels_(on, o.cycle) {
    const auto start = steady_clock::now();
    check_options(o);
    const ascending_rows<V> given(any_A);
    const csr<V, host_view>& A = given.view;
    auto diagonal = suitable_diagonal(A, o.check);
    if (A.shape.rows % o.block != 0)
        throw argument_error(
            fmt::format("amg: {} rows, not whole blocks of {}", A.shape.rows, o.block));
    if (near.count < 0 || near.val.size() != std::size_t(A.shape.rows) * std::size_t(near.count))
        throw argument_error(fmt::format("amg: {} candidates of {} rows have {} values", near.count,
                                         A.shape.rows, near.val.size()));
    if (finest != nullptr && finest->shape() != A.shape)
        throw argument_error("amg: the product given is of another shape than the matrix");
    if constexpr (std::is_same_v<B, gpu>) {
        require_gpu(on);
        const device_guard guard(on);
        // Longer ones are not transposed on a GPU.
        if (A.val.size() <= std::size_t(max_narrow_offset)) add_levels(on, A, o, near, {}, finest);
    }
    if (levels_.empty()) add_levels(helpers(on), A, o, near, std::move(diagonal), finest);
    levels_.finish();
    report_.setup_s = seconds_since(start);
}

template <class V, class B>
template <class C>
void amg<V, B>::add_levels(C setup, const csr<V, host_view>& A, const amg_options& o,
                           const candidates<V>& near, vector<V, C> diagonal,
                           const linear_operator<V, B>* finest) {
    const B on = this->on();
    coarser<V, C> made;  // what the level before made for this one
    auto current = first_matrix(setup, A, made.A);
    made.near = first_candidates(setup, near, A.shape.rows, o.block);
    const offset most = most_entries(offset(A.val.size()), o.block, made.near.count);
    double eps = o.strength;
    for (index block = o.block;; block = made.near.count, eps *= coarser_strength) {
        const bool is_finest = levels_.empty();
        auto& l = levels_.add(current.shape.rows);
        auto& told = report_.levels.emplace_back();
        told.rows = current.shape.rows, told.nnz = offset(current.val.size());
        const C here = worth(setup, told.rows + told.nnz);
        if (current.shape.rows <= o.coarse_rows) {
            l.inverse = product_with(on, pseudo_inverse(here, current), value_storage::exact);
            report_.direct = true;
            return;
        }
        if (!is_finest)
            l.own = product_with(on, std::move(made.A), o.below_finest);
        else if (finest == nullptr)
            l.own = build(make_plan(A, on, product_options<V>(on)), A);
        l.A = l.own != nullptr ? l.own.get() : finest;
        told.method = l.A->method_name();
        if (diagonal.size() == 0) diagonal = diagonal_of(here, current);
        auto norm = l1_norms(here, current);
        const double bound = gershgorin_bound<V>(here, diagonal, norm);
        auto strong = strong_couplings<V>(here, current, block, eps, diagonal);
        const int distance = !is_finest                   ? 1
                             : o.aggregation_distance > 0 ? o.aggregation_distance
                                                          : suitable_distance(here, strong);
        told.spectral_radius =
            levels_.add_smoother({moved_to(on, for_smoother(here, diagonal)),
                                  moved_to(on, std::move(norm)), bound, distance},
                                 o);
        if (int(report_.levels.size()) >= o.max_levels) return;
        made = coarsen<V>(here, current, std::move(strong),
                          {block, distance, eps, o.omega / told.spectral_radius, most}, diagonal,
                          std::move(made.near));
        if (made.A.shape.rows == 0) return;
        l.P = product_with(on, std::move(made.P), o.below_finest);
        l.R = product_with(on, std::move(made.R), o.below_finest);
        current = view(made.A);  // its arrays stay in their place when they are moved
        diagonal = {};
    }
}

template <class V, class B>
void amg<V, B>::map(in<V, B> x, out<V, B> y) const {
    if (y.size() > 0) levels_.cycle(x, y);
}

template <class V, class B>
std::size_t amg<V, B>::bytes() const {
    return levels_.bytes();
}

template <class V, class B>
double convergence_factor(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M,
                          int steps) {
    if (A.shape() != M.shape() || A.shape().rows != A.shape().cols)
        throw argument_error("convergence_factor: the operators are of different shapes");
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

#define NZ_INSTANTIATE(V, B)                                            \
    template class amg<V, B>;                                           \
    template double convergence_factor(B, const linear_operator<V, B>&, \
                                       const linear_operator<V, B>&, int);
NZ_INSTANTIATE(float, cpu)
NZ_INSTANTIATE(double, cpu)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
