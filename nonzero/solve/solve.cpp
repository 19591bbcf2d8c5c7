#include "nonzero/solve/solve.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <tuple>
#include <utility>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/entries.hpp"
#include "nonzero/dist/local_rows.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/dist/own_block.hpp"
#include "nonzero/dist/split_rows.hpp"
#include "nonzero/formats/columns.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/solve/attempts.hpp"
#include "nonzero/solve/direct/direct_over_ranks.hpp"
#include "nonzero/solve/direct/factor_plan.hpp"
#include "nonzero/solve/direct/factorization.hpp"
#include "nonzero/solve/direct/sparse_factors.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/krylov.hpp"
#include "nonzero/solve/krylov/minres.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/multigrid/level_product.hpp"
#include "nonzero/solve/overlap.hpp"
#include "nonzero/solve/preconditioners/fsai.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"
#include "nonzero/solve/preconditioners/gauss_seidel.hpp"
#include "nonzero/solve/preconditioners/ic.hpp"
#include "nonzero/solve/preconditioners/ict.hpp"
#include "nonzero/solve/preconditioners/ilu.hpp"
#include "nonzero/solve/preconditioners/ilut.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "nonzero/solve/preconditioners/matched_diagonal.hpp"
#include "nonzero/solve/preconditioners/mixed_precision.hpp"
#include "nonzero/solve/preconditioners/spai.hpp"
#include "nonzero/solve/saddle/saddle.hpp"
#include "nonzero/solve/solver.hpp"
#include "nonzero/vector/fused_columns.hpp"

namespace nz {
namespace {

/// A row of the whole matrix, and what is on its diagonal.
struct diagonal_place {
    std::int64_t row = -1;  ///< -1: there is none
    double value = 0;       ///< the real part
};

/// The first row of the whole matrix whose diagonal is so; the same on all ranks.
template <class V, class F>
diagonal_place first_place(const communicator& ranks, const shares& rows,
                           std::span<const V> diagonal, F is_so) {
    const auto at = std::ranges::find_if(diagonal, is_so);
    diagonal_place mine;
    if (at != diagonal.end())
        mine = {rows.of(ranks.rank()).first + (at - diagonal.begin()), double(std::real(*at))};
    for (const diagonal_place& place : gathered(ranks, mine))
        if (place.row >= 0) return place;  // ranks have the rows in their order
    return {};
}

/// As facts_of a whole matrix.
template <class V>
matrix_facts facts_of(const communicator& ranks, const matrix_slice<V>& A,
                      std::span<const V> diagonal) {
    const auto below =
        first_place(ranks, A.rows, diagonal, [](V d) { return !(std::real(d) > 0); });
    matrix_facts f;
    f.why_not_definite = why_not_symmetric(ranks, A);
    f.is_symmetric = f.why_not_definite.empty();
    if (f.is_symmetric && below.row >= 0)
        f.why_not_definite = fmt::format(
            "A is not positive definite: its diagonal is {:.6g} in row {}", below.value, below.row);
    f.zero_on_diagonal = first_place(ranks, A.rows, diagonal, [](V d) { return d == V(0); }).row;
    f.is_complex_valued = is_complex<V>;
    f.entries = summed(ranks, double(A.own.val.size()));
    return f;
}

template <class V>
void negate(std::span<V> v) {
    parallel_for(thread_count({}), std::int64_t(v.size()),
                 [&](std::int64_t k) { v[std::size_t(k)] = -v[std::size_t(k)]; });
}

/// Whether a preconditioner's block may have other ranks' rows as well as a rank's own.
bool may_overlap(preconditioning p) {
    using enum preconditioning;
    return p == ilu || p == ilut || p == ic || p == ict || p == fsai || p == spai;
}
/// Whether a preconditioner is made of this rank's own block.
bool takes_block(preconditioning p) {
    using enum preconditioning;
    return p == block_jacobi || p == gauss_seidel || p == matching || may_overlap(p) || p == saddle;
}

/// The operator of f, which takes and sets vectors on the host.
template <class V, class B, class F>
std::unique_ptr<linear_operator<V, B>> on_host(B on, nz::shape shape, F f) {
    const auto apply = [f, on](in<V, B> b, out<V, B> x) {
        const auto rhs = to_host<V>(on, b);
        host_vector<V> solution(rhs.size());
        f(std::span<const V>(rhs), std::span<V>(solution));
        vector_space<V, B>(on, std::int64_t(rhs.size()))
            .copy(from_host(on, std::span<const V>(solution)), x);
    };
    auto made = make_operator<V>(on, shape, apply);
    return std::make_unique<decltype(made)>(std::move(made));
}

/// Of a direct solver. of_A: entries of A.
factor_report report_of(std::int64_t entries, double of_A, std::int64_t perturbed_pivots,
                        double seconds) {
    return {.entries = entries,
            .fill = double(entries) / std::max(of_A, 1.0),
            .shifted_pivots = perturbed_pivots,
            .setup_s = seconds};
}

/// The candidates given, in the values of A.
template <class V>
candidates<V> near_of(const system_options& o) {
    candidates<V> near{o.near.count, host_vector<V>(o.near.val.size())};
    std::ranges::transform(o.near.val, near.val.begin(), [](double v) { return V(real<V>(v)); });
    return near;
}
/// keep: the values of other matrices follow.
amg_options multigrid_options(const system_options& o, bool keep) {
    return {.block = o.block, .check = false, .keep = keep};
}

/// A matrix that one process has as a whole, as `prepared_system` asks for it.
template <class V, class B>
class whole_matrix {
  public:
    whole_matrix(B on, const ascending<V>& A)
        : on_(on), given_(A), A_(ascending<V>::known(A.view())) {}
    [[nodiscard]] static const communicator* ranks() { return nullptr; }
    [[nodiscard]] index rows() const { return A_.view().shape.rows; }
    [[nodiscard]] static index first_row() { return 0; }
    void negate() {
        csr<V, host_view> other = given_.view();
        values_.assign(other.val.begin(), other.val.end());
        nz::negate<V>(values_);
        other.val = values_;
        A_ = ascending<V>::known(other);
    }
    [[nodiscard]] matrix_facts facts(std::span<const V> diagonal) const {
        return facts_of<V>(A_, diagonal);
    }
    void build_product(const choice*) { plan(1); }
    /// Plans the product for several vectors at once, where that has not been done. Whether the one
    /// before is gone, and with it what multiplies by it.
    bool plan_for_several() {
        if (has_product() && is_for_several_) return false;
        plan(most_columns);
        return true;
    }
    [[nodiscard]] std::string product_name() const {
        return std::string(product_.op->method_name());
    }
    [[nodiscard]] bool has_product() const { return product_.op != nullptr; }
    [[nodiscard]] const linear_operator<V, B>& product() const { return *product_.op; }
    std::unique_ptr<linear_operator<V, B>> multigrid(const system_options& o, bool,
                                                     bool keep) const {
        return std::make_unique<amg<V, B>>(A_, on_, multigrid_options(o, keep), near_of<V>(o),
                                           product_.op.get());
    }
    /// The values that the arrays it was given have now.
    void take_values() {
        A_ = ascending<V>::known(given_.view());
        factors_.reset();
    }
    /// Gives them to the product, after that and `negate`, and to M; whether M has taken them. Null
    /// for none.
    bool update(linear_operator<V, B>* M) {
        if constexpr (std::is_same_v<B, gpu>) {
            const device_guard guard(on_);
            return update_from(view(upload(on_, A_.view())), M);
        } else {
            return update_from(A_.view(), M);
        }
    }
    void drop_product() { product_.op.reset(); }
    void take_block(const choice&) {}
    /// f of the rows and columns that preconditioners are made of, and the number of the first.
    template <class F>
    auto with_block(F f) const {
        return f(A_, 0);
    }
    /// M of that block where it is one of other rows as well.
    std::unique_ptr<linear_operator<V, B>> joined(std::unique_ptr<linear_operator<V, B>> M,
                                                  const choice&) const {
        return M;
    }
    [[nodiscard]] double rounding(std::span<const V> b, std::span<const V> x) const {
        return rounding_scale<V>(A_.view(), b, x);
    }
    /// Of the direct solver. Throws as factor_plan.
    const factor_forecast& forecast(const system_options& o) {
        if (!factors_)
            factors_.emplace(A_.view(), o.most_factor_bytes.value_or(0), o.direct_solver);
        return factors_->forecast();
    }
    /// x = A^-1 b by A's factors, where forecast was called; on the CPU.
    std::unique_ptr<linear_operator<V, B>> inverse(system_report::attempt& told) {
        const auto plan = *std::exchange(factors_, {});  // which serves once
        const auto factors = std::make_shared<factorization<V>>(A_.view(), plan);
        told.forecast = factors->forecast();
        told.factors = report_of(factors->entries(), double(A_.view().val.size()),
                                 factors->perturbed_pivots(), factors->seconds());
        return on_host<V>(on_, A_.view().shape,
                          [factors](auto b, auto x) { factors->apply(b, x); });
    }
    [[nodiscard]] std::vector<std::string> obstacles(std::span<const V> diagonal) const {
        return obstacles_in<V>(A_.view(), diagonal);
    }

