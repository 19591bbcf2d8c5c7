#include "nonzero/solve/krylov/krylov.hpp"

#include <array>

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
    if (!(o.tol_of<V>() >= 0)) fail("tol is " + std::to_string(*o.tol) + ", expected 0 or more");
    if (o.max_iter < 0) fail("max_iter is negative");
    if (o.replace_every < 0) fail("replace_every is negative");
}

}  // namespace

template <class V, class B>
void check_system(const char* what, B on, const linear_operator<V, B>& A,
                  const linear_operator<V, B>* M, in<V, B> b, in<V, B> x, const solve_options& o) {
    const communicator* const ranks = ranks_of(on);
    agree(ranks, [&] { check_here<V, B>(what, A, M, b, x, o); });
    expect_equal(ranks, what,
                 std::array{o.tol_of<V>(), double(o.max_iter), double(o.replace_every),
                            double(M != nullptr)});
}

std::string describe(status v) {
    switch (v) {
        case status::indefinite_matrix:
            return "A is not positive definite: (p, A p) is not positive for a direction p";
        case status::indefinite_preconditioner:
            return "the preconditioner M is not positive definite: (r, M r) is not positive for a "
                   "residual r";
        case status::breakdown:
            return "broke down: a scalar product to divide by is zero";
        case status::singular_matrix:
            return "A is singular to working precision: no direction is left that reduces b - A x";
        case status::not_finite:
            return "a product of A or M, or a sum, is not finite";
        default:
            return "converged";
    }
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
    space.run(scaled_squares<V>{v.data()}, sums.data());
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
    report.converged = relative == 0;
    report.why = report.converged ? "converged" : "b, or b - A x at the start, is not finite";
    report.rhs_norm = std::ldexp(rhs.significand, rhs.exponent);
    report.residual_norm = report.relative = relative;
    report.history = {relative};
    return report;
}

/// x and the report of a system in the scale 2^-k brought back to the caller's.
template <class V, class B>
void restore(vector_space<V, B>& space, const linear_operator<V, B>& A, in<V, B> scaled_b, int k,
             double tol, out<V, B> x, solve_report& report) {
    scale_by_power_of_2(space, k, x);
    auto again = space.make(), q = space.make(), r = space.make();
    space.copy(x, again);
    scale_by_power_of_2<V, B>(space, -k, again);
    A.apply(V(1), again, V(0), q);
    scalars_on<krylov_state, B> at(space.on(), {});
    space.run(residual_step<V, krylov_state>{scaled_b.data(), q.data(), r.data()}, at.data());
    const krylov_state s = at.read();
    const double residual = std::sqrt(s.residual2), rhs = std::sqrt(s.rhs2);
    if (!std::isfinite(residual)) {
        report.converged = false;
        report.why = "the solution overflows: numbers of x are beyond the largest of their type";
    } else if (report.converged && residual > report.residual_norm && residual > tol * rhs) {
        report.converged = false;
        report.why = "the solution is so small that its denormal numbers are too coarse for tol";
    }
    report.relative = residual / rhs;
    report.residual_norm = std::ldexp(residual, k);
    report.rhs_norm = std::ldexp(rhs, k);
}

}  // namespace

template <class V, class B>
solve_report solve_in_scale(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                            const solve_options& o,
                            const std::function<std::optional<solve_report>(in<V, B>)>& solve) {
    if (auto report = solve(b)) return *std::move(report);
    vector_space<V, B> space(on, A.shape().rows);
    const wide_norm size = norm_of<V, B>(space, b);
    if (size.significand == 0) {
        space.fill(V(0), x);
        return end_at_once(size, 0);
    }
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(size.significand) || !std::isfinite(norm_of<V, B>(space, x).significand))
        return end_at_once(size, nan);
    const int k = size.power_of_2();
    auto scaled = space.make();
    space.copy(b, scaled);
    scale_by_power_of_2<V, B>(space, -k, scaled);
    scale_by_power_of_2(space, -k, x);
    auto report = solve(scaled);
    if (!report) {
        space.fill(V(0), x);
        report = solve(scaled);
    }
    if (!report) return end_at_once(size, nan);  // A 0 is not 0
    restore<V, B>(space, A, scaled, k, o.tol_of<V>(), x, *report);
    return *std::move(report);
}

#define NZ_INSTANTIATE(V, B)                                                        \
    template void check_system(const char*, B, const linear_operator<V, B>&,        \
                               const linear_operator<V, B>*, in<V, B>, in<V, B>,    \
                               const solve_options&);                               \
    template solve_report solve_in_scale(                                           \
        B, const linear_operator<V, B>&, in<V, B>, out<V, B>, const solve_options&, \
        const std::function<std::optional<solve_report>(in<V, B>)>&);
#define NZ_INSTANTIATE_ON_CPU(V) NZ_INSTANTIATE(V, cpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_ON_CPU)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
