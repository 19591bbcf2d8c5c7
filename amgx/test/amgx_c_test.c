/* Solves by configurations of the shapes that AmgX's samples have: on the host, or with the
 * argument gpu on a GPU. */
#include "check.h"

typedef struct {
    AMGX_config_handle cfg;
    AMGX_resources_handle rsc;
    AMGX_matrix_handle A;
    AMGX_vector_handle b, x;
    AMGX_solver_handle slv;
} session;

static int on_gpu = 0;

/* The mode of a GPU in the place of the host's; complex ones are served on the host alone. */
static AMGX_Mode placed(AMGX_Mode mode) {
    if (!on_gpu) return mode;
    if (mode == AMGX_mode_hDDI) return AMGX_mode_dDDI;
    if (mode == AMGX_mode_hDFI) return AMGX_mode_dDFI;
    if (mode == AMGX_mode_hFFI) return AMGX_mode_dFFI;
    return mode;
}
static int has_gpu(void) {
    AMGX_config_handle cfg;
    AMGX_resources_handle rsc;
    AMGX_matrix_handle A = NULL;
    AMGX_RC found;
    OK(AMGX_config_create(&cfg, "config_version=2"));
    OK(AMGX_resources_create_simple(&rsc, cfg));
    found = AMGX_matrix_create(&A, rsc, AMGX_mode_dDDI);
    if (found == AMGX_RC_OK) OK(AMGX_matrix_destroy(A));
    OK(AMGX_resources_destroy(rsc));
    OK(AMGX_config_destroy(cfg));
    return found == AMGX_RC_OK;
}

static void open_session(session *s, const char *options, AMGX_Mode mode) {
    mode = placed(mode);
    OK(AMGX_config_create(&s->cfg, options));
    OK(AMGX_resources_create_simple(&s->rsc, s->cfg));
    OK(AMGX_matrix_create(&s->A, s->rsc, mode));
    OK(AMGX_vector_create(&s->b, s->rsc, mode));
    OK(AMGX_vector_create(&s->x, s->rsc, mode));
    OK(AMGX_solver_create(&s->slv, s->rsc, mode, s->cfg));
}
static void close_session(session *s) {
    OK(AMGX_solver_destroy(s->slv));
    OK(AMGX_vector_destroy(s->x));
    OK(AMGX_vector_destroy(s->b));
    OK(AMGX_matrix_destroy(s->A));
    OK(AMGX_resources_destroy(s->rsc));
    OK(AMGX_config_destroy(s->cfg));
}

/* Of one system: its status, and the residual of the x that comes back. */
static AMGX_SOLVE_STATUS solve_once(const char *options, grid A, double *rest, int *iterations) {
    session s;
    AMGX_SOLVE_STATUS status = AMGX_SOLVE_FAILED;
    double *b = malloc(sizeof(double) * (size_t)A.n), *x = malloc(sizeof(double) * (size_t)A.n);
    int i;
    for (i = 0; i < A.n; ++i) b[i] = 1 + i % 7;
    open_session(&s, options, AMGX_mode_hDDI);
    OK(AMGX_matrix_upload_all(s.A, A.n, A.nnz, 1, 1, A.row, A.col, A.val, NULL));
    OK(AMGX_vector_upload(s.b, A.n, 1, b));
    OK(AMGX_vector_set_zero(s.x, A.n, 1));
    OK(AMGX_solver_setup(s.slv, s.A));
    OK(AMGX_solver_solve(s.slv, s.b, s.x));
    OK(AMGX_solver_get_status(s.slv, &status));
    OK(AMGX_solver_get_iterations_number(s.slv, iterations));
    OK(AMGX_vector_download(s.x, x));
    *rest = residual(A, b, x);
    close_session(&s);
    free(b), free(x);
    return status;
}

