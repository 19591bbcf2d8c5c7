#include "nonzero/solve/krylov/krylov.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "nonzero/solve/krylov/scaled_operator.hpp"

namespace nz {

namespace {

template <class V, class B>
void check_here(const char* what, const linear_operator<V, B>& A, const linear_operator<V, B>* M,
                in<V, B> b, in<V, B> x, const solve_options& o) {
    const auto fail = [&](const std::string& why) {
        throw argument_error(std::string(what) + ": " + why);
    };
    const auto text = [](nz::shape s) {
        return std::to_string(s.rows) + " x " + std::to_string(s.cols);
    };
    const nz::shape shape = A.shape();
    if (shape.rows != shape.cols) fail("A is " + text(shape) + ", expected a square matrix");
    if (M != nullptr && M->shape() != shape)
        fail("the preconditioner is " + text(M->shape()) + ", expected " + text(shape));
    for (const std::size_t len : {b.size(), x.size()})
        if (len != std::size_t(shape.rows))
            fail("a vector of " + std::to_string(len) + " elements, expected " +
                 std::to_string(shape.rows));
    check_options(what, o);
}

}  // namespace

void check_options(const char* what, const solve_options& o) {
    const auto require = [&](bool holds, const std::string& why) {
        if (!holds) throw argument_error(std::string(what) + ": " + why);
    };
    require(!o.tol || *o.tol >= 0,
            fmt::format("tol is {:g}, expected 0 or more", o.tol.value_or(0)));
    require(o.max_iter >= 0, fmt::format("max_iter is {}, expected 0 or more", o.max_iter));
    require(o.max_seconds >= 0,
            fmt::format("max_seconds is {:g}, expected 0 or more", o.max_seconds));
    require(o.replace_every >= 0,
            fmt::format("replace_every is {}, expected 0 or more", o.replace_every));
}

template <class V, class B>
void check_system(const char* what, B on, const linear_operator<V, B>& A,
                  const linear_operator<V, B>* M, in<V, B> b, in<V, B> x, const solve_options& o) {
    const communicator* const ranks = ranks_of(on);
    agree(ranks, [&] { check_here<V, B>(what, A, M, b, x, o); });
    expect_equal(ranks, what,
                 std::array{o.tol_of<V>(), double(o.max_iter), o.max_seconds,
                            double(o.replace_every), double(M != nullptr)});
}

namespace {

/// significand * 2^exponent: a norm may be beyond double where its vector is not.
struct wide_norm {
    double significand = 0;
    int exponent = 0;
    [[nodiscard]] int power_of_2() const { return std::ilogb(significand) + exponent; }
};

template <class V, class B>
wide_norm norm_of(vector_space<V, B>& space, in<V, B> v) {
    scalars_on<square_sums, B> sums(space.on(), {});
    run_fused(space, scaled_squares<V>{v.data()}, sums.data());
    const square_sums all = sums.read();
    if (std::isfinite(all.small)) return {std::sqrt(all.small), -600};
    if (std::isfinite(all.plain)) return {std::sqrt(all.plain), 0};
    return {std::sqrt(all.large), 600};
}

/// v = 2^k v: exact but where the result is no normal number, and then rounded once. In two steps,
/// as 2^k itself may not be one.
template <class V, class B>
void scale_by_power_of_2(vector_space<V, B>& space, int k, out<V, B> v) {
    space.scale(V(std::ldexp(real<V>(1), k / 2)), v);
    space.scale(V(std::ldexp(real<V>(1), k - k / 2)), v);
}

/// Without an iteration: b is zero, or something is not finite.
solve_report end_at_once(const wide_norm& rhs, double relative) {
    solve_report report;
    report.end_by(relative == 0 ? status::converged : status::not_finite_at_start);
    report.rhs_norm = std::ldexp(rhs.significand, rhs.exponent);
    report.residual_norm = report.relative = relative;
    report.history = {relative};
    return report;
}

/// The powers of two that a system is solved in: b over 2^of_b, A over 2^of_A.
struct scale {
    int of_b = 0, of_A = 0;
    [[nodiscard]] int of_x() const { return of_b - of_A; }
};

/// x and the report of a scaled system brought back to the caller's scale.
template <class V, class B>
void restore(vector_space<V, B>& space, const linear_problem<V, B>& scaled, const scale& by,
             double tol, out<V, B> x, solve_report& report) {
    scale_by_power_of_2(space, by.of_x(), x);
    auto again = space.make(), q = space.make(), r = space.make();
    space.copy(x, again);
    scale_by_power_of_2<V, B>(space, -by.of_x(), again);
    scaled.A.apply(V(1), again, V(0), q);
    scalars_on<krylov_state, B> at(space.on(), {});
    run_fused(space, residual_step<V, krylov_state>{scaled.b.data(), q.data(), r.data()},
              at.data());
    const krylov_state s = at.read();
    const double residual = std::sqrt(s.residual2), rhs = std::sqrt(s.rhs2);
    if (!std::isfinite(residual)) {
        report.end_by(status::overflow);
    } else if (report.converged && residual > report.residual_norm && residual > tol * rhs) {
        report.end_by(status::underflow);
    }
    report.relative = residual / rhs;
    report.residual_norm = std::ldexp(residual, by.of_b);
    report.rhs_norm = std::ldexp(rhs, by.of_b);
}

/// 2^k v
template <class V, class B>
vector<V, B> times_power_of_2(vector_space<V, B>& space, int k, in<V, B> v) {
    auto scaled = space.make();
    space.copy(v, scaled);
    scale_by_power_of_2(space, k, scaled);
    return scaled;
}

/// The power of two of |A v| for a v of length 1 to 2; 0 where that is zero or not finite.
template <class V, class B>
int power_of_2_of(vector_space<V, B>& space, const linear_operator<V, B>& A, in<V, B> v) {
    auto q = space.make();
    A.apply(V(1), v, V(0), q);
    const wide_norm size = norm_of<V, B>(space, q);
    if (size.significand == 0 || !std::isfinite(size.significand)) return 0;
    constexpr int most =
        std::numeric_limits<real<V>>::max_exponent - 2;  // of a power and its inverse
    return std::clamp(size.power_of_2(), -most, most);
}

/// 2^k op; null where that is `op` itself, or there is none.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> times_power_of_2(B on, int k,
                                                        const linear_operator<V, B>* op) {
    if (k == 0 || op == nullptr) return nullptr;
    return std::make_unique<scaled_operator<V, B>>(on, *op, k);
}

template <class V, class B>
using solver = std::function<std::optional<solve_report>(const linear_problem<V, B>&)>;

/// With b and A over powers of two; none where A 0 is not 0.
template <class V, class B>
std::optional<solve_report> solve_scaled(B on, const linear_problem<V, B>& p, const scale& by,
                                         out<V, B> x, const solve_options& o,
                                         const solver<V, B>& solve) {
    vector_space<V, B> space(on, p.A.shape().rows);
    const auto A = times_power_of_2(on, -by.of_A, &p.A);
    const auto M = times_power_of_2(on, by.of_A, p.M);
    const auto b = times_power_of_2(space, -by.of_b, p.b);
    const linear_problem<V, B> scaled{A ? *A : p.A, M ? M.get() : p.M, b};
    scale_by_power_of_2(space, -by.of_x(), x);
    auto report = solve(scaled);
    if (!report) {
        space.fill(V(0), x);
        report = solve(scaled);
    }
    if (report) restore<V, B>(space, scaled, by, o.tol_of<V>(), x, *report);
    return report;
}

}  // namespace

