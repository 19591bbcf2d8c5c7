// What a solver is to do, read from a configuration.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "amgx/configuration.hpp"
#include "nonzero/solve/multigrid/options.hpp"

namespace nz::amgx {

/// How a residual is judged.
enum class criterion { absolute, relative_to_first, either };

/// A solver, or a preconditioner, and its own preconditioner.
struct settings {
    std::string solver;
    std::shared_ptr<const settings> preconditioner = {};  ///< null: none

    int max_iters = 100;
    bool monitored = false;
    criterion convergence = criterion::absolute;
    double tolerance = 1e-12;
    double relative_tolerance = 1e-12;  ///< of criterion::either
    int restart = 20;
    double relaxation = 0.9;
    int fill_level = 0;
    int degree = 5;  ///< of a polynomial
    amg_options multigrid = {};

    bool keeps_history = false;
    bool prints_residuals = false, prints_levels = false, prints_times = false;

    /// Sentences about what the nearest stands for, to be told once.
    std::vector<std::string> nearest = {};

    /// Whether it is a method of Krylov spaces, and not a linear function of the right-hand side.
    [[nodiscard]] bool is_krylov() const;
};

/// Of the solver that the configuration's outer key names. Throws failure with BAD_CONFIGURATION,
/// naming the key, where something would mean what is not served.
settings settings_of(const configuration&);

}  // namespace nz::amgx