static const char *const definite[] = {
    "{\"config_version\": 2, \"solver\": {\"scope\": \"main\", \"solver\": \"PCG\", \"max_iters\": "
    "100, \"monitor_residual\": 1, \"convergence\": \"RELATIVE_INI\", \"tolerance\": 1e-06, "
    "\"norm\": \"L2\", \"preconditioner\": {\"scope\": \"amg\", \"solver\": \"AMG\", "
    "\"algorithm\": \"AGGREGATION\", \"selector\": \"SIZE_2\", \"cycle\": \"V\", \"smoother\": "
    "{\"scope\": \"jacobi\", \"solver\": \"BLOCK_JACOBI\", \"relaxation_factor\": 0.75}, "
    "\"presweeps\": 1, \"postsweeps\": 1, \"max_iters\": 1, \"max_levels\": 50, \"norm\": "
    "\"L1\", \"coarse_solver\": \"NOSOLVER\"}}}",
    "{\"config_version\": 2, \"solver\": {\"solver\": \"AMG\", \"cycle\": \"F\", \"smoother\": "
    "{\"solver\": \"JACOBI_L1\"}, \"max_iters\": 200, \"monitor_residual\": 1, \"convergence\": "
    "\"RELATIVE_INI\", \"tolerance\": 1e-6}}",
    "{\"config_version\": 2, \"solver\": {\"solver\": \"AMG\", \"smoother\": {\"solver\": "
    "\"CHEBYSHEV\", \"preconditioner\": {\"solver\": \"JACOBI_L1\", \"max_iters\": 1}, "
    "\"chebyshev_polynomial_order\": 4, \"chebyshev_lambda_estimate_mode\": 2}, \"presweeps\": 0, "
    "\"postsweeps\": 1, \"max_iters\": 100, \"monitor_residual\": 1, \"convergence\": "
    "\"RELATIVE_INI\", \"tolerance\": 1e-6}}",
    "config_version=2, solver(main)=PCGF, main:preconditioner(p)=MULTICOLOR_DILU, p:max_iters=1, "
    "main:max_iters=300, main:monitor_residual=1, main:convergence=RELATIVE_INI_CORE, "
    "main:tolerance=1e-6",
    "config_version=2; solver(main)=CG; main:max_iters=500; main:monitor_residual=1; "
    "main:convergence=RELATIVE_MAX; main:tolerance=1e-6",
    "config_version=2, solver(main)=PCG, main:preconditioner(p)=CHEBYSHEV, p:max_iters=1, "
    "main:max_iters=300, main:monitor_residual=1, main:convergence=RELATIVE_INI, "
    "main:tolerance=1e-6",
    "config_version=2, solver(main)=PCG, main:preconditioner(p)=MULTICOLOR_GS, p:max_iters=1, "
    "main:max_iters=300, main:monitor_residual=1, main:convergence=COMBINED_REL_INI_ABS, "
    "main:alt_rel_tolerance=1e-6, main:tolerance=1e-12",
};
static const char *const general[] = {
    "config_version=2, solver(main)=FGMRES, main:gmres_n_restart=10, main:preconditioner(p)=AMG, "
    "p:max_iters=1, p:algorithm=AGGREGATION, main:max_iters=300, main:monitor_residual=1, "
    "main:convergence=RELATIVE_INI, main:tolerance=1e-6",
    "config_version=2, solver(main)=PBICGSTAB, main:preconditioner(p)=JACOBI_L1, p:max_iters=3, "
    "main:max_iters=300, main:monitor_residual=1, main:convergence=RELATIVE_INI, "
    "main:tolerance=1e-6",
    "config_version=2, solver(main)=BICGSTAB, main:max_iters=400, main:monitor_residual=1, "
    "main:convergence=RELATIVE_INI, main:tolerance=1e-6",
    "config_version=2, solver(main)=GMRES, main:gmres_n_restart=100, "
    "main:preconditioner(p)=MULTICOLOR_ILU, p:ilu_sparsity_level=1, p:max_iters=1, "
    "main:max_iters=300, main:monitor_residual=1, main:convergence=RELATIVE_INI, "
    "main:tolerance=1e-6",
    "config_version=2, solver(main)=IDR, main:subspace_dim_s=8, "
    "main:preconditioner(p)=MULTICOLOR_DILU, p:max_iters=1, main:max_iters=300, "
    "main:monitor_residual=1, main:convergence=RELATIVE_INI, main:tolerance=1e-6",
    "config_version=2, solver(main)=FGMRES, main:preconditioner(p)=PBICGSTAB, "
    "p:preconditioner(q)=NOSOLVER, p:max_iters=4, main:max_iters=300, main:monitor_residual=1, "
    "main:convergence=RELATIVE_INI, main:tolerance=1e-6",
    "config_version=2, solver(main)=DENSE_LU_SOLVER, main:max_iters=2, main:monitor_residual=1, "
    "main:convergence=RELATIVE_INI, main:tolerance=1e-6",
};

