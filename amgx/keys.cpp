#include "amgx/keys.hpp"

#include <algorithm>
#include <array>

namespace nz::amgx {
namespace {

using enum key_type;

/// Names of solvers, also of those that serve as preconditioner, smoother or coarse solver.
constexpr std::string_view solvers =
    "|AMG|PCG|PCGF|CG|PBICGSTAB|BICGSTAB|GMRES|FGMRES|IDR|IDRMSYNC|"
    "BLOCK_JACOBI|JACOBI|JACOBI_L1|CF_JACOBI|GS|MULTICOLOR_GS|FIXCOLOR_GS|"
    "MULTICOLOR_DILU|MULTICOLOR_ILU|CHEBYSHEV|CHEBYSHEV_POLY|POLYNOMIAL|"
    "KPZ_POLYNOMIAL|KACZMARZ|DENSE_LU_SOLVER|NOSOLVER|";
constexpr std::string_view own_cycle = "nothing: the cycle and its smoother are the library's own";
constexpr std::string_view own_levels =
    "nothing: couplings, aggregates and prolongations are those of smoothed "
    "aggregation";
constexpr std::string_view own_ranks =
    "nothing: how coarse levels go to fewer ranks is the library's own";
constexpr std::string_view one_smoother = "nothing: `smoother` serves all levels";
constexpr std::string_view own_bounds =
    "nothing: the largest eigenvalue is estimated by Lanczos iterations";
constexpr std::string_view own_colours = "nothing: colours are the library's own";
constexpr std::string_view nothing = "nothing";
constexpr std::string_view own_products = "nothing: sparse products are the library's own";
constexpr std::string_view own_memory = "nothing: memory and streams are the library's own";

constexpr std::array all = {
    key{"GS_L1_variant", whole, own_cycle},
    key{"affinity_iterations", whole, own_levels},
    key{"affinity_vectors", whole, own_levels},
    key{"aggregate_size", whole, own_levels},
    key{"aggregation_edge_weight_component", whole, own_levels},
    key{"aggregation_passes", whole, own_levels},
    key{"aggressive_interpolator", text, own_levels},
    key{"aggressive_levels", whole, own_levels},
    key{"aggressive_selector", text, own_levels},
    key{"algorithm", text,
        "AGGREGATION: smoothed aggregation; CLASSICAL and ENERGYMIN: the nearest, the "
        "same, and it is said once",
        "|CLASSICAL|AGGREGATION|ENERGYMIN|"},
    key{"alt_rel_tolerance", real, "the relative bound of COMBINED_REL_INI_ABS"},
    key{"amg_consolidation_flag", whole, own_ranks},
    key{"amg_host_levels_rows", whole, own_cycle},
    key{"block_convert", whole, "0 and 1; others are refused"},
    key{"block_format", text, "ROW_MAJOR; COL_MAJOR is refused", "|ROW_MAJOR|"},
    key{"boundary_coloring", text, own_ranks},
    key{"cf_smoothing_mode", whole, own_cycle},
    key{"cheby_max_lambda", real, own_bounds},
    key{"cheby_min_lambda", real, own_bounds},
    key{"chebyshev_lambda_estimate_mode", whole, own_bounds},
    key{"chebyshev_polynomial_order", whole,
        "the degree of the polynomial of CHEBYSHEV and CHEBYSHEV_POLY"},
    key{"coarseAgenerator", text, own_levels},
    key{"coarseAgenerator_coarse", text, own_levels},
    key{"coarse_smoother", solver, one_smoother, solvers},
    key{"coarse_solver", solver,
        "the coarsest level is solved directly, by its inverse; NOSOLVER and smoothers:"
        " so too, and it is said once",
        solvers},
    key{"coarsen_threshold", real, own_cycle},
    key{"coarsest_sweeps", whole, own_cycle},
    key{"coloring_custom_arg", text, own_colours},
    key{"coloring_level", whole, own_colours},
    key{"coloring_try_remove_last_colors", whole, own_colours},
    key{"communicator", text, "nothing: NCCL where it is there, else MPI by way of the CPUs",
        "|MPI|MPI_DIRECT|"},
    key{"complex_conversion", whole, "0; others are refused"},
    key{"config_version", whole, "1 or 2; others are refused"},
    key{"convergence", text,
        "ABSOLUTE, RELATIVE_INI, RELATIVE_INI_CORE, COMBINED_REL_INI_ABS; RELATIVE_MAX "
        "and RELATIVE_MAX_CORE: the nearest, RELATIVE_INI, which asks for no less",
        "|ABSOLUTE|RELATIVE_INI|RELATIVE_INI_CORE|RELATIVE_MAX|RELATIVE_MAX_CORE|COMBINED_REL_INI_"
        "ABS|"},
    key{"convergence_analysis", whole, nothing},
    key{"cusparse_spgemm_alg", text, own_products},
    key{"cusparse_spgemm_fraction", real, own_products},
    key{"cycle", text, "V, W; F, CG and CGF: the nearest, W, and it is said once",
        "|V|W|F|CG|CGF|"},
    key{"cycle_iters", whole, own_cycle},
    key{"dense_lu_max_rows", whole, own_cycle},
    key{"dense_lu_num_rows", whole, "the same, up to 2000"},
    key{"determinism_flag", whole, "nothing: every run has the same bits"},
    key{"device_alloc_scaling_factor", whole, own_memory},
    key{"device_alloc_scaling_threshold", whole, own_memory},
    key{"device_consolidation_pool_size", whole, own_memory},
    key{"device_mem_pool_max_alloc_size", whole, own_memory},
    key{"device_mem_pool_size", whole, own_memory},
    key{"device_mem_pool_size_limit", whole, own_memory},
    key{"energymin_interpolator", text, own_levels},
    key{"energymin_selector", text, own_levels},
    key{"error_scaling", whole, own_cycle},
    key{"exact_coarse_solve", whole, own_ranks},
    key{"exception_handling", whole, "nothing: codes are returned"},
    key{"filter_weights", whole, own_levels},
    key{"filter_weights_alpha", real, own_levels},
    key{"fine_level_consolidation", whole, own_ranks},
    key{"fine_levels", whole, own_cycle},
    key{"fine_smoother", solver, one_smoother, solvers},
    key{"finest_sweeps", whole, own_cycle},
    key{"full_ghost_level", whole, own_levels},
    key{"geometric_dim", whole, own_colours},
    key{"ghost_offdiag_limit", whole, own_levels},
    key{"gmres_krylov_dim", whole,
        "where it is less than `gmres_n_restart`, and not 0, it takes its place"},
    key{"gmres_n_restart", whole,
        "iterations of GMRES and FGMRES from one restart to the next, 1 to 1000"},
    key{"halo_coloring", text, own_ranks},
    key{"handshaking_phases", whole, own_levels},
    key{"high_priority_stream", whole, own_memory},
    key{"ilu_sparsity_level", whole, "the level of fill of MULTICOLOR_ILU"},
    key{"initial_color", whole, own_colours},
    key{"insert_diag_while_reordering", whole, own_colours},
    key{"intensive_smoothing", whole, own_cycle},
    key{"interp_max_elements", whole, own_levels},
    key{"interp_truncation_factor", real, own_levels},
    key{"interpolator", text, own_levels},
    key{"jacobi_iters", whole, own_cycle},
    key{"kaczmarz_coloring_needed", whole, own_colours},
    key{"kpz_mu", whole, own_cycle},
    key{"kpz_order", whole, "the degree of the polynomial of KPZ_POLYNOMIAL"},
    key{"late_rejection", whole, own_colours},
    key{"matrix_coloring_scheme", text, own_colours},
    key{"matrix_consolidation_lower_threshold", whole, own_ranks},
    key{"matrix_consolidation_upper_threshold", whole, own_ranks},
    key{"matrix_halo_exchange", whole, own_ranks},
    key{"matrix_writer", text, "matrixmarket; binary is refused", "|matrixmarket|"},
    key{"max_coarse_iters", whole, own_cycle},
    key{"max_iters", whole,
        "the most iterations; of a preconditioner, as many as it makes in each "
        "application"},
    key{"max_levels", whole, "the most levels"},
    key{"max_matching_iterations", whole, own_levels},
    key{"max_num_hash", whole, own_colours},
    key{"max_row_sum", real, own_levels},
    key{"max_unassigned_percentage", real, own_levels},
    key{"max_uncolored_percentage", real, own_colours},
    key{"merge_singletons", whole, own_levels},
    key{"min_block_rows", whole, "min_coarse_rows, in configurations of version 1"},
    key{"min_coarse_rows", whole, "a level of as many rows is the coarsest, as one of 500 is"},
    key{"min_fine_rows", whole, own_cycle},
    key{"min_rows_latency_hiding", whole, own_ranks},
    key{"modified_handshake", whole, own_levels},
    key{"monitor_residual", whole, "1: iterations end by `convergence`; 0: after `max_iters`"},
    key{"norm", text, "L2; of the solver that is monitored, L1 and LMAX are refused",
        "|L1|L1_SCALED|L2|LMAX|"},
    key{"notay_weights", whole, own_levels},
    key{"num_colors", whole, own_colours},
    key{"num_streams", whole, own_memory},
    key{"obtain_timings", whole, "1: seconds of setup and solve are printed"},
    key{"postsweeps", whole, "as `presweeps`"},
    key{"preconditioner", solver, "the preconditioner: the table of solvers above", solvers},
    key{"presweeps", whole, "passes of the smoother: the mean of both, as the cycle is symmetric"},
    key{"print_aggregation_info", whole, nothing},
    key{"print_coloring_info", whole, own_colours},
    key{"print_config", whole, nothing},
    key{"print_grid_stats", whole, "1: the levels of AMG are printed after setup"},
    key{"print_solve_stats", whole, "1: the residuals are printed after a solve"},
    key{"print_vis_data", whole, nothing},
    key{"rel_div_tolerance", real,
        "nothing: a residual that has grew to a million times its least ends BiCGSTAB "
        "and IDR, whose status is then DIVERGED"},
    key{"relaxation_factor", real,
        "the damping of Jacobi, as a solver or preconditioner; smoothers of AMG find "
        "their own"},
    key{"reorder_cols_by_color", whole, own_colours},
    key{"reuse_scale", whole, own_cycle},
    key{"rhs_from_a", whole, "nothing: a file without a right-hand side gives ones"},
    key{"scaling", text, "NONE; others: the nearest, none, and it is said once",
        "|NONE|BINORMALIZATION|NBINORMALIZATION|DIAGONAL_SYMMETRIC|"},
    key{"scaling_smoother_steps", whole, own_cycle},
    key{"selector", text, own_levels},
    key{"separation_exterior", text, own_ranks},
    key{"separation_interior", text, own_ranks},
    key{"serial_matching", whole, own_levels},
    key{"serialize_threads", whole, own_memory},
    key{"smoother", solver,
        "the smoother of AMG: JACOBI_L1 is l1-Jacobi; CHEBYSHEV, and the nearest to all"
        " others, is a Chebyshev polynomial with as many products as the sweeps have",
        solvers},
    key{"smoother_weight", real, "relaxation_factor, in configurations of version 1"},
    key{"solver", solver, "the method: the table of solvers above", solvers},
    key{"solver_verbose", whole, nothing},
    key{"spmm_gmem_size", whole, own_products},
    key{"spmm_max_attempts", whole, own_products},
    key{"spmm_no_sort", whole, own_products},
    key{"spmm_verbose", whole, nothing},
    key{"store_res_history", whole, "1: AMGX_solver_get_iteration_residual tells the residuals"},
    key{"strength", text, own_levels},
    key{"strength_threshold", real, own_levels},
    key{"structure_reuse_levels", whole,
        "nothing: AMGX_solver_resetup keeps the aggregates and computes all values anew"},
    key{"subspace_dim_s", whole, "nothing: IDR has 4 directions"},
    key{"symmetric_GS", whole, "nothing: Gauss-Seidel sweeps forth and back"},
    key{"tolerance", real, "the bound of `convergence`"},
    key{"use_bsrxmv", whole, own_colours},
    key{"use_cuda_ipc_consolidation", whole, own_ranks},
    key{"use_cusparse_spgemm", whole, own_products},
    key{"use_opt_kernels", whole, own_products},
    key{"use_scalar_norm", whole,
        "nothing: norms are those of the whole vector, also of matrices in blocks"},
    key{"use_sum_stopping_criteria", whole, own_ranks},
    key{"verbosity_level", whole, nothing},
    key{"weakness_bound", whole, own_colours},
    key{"weight_formula", whole, own_levels},
};
static_assert(std::ranges::is_sorted(all, {}, &key::name));

}  // namespace

std::span<const key> keys() { return all; }

const key* find_key(std::string_view name) {
    const auto at = std::ranges::lower_bound(all, name, {}, &key::name);
    return at != all.end() && at->name == name ? &*at : nullptr;
}

}  // namespace nz::amgx
