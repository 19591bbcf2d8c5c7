/* The products of cuPDLPx by nonzero. Takes the place of its src/spmv_backend.cu; README.md tells
 * how.
 *
 * cuPDLPx asks for products in two ways: by a context in its iterations, by descriptors of cuSPARSE
 * where it estimates the largest singular value. Both are of the same two matrices in GPU memory, A
 * and its transpose, after they have been rescaled: their values stay. So a matrix is known by its
 * arrays, and planned once for all who multiply by it. */
#include <nonzero.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "utils.h"

/* A matrix that is planned, and how many contexts and descriptors use it. */
typedef struct planned {
    int64_t rows, cols, nnz;
    const void *row_ptr, *col_ind, *val;
    cudaStream_t stream;
    nz_operator* op;
    int users;
    struct planned* next;
} planned;

typedef struct context {
    planned *A, *AT;
} context;

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static planned* all_planned = NULL;

/* cuPDLPx has no way to hear of a failure: it ends the process at one of CUDA, too. */
static void expect(int status, const char* call) {
    if (status == NZ_OK) return;
    fprintf(stderr, "nonzero: %s: %s: %s\n", call, nz_status_name(status), nz_last_error());
    exit(EXIT_FAILURE);
}
#define EXPECT_OK(call) expect(call, #call)

static int same(const planned* a, const planned* b) {
    return a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz &&
           a->row_ptr == b->row_ptr && a->col_ind == b->col_ind && a->val == b->val &&
           a->stream == b->stream;
}

static void show_plan(const nz_operator* op) {
    int64_t length = 0;
    EXPECT_OK(nz_operator_text(op, NULL, 0, &length));
    char* const text = safe_malloc((size_t)length + 1);
    EXPECT_OK(nz_operator_text(op, text, length + 1, NULL));
    fprintf(stderr, "%s\n", text);
    free(text);
}

static nz_operator* make_plan(const planned* m) {
    nz_matrix* A;
    nz_operator* op;
    int device;
    CUDA_CHECK(cudaGetDevice(&device));
    EXPECT_OK(nz_matrix_wrap(NZ_DOUBLE, (int32_t)m->rows, (int32_t)m->cols, m->nnz, NZ_INT32,
                             m->row_ptr, m->col_ind, m->val, NZ_BORROW, device, m->stream, &A));
    EXPECT_OK(nz_plan(A, device, m->stream, getenv("CUPDLPX_NONZERO_PLAN"), &op));
    EXPECT_OK(nz_matrix_destroy(A));
    if (getenv("CUPDLPX_NONZERO_SHOW") != NULL) show_plan(op);
    return op;
}

/* The matrix as it is planned already, else planned now. For each call one of give_back. */
static planned* take(const planned* wanted) {
    pthread_mutex_lock(&one_at_a_time);
    planned* m = all_planned;
    while (m != NULL && !same(m, wanted)) m = m->next;
    if (m == NULL) {
        m = safe_malloc(sizeof *m);
        *m = *wanted;
        m->op = make_plan(m);
        m->users = 0;
        m->next = all_planned;
        all_planned = m;
    }
    ++m->users;
    pthread_mutex_unlock(&one_at_a_time);
    return m;
}

static void give_back(planned* m) {
    if (m == NULL) return;
    pthread_mutex_lock(&one_at_a_time);
    if (--m->users == 0) {
        planned** at = &all_planned;
        while (*at != m) at = &(*at)->next;
        *at = m->next;
        EXPECT_OK(nz_operator_destroy(m->op));
        free(m);
    }
    pthread_mutex_unlock(&one_at_a_time);
}

static planned* take_csr(const cu_sparse_matrix_csr_t* A, cudaStream_t stream) {
    const planned wanted = {.rows = A->num_rows,
                            .cols = A->num_cols,
                            .nnz = A->num_nonzeros,
                            .row_ptr = A->row_ptr,
                            .col_ind = A->col_ind,
                            .val = A->val,
                            .stream = stream};
    return take(&wanted);
}