static void configurations(void) {
    grid A = make_grid(40, 0), skewed = make_grid(40, 0.5), small = make_grid(12, 0.5);
    double rest;
    int iterations;
    size_t k;
    for (k = 0; k < sizeof definite / sizeof *definite; ++k) {
        CHECK(solve_once(definite[k], A, &rest, &iterations) == AMGX_SOLVE_SUCCESS);
        CHECK(rest <= 1.001e-6 && iterations > 0);
        if (getenv("NZ_TELL")) printf("definite %d: %d iterations\n", (int)k, iterations);
    }
    for (k = 0; k < sizeof general / sizeof *general; ++k) {
        CHECK(solve_once(general[k], skewed, &rest, &iterations) == AMGX_SOLVE_SUCCESS);
        CHECK(rest <= 1.001e-6 && iterations > 0);
        if (getenv("NZ_TELL")) printf("general %d: %d iterations\n", (int)k, iterations);
        CHECK(solve_once(general[k], small, &rest, &iterations) == AMGX_SOLVE_SUCCESS);
    }
    /* What it cannot solve by is told, and no crash. */
    CHECK(solve_once(definite[4], skewed, &rest, &iterations) == AMGX_SOLVE_NOT_CONVERGED ||
          rest <= 1e-6);
    free_grid(A), free_grid(skewed), free_grid(small);
}

/* A diagonal that is negative throughout, a matrix in no order. */
static void negative_and_unordered(void) {
    grid A = make_grid(40, 0);
    double rest;
    int iterations, i, k;
    for (k = 0; k < A.nnz; ++k) A.val[k] = -A.val[k];
    CHECK(solve_once(definite[0], A, &rest, &iterations) == AMGX_SOLVE_SUCCESS && rest <= 1.001e-6);
    for (i = 0; i < A.n; ++i) {
        const int last = A.row[i + 1] - 1, first = A.row[i], c = A.col[first];
        const double v = A.val[first];
        A.col[first] = A.col[last], A.val[first] = A.val[last];
        A.col[last] = c, A.val[last] = v;
    }
    CHECK(solve_once(definite[0], A, &rest, &iterations) == AMGX_SOLVE_SUCCESS && rest <= 1.001e-6);
    free_grid(A);
}

static const char *const keeps =
    "{\"config_version\": 2, \"solver\": {\"solver\": \"PCG\", \"max_iters\": 100, "
    "\"monitor_residual\": 1, \"store_res_history\": 1, \"convergence\": \"RELATIVE_INI\", "
    "\"tolerance\": 1e-8, \"preconditioner\": {\"solver\": \"AMG\", \"algorithm\": "
    "\"AGGREGATION\", \"max_iters\": 1}}}";

