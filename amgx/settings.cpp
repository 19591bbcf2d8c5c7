#include "amgx/settings.hpp"

#include <algorithm>
#include <array>

#include "amgx/failure.hpp"

namespace nz::amgx {
namespace {

constexpr int deepest = 8;  ///< solvers within solvers

/// The keys of one scope.
class scope {
  public:
    scope(const configuration& c, std::string name) : all_(c), name_(std::move(name)) {}
    [[nodiscard]] std::string text(const char* key, const char* otherwise) const {
        const auto* const e = all_.find(name_, key);
        return e == nullptr ? otherwise : e->value;
    }
    [[nodiscard]] double number(const char* key, double otherwise) const {
        const auto* const e = all_.find(name_, key);
        return e == nullptr ? otherwise : std::stod(e->value);
    }
    [[nodiscard]] int whole(const char* key, int otherwise) const {
        constexpr double most = 1e9;
        return int(std::clamp(number(key, otherwise), -most, most));
    }
    [[nodiscard]] bool flag(const char* key) const { return whole(key, 0) != 0; }
    /// Where the solver that a key names has its keys.
    [[nodiscard]] scope within(const char* key) const {
        const auto* const e = all_.find(name_, key);
        return {all_, e == nullptr || e->its_scope.empty() ? "default" : e->its_scope};
    }
    [[nodiscard]] const std::string& name() const { return name_; }

  private:
    const configuration& all_;
    std::string name_;
};

bool is_one_of(const std::string& s, std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return s == name; });
}
bool takes_preconditioner(const std::string& solver) {
    return is_one_of(solver, {"PCG", "PCGF", "PBICGSTAB", "GMRES", "FGMRES", "IDR", "IDRMSYNC"});
}

void read_criterion(settings& s, const scope& here) {
    s.monitored = here.flag("monitor_residual");
    s.tolerance = here.number("tolerance", 1e-12);
    s.relative_tolerance = here.number("alt_rel_tolerance", 1e-12);
    const std::string kind = here.text("convergence", "ABSOLUTE");
    if (kind.starts_with("RELATIVE")) s.convergence = criterion::relative_to_first;
    if (kind == "COMBINED_REL_INI_ABS") s.convergence = criterion::either;
    if (kind.starts_with("RELATIVE_MAX"))
        s.nearest.push_back("convergence=" + kind + ": RELATIVE_INI, the nearest, takes its place");
}

/// The degree of the polynomial that takes the place of one pass of a smoother.
int degree_of_pass(const scope& smoother, const std::string& solver) {
    if (is_one_of(solver, {"CHEBYSHEV", "CHEBYSHEV_POLY", "POLYNOMIAL"}))
        return smoother.whole("chebyshev_polynomial_order", 5);
    if (solver == "KPZ_POLYNOMIAL") return smoother.whole("kpz_order", 3);
    return is_one_of(solver, {"GS", "MULTICOLOR_GS", "MULTICOLOR_DILU", "MULTICOLOR_ILU"}) ? 2 : 1;
}

void read_smoother(settings& s, const scope& here) {
    const std::string smoother = here.text("smoother", "BLOCK_JACOBI");
    const int passes =
        std::max(here.whole("presweeps", 1), 0) + std::max(here.whole("postsweeps", 1), 0);
    const int each = std::clamp((passes + 1) / 2, 1, 20);  // before and after the coarser level
    if (smoother == "JACOBI_L1") {
        s.multigrid.smoother = amg_options::smoothers::l1_jacobi;
        s.multigrid.sweeps = each;
        return;
    }
    // Of degree 1 it would be damped Jacobi, with which cycles take longer than with degree 2.
    const int least = smoother.starts_with("CHEBYSHEV") ? 1 : 2;
    const int degree = degree_of_pass(here.within("smoother"), smoother);
    s.multigrid.degree = std::clamp((passes * degree + 1) / 2, least, 10);
    if (!smoother.starts_with("CHEBYSHEV"))
        s.nearest.push_back(
            fmt::format("smoother={}: a Chebyshev polynomial of degree {}, the "
                        "nearest, takes its place",
                        smoother, s.multigrid.degree));
}

