/* The C interface over GPU memory of the caller's own, in a stream. Says "skipped" without a GPU.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nonzero.h"

static int failures = 0;

static void check(int holds, const char* what, int line) {
    if (holds) return;
    fprintf(stderr, "gpu_test.c:%d: %s (last error: %s)\n", line, what, nz_last_error());
    ++failures;
}
#define CHECK(condition) check(condition, #condition, __LINE__)
#define EXPECT(status, call) check((call) == (status), #call " is not " #status, __LINE__)

enum { side = 60, n = side * side, most = 5 * n };

/* The Laplacian of a grid of side x side points, with positions of either width. */
static int32_t narrow[n + 1], col_ind[most];
static int64_t wide[n + 1];
static double val[most], other_val[most];
static int64_t make(void) {
    int32_t k = 0;
    for (int i = 0; i < n; ++i) {
        const int neighbours[] = {i >= side ? i - side : -1, i % side ? i - 1 : -1, i,
                                  i % side < side - 1 ? i + 1 : -1, i < n - side ? i + side : -1};
        narrow[i] = k, wide[i] = k;
        for (int j = 0; j < 5; ++j)
            if (neighbours[j] >= 0) {
                col_ind[k] = neighbours[j];
                other_val[k] = neighbours[j] == i ? 4.5 : -1;
                val[k++] = neighbours[j] == i ? 4 : -1;
            }
    }
    narrow[n] = k, wide[n] = k;
    return k;
}