template <class V, class B>
solve_report solve_in_scale(B on, const linear_problem<V, B>& p, out<V, B> x,
                            const solve_options& o, const solver<V, B>& solve) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        auto report = solve(p);
        const auto is_final = [&] {
            return report->converged || report->status == status::stopped_by_caller;
        };
        if (report && is_final()) return *report;
        vector_space<V, B> space(on, p.A.shape().rows);
        const wide_norm size = norm_of<V, B>(space, p.b);
        if (size.significand == 0) {
            space.fill(V(0), x);
            return end_at_once(size, 0);
        }
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        if (!std::isfinite(size.significand) || !std::isfinite(norm_of<V, B>(space, x).significand))
            return end_at_once(size, nan);
        const int k = size.power_of_2();
        if (!report) report = solve_scaled<V, B>(on, p, {.of_b = k}, x, o, solve);
        if (!report) return end_at_once(size, nan);  // A 0 is not 0
        if (is_final()) return *report;
        const int of_A = power_of_2_of<V, B>(space, p.A, times_power_of_2(space, -k, p.b));
        // Up to here the type of the vectors has room for what A and its inverse make of one,
        // twice.
        constexpr int suits_squares = std::is_same_v<real<V>, float> ? 30 : 256;
        if (std::abs(of_A) <= suits_squares) return *report;
        return solve_scaled<V, B>(on, p, {k, of_A}, x, o, solve).value_or(*report);
    }
}

#define NZ_INSTANTIATE(V, B)                                                        \
    template void check_system(const char*, B, const linear_operator<V, B>&,        \
                               const linear_operator<V, B>*, in<V, B>, in<V, B>,    \
                               const solve_options&);                               \
    template solve_report solve_in_scale(B, const linear_problem<V, B>&, out<V, B>, \
                                         const solve_options&, const solver<V, B>&);
#define NZ_INSTANTIATE_FOR(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