  private:
    void plan(index vectors) {
        product_ = plan_and_build(A_, on_, {.vectors = vectors});
        is_for_several_ = vectors > 1;
    }
    /// there: the matrix where B computes.
    bool update_from(const csr<V, typename B::view>& there, linear_operator<V, B>* M) {
        update_values(product_.op, product_.plan, there);
        auto* const levels = dynamic_cast<amg<V, B>*>(M);
        if (levels == nullptr) return false;
        const auto keeps = amg_options::keeps::aggregates;
        if constexpr (std::is_same_v<B, gpu>)
            levels->take_values(there, keeps, product_.op.get());
        else
            levels->take_values(A_, keeps, product_.op.get());
        return true;
    }

    B on_;
    ascending<V> given_, A_;  ///< A_: its rows in order, negated perhaps
    host_vector<V> values_;   ///< of A_, where it is negated
    planned<V, B> product_;
    bool is_for_several_ = false;            ///< as it is planned
    std::optional<factor_plan<V>> factors_;  ///< of A_
};

/// The same of a matrix over ranks. All of them call everything together.
template <class V, class B>
class matrix_over_ranks {
  public:
    matrix_over_ranks(B on, matrix_slice<V> A, int overlap)
        : on_(on), A_(std::move(A)), overlap_(overlap) {}
    [[nodiscard]] const communicator* ranks() const { return &ranks_; }
    [[nodiscard]] index rows() const { return A_.rows.total(); }
    [[nodiscard]] index first_row() const { return index(A_.rows.of(ranks_.rank()).first); }
    void negate() { nz::negate<V>(A_.own.val); }
    [[nodiscard]] matrix_facts facts(std::span<const V> diagonal) const {
        return facts_of<V>(ranks_, A_, diagonal);
    }
    /// Takes the rows over where nothing but the product needs them: of a single attempt without
    /// multigrid. only: that attempt, or null.
    void build_product(const choice* only) {
        matrix_slice<V> taken;
        if (only != nullptr) take_block(*only);
        const bool stay = only == nullptr || only->preconditioner == preconditioning::amg ||
                          only->method == krylov_method::direct;
        if constexpr (std::is_same_v<B, gpu>) {
            if (stay && fits_to_split(alone(on_), ranks_, A_)) {
                product_ = std::make_unique<distributed<V, B>>(on_, split(alone(on_), ranks_, A_));
                return;
            }
        }
        agree(&ranks_, [&] {
            taken = {A_.rows, A_.cols, {}};
            taken.own = stay ? rows_from(cpu{}, view(A_.own), 0) : std::move(A_.own);
        });
        product_ = std::make_unique<distributed<V, B>>(on_, std::move(taken));
    }
    [[nodiscard]] std::string product_name() const {
        return std::string(product_->local().method_name());
    }
    [[nodiscard]] bool has_product() const { return product_ != nullptr; }
    [[nodiscard]] const linear_operator<V, B>& product() const { return *product_; }
    /// Where no attempt follows the rows go once the levels are made.
    std::unique_ptr<linear_operator<V, B>> multigrid(const system_options& o, bool last,
                                                     bool keep) {
        auto M = std::make_unique<amg<V, B>>(on_, A_, multigrid_options(o, keep), near_of<V>(o),
                                             product_.get());
        if (last) A_.own = {};
        return M;
    }
    /// Takes the rows and columns that a preconditioner is made of, if it is made of such.
    void take_block(const choice& c) {
        if (!takes_block(c.preconditioner) || (block_ && block_for_ == c.preconditioner)) return;
        block_ = overlapping(ranks_, A_, may_overlap(c.preconditioner) ? overlap_ : 0);
        block_for_ = c.preconditioner;
    }
    /// f of those that were taken last, and the number of the first.
    template <class F>
    auto with_block(F f) const {
        return f(ascending(view(block_->A)), first_row() - block_->before);
    }
    /// M of the block that was taken as a part of the preconditioner over all ranks.
    std::unique_ptr<linear_operator<V, B>> joined(std::unique_ptr<linear_operator<V, B>> M,
                                                  const choice& c) {
        using enum krylov_method;
        const auto how =
            c.method == cg || c.method == minres ? schwarz_sum::symmetric : schwarz_sum::restricted;
        if (overlap_ > 0 && block_ && may_overlap(c.preconditioner))
            M = schwarz(on_, A_.rows, *block_, how, std::move(M));
        block_.reset();
        return M;
    }
    [[nodiscard]] double rounding(std::span<const V> b, std::span<const V> at) const {
        matrix_slice<double> sizes{A_.rows, A_.cols, {}};
        host_vector<double> x(at.size()), y(b.size());
        const auto size_of = [](const V& v) { return double(std::abs(v)); };
        long double b2 = 0, sum2 = 0;
        agree(&ranks_, [&] {
            sizes.own = {A_.own.shape, A_.own.row_ptr, A_.own.col_ind,
                         host_vector<double>(A_.own.val.size())};
            std::ranges::transform(A_.own.val, sizes.own.val.begin(), size_of);
            std::ranges::transform(at, x.begin(), size_of);
            std::ranges::transform(b, y.begin(), size_of);
            for (const long double v : y) b2 += v * v;
        });
        cpu here = helpers(on_);
        here.ranks = &ranks_;
        distributed<double, cpu>(here, std::move(sizes), {.methods = plain_methods(here)})
            .apply(1, x, 1, y);
        for (const long double v : y) sum2 += v * v;
        return double(std::sqrt(summed(ranks_, sum2) / summed(ranks_, b2)));
    }
    [[nodiscard]] static std::vector<std::string> obstacles(std::span<const V>) { return {}; }
    const factor_forecast& forecast(const system_options& o) {
        if (!direct_)
            direct_ = std::make_shared<direct_over_ranks<V>>(
                ranks_, A_, o.most_factor_bytes.value_or(0), o.direct_solver);
        return direct_->forecast();
    }
    std::unique_ptr<linear_operator<V, B>> inverse(system_report::attempt& told) {
        const auto direct = std::exchange(direct_, {});
        direct->factorize();
        told.forecast = direct->forecast();
        const auto& [entries, perturbed, seconds] = direct->factors();
        told.factors = report_of(entries, direct->entries_of_A(), perturbed, seconds);
        const auto own = index(A_.rows.count(ranks_.rank()));
        return on_host<V>(on_, {own, own}, [direct](auto b, auto x) { direct->apply(b, x); });
    }

