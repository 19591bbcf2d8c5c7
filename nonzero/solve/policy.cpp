#include "nonzero/solve/policy.hpp"

namespace nz {

std::vector<solver_choice> candidates_for(const system_facts& f) {
    using enum krylov_method;
    using enum preconditioning;
    const auto diagonal = f.zero_on_diagonal >= 0 ? none : jacobi;
    if (!f.is_symmetric) {
        std::vector<solver_choice> all{{bicgstab, diagonal}, {gmres, diagonal}};
        if (f.zero_on_diagonal < 0) all.push_back({gmres, gauss_seidel});
        return all;
    }
    if (!f.why_not_definite.empty())
        return {{minres, diagonal}, {gmres, diagonal}, {bicgstab, diagonal}};
    std::vector<solver_choice> all;
    if (!f.is_complex_valued) all.push_back({cg, amg});
    for (const auto p : {jacobi, gauss_seidel}) all.push_back({cg, p});
    all.push_back({minres, jacobi}), all.push_back({gmres, jacobi});
    return all;
}

solver_choice asked_for(const system_options& o, const system_facts& f) {
    using enum krylov_method;
    using enum preconditioning;
    const auto p = o.preconditioner;
    const auto require_definite = [&](std::string_view what) {
        if (!f.why_not_definite.empty())
            throw unsuitable(std::string(what) + ": " + f.why_not_definite);
    };
    if (o.method == cg) require_definite(name_of(cg));
    if (p == amg) require_definite(name_of(amg));
    if (o.method == minres && !f.is_symmetric) throw unsuitable("minres: A is not symmetric");
    if (p == amg && f.is_complex_valued) throw unsuitable("amg: for real values only");
    if ((p == jacobi || p == gauss_seidel) && f.zero_on_diagonal >= 0)
        throw unsuitable(std::string(name_of(*p)) + ": the diagonal is zero in row " +
                         std::to_string(f.zero_on_diagonal));
    const bool with_minres = f.is_symmetric && (p == none || p == jacobi);
    const auto method = o.method                     ? *o.method
                        : f.why_not_definite.empty() ? cg
                        : with_minres                ? minres
                                                     : bicgstab;
    if (p) return {method, *p};
    if (f.zero_on_diagonal >= 0) return {method, none};
    const bool with_amg = method != minres && f.why_not_definite.empty() && !f.is_complex_valued;
    return {method, with_amg ? amg : jacobi};
}

bool patience::is_running(std::int64_t k, double residual) {
    if (monitor_ && !monitor_(k, residual)) stopped_ = true;
    if (stopped_) return false;
    if (residual <= least_ / 2) least_ = residual, since_ = k;
    return !(lost_ = k - since_ >= iterations_);
}

}  // namespace nz