static void* copied(const void* from, size_t bytes) {
    void* to = NULL;
    CHECK(cudaMalloc(&to, bytes) == cudaSuccess);
    CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    return to;
}
/* x = 0, before what other streams do. */
static void clear(void* x) {
    CHECK(cudaMemset(x, 0, n * sizeof(double)) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}
static double* fetched(const void* from) {
    static double to[2 * n];
    CHECK(cudaMemcpy(to, from, sizeof to / 2, cudaMemcpyDeviceToHost) == cudaSuccess);
    return to;
}
/* |b - A x| / |b| for b of ones. */
static double residual(const double* values, const double* x) {
    double r2 = 0;
    for (int i = 0; i < n; ++i) {
        double r = 1;
        for (int k = narrow[i]; k < narrow[i + 1]; ++k) r -= values[k] * x[col_ind[k]];
        r2 += r * r;
    }
    return sqrt(r2 / n);
}

/* All verbs with a matrix, vectors and results in GPU memory. */
static void test_in_gpu_memory(int64_t nnz, int position_type, int ownership, void* stream) {
    const double one = 1, zero = 0;
    double *ones = malloc(2 * n * sizeof *ones), *rank = NULL, values[2], *many;
    int32_t found = 0, *part = malloc(n * sizeof *part);
    int64_t cut = 0;
    int device = -5, type = 0;
    nz_report r = NZ_REPORT_INIT;
    nz_matrix *A = NULL, *B = NULL;
    nz_operator *op = NULL, *M = NULL, *none = NULL;
    nz_solver* s = NULL;
    for (int i = 0; i < 2 * n; ++i) ones[i] = 1;
    void* ptr_there =
        position_type == NZ_INT64 ? copied(wide, sizeof wide) : copied(narrow, sizeof narrow);
    void *col_there = copied(col_ind, sizeof col_ind), *val_there = copied(val, sizeof val);
    void* other_there = copied(other_val, sizeof other_val);
    void *b = copied(ones, 2 * n * sizeof *ones), *x = copied(ones, 2 * n * sizeof *ones);
    EXPECT(NZ_OK, nz_matrix_wrap(NZ_DOUBLE, n, n, nnz, position_type, ptr_there, col_there,
                                 val_there, ownership, 0, stream, &A));
    EXPECT(NZ_OK, nz_matrix_wrap(NZ_DOUBLE, n, n, nnz, position_type, ptr_there, col_there,
                                 other_there, NZ_BORROW, 0, stream, &B));
    EXPECT(NZ_OK, nz_matrix_info(A, NULL, NULL, NULL, &type, &device));
    CHECK(type == NZ_DOUBLE && device == 0);
    EXPECT(NZ_INVALID_ARGUMENT, nz_plan(A, NZ_CPU, NULL, NULL, &none));

    EXPECT(NZ_OK, nz_plan(A, 0, stream, "transposed=yes", &op));
    EXPECT(NZ_OK, nz_operator_info(op, NULL, NULL, NULL, &device, NULL));
    CHECK(device == 0);
    EXPECT(NZ_OK, nz_apply(op, NZ_PLAIN, NZ_DOUBLE, &one, b, n, &zero, x, n));
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(fetched(x)[0] == 2 && fetched(x)[n / 2 + side / 2] == 0);
    EXPECT(NZ_OK, nz_apply(op, NZ_TRANSPOSE, NZ_DOUBLE, &one, b, n, &zero, x, n));
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(fetched(x)[0] == 2);
    EXPECT(NZ_OK, nz_apply_many(op, NZ_DOUBLE, 2, &one, b, 2 * n, n, NZ_COLUMN_MAJOR, &zero, x,
                                2 * n, 2, NZ_ROW_MAJOR));
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    many = fetched(x);
    CHECK(many[0] == 2 && many[1] == 2 && many[2] == 1 && many[3] == 1);

    EXPECT(NZ_OK, nz_amg(A, 0, stream, NULL, 0, NULL, &M));
    clear(x);
    EXPECT(NZ_OK, nz_krylov(op, M, NZ_DOUBLE, b, n, x, n, "method=cg tol=1e-10", &r));
    CHECK(residual(val, fetched(x)) < 1.1e-10 && r.converged);
    EXPECT(NZ_OK, nz_operator_update(op, B));
    EXPECT(NZ_OK, nz_operator_update(M, B));
    EXPECT(NZ_OK, nz_krylov(op, M, NZ_DOUBLE, b, n, x, n, "method=cg tol=1e-10", NULL));
    CHECK(residual(other_val, fetched(x)) < 1.1e-10);
    EXPECT(NZ_OK, nz_eigs(op, M, NZ_DOUBLE, values, 2, NULL, 0, &found, NULL, NULL));
    CHECK(found == 2 && values[0] > 0.5 && values[0] < 0.51);

    clear(x);
    EXPECT(NZ_OK, nz_solve(A, 0, stream, NZ_DOUBLE, b, n, x, n, "method=cg tol=1e-10", &r));
    CHECK(residual(val, fetched(x)) < 1.1e-10);
    EXPECT(NZ_INVALID_ARGUMENT, nz_solve(A, NZ_CPU, NULL, NZ_DOUBLE, b, n, x, n, NULL, &r));
    EXPECT(NZ_OK, nz_solver_create(A, 0, stream, "method=cg tol=1e-10", &s));
    EXPECT(NZ_OK, nz_solver_solve(s, NZ_DOUBLE, b, n, x, n, &r));
    EXPECT(NZ_OK, nz_solver_update(s, B));
    EXPECT(NZ_OK, nz_solver_solve(s, NZ_DOUBLE, b, n, x, n, &r));
    CHECK(residual(other_val, fetched(x)) < 1.1e-10);

    EXPECT(NZ_OK, nz_pagerank(A, 0, stream, NZ_DOUBLE, NULL, 0, x, n, NULL, &r));
    rank = fetched(x);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += rank[i];
    CHECK(fabs(sum - 1) < 1e-10);
    EXPECT(NZ_OK, nz_partition(A, 0, stream, part, n, &cut, NULL, "parts=2"));
    CHECK(cut >= side && cut < 2 * side);

    EXPECT(NZ_OK, nz_solver_destroy(s));
    EXPECT(NZ_OK, nz_operator_destroy(M));
    EXPECT(NZ_OK, nz_operator_destroy(op));
    EXPECT(NZ_OK, nz_matrix_destroy(B));
    EXPECT(NZ_OK, nz_matrix_destroy(A));
    void* const all[] = {ptr_there, col_there, val_there, other_there, b, x};
    for (int k = 0; k < 6; ++k) CHECK(cudaFree(all[k]) == cudaSuccess);
    free(ones), free(part);
}

/* A matrix in CPU memory that is multiplied on a GPU, and solved there with b and x on the CPU. */
static void test_from_cpu_memory(int64_t nnz, void* stream) {
    const float complex_val[] = {1, 1, 0, 2};
    const int32_t complex_ptr[] = {0, 1, 2}, complex_col[] = {0, 1};
    const double one = 1, zero = 0;
    double ones[n], x[n];
    float y[4] = {0};
    nz_report r = NZ_REPORT_INIT;
    nz_matrix *A = NULL, *C = NULL;
    nz_operator* op = NULL;
    for (int i = 0; i < n; ++i) ones[i] = 1, x[i] = 0;
    EXPECT(NZ_OK, nz_matrix_wrap(NZ_DOUBLE, n, n, nnz, NZ_INT32, narrow, col_ind, val, NZ_BORROW,
                                 NZ_CPU, NULL, &A));
    EXPECT(NZ_OK, nz_solve(A, 0, stream, NZ_DOUBLE, ones, n, x, n, "method=cg tol=1e-10", &r));
    CHECK(residual(val, x) < 1.1e-10);
    EXPECT(NZ_OK, nz_plan(A, 0, stream, NULL, &op));
    void *from = copied(ones, sizeof ones), *to = copied(ones, sizeof ones);
    EXPECT(NZ_OK, nz_apply(op, NZ_PLAIN, NZ_DOUBLE, &one, from, n, &zero, to, n));
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(fetched(to)[0] == 2);
    CHECK(cudaFree(from) == cudaSuccess && cudaFree(to) == cudaSuccess);
    EXPECT(NZ_OK, nz_operator_destroy(op));
    EXPECT(NZ_OK, nz_matrix_destroy(A));

    EXPECT(NZ_OK, nz_matrix_wrap(NZ_COMPLEX_FLOAT, 2, 2, 2, NZ_INT32, complex_ptr, complex_col,
                                 complex_val, NZ_COPY, NZ_CPU, NULL, &C));
    EXPECT(NZ_OK, nz_solve(C, 0, stream, NZ_COMPLEX_FLOAT, complex_val, 2, y, 2, NULL, NULL));
    CHECK(fabsf(y[0] - 1) < 1e-4 && fabsf(y[1]) < 1e-4 && fabsf(y[2] - 1) < 1e-4);
    EXPECT(NZ_OK, nz_plan(C, 0, stream, NULL, &op));
    EXPECT(NZ_OK, nz_operator_destroy(op));
    EXPECT(NZ_OK, nz_matrix_destroy(C));
}

int main(void) {
    cudaStream_t stream;
    const int64_t nnz = make();
    if (nz_gpu_count() == 0) {
        printf("skipped: no GPU\n");
        return 0;
    }
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    test_in_gpu_memory(nnz, NZ_INT32, NZ_BORROW, stream);
    test_in_gpu_memory(nnz, NZ_INT64, NZ_COPY, stream);
    test_in_gpu_memory(nnz, NZ_INT32, NZ_BORROW, NULL);
    test_from_cpu_memory(nnz, stream);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    if (failures == 0) printf("gpu_test: passed\n");
    return failures == 0 ? 0 : 1;
}
