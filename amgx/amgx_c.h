/* AmgX's C interface as libamgxsh.so of nonzero serves it: docs/amgx.md says how.

   Every function returns AMGX_RC_OK or a code that AMGX_get_error_string has a sentence for; the
   print callback is told more. No function ends the program but AMGX_abort. */
#ifndef NONZERO_AMGX_C_H
#define NONZERO_AMGX_C_H

#include <stdio.h>

#include "amgx_config.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    SOLVE_STATS = 1,
    GRID_STATS = 2,
    CONFIG = 4,
    PROFILE_STATS = 8,
    VISDATA = 16,
    RESIDUAL_HISTORY = 32
} AMGX_FLAGS;

typedef enum {
    AMGX_RC_OK = 0,
    AMGX_RC_BAD_PARAMETERS = 1,
    AMGX_RC_UNKNOWN = 2,
    AMGX_RC_NOT_SUPPORTED_TARGET = 3,
    AMGX_RC_NOT_SUPPORTED_BLOCKSIZE = 4,
    AMGX_RC_CUDA_FAILURE = 5,
    AMGX_RC_THRUST_FAILURE = 6,
    AMGX_RC_NO_MEMORY = 7,
    AMGX_RC_IO_ERROR = 8,
    AMGX_RC_BAD_MODE = 9,
    AMGX_RC_CORE = 10,
    AMGX_RC_PLUGIN = 11,
    AMGX_RC_BAD_CONFIGURATION = 12,
    AMGX_RC_NOT_IMPLEMENTED = 13,
    AMGX_RC_LICENSE_NOT_FOUND = 14,
    AMGX_RC_INTERNAL = 15
} AMGX_RC;

typedef enum {
    AMGX_SOLVE_SUCCESS = 0,
    AMGX_SOLVE_FAILED = 1,
    AMGX_SOLVE_DIVERGED = 2,
    AMGX_SOLVE_NOT_CONVERGED = 3
} AMGX_SOLVE_STATUS;

typedef enum {
    AMGX_GET_PARAMS_DESC_JSON_TO_FILE = 0,
    AMGX_GET_PARAMS_DESC_JSON_TO_STRING = 1,
    AMGX_GET_PARAMS_DESC_TEXT_TO_FILE = 2,
    AMGX_GET_PARAMS_DESC_TEXT_TO_STRING = 3
} AMGX_GET_PARAMS_DESC_FLAG;

typedef enum {
    AMGX_DIST_PARTITION_VECTOR = 0,
    AMGX_DIST_PARTITION_OFFSETS = 1
} AMGX_DIST_PARTITION_INFO;

typedef struct { char AMGX_config_handle_dummy; } AMGX_config_handle_struct;
typedef struct { char AMGX_resources_handle_dummy; } AMGX_resources_handle_struct;
typedef struct { char AMGX_matrix_handle_dummy; } AMGX_matrix_handle_struct;
typedef struct { char AMGX_vector_handle_dummy; } AMGX_vector_handle_struct;
typedef struct { char AMGX_solver_handle_dummy; } AMGX_solver_handle_struct;
typedef struct { char AMGX_distribution_handle_dummy; } AMGX_distribution_handle_struct;

typedef AMGX_config_handle_struct *AMGX_config_handle;
typedef AMGX_resources_handle_struct *AMGX_resources_handle;
typedef AMGX_matrix_handle_struct *AMGX_matrix_handle;
typedef AMGX_vector_handle_struct *AMGX_vector_handle;
typedef AMGX_solver_handle_struct *AMGX_solver_handle;
typedef AMGX_distribution_handle_struct *AMGX_distribution_handle;

typedef void (*AMGX_print_callback)(const char *msg, int length);

/* The library and the process. */
AMGX_API AMGX_RC AMGX_initialize(void);
AMGX_API AMGX_RC AMGX_finalize(void);
AMGX_API AMGX_RC AMGX_initialize_plugins(void);
AMGX_API AMGX_RC AMGX_finalize_plugins(void);
AMGX_API void AMGX_abort(AMGX_resources_handle rsrc, int err);
AMGX_API AMGX_RC AMGX_get_api_version(int *major, int *minor);
AMGX_API AMGX_RC AMGX_get_build_info_strings(char **version, char **date, char **time);
AMGX_API AMGX_RC AMGX_get_error_string(AMGX_RC err, char *buf, int buf_len);
AMGX_API AMGX_RC AMGX_register_print_callback(AMGX_print_callback func);
AMGX_API AMGX_RC AMGX_solver_register_print_callback(AMGX_print_callback func);
AMGX_API AMGX_RC AMGX_install_signal_handler(void);
AMGX_API AMGX_RC AMGX_reset_signal_handler(void);
AMGX_API AMGX_RC AMGX_pin_memory(void *ptr, unsigned int bytes);
AMGX_API AMGX_RC AMGX_unpin_memory(void *ptr);

