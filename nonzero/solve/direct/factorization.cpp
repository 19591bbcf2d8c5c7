#include "nonzero/solve/direct/factorization.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/memory.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "nonzero/solve/direct/factor_plan.hpp"
#include "nonzero/solve/direct/forecast.hpp"
#include "nonzero/solve/direct/sparse_lu.hpp"
#include "nonzero/solve/scaling/matching.hpp"

namespace nz {
namespace {

/// Eigen numbers entries in 32 bits; a bit is left for what pivots add.
constexpr std::int64_t most_entries = std::int64_t(1) << 30;

template <class V>
std::int64_t entries_in(double bytes) {
    return std::int64_t(std::min(bytes / bytes_an_entry<V>, double(most_entries)));
}

/// r = b - A x and its norm over |b|. In long double, whose range squares of doubles do not leave.
template <class V>
double residual(const csr<V, host>& A, std::span<const V> b, std::span<const V> x, std::span<V> r) {
    using W = std::conditional_t<is_complex<V>, std::complex<double>, double>;
    long double r2 = 0, b2 = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        W sum = W(b[i]);
        for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k)
            sum -= product(W(A.val[k]), W(x[std::size_t(A.col_ind[k])]));
        r[i] = V(sum);
        const long double rest = std::abs(sum), size = std::abs(b[i]);
        r2 += rest * rest, b2 += size * size;
    }
    return b2 > 0 ? double(std::sqrt(r2 / b2)) : r2 > 0 ? INFINITY : 0;
}

double half_of_memory() {
    const auto all = double(memory_bytes());
    return all > 0 ? all / 2 : std::numeric_limits<double>::infinity();  // where nobody says
}

}  // namespace

template <class V>
factor_plan<V>::factor_plan(const csr<V, host_view>& A, double most_bytes)
    : most_bytes_(most_bytes > 0 ? most_bytes : half_of_memory()) {
    const auto in_order = canonical(A);
    const matching m = match_where_needed(view(in_order));
    const auto matched = rearranged<V>(view(in_order), onto_diagonal(m));
    const auto order = elimination_order(view(matched));
    auto arrangement = onto_diagonal(m, order);
    forecast_ = nz::forecast(view(rearranged<V>(view(in_order), arrangement)),
                             entries_in<V>(most_bytes_) + 1);
    arrangement_ = std::make_shared<const rearrangement>(std::move(arrangement));
}

template <class V>
factorization<V>::factorization(const csr<V, host_view>& A, double most_bytes)
    : factorization(A, factor_plan<V>(A, most_bytes)) {}

template <class V>
factorization<V>::factorization(const csr<V, host_view>& A, const factor_plan<V>& plan)
    : A_(canonical(A)),
      arrangement_(std::make_shared<const rearrangement>(plan.arrangement())),
      forecast_(plan.forecast()) {
    const auto start = steady_clock::now();
    if (!forecast_.is_complete || forecast_.bytes > plan.most_bytes())
        throw unavailable(fmt::format(
            "the factors of A would take {}{:.3g} GB, more than the {:.3g} GB allowed",
            forecast_.is_complete ? "" : "at least ", forecast_.bytes * 1e-9,
            std::min(plan.most_bytes(), double(most_entries) * bytes_an_entry<V>) * 1e-9));
    factors_ = sparse_lu<wide>(view(rearranged<wide>(view(A_), *arrangement_)));
    seconds_ = seconds_since(start);
}

template <class V>
void factorization<V>::apply(std::span<const V> b, std::span<V> x) const {
    host_vector<wide> y(b.size());
    arrangement_->take_rhs<V, wide>(b, y);
    factors_->solve(y);
    arrangement_->give_solution<wide, V>(y, x);
}

template <class V>
double factorization<V>::solve(std::span<const V> b, std::span<V> x) const {
    for (const std::size_t len : {b.size(), x.size()})
        if (len != std::size_t(rows()))
            throw argument_error(
                fmt::format("factorization: a vector of {} elements, expected {}", len, rows()));
    constexpr int most_steps = 5;
    host_vector<V> r(b.size()), correction(b.size()), better(b.size());
    apply(b, x);
    double left = residual<V>(A_, b, x, r);
    for (int step = 0; step < most_steps && left > 0; ++step) {
        apply(r, correction);
        for (std::size_t i = 0; i < x.size(); ++i) better[i] = x[i] + correction[i];
        const double next = residual<V>(A_, b, better, r);
        if (!(next < left)) break;
        std::ranges::copy(better, x.begin());
        if (next > left / 2) return next;
        left = next;
    }
    return left;
}

template <class V>
double factorization<V>::solve_many(std::span<const V> B, std::span<V> X) const {
    const auto n = std::size_t(rows());
    if (B.size() != X.size() || (n == 0 ? B.size() : B.size() % n) != 0)
        throw argument_error(
            fmt::format("factorization: {} and {} elements, expected as many, a "
                        "multiple of {}",
                        B.size(), X.size(), rows()));
    double worst = 0;
    for (std::size_t at = 0; at < B.size(); at += n)
        worst = std::max(worst, solve(B.subspan(at, n), X.subspan(at, n)));
    return worst;
}

template <class V>
std::int64_t factorization<V>::entries() const {
    return factors_->entries();
}
template <class V>
std::size_t factorization<V>::bytes() const {
    return std::size_t(entries()) * std::size_t(bytes_an_entry<V>);
}

#define NZ_INSTANTIATE(V)          \
    template class factor_plan<V>; \
    template class factorization<V>;
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
