/* One system over the ranks of MPI, by each way to say who holds which rows. On the host. */
#include <mpi.h>

#include "check.h"

static const char *const options =
    "{\"config_version\": 2, \"solver\": {\"solver\": \"PCG\", \"max_iters\": 200, "
    "\"monitor_residual\": 1, \"store_res_history\": 1, \"convergence\": \"RELATIVE_INI\", "
    "\"tolerance\": 1e-8, \"preconditioner\": {\"solver\": \"AMG\", \"algorithm\": "
    "\"AGGREGATION\", \"max_iters\": 1}}}";
static const char *const others[] = {
    "config_version=2, solver(m)=FGMRES, m:preconditioner(p)=MULTICOLOR_DILU, p:max_iters=2, "
    "m:max_iters=300, m:monitor_residual=1, m:convergence=RELATIVE_INI, m:tolerance=1e-8",
    "config_version=2, solver(m)=PBICGSTAB, m:preconditioner(p)=JACOBI_L1, p:max_iters=1, "
    "m:max_iters=400, m:monitor_residual=1, m:convergence=RELATIVE_INI, m:tolerance=1e-8",
    "config_version=2, solver(m)=DENSE_LU_SOLVER, m:max_iters=3, m:monitor_residual=1, "
    "m:convergence=RELATIVE_INI, m:tolerance=1e-8"};

enum way { in_order, by_offsets, by_vector };

/* The rows of A whose owner is this rank, as an upload has them. */
static grid own_rows(grid A, const int *owner, int rank) {
    grid mine = {0, 0, NULL, NULL, NULL};
    int i, k;
    mine.row = malloc(sizeof(int) * (size_t)(A.n + 1));
    mine.col = malloc(sizeof(int) * (size_t)A.nnz);
    mine.val = malloc(sizeof(double) * (size_t)A.nnz);
    mine.row[0] = 0;
    for (i = 0; i < A.n; ++i) {
        if (owner[i] != rank) continue;
        for (k = A.row[i]; k < A.row[i + 1]; ++k)
            mine.col[mine.nnz] = A.col[k], mine.val[mine.nnz++] = A.val[k];
        mine.row[++mine.n] = mine.nnz;
    }
    return mine;
}