static void history_and_resetup(void) {
    session s;
    grid A = make_grid(40, 0);
    double *b = malloc(sizeof(double) * (size_t)A.n), *x = malloc(sizeof(double) * (size_t)A.n);
    double first = 0, last = 0, before = 0, norm = 0;
    int i, it = 0, again = 0;
    AMGX_SOLVE_STATUS status;
    for (i = 0; i < A.n; ++i) b[i] = 1;
    open_session(&s, keeps, AMGX_mode_hDDI);
    OK(AMGX_matrix_upload_all(s.A, A.n, A.nnz, 1, 1, A.row, A.col, A.val, NULL));
    OK(AMGX_vector_upload(s.b, A.n, 1, b));
    OK(AMGX_solver_setup(s.slv, s.A));
    OK(AMGX_solver_solve_with_0_initial_guess(s.slv, s.b, s.x));
    OK(AMGX_solver_get_iterations_number(s.slv, &it));
    OK(AMGX_solver_get_iteration_residual(s.slv, 0, 0, &first));
    OK(AMGX_solver_get_iteration_residual(s.slv, it - 1, 0, &before));
    OK(AMGX_solver_get_iteration_residual(s.slv, it, 0, &last));
    CHECK(fabs(first - 40) < 1e-12);
    CHECK(last <= 1e-8 * first && before > 1e-8 * first);
    OK(AMGX_vector_download(s.x, x));
    CHECK(fabs(residual(A, b, x) * first - last) <= 1e-3 * last + 1e-12);
    OK(AMGX_solver_calculate_residual_norm(s.slv, s.A, s.b, s.x, &norm));
    CHECK(fabs(norm - residual(A, b, x) * first) < 1e-10);
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_get_iteration_residual(s.slv, it + 1, 0, &last));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_get_iteration_residual(s.slv, -1, 0, &last));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_get_iteration_residual(s.slv, 0, 1, &last));

    /* The solution as guess: no iteration that would not be needed. */
    OK(AMGX_config_add_parameters(&s.cfg, "tolerance=1e-8"));
    OK(AMGX_solver_solve(s.slv, s.b, s.x));

    /* Twice the matrix: a solve takes the values, with a resetup or without. */
    for (i = 0; i < A.nnz; ++i) A.val[i] *= 2;
    OK(AMGX_matrix_replace_coefficients(s.A, A.n, A.nnz, A.val, NULL));
    OK(AMGX_solver_solve_with_0_initial_guess(s.slv, s.b, s.x));
    OK(AMGX_vector_download(s.x, x));
    CHECK(residual(A, b, x) <= 1.001e-8);
    OK(AMGX_solver_resetup(s.slv, s.A));
    OK(AMGX_solver_solve_with_0_initial_guess(s.slv, s.b, s.x));
    OK(AMGX_solver_get_status(s.slv, &status));
    OK(AMGX_solver_get_iterations_number(s.slv, &again));
    OK(AMGX_vector_download(s.x, x));
    CHECK(status == AMGX_SOLVE_SUCCESS && again == it && residual(A, b, x) <= 1.001e-8);

    /* Values with which it is not symmetric any more. */
    for (i = 0; i < A.nnz; ++i)
        if (A.val[i] < 0 && i % 3 == 0) A.val[i] *= 0.5;
    OK(AMGX_matrix_replace_coefficients(s.A, A.n, A.nnz, A.val, NULL));
    OK(AMGX_solver_resetup(s.slv, s.A));
    OK(AMGX_solver_solve_with_0_initial_guess(s.slv, s.b, s.x));
    close_session(&s);
    free(b), free(x), free_grid(A);
}