/* Configurations. */
AMGX_API AMGX_RC AMGX_config_create(AMGX_config_handle *cfg, const char *options);
AMGX_API AMGX_RC AMGX_config_create_from_file(AMGX_config_handle *cfg, const char *param_file);
AMGX_API AMGX_RC AMGX_config_create_from_file_and_string(AMGX_config_handle *cfg,
                                                         const char *param_file,
                                                         const char *options);
AMGX_API AMGX_RC AMGX_config_add_parameters(AMGX_config_handle *cfg, const char *options);
AMGX_API AMGX_RC AMGX_config_get_default_number_of_rings(AMGX_config_handle cfg,
                                                         int *num_import_rings);
AMGX_API AMGX_RC AMGX_config_destroy(AMGX_config_handle cfg);
AMGX_API AMGX_RC AMGX_write_parameters_description(char *filename, AMGX_GET_PARAMS_DESC_FLAG mode);

/* Resources: a GPU and, over ranks, a communicator (a pointer to an MPI_Comm). */
AMGX_API AMGX_RC AMGX_resources_create_simple(AMGX_resources_handle *rsc, AMGX_config_handle cfg);
AMGX_API AMGX_RC AMGX_resources_create(AMGX_resources_handle *rsc, AMGX_config_handle cfg,
                                       void *comm, int device_num, const int *devices);
AMGX_API AMGX_RC AMGX_resources_destroy(AMGX_resources_handle rsc);

/* Who holds which rows. */
AMGX_API AMGX_RC AMGX_distribution_create(AMGX_distribution_handle *dist, AMGX_config_handle cfg);
AMGX_API AMGX_RC AMGX_distribution_destroy(AMGX_distribution_handle dist);
AMGX_API AMGX_RC AMGX_distribution_set_partition_data(AMGX_distribution_handle dist,
                                                      AMGX_DIST_PARTITION_INFO info,
                                                      const void *partition_data);
AMGX_API AMGX_RC AMGX_distribution_set_32bit_colindices(AMGX_distribution_handle dist,
                                                        int use32bit);

/* Matrices in blocks of block_dimx x block_dimy, each by rows. n and nnz count blocks. */
AMGX_API AMGX_RC AMGX_matrix_create(AMGX_matrix_handle *mtx, AMGX_resources_handle rsc,
                                    AMGX_Mode mode);
AMGX_API AMGX_RC AMGX_matrix_destroy(AMGX_matrix_handle mtx);
AMGX_API AMGX_RC AMGX_matrix_upload_all(AMGX_matrix_handle mtx, int n, int nnz, int block_dimx,
                                        int block_dimy, const int *row_ptrs,
                                        const int *col_indices, const void *data,
                                        const void *diag_data);
AMGX_API AMGX_RC AMGX_matrix_upload_all_global(AMGX_matrix_handle mtx, int n_global, int n, int nnz,
                                               int block_dimx, int block_dimy, const int *row_ptrs,
                                               const void *col_indices_global, const void *data,
                                               const void *diag_data, int allocated_halo_depth,
                                               int num_import_rings, const int *partition_vector);
AMGX_API AMGX_RC AMGX_matrix_upload_all_global_32(AMGX_matrix_handle mtx, int n_global, int n,
                                                  int nnz, int block_dimx, int block_dimy,
                                                  const int *row_ptrs,
                                                  const void *col_indices_global, const void *data,
                                                  const void *diag_data, int allocated_halo_depth,
                                                  int num_import_rings,
                                                  const int *partition_vector);
AMGX_API AMGX_RC AMGX_matrix_upload_distributed(AMGX_matrix_handle mtx, int n_global, int n,
                                                int nnz, int block_dimx, int block_dimy,
                                                const int *row_ptrs, const void *col_indices_global,
                                                const void *data, const void *diag_data,
                                                AMGX_distribution_handle distribution);