  private:
    B on_;
    const communicator& ranks_ = *on_.ranks;
    matrix_slice<V> A_;  ///< its rows only as long as an attempt may need them
    int overlap_;
    std::optional<overlapping_block<V>> block_;  ///< taken and not yet joined
    preconditioning block_for_ = preconditioning::none;
    std::unique_ptr<distributed<V, B>> product_;
    std::shared_ptr<direct_over_ranks<V>> direct_;  ///< until it is factorized
};

/// Negates A and its diagonal where the diagonal is negative throughout; whether it is.
template <class V, class Matrix>
bool negate_where_negative(Matrix& A, host_vector<V>& diagonal) {
    const auto is_below_0 = [](V d) { return std::real(d) < 0; };
    if (!on_all(A.ranks(), std::ranges::all_of(diagonal, is_below_0)) || A.rows() == 0)
        return false;
    agree(A.ranks(), [&] { A.negate(), negate<V>(diagonal); });
    return true;
}

/// Of the rows and columns that `here` has by itself. Null for none. Throws argument_error where
/// they do not suit it.
template <class V, class B, class Matrix>
std::unique_ptr<linear_operator<V, B>> own_preconditioner(B here, Matrix& A, const choice& c,
                                                          std::span<const V> diagonal,
                                                          const system_options& o,
                                                          system_report::attempt& told) {
    if (c.preconditioner == preconditioning::none) return nullptr;
    if constexpr (std::is_same_v<B, gpu>)  // gmres alone runs in no graph, which copies would end
        if (c.preconditioner == preconditioning::ilut && c.method != krylov_method::gmres)
            throw argument_error("ilut: on a GPU for gmres alone");
    if (!takes_block(c.preconditioner) || diagonal.empty())
        return jacobi(here,
                      ascending<V>::known(
                          diagonal_matrix(c.method == krylov_method::minres
                                              ? magnitudes(diagonal)
                                              : host_vector<V>(diagonal.begin(), diagonal.end()))),
                      A.first_row());
    using made = std::unique_ptr<linear_operator<V, B>>;
    return A.with_block([&](const ascending<V>& block, index first_row) -> made {
        switch (c.preconditioner) {
            case preconditioning::gauss_seidel:
                return gauss_seidel(here, block, first_row);
            case preconditioning::matching:
                return matched_diagonal(here, block, first_row);
            case preconditioning::ilut:
                return ilut(here, block, {}, first_row);
            case preconditioning::ilu:
                return ilu(here, block, {.level = o.fill_level}, first_row,
                           &told.factors.emplace());
            case preconditioning::ic:
                return ic(here, block, {.level = o.fill_level}, first_row, &told.factors.emplace());
            case preconditioning::ict:
                return ict(here, block, {.drop = 1e-3, .fill = 2}, first_row);
            case preconditioning::fsai:
                return fsai(here, block, {.level = o.fill_level}, first_row);
            case preconditioning::saddle:
                // Its constraints may lie on other ranks than what they constrain.
                if (A.ranks() != nullptr) throw argument_error("saddle: not over ranks");
                return saddle(here, block,
                              c.method == krylov_method::minres ? saddle_form::diagonal
                                                                : saddle_form::triangular);
            case preconditioning::spai:
                return spai(here, block, {.level = o.fill_level}, first_row);
            default:
                return block_jacobi(here, block, std::max(o.block, 1), first_row);
        }
    });
}

/// Whether a symbolic factorization comes before all else, as it takes no longer than iterations
/// that converge do.
bool is_small(const matrix_facts& f) {
    const bool iterations_are_many = f.zero_on_diagonal >= 0;
    return !f.why_not_definite.empty() && f.entries <= (iterations_are_many ? 2e6 : 2e5);
}

/// Among those left, by its forecast; last where it has none, as where A is structurally singular:
/// then it tells why.
template <class V, class Matrix>
void place_direct(Matrix& A, std::vector<choice>& left, const matrix_facts& f,
                  const system_options& o, system_report& report) {
    factor_forecast of_A{.is_complete = false};
    try {
        of_A = A.forecast(o);
    } catch (const std::exception& e) {  // the attempt will say so
        if (A.ranks() != nullptr && dynamic_cast<const agreed_error*>(&e) == nullptr) throw;
    }
    report.reasons.push_back(nz::place_direct(left, f, of_A));
}

/// The direct solver's. Throws unavailable where it would take more seconds than are left.
template <class V, class B, class Matrix>
std::unique_ptr<linear_operator<V, B>> inverse(Matrix& A, const system_options& o,
                                               steady_clock::time_point start,
                                               system_report::attempt& told) {
    told.forecast = A.forecast(o);
    const double seconds = told.predicted_s = told.forecast->seconds;
    double left = o.max_seconds - seconds_since(start);
    if (A.ranks() != nullptr) left = gathered(*A.ranks(), left).front();
    if (!(seconds > left)) return A.inverse(told);
    throw unavailable(fmt::format("direct: it would take {:.3g} s, and {:.3g} s are left", seconds,
                                  std::max(left, 0.0)));
}

/// A matrix in single precision, and what preconditions it.
template <class B>
struct single_precision_system {
    single_precision_matrix rounded;
    whole_matrix<float, B> A;
    std::unique_ptr<linear_operator<float, B>> M;