/* The same matrix in blocks of 2 x 2, with its diagonal apart, in single precision, complex. */
static void blocks_and_modes(void) {
    static const int row[] = {0, 1, 2}, col[] = {1, 0};
    static const double off[] = {-1, 0, 0, -1, -1, 0, 0, -1}, on[] = {4, 1, 1, 4, 4, 1, 1, 4};
    static const double b[] = {1, 2, 3, 4};
    static const float b_single[] = {1, 2, 3, 4};
    static const int one_row[] = {0, 2, 4, 6, 8}, one_col[] = {0, 1, 0, 1, 2, 3, 2, 3};
    static const double complex_val[] = {4, 0, 0, 1, 0, -1, 4, 0, 4, 0, 0, 1, 0, -1, 4, 0};
    static const double complex_b[] = {1, 0, 2, 0, 3, 0, 4, 0};
    double x[8], y[8], norms[2];
    float x_single[4], off_single[8], on_single[8];
    int i, n, bx, by, nnz, rows[3], cols[2];
    double values[8], diagonal[8];
    void *to = diagonal;
    session s;
    open_session(&s, keeps, AMGX_mode_hDDI);
    OK(AMGX_matrix_upload_all(s.A, 2, 2, 2, 2, row, col, off, on));
    OK(AMGX_matrix_get_size(s.A, &n, &bx, &by));
    OK(AMGX_matrix_get_nnz(s.A, &nnz));
    CHECK(n == 2 && bx == 2 && by == 2 && nnz == 2);
    OK(AMGX_matrix_download_all(s.A, rows, cols, values, &to));
    CHECK(!memcmp(rows, row, sizeof row) && !memcmp(cols, col, sizeof col));
    CHECK(!memcmp(values, off, sizeof off) && !memcmp(diagonal, on, sizeof on));
    OK(AMGX_vector_upload(s.b, 2, 2, b));
    OK(AMGX_solver_setup(s.slv, s.A));
    OK(AMGX_solver_solve_with_0_initial_guess(s.slv, s.b, s.x));
    OK(AMGX_vector_get_size(s.x, &n, &bx));
    CHECK(n == 2 && bx == 2);
    OK(AMGX_solver_calculate_residual_norm(s.slv, s.A, s.b, s.x, norms));
    CHECK(norms[0] < 1e-6 && norms[1] < 1e-6);
    OK(AMGX_vector_download(s.x, x));
    OK(AMGX_matrix_vector_multiply(s.A, s.x, s.b));
    OK(AMGX_vector_download(s.b, y));
    for (i = 0; i < 4; ++i) CHECK(fabs(y[i] - b[i]) < 1e-6);
    CHECK(fabs(4 * x[0] + x[1] - x[2] - 1) < 1e-6);
    close_session(&s);

    for (i = 0; i < 8; ++i) off_single[i] = (float)off[i], on_single[i] = (float)on[i];
    open_session(&s, keeps, AMGX_mode_hFFI);
    OK(AMGX_matrix_upload_all(s.A, 2, 2, 2, 2, row, col, off_single, on_single));
    OK(AMGX_vector_upload(s.b, 2, 2, b_single));
    OK(AMGX_solver_setup(s.slv, s.A));
    OK(AMGX_solver_solve_with_0_initial_guess(s.slv, s.b, s.x));
    OK(AMGX_vector_download(s.x, x_single));
    for (i = 0; i < 4; ++i) CHECK(fabs(x_single[i] - x[i]) < 1e-6);
    close_session(&s);

    open_session(&s, keeps, AMGX_mode_hDFI);
    OK(AMGX_matrix_upload_all(s.A, 2, 2, 2, 2, row, col, off_single, on_single));
    OK(AMGX_vector_upload(s.b, 2, 2, b));
    OK(AMGX_solver_setup(s.slv, s.A));
    OK(AMGX_solver_solve_with_0_initial_guess(s.slv, s.b, s.x));
    OK(AMGX_vector_download(s.x, y));
    for (i = 0; i < 4; ++i) CHECK(fabs(y[i] - x[i]) < 1e-12);
    close_session(&s);

    open_session(&s,
                 "config_version=2, solver(m)=GMRES, m:preconditioner(p)=AMG, p:max_iters=1, "
                 "m:monitor_residual=1, m:tolerance=1e-10",
                 AMGX_mode_hZZI);
    OK(AMGX_matrix_upload_all(s.A, 4, 8, 1, 1, one_row, one_col, complex_val, NULL));
    OK(AMGX_vector_upload(s.b, 4, 1, complex_b));
    OK(AMGX_solver_setup(s.slv, s.A));
    OK(AMGX_solver_solve_with_0_initial_guess(s.slv, s.b, s.x));
    OK(AMGX_vector_download(s.x, x));
    CHECK(fabs(4 * x[0] - x[3] - 1) < 1e-9 && fabs(4 * x[1] + x[2]) < 1e-9);
    close_session(&s);
}

static void files_and_generator(void) {
    const char *const name = "amgx_c_test.mtx";
    session s, t;
    double b[27], x[27], again[27];
    int n, block, structural = 0, symmetric = 0, dominant = 0, i;
    AMGX_SOLVE_STATUS status;
    open_session(&s, keeps, AMGX_mode_hDDI);
    OK(AMGX_generate_distributed_poisson_7pt(s.A, s.b, s.x, 1, 1, 3, 3, 3, 1, 1, 1));
    OK(AMGX_matrix_check_symmetry(s.A, &structural, &symmetric));
    OK(AMGX_matrix_check_diag_dominant(s.A, &dominant));
    CHECK(structural == 1 && symmetric == 1 && dominant == 1);
    OK(AMGX_solver_setup(s.slv, s.A));
    OK(AMGX_solver_solve(s.slv, s.b, s.x));
    OK(AMGX_solver_get_status(s.slv, &status));
    CHECK(status == AMGX_SOLVE_SUCCESS);
    OK(AMGX_write_system(s.A, s.b, s.x, name));
    open_session(&t, keeps, AMGX_mode_hDDI);
    OK(AMGX_read_system(t.A, t.b, t.x, name));
    OK(AMGX_vector_download(s.x, x));
    OK(AMGX_vector_download(t.x, again));
    OK(AMGX_vector_download(t.b, b));
    CHECK(!memcmp(x, again, sizeof x));
    for (i = 0; i < 27; ++i) CHECK(b[i] == 1);
    OK(AMGX_vector_get_size(t.b, &n, &block));
    CHECK(n == 27 && block == 1);
    OK(AMGX_vector_set_random(t.b, 27));
    OK(AMGX_solver_setup(t.slv, t.A));
    OK(AMGX_solver_solve(t.slv, t.b, t.x));
    close_session(&t);
    close_session(&s);
    remove(name);
}

