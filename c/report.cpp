#include "c/report.hpp"

namespace nz::c {
namespace {

template <std::size_t n>
void put(char (&to)[n], std::string_view text) {
    to[text.copy(to, n - 1)] = '\0';
}

}  // namespace

void expect_report(const nz_report* r) {
    if (r != nullptr && r->struct_size != sizeof(nz_report))
        throw argument_error(
            fmt::format("report->struct_size is {}, expected {}: is it NZ_REPORT_INIT?",
                        r->struct_size, sizeof(nz_report)));
}

int report_to(nz_report* to, const told& t) {
    if (to != nullptr) {
        to->converged = t.converged, to->attempts = t.attempts, to->iterations = t.iterations;
        to->residual = t.residual, to->residual_norm = t.residual_norm;
        to->setup_s = t.setup_s, to->solve_s = t.solve_s;
        put(to->status, t.status), put(to->method, t.method);
        put(to->preconditioner, t.preconditioner), put(to->product, t.product);
        put(to->why, t.why), put(to->advice, t.advice);
    }
    return t.converged ? NZ_OK : not_converged(std::string(t.why));
}

int report_to(nz_report* to, const system_report& system) {
    const system_report::attempt& best = system.result();
    const solve_report& r = best.report;
    double setup_s = system.plan_s, solve_s = 0;
    for (const system_report::attempt& a : system.attempts)
        setup_s += a.preconditioner_s, solve_s += a.solve_s;
    return report_to(to, {.converged = r.converged,
                          .attempts = std::int32_t(system.attempts.size()),
                          .iterations = r.iterations,
                          .residual = r.relative_residual(),
                          .residual_norm = r.residual_norm,
                          .setup_s = setup_s,
                          .solve_s = solve_s,
                          .status = name_of(r.status),
                          .method = name_of(best.method),
                          .preconditioner = name_of(best.preconditioner),
                          .product = system.product,
                          .why = r.why,
                          .advice = fmt::format("{}", fmt::join(system.advice, " "))});
}

}  // namespace nz::c