    single_precision_system(B on, const csr<double, host_view>& given)
        : rounded(rounded_to_single(worth(cpu{}, std::ssize(given.val)), given)),
          A(on, ascending<float>::known(rounded.matrix)) {}
};

/// z near A^-1 r: by cg, or by gmres where it is not definite, in single precision, preconditioned
/// as c has it, to 1e-4, which single precision reaches where the condition allows it. Adds its
/// iterations to `count`, which outlives it. Throws unsuitable.
template <class V, class B, class Matrix>
std::unique_ptr<linear_operator<V, B>> inner_solver(B on, Matrix& A, const choice& c,
                                                    const matrix_facts& f, const system_options& o,
                                                    steady_clock::time_point start,
                                                    std::int64_t& count,
                                                    system_report::attempt& told) {
    if constexpr (!std::is_same_v<Matrix, whole_matrix<double, B>>) {
        throw unsuitable("refine: for values in double precision, and not over ranks");
    } else {
        const auto make = [&](const ascending<double>& given, index) {
            return std::make_shared<single_precision_system<B>>(on, given.view());
        };
        const auto single = A.with_block(make);
        single->A.build_product(nullptr);
        const auto diagonal = diagonal_of(cpu{}, single->rounded.matrix);
        const choice inner{krylov_method::gmres, c.preconditioner};
        single->M = c.preconditioner == preconditioning::amg
                        ? single->A.multigrid(o, true, false)
                        : own_preconditioner<float>(on, single->A, inner, diagonal, o, told);
        const double seconds = o.max_seconds;
        const bool definite = f.why_not_definite.empty();
        const auto solve_once = [=, &count](in<float, B> r, out<float, B> z) {
            const auto& op = single->A.product();
            const auto* M = single->M.get();
            gmres_options loose;
            loose.tol = 1e-4, loose.max_iter = 300;
            loose.max_seconds = std::max(0.0, seconds - seconds_since(start));
            vector_space<float, B>(on, op.shape().rows).fill(0, z);
            const auto run = [&](auto method) {
                return M ? method(on, op, *M, r, z, loose) : method(on, op, r, z, loose);
            };
            count += (definite ? run([](auto&&... a) { return cg<float, B>(a...); })
                               : run([](auto&&... a) { return gmres<float, B>(a...); }))
                         .iterations;
        };
        auto solver = make_operator<float>(on, single->A.product().shape(), std::move(solve_once));
        return std::make_unique<mixed_precision_operator<B>>(
            on, std::make_unique<decltype(solver)>(std::move(solver)));
    }
}

/// Methods that solve several systems in step.
bool goes_in_step(krylov_method method) {
    using enum krylov_method;
    return method == cg || method == minres || method == bicgstab || method == gmres;
}
template <class V, class B>
std::vector<solve_report> solve_in_step(krylov_method method, B on, const linear_operator<V, B>& A,
                                        const linear_operator<V, B>* M, in_columns<V, B> b,
                                        out_columns<V, B> x, const gmres_options& o) {
    const auto run = [&](auto solver) {
        return M == nullptr ? solver(on, A, b, x, o) : solver(on, A, *M, b, x, o);
    };
    switch (method) {
        case krylov_method::minres:
            return run([](auto&&... a) { return minres<V, B>(a...); });
        case krylov_method::bicgstab:
            return run([](auto&&... a) { return bicgstab<V, B>(a...); });
        case krylov_method::gmres:
            return run([](auto&&... a) { return gmres<V, B>(a...); });
        default:
            return run([](auto&&... a) { return cg<V, B>(a...); });
    }
}

/// Vector c of several, of `len` elements.
template <class V, class Array>
host_vector<V> taken(const columns<Array>& all, index c, std::size_t len) {
    host_vector<V> v(len);
    for (std::size_t i = 0; i < len; ++i)
        v[i] = all.values[i * all.row_stride() + std::size_t(c) * all.vector_stride()];
    return v;
}
template <class V>
void put(std::span<const V> v, index c, const out_columns<V, cpu>& all) {
    for (std::size_t i = 0; i < v.size(); ++i)
        all.values[i * all.row_stride() + std::size_t(c) * all.vector_stride()] = v[i];
}

/// Who asks for a solve after one: no one, another right-hand side, or one of other values of A.
enum class to_follow { nothing, right_hand_sides, matrices };

/// A matrix, the facts that decide about its system, and what one solve leaves for the next.
template <class V, class B, class Matrix>
class prepared_system {
  public:
    prepared_system(B on, Matrix A, host_vector<V> diagonal, const system_options& o,
                    to_follow follows)
        : on_(on), A_(std::move(A)), o_(o), follows_(follows) {
        look(std::move(diagonal));
    }
    /// The arguments are checked.
    system_report solve(std::span<const V> b, std::span<V> x, steady_clock::time_point start) {
        return solve(b, x, start, o_);
    }
    /// Several right-hand sides: in step where the method suits that, else one after the other. The
    /// arguments are checked.
    std::vector<system_report> solve_columns(const in_columns<V, cpu>& b,
                                             const out_columns<V, cpu>& x,
                                             steady_clock::time_point start) {
        std::vector<system_report> reports(std::size_t(b.count));
        system_options o = o_;
        bool stops = false;  // as the monitor has said
        if (o_.monitor)
            o.monitor = [&](std::int64_t k, double r) {
                stops |= !o_.monitor(k, r);
                return !stops;
            };
        const auto planning = steady_clock::now();
        if (b.count > 1 && A_.plan_for_several() && dynamic_cast<amg<V, B>*>(kept_.get()))
            kept_.reset();  // it multiplies by the product before
        const double plan_s = seconds_since(planning);
        for (index c = 0; c < b.count && !stops;) {
            const index count = std::min(most_columns, b.count - c);
            auto in_step = count > 1
                               ? step_together(some_of(b, c, count), some_of(x, c, count), start, o)
                               : std::vector<system_report>();
            // Without, the first alone finds the method of the others.
            if (in_step.empty()) in_step.resize(1);
            for (system_report& report : in_step) {
                if (!stops && (report.attempts.empty() || !report.converged()))
                    go_on_alone(b, x, c, start, o, report);
                reports[std::size_t(c++)] = std::move(report);
            }
        }
        for (auto& report : reports) {
            report.plan_s += plan_s;
            if (report.attempts.empty()) report.attempts.push_back(not_tried());
        }
        return reports;
    }
    /// The values that the matrix has now.
    void take_values(host_vector<V> diagonal) {
        A_.take_values();
        look(std::move(diagonal));
        if (!A_.has_product()) return;
        try {
            if (!A_.update(kept_.get())) kept_.reset();
        } catch (const std::exception&) {  // the next solve makes both anew, or tells why not
            kept_.reset();
            A_.drop_product();
        }
    }

