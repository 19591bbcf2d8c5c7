#include "nonzero/solve/solve_over_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/entries.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/solve/attempts.hpp"
#include "nonzero/solve/krylov/krylov.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/multigrid/level_product.hpp"
#include "nonzero/solve/multigrid/local_rows.hpp"
#include "nonzero/solve/preconditioners/gauss_seidel.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"

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
    return f;
}

template <class V>
void negate(std::span<V> v) {
    parallel_for(thread_count({}), std::int64_t(v.size()),
                 [&](std::int64_t k) { v[std::size_t(k)] = -v[std::size_t(k)]; });
}

/// Negates A, its diagonal and b, into minus_b, where the diagonal is negative on all ranks;
/// whether it is.
template <class V>
bool negate_where_negative(const communicator& ranks, matrix_slice<V>& A, host_vector<V>& diagonal,
                           std::span<const V>& b, host_vector<V>& minus_b) {
    const auto is_below_0 = [](V d) { return std::real(d) < 0; };
    if (!on_all(&ranks, std::ranges::all_of(diagonal, is_below_0)) || A.shape().rows == 0)
        return false;
    agree(&ranks, [&] {
        negate<V>(A.own.val), negate<V>(diagonal);
        minus_b.assign(b.begin(), b.end()), negate<V>(minus_b);
        b = minus_b;
    });
    return true;
}

/// The diagonal matrix of the values, or of their absolute values.
template <class V>
csr<V, host> diagonal_matrix(std::span<const V> diagonal, bool absolute) {
    host_vector<index> at(diagonal.size());
    host_vector<V> val(diagonal.size());
    for (std::size_t i = 0; i < at.size(); ++i)
        at[i] = index(i), val[i] = absolute ? V(std::abs(diagonal[i])) : diagonal[i];
    return assemble<V>({index(at.size()), index(at.size())}, at, at, val);
}

/// Whether a preconditioner is made of this rank's own block.
bool takes_block(preconditioning p) {
    return p == preconditioning::block_jacobi || p == preconditioning::gauss_seidel;
}

/// What the attempts ask of a matrix over ranks: its product, preconditioners, rounding errors.
template <class V, class B>
class matrix_over_ranks {
  public:
    /// diagonal, b: of this rank. only: the one choice that is tried; null where there are more.
    matrix_over_ranks(B on, matrix_slice<V> A, std::span<const V> diagonal, std::span<const V> b,
                      index unknowns, const choice* only)
        : on_(on), A_(std::move(A)), diagonal_(diagonal), b_(b), unknowns_(unknowns) {
        build_product(only);
    }
    [[nodiscard]] const distributed<V, B>& product() const { return *product_; }

    /// Null for none. Throws argument_error, on all ranks, where A does not suit it.
    std::unique_ptr<linear_operator<V, B>> make_preconditioner(const choice& c, bool last) {
        if (c.preconditioner == preconditioning::amg) return make_multigrid(last);
        std::unique_ptr<linear_operator<V, B>> M;
        agree(&ranks_, [&] { M = make_own_preconditioner(c); });
        return M;
    }

    /// As the one of a whole matrix, over all ranks.
    double rounding_scale(std::span<const V> at) {
        matrix_slice<double> sizes{A_.rows, A_.cols, {}};
        host_vector<double> x(at.size()), y(b_.size());
        const auto size_of = [](const V& v) { return double(std::abs(v)); };
        long double b2 = 0, sum2 = 0;
        agree(&ranks_, [&] {
            sizes.own = {A_.own.shape, A_.own.row_ptr, A_.own.col_ind,
                         host_vector<double>(A_.own.val.size())};
            std::ranges::transform(A_.own.val, sizes.own.val.begin(), size_of);
            std::ranges::transform(at, x.begin(), size_of);
            std::ranges::transform(b_, y.begin(), size_of);
            for (const long double v : y) b2 += v * v;
        });
        cpu here = helpers(on_);
        here.ranks = &ranks_;
        distributed<double, cpu>(here, std::move(sizes), {.methods = plain_methods(here)})
            .apply(1, x, 1, y);
        for (const long double v : y) sum2 += v * v;
        return double(std::sqrt(summed(ranks_, sum2) / summed(ranks_, b2)));
    }

  private:
    [[nodiscard]] index first_row() const { return index(A_.rows.of(ranks_.rank()).first); }

