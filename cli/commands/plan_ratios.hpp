// Summary of nz bench --plan: the planned operator against everything else.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nonzero/core/json.hpp"
#include "nonzero/plan/benchmark.hpp"

namespace nz::cli {

/// The benchmark_case that is whatever the planner chooses.
inline constexpr std::string_view planned_name = "plan";

struct result_of_matrix {
    std::string matrix;
    const benchmark_result* t;
};

/// How many times as fast the plan is; 0 where the other one was not measured.
struct plan_ratio {
    std::string matrix, chosen;
    int threads = 0;
    double plan_s = 0;
    double over_default = 0;    ///< cusparse.csr on a GPU, the best baseline on a CPU
    double over_peer = 0;       ///< the best baseline
    double over_method = 0;     ///< the best of the deterministic methods measured
    double setup_products = 0;  ///< of the default, that planning and building took; on a GPU from
                                ///< a CSR in its memory
    std::string best_method;
};

/// One for every matrix and number of threads on which the plan was measured.
std::vector<plan_ratio> plan_ratios(std::span<const result_of_matrix>);

/// Each matrix, then the geometric means.
void print_plan_ratios(std::span<const plan_ratio>);
nz::json to_json(std::span<const plan_ratio>);

}  // namespace nz::cli
