/* What is wrong is told by AmgX's codes, and never crashes. */
#include "check.h"

static void configurations(void) {
    AMGX_config_handle cfg = NULL;
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_config_create(NULL, ""));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_config_create(&cfg, NULL));
    forget_told();
    FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_config_create(&cfg, "max_lovels=10"));
    CHECK(strstr(told, "max_lovels") && times_told == 1);
    FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_config_create(&cfg, "blah"));
    FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_config_create(&cfg, "max_iters=ten"));
    FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_config_create(&cfg, "max_iters=-1"));
    FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_config_create(&cfg, "tolerance=1e-6x"));
    FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_config_create(&cfg, "max_levels = 1 \n max_iters = 2"));
    FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_config_create(&cfg, "config_version=3"));
    FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_config_create(&cfg, "solver=MAGIC"));
    FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_config_create(&cfg, "solver(main)=PCG"));
    FAILS(AMGX_RC_BAD_CONFIGURATION,
          AMGX_config_create(&cfg, "config_version=2, max_iters(main)=10"));
    FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_config_create(&cfg, "complex_conversion=221"));
    FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_config_create(&cfg, "{\"solver\": "));
    FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_config_create(&cfg, "{\"solver\": {\"max_iters\": 1}}"));
    FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_config_create(&cfg, "{\"norm\": {\"solver\": \"AMG\"}}"));
    FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_config_create(&cfg, "{\"max_iters\": [1]}"));
    FAILS(AMGX_RC_IO_ERROR, AMGX_config_create_from_file(&cfg, "no such file"));
    CHECK(cfg == NULL);
    OK(AMGX_config_create(&cfg, "  max_levels = 10; max_iters \t= 10\n"));
    FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_config_add_parameters(&cfg, "cycle=X"));
    OK(AMGX_config_add_parameters(&cfg, "cycle=W"));
    OK(AMGX_config_destroy(cfg));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_config_destroy(cfg));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_config_destroy(NULL));
}

static void meaning(AMGX_resources_handle rsc) {
    static const char *const refused[] = {
        "config_version=2, solver(m)=PCG, m:norm=L1, m:monitor_residual=1",
        "config_version=2, solver(m)=PCG, m:norm=LMAX, m:monitor_residual=1", "solver=NOSOLVER",
        "solver=PCG, preconditioner=PCG"};
    size_t k;
    for (k = 0; k < sizeof refused / sizeof *refused; ++k) {
        AMGX_config_handle cfg = NULL;
        AMGX_solver_handle slv = NULL;
        OK(AMGX_config_create(&cfg, refused[k]));
        FAILS(AMGX_RC_BAD_CONFIGURATION, AMGX_solver_create(&slv, rsc, AMGX_mode_hDDI, cfg));
        OK(AMGX_config_destroy(cfg));
    }
}

