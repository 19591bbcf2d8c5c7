// A cycle in single precision: the levels of the setup, which is in double, rounded.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nonzero/core/parallel.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/solve/multigrid/hierarchy.hpp"
#include "nonzero/solve/multigrid/level_product.hpp"
#include "nonzero/solve/preconditioners/mixed_precision.hpp"

namespace nz {
namespace {

template <class B>
using rounded_op = std::unique_ptr<linear_operator<float, B>>;

host_vector<float> rounded(cpu, const host_vector<double>& w) {
    host_vector<float> to(w.size());
    std::ranges::transform(w, to.begin(), [](double v) { return float(v); });
    return to;
}
[[maybe_unused]] device_array<float> rounded(gpu on, const device_array<double>& w) {
    return rounded_to_single(on, w);
}

/// f of M's values in single precision, on M's pattern where it lies.
template <class B, class F>
auto with_rounded(B, const csr<double, host_view>& M, F f) {
    return f(rounded_to_single(cpu{}, M).matrix);
}
template <class F>
auto with_rounded(gpu on, const csr<double, device_view>& M, F f) {
    const auto val = rounded_to_single(on, M.val);
    return f(csr<float, device_view>{M.shape, M.row_ptr, M.col_ind, val});
}

/// Gives op the values of M, or makes it.
template <class B, class S>
void round_product(B on, const csr<double, S>& M, rounded_op<B>& op) {
    with_rounded(on, M, [&](const auto& R) {
        if constexpr (std::is_same_v<S, typename B::view>)
            if (op != nullptr && op->take_values(R)) return;
        using owner = csr<float, std::conditional_t<std::is_same_v<S, host_view>, host, device>>;
        if constexpr (std::is_same_v<owner, csr<float, host>>)
            op = product_with(on, std::make_shared<owner>(owner::from(R)));
        else
            op = product_with(on, std::make_shared<owner>(upload(on, R)));
    });
}

/// Throws argument_error where a value is too large for single precision.
void expect_floats(std::span<const double> values) {
    constexpr double most = std::numeric_limits<float>::max();
    const auto fits = [&](std::int64_t k) { return std::abs(values[std::size_t(k)]) <= most; };
    const auto both = [](bool a, bool b) { return a && b; };
    if (!parallel_reduce(thread_count({}), std::ssize(values), true, both, fits))
        throw argument_error("amg: a value is too large for single precision");
}

/// The same of the finest level's, by the method of its product in double.
void round_finest(cpu on, const csr<double, host_view>& A, const linear_operator<double, cpu>& by,
                  rounded_op<cpu>& op) {
    expect_floats(A.val);
    op = by.in_single_precision();
    if (op != nullptr) return;
    if (by.method_name().empty()) return round_product(on, A, op);
    with_rounded(on, A, [&](const auto& R) {
        op = build(find_method<float>(by.method_name()), on, ascending<float>::known(R));
    });
}
[[maybe_unused]] void round_finest(gpu on, const csr<double, device_view>& A,
                                   const linear_operator<double, gpu>& by, rounded_op<gpu>& op) {
    with_rounded(on, A, [&](const auto& R) {
        if (op != nullptr && op->take_values(R)) return;
        const auto in_order = ascending<float, gpu>::known(R, on);
        const auto* const m =
            by.method_name().empty() ? nullptr : &find_method<float>(by.method_name());
        op = m != nullptr && m->from_device != nullptr
                 ? build(*m, on, in_order)
                 : plan_and_build(in_order, on, product_options<float>(on, true)).op;
    });
}
[[maybe_unused]] void round_finest(gpu on, const csr<double, host_view>& A,
                                   const linear_operator<double, gpu>& by, rounded_op<gpu>& op) {
    round_finest(on, view(upload(on, A)), by, op);
}

/// The power of two near the root of A's diagonal: times it, b of size 1 lies as far above 1 as
/// the solution lies below.
template <class C>
double middle_of_range(C here, const csr<double, typename C::view>& A) {
    const auto diagonal = real_diagonal_of<double>(here, A);
    const std::int64_t rows = A.shape.rows;
    const double size =
        vector_space<double, C>(here, rows).norm(diagonal) / std::sqrt(double(rows));
    return size > 0 && std::isfinite(size) ? std::ldexp(1.0, std::ilogb(size) / 2) : 1;
}

/// Gives `to` all that a level has but its own product, from the level in double and its kept part.
template <class B, class K>
void round_level(B on, multigrid_level<double, B>& from, const K& kept,
                 multigrid_level<float, B>& to) {
    if (kept.inverse != nullptr) return round_product(on, view(*kept.inverse), to.inverse);
    to.w = rounded(on, std::exchange(from.w, {}));
    to.steps = from.steps;
    if (kept.P == nullptr) return;
    round_product(on, view(*kept.P), to.P);
    round_product(on, view(*kept.R), to.R);
}

}  // namespace

template <class B, class S>
void round_levels(B on, const csr<double, S>& A, const amg_options& o, hierarchy<double, B>& made,
                  amg_report& report) {
    const bool is_new = made.rounded == nullptr;
    if (is_new) made.rounded = std::make_unique<multigrid_levels<float, B>>(on, o.cycle);
    if constexpr (std::is_same_v<S, host_view>)
        made.rounded->convert(middle_of_range(cpu{}, A));
    else
        made.rounded->convert(middle_of_range(on, A));
    for (std::size_t l = 0; l < made.levels.size(); ++l) {
        auto& from = made.levels.at(l);
        auto& to = is_new ? made.rounded->add(from.rows) : made.rounded->at(l);
        const auto round = [&]<class C>(const kept_level<double, C>& kept) {
            if constexpr (std::is_same_v<C, B> || std::is_same_v<C, cpu>) {
                round_level(on, from, kept, to);
                if (kept.inverse != nullptr) return;
                if (l == 0)
                    round_finest(on, A, *from.A, to.own);
                else
                    round_product(on, view(*kept.A), to.own);
                to.A = to.own.get();
                report.levels[l].method = to.A->method_name();
            }
        };
        std::visit(round, made.kept[l]);
    }
    if (is_new) made.rounded->finish();
    if (made.finest) made.finest->op.reset();
    if (o.keep) return;
    made.kept.clear();  // and with it the matrices
    for (std::size_t l = 0; l < made.levels.size(); ++l) made.levels.at(l).own.reset();
}

#define NZ_INSTANTIATE(B, S)                                                 \
    template void round_levels(B, const csr<double, S>&, const amg_options&, \
                               hierarchy<double, B>&, amg_report&);
NZ_INSTANTIATE(cpu, host_view)
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(gpu, host_view))
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE(gpu, device_view))

}  // namespace nz