/* y = A x, launched in the stream; CUDA graphs can capture it. */
static void multiply(const planned* A, const double* x, double* y) {
    const double one = 1, zero = 0;
    EXPECT_OK(nz_apply(A->op, NZ_PLAIN, NZ_DOUBLE, &one, x, A->cols, &zero, y, A->rows));
}

/* ---- By a context ---- */

void* cupdlpx_spmv_ctx_create(cusparseHandle_t handle, const cu_sparse_matrix_csr_t* A,
                              const cu_sparse_matrix_csr_t* AT, const double* ax_x, double* ax_y,
                              const double* atx_x, double* atx_y) {
    (void)ax_x, (void)ax_y, (void)atx_x, (void)atx_y;
    context* const c = safe_malloc(sizeof *c);
    cudaStream_t stream;
    CUSPARSE_CHECK(cusparseGetStream(handle, &stream));
    c->A = take_csr(A, stream);
    c->AT = take_csr(AT, stream);
    return c;
}

void cupdlpx_spmv_ctx_destroy(void* ctx) {
    context* const c = ctx;
    if (c == NULL) return;
    give_back(c->A);
    give_back(c->AT);
    free(c);
}

void cupdlpx_spmv_Ax(cusparseHandle_t handle, void* ctx, const double* x, double* y) {
    (void)handle;
    multiply(((const context*)ctx)->A, x, y);
}

void cupdlpx_spmv_ATx(cusparseHandle_t handle, void* ctx, const double* x, double* y) {
    (void)handle;
    multiply(((const context*)ctx)->AT, x, y);
}

/* ---- By descriptors of cuSPARSE ---- */

bool cupdlpx_use_spmvop_by_default(void) { return false; }

/* nonzero's operators bring their own memory. One byte, as the caller allocates it. */
void cupdlpx_spmv_buffer_size(cusparseHandle_t handle, cusparseSpMatDescr_t mat,
                              cusparseDnVecDescr_t vec_x, cusparseDnVecDescr_t vec_y,
                              size_t* buffer_size) {
    (void)handle, (void)mat, (void)vec_x, (void)vec_y;
    *buffer_size = 1;
}

void cupdlpx_spmv_prepare(cusparseHandle_t handle, cusparseSpMatDescr_t mat,
                          cusparseDnVecDescr_t vec_x, cusparseDnVecDescr_t vec_y, void* buffer,
                          void** descr, void** plan) {
    (void)vec_x, (void)vec_y, (void)buffer;
    planned wanted = {.rows = 0};
    void *row_ptr, *col_ind, *val;
    cusparseIndexType_t row_ptr_type, col_ind_type;
    cusparseIndexBase_t base;
    cudaDataType type;
    CUSPARSE_CHECK(cusparseGetStream(handle, &wanted.stream));
    CUSPARSE_CHECK(cusparseCsrGet(mat, &wanted.rows, &wanted.cols, &wanted.nnz, &row_ptr, &col_ind,
                                  &val, &row_ptr_type, &col_ind_type, &base, &type));
    if (row_ptr_type != CUSPARSE_INDEX_32I || col_ind_type != CUSPARSE_INDEX_32I ||
        base != CUSPARSE_INDEX_BASE_ZERO || type != CUDA_R_64F) {
        fprintf(stderr, "nonzero: this matrix has no 32-bit indices from 0 or no doubles\n");
        exit(EXIT_FAILURE);
    }
    wanted.row_ptr = row_ptr, wanted.col_ind = col_ind, wanted.val = val;
    *descr = NULL;
    *plan = take(&wanted);
}

void cupdlpx_spmv_release(void* descr, void* plan) {
    (void)descr;
    give_back(plan);
}

void cupdlpx_spmv_execute(cusparseHandle_t handle, cusparseSpMatDescr_t mat,
                          cusparseDnVecDescr_t vec_x, cusparseDnVecDescr_t vec_y, void* buffer,
                          void* plan) {
    (void)handle, (void)mat, (void)buffer;
    int64_t length;
    cudaDataType type;
    void *x, *y;
    CUSPARSE_CHECK(cusparseDnVecGet(vec_x, &length, &x, &type));
    CUSPARSE_CHECK(cusparseDnVecGet(vec_y, &length, &y, &type));
    multiply(plan, x, y);
}