static void matrices(AMGX_resources_handle rsc) {
    static const int row[] = {0, 1, 3}, falling[] = {0, 3, 3}, col[] = {1, 0, 1}, wide[] = {1, 0, 2},
                     negative[] = {1, -1, 1};
    static const double val[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    AMGX_matrix_handle A = NULL, B = NULL;
    int n = 0, bx = 0, by = 0, nnz = 0;
    FAILS(AMGX_RC_BAD_MODE, AMGX_matrix_create(&A, rsc, (AMGX_Mode)0));
    FAILS(AMGX_RC_BAD_MODE, AMGX_matrix_create(&A, rsc, AMGX_mode_hIDI));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_create(NULL, rsc, AMGX_mode_hDDI));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_create(&A, NULL, AMGX_mode_hDDI));
    OK(AMGX_matrix_create(&A, rsc, AMGX_mode_hDDI));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_replace_coefficients(A, 2, 3, val, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_upload_all(A, 2, 3, 1, 1, NULL, col, val, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_upload_all(A, 2, 3, 1, 1, row, NULL, val, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_upload_all(A, 2, 3, 1, 1, row, col, NULL, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_upload_all(A, -2, 3, 1, 1, row, col, val, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_upload_all(A, 2, 2, 1, 1, row, col, val, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_upload_all(A, 1, 3, 1, 1, falling + 1, col, val, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_upload_all(A, 2, 3, 1, 1, row, negative, val, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_upload_all(A, 2, 3, 0, 1, row, col, val, NULL));
    FAILS(AMGX_RC_NOT_SUPPORTED_BLOCKSIZE,
          AMGX_matrix_upload_all(A, 2, 3, 2, 1, row, col, val, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_get_size(A, NULL, &bx, &by));
    OK(AMGX_matrix_upload_all(A, 2, 3, 2, 2, row, col, val, NULL));
    OK(AMGX_matrix_upload_all(A, 2, 3, 1, 1, row, wide, val, NULL)); /* told by the setup */
    OK(AMGX_matrix_get_size(A, &n, &bx, &by));
    OK(AMGX_matrix_get_nnz(A, &nnz));
    CHECK(n == 2 && bx == 1 && by == 1 && nnz == 3);
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_replace_coefficients(A, 2, 2, val, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_replace_coefficients(A, 2, 3, NULL, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_replace_coefficients(A, 2, 3, val, val));
    FAILS(AMGX_RC_BAD_PARAMETERS,
          AMGX_matrix_upload_all_global(A, 4, 2, 3, 1, 1, row, col, val, NULL, 1, 1, NULL));
    FAILS(AMGX_RC_NOT_IMPLEMENTED, AMGX_matrix_comm_from_maps(A, 1, 1, 1, 0, 0, 0, 0, 0));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_destroy((AMGX_matrix_handle)(void *)rsc));
    OK(AMGX_matrix_destroy(A));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_destroy(A));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_upload_all(A, 2, 3, 1, 1, row, col, val, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_matrix_upload_all(B, 2, 3, 1, 1, row, col, val, NULL));
}

static void vectors(AMGX_resources_handle rsc) {
    static const double val[] = {1, 2, 3};
    AMGX_vector_handle v = NULL;
    int n = -1, block = -1;
    OK(AMGX_vector_create(&v, rsc, AMGX_mode_hDDI));
    OK(AMGX_vector_get_size(v, &n, &block));
    CHECK(n == 0 && block == 1);
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_vector_upload(v, 3, 1, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_vector_upload(v, -3, 1, val));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_vector_upload(v, 3, 0, val));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_vector_set_zero(v, -1, 1));
    OK(AMGX_vector_upload(v, 3, 1, val));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_vector_download(v, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_vector_get_size(NULL, &n, &block));
    OK(AMGX_vector_destroy(v));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_vector_download(v, &n));
}

static void solvers(AMGX_resources_handle rsc, AMGX_config_handle cfg) {
    static const int row[] = {0, 1, 2}, col[] = {0, 1}, wide[] = {0, 2};
    static const double val[] = {1, 2}, zero[] = {0, 0}, b[] = {1, 1, 1}, nan_b[] = {NAN, 1};
    AMGX_solver_handle slv = NULL;
    AMGX_matrix_handle A = NULL, F = NULL;
    AMGX_vector_handle rhs = NULL, sol = NULL, single = NULL;
    AMGX_SOLVE_STATUS status = AMGX_SOLVE_SUCCESS;
    double res;
    int it;
    OK(AMGX_solver_create(&slv, rsc, AMGX_mode_hDDI, cfg));
    OK(AMGX_matrix_create(&A, rsc, AMGX_mode_hDDI));
    OK(AMGX_matrix_create(&F, rsc, AMGX_mode_hFFI));
    OK(AMGX_vector_create(&rhs, rsc, AMGX_mode_hDDI));
    OK(AMGX_vector_create(&sol, rsc, AMGX_mode_hDDI));
    OK(AMGX_vector_create(&single, rsc, AMGX_mode_hFFI));
    OK(AMGX_vector_upload(rhs, 2, 1, b));
    OK(AMGX_vector_upload(sol, 2, 1, b));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_solve(slv, rhs, sol));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_resetup(slv, A));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_setup(slv, A));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_setup(slv, F));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_setup(slv, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_get_status(slv, &status));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_get_iterations_number(slv, &it));
    OK(AMGX_matrix_upload_all(A, 2, 2, 1, 1, row, wide, val, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_setup(slv, A)); /* 2 x 3 */
    OK(AMGX_matrix_upload_all(A, 2, 2, 1, 1, row, col, val, NULL));
    OK(AMGX_solver_setup(slv, A));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_solve(slv, NULL, sol));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_solve(slv, rhs, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_solve(slv, rhs, single));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_solve(slv, rhs, rhs));
    OK(AMGX_solver_solve(slv, rhs, sol));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_get_iteration_residual(slv, 0, 0, &res));
    OK(AMGX_vector_upload(rhs, 3, 1, b));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_solve(slv, rhs, sol));
    OK(AMGX_vector_upload(rhs, 2, 1, nan_b));
    OK(AMGX_solver_solve(slv, rhs, sol));
    OK(AMGX_solver_get_status(slv, &status));
    CHECK(status == AMGX_SOLVE_FAILED);
    OK(AMGX_matrix_destroy(A)); /* the solver keeps what it made of it */
    OK(AMGX_vector_upload(rhs, 2, 1, b));
    OK(AMGX_vector_set_zero(sol, 2, 1));
    OK(AMGX_solver_solve(slv, rhs, sol));
    OK(AMGX_solver_get_status(slv, &status));
    CHECK(status == AMGX_SOLVE_SUCCESS);
    OK(AMGX_matrix_create(&A, rsc, AMGX_mode_hDDI));
    OK(AMGX_matrix_upload_all(A, 2, 2, 1, 1, row, col, zero, NULL));
    it = (int)AMGX_solver_setup(slv, A); /* a singular matrix: a code or none, no crash */
    CHECK(it == AMGX_RC_OK || it == AMGX_RC_BAD_PARAMETERS);
    OK(AMGX_solver_destroy(slv));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_solver_solve(slv, rhs, sol));
    OK(AMGX_vector_destroy(rhs));
    OK(AMGX_vector_destroy(sol));
    OK(AMGX_vector_destroy(single));
    OK(AMGX_matrix_destroy(A));
    OK(AMGX_matrix_destroy(F));
}