void read_multigrid(settings& s, const scope& here) {
    constexpr int most_direct = 2000;
    amg_options& o = s.multigrid;
    if (const auto algorithm = here.text("algorithm", "CLASSICAL"); algorithm != "AGGREGATION")
        s.nearest.push_back("algorithm=" + algorithm +
                            ": smoothed aggregation, the nearest, takes its place");
    const std::string cycle = here.text("cycle", "V");
    o.cycle = cycle == "V" ? amg_options::cycles::v : amg_options::cycles::w;
    if (cycle != "V" && cycle != "W")
        s.nearest.push_back("cycle=" + cycle + ": W, the nearest, takes its place");
    read_smoother(s, here);
    o.max_levels = std::clamp(here.whole("max_levels", 100), 1, 100);
    const int rows =
        std::max(here.whole("dense_lu_num_rows", 128), here.whole("min_coarse_rows", 2));
    o.coarse_rows = std::clamp(rows, int(o.coarse_rows), most_direct);
    const std::string coarse = here.text("coarse_solver", "DENSE_LU_SOLVER");
    if (coarse != "DENSE_LU_SOLVER")
        s.nearest.push_back("coarse_solver=" + coarse +
                            ": the coarsest level's inverse, the nearest, takes its place");
    o.check = false;  // is done before
}

settings read(const std::string& solver, const scope& here, int depth) {
    if (depth > deepest)
        throw failure(
            AMGX_RC_BAD_CONFIGURATION,
            fmt::format("configuration: preconditioner: more than {} within each other", deepest));
    settings s{.solver = solver};
    s.max_iters = here.whole("max_iters", 100);
    read_criterion(s, here);
    s.restart = here.whole("gmres_n_restart", 20);
    if (const int most = here.whole("gmres_krylov_dim", 0); most > 0)
        s.restart = std::min(s.restart, most);
    s.restart = std::clamp(s.restart, 1, 1000);
    s.relaxation = here.number("relaxation_factor", 0.9);
    s.fill_level = std::clamp(here.whole("ilu_sparsity_level", 0), 0, 10);
    s.degree = std::clamp(degree_of_pass(here, solver), 1, 10);
    s.keeps_history = here.flag("store_res_history");
    s.prints_residuals = here.flag("print_solve_stats");
    s.prints_levels = here.flag("print_grid_stats");
    s.prints_times = here.flag("obtain_timings");
    if (solver == "AMG") read_multigrid(s, here);
    if (const auto scaling = here.text("scaling", "NONE"); scaling != "NONE")
        s.nearest.push_back("scaling=" + scaling + ": none, the nearest, takes its place");
    if (takes_preconditioner(solver)) {
        const std::string inner = here.text("preconditioner", "AMG");
        if (inner != "NOSOLVER")
            s.preconditioner =
                std::make_shared<settings>(read(inner, here.within("preconditioner"), depth + 1));
    }
    return s;
}

}  // namespace

bool settings::is_krylov() const {
    return takes_preconditioner(solver) || is_one_of(solver, {"CG", "BICGSTAB"});
}

settings settings_of(const configuration& c) {
    const scope outer(c, "default");
    const scope main = outer.within("solver");
    const std::string norm = main.text("norm", "L2");
    settings s = read(outer.text("solver", "AMG"), main, 0);
    const auto refuse = [](const std::string& why) {
        throw failure(AMGX_RC_BAD_CONFIGURATION, "configuration: " + why);
    };
    if (s.monitored && norm != "L2") refuse("norm=" + norm + ": residuals are told in L2 alone");
    if (s.solver == "NOSOLVER") refuse("solver=NOSOLVER: there is nothing to solve with");
    return s;
}

}  // namespace nz::amgx