  private:
    using op = linear_operator<V, B>;

    /// o: with the monitor that this solve asks.
    system_report solve(std::span<const V> given_b, std::span<V> x, steady_clock::time_point start,
                        const system_options& o) {
        system_report report;
        report.negated = negated_;
        host_vector<V> minus_b;
        if (negated_)
            agree(A_.ranks(),
                  [&] { minus_b.assign(given_b.begin(), given_b.end()), negate<V>(minus_b); });
        const std::span<const V> b = negated_ ? minus_b : given_b;
        auto choices = choices_for(facts_, o_);
        report.reasons = sentences_of(facts_, A_.rows());
        limit_first(choices);
        const choice opening = choices.front();
        if (winner_)
            choices.insert(choices.begin(), *winner_);
        else if (direct_at_once())
            place_direct<V>(A_, choices, facts_, o_, report);
        const auto planning = steady_clock::now();
        if (!A_.has_product()) A_.build_product(choices.size() == 1 ? &choices.front() : nullptr);
        report.product = A_.product_name();
        report.plan_s = seconds_since(planning);
        bool kept_is_left = kept_ != nullptr;
        const auto make = [&](const choice& c, bool last, system_report::attempt& told) {
            if (std::exchange(kept_is_left, false)) return lent(kept_);
            auto M = made(c, last, start, told);
            if (!keeps() || M == nullptr || c.method == krylov_method::refine) return M;
            last_made_ = std::move(M);
            return lent(last_made_);
        };
        const auto rounding = [&](std::span<const V> at) { return A_.rounding(b, at); };
        const auto reconsider = [&](std::vector<choice>& left) {
            this->reconsider(opening, left, report);
        };
        attempt_all<V, B>(on_, {A_.product(), b, x, make, rounding, reconsider, start},
                          std::move(choices), o, report);
        for (auto& a : report.attempts)
            if (a.method == krylov_method::refine) a.report.inner_iterations = inner_iterations_;
        if (keeps()) remember(report);
        if (report.converged()) return report;
        report.advice = A_.obstacles(diagonal_);
        std::ranges::move(advice_for(report, o_), std::back_inserter(report.advice));
        return report;
    }
    [[nodiscard]] bool keeps() const { return follows_ != to_follow::nothing; }