static void files(AMGX_resources_handle rsc) {
    static const char *const wrong[] = {
        "%%MatrixMarket matrix coordinate real general\n%%AMGX 1 1 rhs\n2 2 1\n1 1 1\n2\n1\n",
        "%%MatrixMarket matrix coordinate real general\n%%AMGX 1 1 rhs\n2 2 2\n1 1 1\n3\n1\n",
        "%%MatrixMarket matrix coordinate real general\n%%AMGX 1 1 diagonal\n2 2 1\n1 1 1\n",
        "%%MatrixMarket matrix coordinate complex general\n%%AMGX 1 1 rhs\n1 1 1\n1 1 1 1\n",
        "nothing of the kind", ""};
    AMGX_matrix_handle A = NULL;
    size_t k;
    OK(AMGX_matrix_create(&A, rsc, AMGX_mode_hDDI));
    FAILS(AMGX_RC_IO_ERROR, AMGX_read_system(A, NULL, NULL, "no such file"));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_read_system(A, NULL, NULL, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_write_system(A, NULL, NULL, "x.mtx"));
    for (k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        FILE *f = fopen("amgx_bad.mtx", "w");
        CHECK(f != NULL);
        if (f) fputs(wrong[k], f), fclose(f);
        CHECK(AMGX_read_system(A, NULL, NULL, "amgx_bad.mtx") != AMGX_RC_OK);
    }
    remove("amgx_bad.mtx");
    OK(AMGX_matrix_destroy(A));
}

int main(void) {
    AMGX_config_handle cfg = NULL;
    AMGX_resources_handle rsc = NULL;
    char text[64];
    int major = 0, minor = 0, device = 0;
    OK(AMGX_register_print_callback(note));
    OK(AMGX_initialize());
    OK(AMGX_get_api_version(&major, &minor));
    CHECK(major == 1 && minor == 0);
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_get_api_version(NULL, &minor));
    OK(AMGX_get_error_string(AMGX_RC_OK, text, sizeof text));
    CHECK(!strcmp(text, "No error."));
    OK(AMGX_get_error_string((AMGX_RC)99, text, 4));
    CHECK(!strcmp(text, "Unk"));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_get_error_string(AMGX_RC_OK, NULL, 4));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_get_error_string(AMGX_RC_OK, text, 0));
    configurations();
    OK(AMGX_config_create(&cfg, ""));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_resources_create_simple(&rsc, NULL));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_resources_create(&rsc, cfg, NULL, 2, &device));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_resources_create(&rsc, cfg, NULL, 1, NULL));
    OK(AMGX_resources_create_simple(&rsc, cfg));
    meaning(rsc);
    matrices(rsc);
    vectors(rsc);
    solvers(rsc, cfg);
    files(rsc);
    OK(AMGX_resources_destroy(rsc));
    FAILS(AMGX_RC_BAD_PARAMETERS, AMGX_resources_destroy(rsc));
    OK(AMGX_config_destroy(cfg));
    if (failures > 0) fprintf(stderr, "%s\n", told);
    return failures > 0;
}
