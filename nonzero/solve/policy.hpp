// Which methods and preconditioners suit a system, in which order, and when one is given up: the
// same in one process and over several.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "nonzero/solve/solve.hpp"

namespace nz {

/// One method with one preconditioner.
struct solver_choice {
    krylov_method method;
    preconditioning preconditioner;
};

/// What decides about methods. Over ranks: of the whole matrix, the same on all.
struct system_facts {
    std::string why_not_definite = {};  ///< empty where A is symmetric, its diagonal positive
    bool is_symmetric = false;
    std::int64_t zero_on_diagonal = -1;  ///< the first such row
    bool is_complex_valued = false;
};

/// What is tried, in this order, where nothing was asked for.
std::vector<solver_choice> candidates_for(const system_facts& f);

/// What was asked for, and what suits it where only one of both was. Throws unsuitable.
solver_choice asked_for(const system_options& o, const system_facts& f);

/// Stops an attempt whose residual no longer halves.
class patience {
  public:
    /// monitor: the caller's, which is asked first; may be empty.
    patience(std::function<bool(std::int64_t, double)> monitor, std::int64_t iterations)
        : monitor_(std::move(monitor)), iterations_(iterations) {}
    bool is_running(std::int64_t k, double residual);
    [[nodiscard]] bool lost() const { return lost_; }
    [[nodiscard]] bool stopped() const { return stopped_; }  ///< by the caller's monitor

  private:
    std::function<bool(std::int64_t, double)> monitor_;
    std::int64_t iterations_, since_ = 0;
    double least_ = 1;
    bool lost_ = false, stopped_ = false;
};

}  // namespace nz