    /// The choice that all right-hand sides begin with; none where one alone must find it.
    [[nodiscard]] std::optional<choice> choice_in_step() const {
        auto choices = choices_for(facts_, o_);
        limit_first(choices);
        if (winner_) return goes_in_step(winner_->method) ? winner_ : std::nullopt;
        const choice& opening = choices.front();
        const bool is_sure = opening.method == krylov_method::cg || choices.size() == 1;
        return is_sure && goes_in_step(opening.method) ? std::optional(opening) : std::nullopt;
    }
    /// One attempt for all, of up to most_columns; empty where there is none. x of those that it
    /// has not solved is no worse than before.
    std::vector<system_report> step_together(const in_columns<V, cpu>& b,
                                             const out_columns<V, cpu>& x,
                                             steady_clock::time_point start,
                                             const system_options& o) {
        const auto c = choice_in_step();
        if (!c) return {};
        system_report all;
        all.negated = negated_, all.reasons = sentences_of(facts_, A_.rows());
        system_report::attempt told{c->method, c->preconditioner, {}};
        all.product = A_.product_name();
        const auto preparing = steady_clock::now();
        std::shared_ptr<op> M = kept_;
        if (M == nullptr) try {
                M = made(*c, false, start, told);
            } catch (const std::exception&) {
                return {};  // alone each tells why
            }
        told.preconditioner_s = seconds_since(preparing);
        const auto iterating = steady_clock::now();
        const auto found = iterate_together(*c, M.get(), b, x, start, o);
        told.solve_s = seconds_since(iterating);
        remember_of_several(*c, M, found);
        std::vector<system_report> reports(found.size(), all);
        for (std::size_t k = 0; k < found.size(); ++k) {
            told.report = found[k];
            reports[k].attempts.push_back(told);
        }
        return reports;
    }
    std::vector<solve_report> iterate_together(const choice& c, const op* M,
                                               const in_columns<V, cpu>& b,
                                               const out_columns<V, cpu>& x,
                                               steady_clock::time_point start, gmres_options o) {
        const auto n = std::size_t(A_.rows()), count = std::size_t(b.count);
        host_vector<V> rhs(n * count), solution(n * count);
        const out_columns<V, cpu> to_rhs{rhs, count, b.count, storage_order::row_major};
        const out_columns<V, cpu> to_solution{solution, count, b.count, storage_order::row_major};
        for (index k = 0; k < b.count; ++k) {
            put<V>(taken<V>(b, k, n), k, to_rhs);
            put<V>(taken<V>(x, k, n), k, to_solution);
        }
        if (negated_) negate<V>(rhs);
        o.max_iter = std::min(o.max_iter, c.most_iterations);
        o.max_seconds = std::max(0.0, o.max_seconds - seconds_since(start));
        const auto b_there = from_host(on_, std::span<const V>(rhs));
        auto x_there = from_host(on_, std::span<const V>(solution));
        const in_columns<V, B> from{b_there, count, b.count, storage_order::row_major};
        const out_columns<V, B> to{x_there, count, b.count, storage_order::row_major};
        const auto reports = solve_in_step<V, B>(c.method, on_, A_.product(), M, from, to, o);
        const auto back = to_host<V>(on_, in<V, B>(x_there));
        const in_columns<V, cpu> found{back, count, b.count, storage_order::row_major};
        for (index k = 0; k < b.count; ++k) put<V>(taken<V>(found, k, n), k, x);
        return reports;
    }
    /// As `remember`, by the right-hand side that took the most iterations.
    void remember_of_several(const choice& c, const std::shared_ptr<op>& M,
                             const std::vector<solve_report>& found) {
        const auto most = std::ranges::max_element(
            found, {}, [](const auto& r) { return r.converged ? r.iterations : -1; });
        if (!most->converged) return;
        system_report as_one;
        as_one.attempts.push_back({c.method, c.preconditioner, *most});
        if (kept_ == nullptr) last_made_ = M;
        remember(as_one);
    }
    /// Solves the right-hand side c from its x on; puts its attempts behind those that it has.
    void go_on_alone(const in_columns<V, cpu>& b, const out_columns<V, cpu>& x, index c,
                     steady_clock::time_point start, const system_options& o,
                     system_report& report) {
        const auto n = std::size_t(A_.rows());
        auto mine = taken<V>(x, c, n);
        auto alone = solve(taken<V>(b, c, n), mine, start, o);
        put<V>(mine, c, x);
        alone.best += report.attempts.size();
        std::ranges::move(alone.attempts, std::back_inserter(report.attempts));
        alone.attempts = std::move(report.attempts);
        report = std::move(alone);
    }
    /// For a right-hand side that the caller's monitor left no iteration to.
    [[nodiscard]] system_report::attempt not_tried() const {
        const choice c = winner_.value_or(choices_for(facts_, o_).front());
        system_report::attempt none{c.method, c.preconditioner, {}};
        none.report.end_by(status::stopped_by_caller);
        none.report.relative = std::numeric_limits<double>::infinity();
        return none;
    }

    void look(host_vector<V> diagonal) {
        negated_ = negate_where_negative(A_, diagonal);
        facts_ = A_.facts(diagonal);
        diagonal_ = std::move(diagonal);
    }
    [[nodiscard]] bool may_be_direct() const {
        return !o_.iterative && !o_.method && !o_.preconditioner;
    }
    [[nodiscard]] bool direct_at_once() const { return may_be_direct() && is_small(facts_); }