    /// The product, which takes the rows over where nothing but it needs them: of a single attempt
    /// without multigrid.
    void build_product(const choice* only) {
        matrix_slice<V> taken;
        agree(&ranks_, [&] {
            if (only != nullptr && takes_block(only->preconditioner))
                block_ = own_block(A_, ranks_.rank());
            taken = {A_.rows, A_.cols, {}};
            if (only != nullptr && only->preconditioner != preconditioning::amg)
                taken.own = std::move(A_.own);
            else
                taken.own = rows_from(cpu{}, view(A_.own), 0);
        });
        product_ = std::make_unique<distributed<V, B>>(on_, std::move(taken));
    }

    /// Over all ranks. Where no attempt follows the rows go once the levels are made.
    std::unique_ptr<linear_operator<V, B>> make_multigrid(bool last) {
        std::unique_ptr<linear_operator<V, B>> M;
        if constexpr (!is_complex<V>)
            M = std::make_unique<distributed_amg<V, B>>(
                on_, A_, amg_options{.block = unknowns_, .check = false}, candidates<V>{},
                product_.get());
        if (last) A_.own = {};
        return M;
    }

    /// Of this rank's own rows and columns.
    std::unique_ptr<linear_operator<V, B>> make_own_preconditioner(const choice& c) {
        const B here = nz::alone(on_);
        if (c.preconditioner == preconditioning::none) return nullptr;
        if (!takes_block(c.preconditioner) || diagonal_.empty())
            return jacobi(here, view(diagonal_matrix(diagonal_, c.method == krylov_method::minres)),
                          first_row());
        const auto block = block_.shape.rows > 0 ? std::move(block_) : own_block(A_, ranks_.rank());
        if (c.preconditioner == preconditioning::gauss_seidel)
            return gauss_seidel(here, view(block), first_row());
        return block_jacobi(here, view(block), unknowns_, first_row());
    }

    B on_;
    const communicator& ranks_ = *on_.ranks;
    matrix_slice<V> A_;   ///< its rows only as long as an attempt may need them
    csr<V, host> block_;  ///< own rows and columns, where A's went to the product
    std::span<const V> diagonal_, b_;
    index unknowns_;  ///< that belong together
    std::unique_ptr<distributed<V, B>> product_;
};

/// What one rank can check of its arguments.
template <class V>
void check_part(const communicator& ranks, const matrix_slice<V>& A, std::span<const V> b,
                std::span<const V> x, const system_options& o) {
    if (o.block < 1) throw argument_error("solve: block is below 1");
    const auto rows = std::size_t(A.rows.count(ranks.rank()));
    for (const std::size_t len : {b.size(), x.size()})
        if (len != rows)
            throw argument_error("solve: a vector of " + std::to_string(len) +
                                 " elements, expected " + std::to_string(rows));
}

}  // namespace

template <class V, class B>
system_report solve(B on, matrix_slice<V> A, std::span<const V> b, std::span<V> x,
                    const system_options& o) {
    if (on.ranks == nullptr) throw argument_error("solve: on.ranks is null");
    const communicator& ranks = *on.ranks;
    if (A.shape().rows != A.shape().cols)
        throw unsuitable("A is " + std::to_string(A.shape().rows) + " x " +
                         std::to_string(A.shape().cols) + ", not square");
    expect_equal(&ranks, "solve",
                 std::array{o.method ? double(*o.method) : -1,
                            o.preconditioner ? double(*o.preconditioner) : -1, double(o.block)});
    host_vector<V> diagonal, minus_b;
    agree(&ranks, [&] {
        check_part<V>(ranks, A, b, x, o);
        check_options("solve", o);
        diagonal = own_diagonal(A, ranks.rank());
    });
    const auto start = steady_clock::now();
    system_report report;
    report.negated = negate_where_negative(ranks, A, diagonal, b, minus_b);
    auto choices = choices_for(facts_of<V>(ranks, A, diagonal), o);
    const choice* const only = choices.size() == 1 ? &choices.front() : nullptr;
    matrix_over_ranks<V, B> matrix(on, std::move(A), diagonal, b, o.block, only);
    report.product = matrix.product().local().method_name();
    report.plan_s = seconds_since(start);
    const auto make = [&](const choice& c, bool last) {
        return matrix.make_preconditioner(c, last);
    };
    const auto rounding = [&](std::span<const V> at) { return matrix.rounding_scale(at); };
    const attempted_system<V, B> system{matrix.product(), b, x, make, rounding, start};
    attempt_all<V, B>(on, system, std::move(choices), o, report);
    if (!report.converged()) report.advice = advice_for(report, o);
    return report;
}

#define NZ_INSTANTIATE(V, B)                                                           \
    template system_report solve(B, matrix_slice<V>, std::span<const V>, std::span<V>, \
                                 const system_options&);
#define NZ_INSTANTIATE_ON_CPU(V) NZ_INSTANTIATE(V, cpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_ON_CPU)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