AMGX_API AMGX_RC AMGX_matrix_replace_coefficients(AMGX_matrix_handle mtx, int n, int nnz,
                                                  const void *data, const void *diag_data);
AMGX_API AMGX_RC AMGX_matrix_get_size(const AMGX_matrix_handle mtx, int *n, int *block_dimx,
                                      int *block_dimy);
AMGX_API AMGX_RC AMGX_matrix_get_nnz(const AMGX_matrix_handle mtx, int *nnz);
AMGX_API AMGX_RC AMGX_matrix_download_all(const AMGX_matrix_handle mtx, int *row_ptrs,
                                          int *col_indices, void *data, void **diag_data);
AMGX_API AMGX_RC AMGX_matrix_vector_multiply(AMGX_matrix_handle mtx, AMGX_vector_handle x,
                                             AMGX_vector_handle y);
AMGX_API AMGX_RC AMGX_matrix_set_boundary_separation(AMGX_matrix_handle mtx,
                                                     int boundary_separation);
AMGX_API AMGX_RC AMGX_matrix_comm_from_maps(AMGX_matrix_handle mtx, int allocated_halo_depth,
                                            int num_import_rings, int max_num_neighbors,
                                            const int *neighbors, const int *send_ptrs,
                                            const int *send_maps, const int *recv_ptrs,
                                            const int *recv_maps);
AMGX_API AMGX_RC AMGX_matrix_comm_from_maps_one_ring(AMGX_matrix_handle mtx,
                                                     int allocated_halo_depth, int num_neighbors,
                                                     const int *neighbors, const int *send_sizes,
                                                     const int **send_maps, const int *recv_sizes,
                                                     const int **recv_maps);
AMGX_API AMGX_RC AMGX_matrix_attach_coloring(AMGX_matrix_handle mtx, int *row_coloring,
                                             int num_rows, int num_colors);
AMGX_API AMGX_RC AMGX_matrix_attach_geometry(AMGX_matrix_handle mtx, double *geox, double *geoy,
                                             double *geoz, int n);
AMGX_API AMGX_RC AMGX_matrix_check_symmetry(AMGX_matrix_handle mtx, int *structurally_symmetric,
                                            int *symmetric);
AMGX_API AMGX_RC AMGX_matrix_check_diag_dominant(const AMGX_matrix_handle mtx, int *diag_dominant);

/* Vectors. n counts blocks. */
AMGX_API AMGX_RC AMGX_vector_create(AMGX_vector_handle *vec, AMGX_resources_handle rsc,
                                    AMGX_Mode mode);
AMGX_API AMGX_RC AMGX_vector_destroy(AMGX_vector_handle vec);
AMGX_API AMGX_RC AMGX_vector_upload(AMGX_vector_handle vec, int n, int block_dim, const void *data);
AMGX_API AMGX_RC AMGX_vector_set_zero(AMGX_vector_handle vec, int n, int block_dim);
AMGX_API AMGX_RC AMGX_vector_set_random(AMGX_vector_handle vec, int n);
AMGX_API AMGX_RC AMGX_vector_download(const AMGX_vector_handle vec, void *data);
AMGX_API AMGX_RC AMGX_vector_get_size(const AMGX_vector_handle vec, int *n, int *block_dim);
AMGX_API AMGX_RC AMGX_vector_bind(AMGX_vector_handle vec, const AMGX_matrix_handle mtx);

/* Solvers. */
AMGX_API AMGX_RC AMGX_solver_create(AMGX_solver_handle *slv, AMGX_resources_handle rsc,
                                    AMGX_Mode mode, const AMGX_config_handle cfg_solver);
AMGX_API AMGX_RC AMGX_solver_destroy(AMGX_solver_handle slv);
AMGX_API AMGX_RC AMGX_solver_setup(AMGX_solver_handle slv, AMGX_matrix_handle mtx);
AMGX_API AMGX_RC AMGX_solver_resetup(AMGX_solver_handle slv, AMGX_matrix_handle mtx);
AMGX_API AMGX_RC AMGX_solver_solve(AMGX_solver_handle slv, AMGX_vector_handle rhs,
                                   AMGX_vector_handle sol);
AMGX_API AMGX_RC AMGX_solver_solve_with_0_initial_guess(AMGX_solver_handle slv,
                                                        AMGX_vector_handle rhs,
                                                        AMGX_vector_handle sol);