    /// At first, before others are thought of whose setup takes as long as some iterations.
    void limit_first(std::vector<choice>& choices) const {
        if (choices.size() < 2) return;
        if (facts_.why_not_definite.empty() && may_be_direct())
            choices.front().most_iterations = 1000;
        if (!facts_.why_not_definite.empty() && (may_be_direct() || !facts_.is_symmetric))
            choices.front().patience = 300;
        // The setup of blocks takes as long as many iterations.
        if (facts_.is_saddle) choices.front().most_iterations = 1000;
    }
    std::unique_ptr<op> made(const choice& c, bool last, steady_clock::time_point start,
                             system_report::attempt& told) {
        if (c.method == krylov_method::direct) return inverse<V, B>(A_, o_, start, told);
        told.predicted_s = iteration_seconds(c, facts_);
        if (c.method == krylov_method::refine)
            return inner_solver<V, B>(on_, A_, c, facts_, o_, start, inner_iterations_, told);
        if (c.preconditioner == preconditioning::amg)
            return A_.multigrid(o_, last, follows_ == to_follow::matrices);
        std::unique_ptr<op> M;
        A_.take_block(c);
        agree(A_.ranks(), [&] {
            const B here = A_.ranks() == nullptr ? on_ : alone(on_);
            M = own_preconditioner<V>(here, A_, c, diagonal_, o_, told);
        });
        return A_.joined(std::move(M), c);
    }
    /// M for an attempt, which gives back what it was lent.
    std::unique_ptr<op> lent(const std::shared_ptr<op>& M) const {
        auto applied = make_operator<V>(
            on_, M->shape(), [M](in<V, B> r, out<V, B> z) { M->apply(V(1), r, V(0), z); });
        return std::make_unique<decltype(applied)>(std::move(applied));
    }
    void reconsider(const choice& opening, std::vector<choice>& left, system_report& report) {
        const bool goes_on = left.size() > 0 && left.front().method == opening.method &&
                             left.front().preconditioner == opening.preconditioner;
        // Short recurrences have little hold where A is not symmetric: first it is ilut's turn. A
        // block preconditioner's on any.
        const auto comes_before = [&](const choice& c) {
            return c.preconditioner == preconditioning::saddle ||
                   (!facts_.is_symmetric && c.preconditioner == preconditioning::ilut);
        };
        if (goes_on)
            std::rotate(left.begin(), left.begin() + 1,
                        std::find_if_not(left.begin() + 1, left.end(), comes_before));
        if (!may_be_direct() || direct_at_once()) return;
        // Others' turn comes where cg has failed otherwise than by its iterations.
        if (facts_.why_not_definite.empty() && !goes_on)
            left.push_back({krylov_method::direct, preconditioning::none});
        else
            place_direct<V>(A_, left, facts_, o_, report);
    }
    /// Keeps what has converged, until it takes half as many iterations again as at first.
    void remember(const system_report& report) {
        constexpr double many_more = 1.5;
        const auto made_now = std::exchange(last_made_, {});
        if (!report.converged()) return;
        const auto& [method, preconditioner] =
            std::tie(report.result().method, report.result().preconditioner);
        const auto iterations = report.result().report.iterations;
        const bool is_another = !winner_ || winner_->method != method ||
                                winner_->preconditioner != preconditioner || kept_ == nullptr ||
                                report.attempts.size() > 1;
        if (is_another) {
            winner_ = choice{method, preconditioner};
            kept_ = made_now, first_iterations_ = iterations;
        } else if (double(iterations) > many_more * double(first_iterations_)) {
            kept_.reset();
        }
    }

    B on_;
    Matrix A_;
    system_options o_;
    to_follow follows_;
    bool negated_ = false;
    host_vector<V> diagonal_;
    matrix_facts facts_;
    std::int64_t inner_iterations_ = 0;
    // From one solve to the next:
    std::optional<choice> winner_;          ///< which has converged
    std::shared_ptr<op> kept_, last_made_;  ///< its preconditioner; what the last attempt made
    std::int64_t first_iterations_ = 0;     ///< with `kept_` as it was made
};

template <class V>
bool same_pattern(const csr<V, host_view>& A, const csr<V, host_view>& B) {
    if (A.shape != B.shape || A.val.size() != B.val.size()) return false;
    const auto both = [](bool a, bool b) { return a && b; };
    const int threads = thread_count({});
    return parallel_reduce(threads, std::ssize(A.col_ind), true, both,
                           [&](std::int64_t k) {
                               return A.col_ind[std::size_t(k)] == B.col_ind[std::size_t(k)];
                           }) &&
           parallel_reduce(threads, std::int64_t(A.row_ptr.size()), true, both,
                           [&](std::int64_t i) {
                               return A.row_ptr[std::size_t(i)] == B.row_ptr[std::size_t(i)];
                           });
}

void expect_square(nz::shape s) {
    if (s.rows != s.cols)
        throw unsuitable("A is " + std::to_string(s.rows) + " x " + std::to_string(s.cols) +
                         ", not square");
}

void check_arguments(std::size_t rows, std::size_t b, std::size_t x, const system_options& o) {
    for (const std::size_t len : {b, x})
        if (len != rows)
            throw argument_error("solve: a vector of " + std::to_string(len) +
                                 " elements, expected " + std::to_string(rows));
    if (o.block < 0) throw argument_error("solve: block is below 0");
    if (o.near.count < 0 || o.near.val.size() != rows * std::size_t(o.near.count))
        throw argument_error(fmt::format("solve: {} candidates of {} rows have {} values",
                                         o.near.count, rows, o.near.val.size()));
    if (!std::ranges::all_of(o.near.val, [](double v) { return std::isfinite(v); }))
        throw argument_error("solve: a candidate is not finite");
    if (o.fill_level < 0) throw argument_error("solve: fill_level is below 0");
    if (o.overlap < 0 || o.overlap > 10)
        throw argument_error(fmt::format("solve: overlap is {}, expected 0 to 10", o.overlap));
    if (const auto why = why_no(o.direct_solver); !why.empty()) throw unavailable(why);
    check_options("solve", o);
}
template <class V>
void check_arguments(std::size_t rows, const in_columns<V, cpu>& b, const out_columns<V, cpu>& x,
                     const system_options& o) {
    check_arguments(rows, rows, rows, o);
    check_columns("solve", "B", b, x.count, rows);
    check_columns("solve", "X", x, b.count, rows);
}

}  // namespace

template <class V, class B>
system_report solve(B on, const csr<V, host_view>& given, std::span<const V> b, std::span<V> x,
                    const system_options& o) {
    const ascending<V> in_order(given);
    const csr<V, host_view>& A = in_order.view();
    expect_square(A.shape);
    check_arguments(std::size_t(A.shape.rows), b.size(), x.size(), o);
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        auto diagonal = diagonal_of(worth(cpu{}, std::ssize(A.val)), A);
        return prepared_system<V, B, whole_matrix<V, B>>(on, {on, in_order}, std::move(diagonal), o,
                                                         to_follow::nothing)
            .solve(b, x, start);
    }
}