/* One rank's upload by global numbers, without MPI. */
static void global_upload(void) {
    grid A = make_grid(10, 0);
    long long *wide = malloc(sizeof(long long) * (size_t)A.nnz);
    session s;
    AMGX_distribution_handle who;
    int k;
    for (k = 0; k < A.nnz; ++k) wide[k] = A.col[k];
    open_session(&s, keeps, AMGX_mode_hDDI);
    OK(AMGX_matrix_upload_all_global(s.A, A.n, A.n, A.nnz, 1, 1, A.row, wide, A.val, NULL, 1, 1,
                                     NULL));
    OK(AMGX_matrix_upload_all_global_32(s.A, A.n, A.n, A.nnz, 1, 1, A.row, A.col, A.val, NULL, 1, 1,
                                        NULL));
    OK(AMGX_distribution_create(&who, NULL));
    OK(AMGX_matrix_upload_distributed(s.A, A.n, A.n, A.nnz, 1, 1, A.row, wide, A.val, NULL, who));
    OK(AMGX_distribution_set_32bit_colindices(who, 1));
    OK(AMGX_matrix_upload_distributed(s.A, A.n, A.n, A.nnz, 1, 1, A.row, A.col, A.val, NULL, who));
    OK(AMGX_distribution_destroy(who));
    OK(AMGX_vector_bind(s.b, s.A));
    OK(AMGX_solver_setup(s.slv, s.A));
    close_session(&s);
    free(wide), free_grid(A);
}

/* Without monitor_residual, exactly max_iters iterations; what is printed. */
static void monitor_and_prints(void) {
    grid A = make_grid(40, 0);
    double rest;
    int iterations = 0;
    CHECK(solve_once("config_version=2, solver(m)=BLOCK_JACOBI, m:max_iters=7", A, &rest,
                     &iterations) == AMGX_SOLVE_SUCCESS);
    CHECK(iterations == 7);
    CHECK(solve_once("config_version=2, solver(m)=BLOCK_JACOBI, m:max_iters=0, "
                     "m:monitor_residual=1",
                     A, &rest, &iterations) == AMGX_SOLVE_NOT_CONVERGED);
    CHECK(iterations == 0);
    forget_told();
    solve_once("config_version=2, solver(m)=PCG, m:preconditioner(p)=AMG, p:max_iters=1, "
               "p:print_grid_stats=1, m:print_solve_stats=1, m:obtain_timings=1, "
               "m:monitor_residual=1, m:tolerance=1e-6",
               A, &rest, &iterations);
    CHECK(strstr(told, "AMG Grid:") && strstr(told, "residual") && strstr(told, "Total Time"));
    CHECK(strstr(told, "algorithm=CLASSICAL: smoothed aggregation"));
    free_grid(A);
}

int main(int argc, char **argv) {
    on_gpu = argc > 1 && !strcmp(argv[1], "gpu");
    OK(AMGX_register_print_callback(note));
    OK(AMGX_initialize());
    if (on_gpu && !has_gpu()) {
        fprintf(stderr, "skipped: there is no GPU\n");
        return 77;
    }
    OK(AMGX_initialize_plugins());
    OK(AMGX_install_signal_handler());
    configurations();
    negative_and_unordered();
    history_and_resetup();
    blocks_and_modes();
    files_and_generator();
    global_upload();
    monitor_and_prints();
    OK(AMGX_reset_signal_handler());
    OK(AMGX_finalize_plugins());
    OK(AMGX_finalize());
    if (failures > 0) fprintf(stderr, "%s\n", told);
    return failures > 0;
}