AMGX_API AMGX_RC AMGX_solver_get_iterations_number(AMGX_solver_handle slv, int *n);
AMGX_API AMGX_RC AMGX_solver_get_iteration_residual(AMGX_solver_handle slv, int it, int idx,
                                                    double *res);
AMGX_API AMGX_RC AMGX_solver_get_status(AMGX_solver_handle slv, AMGX_SOLVE_STATUS *st);
AMGX_API AMGX_RC AMGX_solver_calculate_residual_norm(AMGX_solver_handle solver,
                                                     AMGX_matrix_handle mtx, AMGX_vector_handle rhs,
                                                     AMGX_vector_handle x, void *norm_vector);

/* Files, and a model problem. */
AMGX_API AMGX_RC AMGX_read_system(AMGX_matrix_handle mtx, AMGX_vector_handle rhs,
                                  AMGX_vector_handle sol, const char *filename);
AMGX_API AMGX_RC AMGX_write_system(const AMGX_matrix_handle mtx, const AMGX_vector_handle rhs,
                                   const AMGX_vector_handle sol, const char *filename);
AMGX_API AMGX_RC AMGX_read_system_distributed(AMGX_matrix_handle mtx, AMGX_vector_handle rhs,
                                              AMGX_vector_handle sol, const char *filename,
                                              int allocated_halo_depth, int num_partitions,
                                              const int *partition_sizes, int partition_vector_size,
                                              const int *partition_vector);
AMGX_API AMGX_RC AMGX_write_system_distributed(const AMGX_matrix_handle mtx,
                                               const AMGX_vector_handle rhs,
                                               const AMGX_vector_handle sol, const char *filename,
                                               int allocated_halo_depth, int num_partitions,
                                               const int *partition_sizes,
                                               int partition_vector_size,
                                               const int *partition_vector);
AMGX_API AMGX_RC AMGX_read_system_global(int *n, int *nnz, int *block_dimx, int *block_dimy,
                                         int **row_ptrs, void **col_indices_global, void **data,
                                         void **diag_data, void **rhs, void **sol,
                                         AMGX_resources_handle rsc, AMGX_Mode mode,
                                         const char *filename, int allocated_halo_depth,
                                         int num_partitions, const int *partition_sizes,
                                         int partition_vector_size, const int *partition_vector);
AMGX_API AMGX_RC AMGX_read_system_maps_one_ring(
    int *n, int *nnz, int *block_dimx, int *block_dimy, int **row_ptrs, int **col_indices,
    void **data, void **diag_data, void **rhs, void **sol, int *num_neighbors, int **neighbors,
    int **send_sizes, int ***send_maps, int **recv_sizes, int ***recv_maps,
    AMGX_resources_handle rsc, AMGX_Mode mode, const char *filename, int allocated_halo_depth,
    int num_partitions, const int *partition_sizes, int partition_vector_size,
    const int *partition_vector);
AMGX_API AMGX_RC AMGX_free_system_maps_one_ring(int *row_ptrs, int *col_indices, void *data,
                                                void *diag_data, void *rhs, void *sol,
                                                int num_neighbors, int *neighbors, int *send_sizes,
                                                int **send_maps, int *recv_sizes, int **recv_maps);
AMGX_API AMGX_RC AMGX_generate_distributed_poisson_7pt(AMGX_matrix_handle mtx,
                                                       AMGX_vector_handle rhs,
                                                       AMGX_vector_handle sol,
                                                       int allocated_halo_depth,
                                                       int num_import_rings, int nx, int ny, int nz,
                                                       int px, int py, int pz);

/* Ends the program where a call fails. */
#define AMGX_SAFE_CALL(rc)                                                            \
    {                                                                                 \
        const AMGX_RC nz_code_ = (rc);                                                \
        if (nz_code_ != AMGX_RC_OK) {                                                 \
            char nz_text_[4096];                                                      \
            AMGX_get_error_string(nz_code_, nz_text_, (int)sizeof nz_text_);          \
            fprintf(stderr, "AMGX ERROR: %s:%d: %s\n", __FILE__, __LINE__, nz_text_); \
            AMGX_abort(NULL, 1);                                                      \
        }                                                                             \
    }

#ifdef __cplusplus
}
#endif

#endif