template <class V, class B>
std::vector<system_report> solve(B on, const csr<V, host_view>& given, in_columns<V, cpu> b,
                                 out_columns<V, cpu> x, const system_options& o) {
    const ascending<V> in_order(given);
    const csr<V, host_view>& A = in_order.view();
    expect_square(A.shape);
    check_arguments(std::size_t(A.shape.rows), b, x, o);
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        auto diagonal = diagonal_of(worth(cpu{}, std::ssize(A.val)), A);
        return prepared_system<V, B, whole_matrix<V, B>>(
                   on, {on, in_order}, std::move(diagonal), o,
                   b.count > 1 ? to_follow::right_hand_sides : to_follow::nothing)
            .solve_columns(b, x, start);
    }
}

template <class V, class B>
system_report solve(B on, matrix_slice<V> A, std::span<const V> b, std::span<V> x,
                    const system_options& o) {
    if (on.ranks == nullptr) throw argument_error("solve: on.ranks is null");
    const communicator& ranks = *on.ranks;
    expect_square(A.shape());
    expect_equal(&ranks, "solve",
                 std::array{o.method ? double(*o.method) : -1,
                            o.preconditioner ? double(*o.preconditioner) : -1, double(o.block),
                            double(o.fill_level), double(o.overlap), double(o.iterative),
                            double(o.direct_solver), double(o.near.count)});
    host_vector<V> diagonal;
    agree(&ranks, [&] {
        check_arguments(std::size_t(A.rows.count(ranks.rank())), b.size(), x.size(), o);
        diagonal = own_diagonal(A, ranks.rank());
    });
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        return prepared_system<V, B, matrix_over_ranks<V, B>>(
                   on, {on, std::move(A), o.overlap}, std::move(diagonal), o, to_follow::nothing)
            .solve(b, x, start);
    }
}

template <class V, class B>
struct solver<V, B>::state {
    csr<V, host> A;
    ascending<V> in_order;
    std::optional<prepared_system<V, B, whole_matrix<V, B>>> system = {};
    std::mutex mutex = {};

    explicit state(csr<V, host> copy)
        : A(std::move(copy)), in_order(ascending<V>::known(view(A))) {}
    [[nodiscard]] host_vector<V> diagonal() const {
        return diagonal_of(worth(cpu{}, std::ssize(A.val)), view(A));
    }
};

template <class V, class B>
solver<V, B>::solver(B on, const csr<V, host_view>& given, const system_options& o) {
    if (on.ranks != nullptr) throw argument_error("solver: not over ranks");
    expect_square(given.shape);
    const auto n = std::size_t(given.shape.rows);
    check_arguments(n, n, n, o);
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        state_ = std::make_unique<state>(canonical(given));
        state_->system.emplace(on, whole_matrix<V, B>(on, state_->in_order), state_->diagonal(), o,
                               to_follow::matrices);
    }
}
template <class V, class B>
solver<V, B>::~solver() = default;
template <class V, class B>
solver<V, B>::solver(solver&&) noexcept = default;

template <class V, class B>
system_report solver<V, B>::solve(std::span<const V> b, std::span<V> x) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        check_arguments(std::size_t(state_->A.shape.rows), b.size(), x.size(), {});
        const std::lock_guard lock(state_->mutex);
        return state_->system->solve(b, x, start);
    }
}

template <class V, class B>
std::vector<system_report> solver<V, B>::solve(in_columns<V, cpu> b, out_columns<V, cpu> x) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto start = steady_clock::now();
        check_arguments(std::size_t(state_->A.shape.rows), b, x, {});
        const std::lock_guard lock(state_->mutex);
        return state_->system->solve_columns(b, x, start);
    }
}

template <class V, class B>
void solver<V, B>::take_values(const csr<V, host_view>& given) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const std::lock_guard lock(state_->mutex);
        auto& mine = state_->A;
        const ascending<V> in_order(given);
        const csr<V, host_view>& other = in_order.view();
        if (!same_pattern(other, view(mine)))
            throw argument_error("solver: the matrix has another pattern than the first one");
        parallel_for(thread_count({}), std::ssize(mine.val),
                     [&](std::int64_t k) { mine.val[std::size_t(k)] = other.val[std::size_t(k)]; });
        state_->system->take_values(state_->diagonal());
    }
}

#define NZ_INSTANTIATE(V, B)                                                                    \
    template class solver<V, B>;                                                                \
    template system_report solve(B, const csr<V, host_view>&, std::span<const V>, std::span<V>, \
                                 const system_options&);                                        \
    template std::vector<system_report> solve(B, const csr<V, host_view>&, in_columns<V, cpu>,  \
                                              out_columns<V, cpu>, const system_options&);      \
    template system_report solve(B, matrix_slice<V>, std::span<const V>, std::span<V>,          \
                                 const system_options&);
#define NZ_INSTANTIATE_ON_CPU(V) NZ_INSTANTIATE(V, cpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_ON_CPU)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