static void solve(const char *with, enum way how, int rank, int ranks) {
    MPI_Comm world = MPI_COMM_WORLD;
    grid A = make_grid(30, 0), mine;
    int *owner = malloc(sizeof(int) * (size_t)A.n), *first = malloc(sizeof(int) * (size_t)(ranks + 1));
    double *b = malloc(sizeof(double) * (size_t)A.n), *x = malloc(sizeof(double) * (size_t)A.n);
    double *all = calloc((size_t)A.n, sizeof(double)), *sum = calloc((size_t)A.n, sizeof(double));
    const int device = 0;
    int i, k, round;
    AMGX_config_handle cfg;
    AMGX_resources_handle rsc;
    AMGX_matrix_handle M;
    AMGX_vector_handle rhs, sol;
    AMGX_solver_handle slv;
    AMGX_distribution_handle who;
    AMGX_SOLVE_STATUS status = AMGX_SOLVE_FAILED;
    for (i = 0; i <= ranks; ++i) first[i] = A.n * i / ranks;
    for (i = 0; i < A.n; ++i) {
        owner[i] = how == by_vector ? i % ranks : 0;
        while (how != by_vector && i >= first[owner[i] + 1]) ++owner[i];
    }
    mine = own_rows(A, owner, rank);
    for (i = 0; i < A.n; ++i) b[i] = 1;
    OK(AMGX_config_create(&cfg, with));
    OK(AMGX_resources_create(&rsc, cfg, &world, 1, &device));
    OK(AMGX_matrix_create(&M, rsc, AMGX_mode_hDDI));
    OK(AMGX_vector_create(&rhs, rsc, AMGX_mode_hDDI));
    OK(AMGX_vector_create(&sol, rsc, AMGX_mode_hDDI));
    OK(AMGX_solver_create(&slv, rsc, AMGX_mode_hDDI, cfg));
    OK(AMGX_distribution_create(&who, cfg));
    OK(AMGX_distribution_set_32bit_colindices(who, 1));
    if (how == by_offsets)
        OK(AMGX_distribution_set_partition_data(who, AMGX_DIST_PARTITION_OFFSETS, first));
    if (how == by_offsets)
        OK(AMGX_matrix_upload_distributed(M, A.n, mine.n, mine.nnz, 1, 1, mine.row, mine.col,
                                          mine.val, NULL, who));
    else
        OK(AMGX_matrix_upload_all_global_32(M, A.n, mine.n, mine.nnz, 1, 1, mine.row, mine.col,
                                            mine.val, NULL, 1, 1,
                                            how == by_vector ? owner : NULL));
    OK(AMGX_distribution_destroy(who));
    OK(AMGX_vector_bind(rhs, M));
    OK(AMGX_vector_upload(rhs, mine.n, 1, b));
    OK(AMGX_solver_setup(slv, M));
    for (round = 0; round < 2; ++round) {
        OK(AMGX_solver_solve_with_0_initial_guess(slv, rhs, sol));
        OK(AMGX_solver_get_status(slv, &status));
        CHECK(status == AMGX_SOLVE_SUCCESS);
        OK(AMGX_vector_download(sol, x));
        for (i = 0; i < A.n; ++i) all[i] = 0;
        for (i = 0, k = 0; i < A.n; ++i)
            if (owner[i] == rank) all[i] = x[k++];
        MPI_Allreduce(all, sum, A.n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        CHECK(residual(A, b, sum) <= 1.01e-8);
        for (i = 0; i < A.nnz; ++i) A.val[i] *= 3;
        for (i = 0; i < mine.nnz; ++i) mine.val[i] *= 3;
        OK(AMGX_matrix_replace_coefficients(M, mine.n, mine.nnz, mine.val, NULL));
        OK(AMGX_solver_resetup(slv, M));
    }
    /* All ranks are told what one of them does wrong. */
    CHECK(AMGX_matrix_upload_all_global_32(M, A.n, rank == 0 ? mine.n + 1 : mine.n, mine.nnz, 1, 1,
                                           mine.row, mine.col, mine.val, NULL, 1, 1,
                                           NULL) != AMGX_RC_OK);
    OK(AMGX_solver_destroy(slv));
    OK(AMGX_vector_destroy(sol));
    OK(AMGX_vector_destroy(rhs));
    OK(AMGX_matrix_destroy(M));
    OK(AMGX_resources_destroy(rsc));
    OK(AMGX_config_destroy(cfg));
    free_grid(A), free_grid(mine);
    free(owner), free(first), free(b), free(x), free(all), free(sum);
}

static void generated(int ranks) {
    MPI_Comm world = MPI_COMM_WORLD;
    const int device = 0;
    AMGX_config_handle cfg;
    AMGX_resources_handle rsc;
    AMGX_matrix_handle M;
    AMGX_vector_handle b, x;
    AMGX_solver_handle slv;
    AMGX_SOLVE_STATUS status = AMGX_SOLVE_FAILED;
    OK(AMGX_config_create(&cfg, options));
    OK(AMGX_resources_create(&rsc, cfg, &world, 1, &device));
    OK(AMGX_matrix_create(&M, rsc, AMGX_mode_hDDI));
    OK(AMGX_vector_create(&b, rsc, AMGX_mode_hDDI));
    OK(AMGX_vector_create(&x, rsc, AMGX_mode_hDDI));
    OK(AMGX_solver_create(&slv, rsc, AMGX_mode_hDDI, cfg));
    OK(AMGX_generate_distributed_poisson_7pt(M, b, x, 1, 1, 6, 7, 8, 1, ranks, 1));
    OK(AMGX_solver_setup(slv, M));
    OK(AMGX_solver_solve(slv, b, x));
    OK(AMGX_solver_get_status(slv, &status));
    CHECK(status == AMGX_SOLVE_SUCCESS);
    OK(AMGX_solver_destroy(slv));
    OK(AMGX_vector_destroy(x));
    OK(AMGX_vector_destroy(b));
    OK(AMGX_matrix_destroy(M));
    OK(AMGX_resources_destroy(rsc));
    OK(AMGX_config_destroy(cfg));
}

int main(int argc, char **argv) {
    int rank = 0, ranks = 1, all = 0;
    size_t k;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    OK(AMGX_register_print_callback(note));
    solve(options, in_order, rank, ranks);
    solve(options, by_offsets, rank, ranks);
    solve(options, by_vector, rank, ranks);
    for (k = 0; k < sizeof others / sizeof *others; ++k) solve(others[k], by_vector, rank, ranks);
    generated(ranks);
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (all > 0 && rank == 0) fprintf(stderr, "%s\n", told);
    MPI_Finalize();
    return all > 0;
}
