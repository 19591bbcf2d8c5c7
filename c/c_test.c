/* The C interface, function by function: what each gives, and what it refuses. C99. */
#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nonzero.h"

static int failures = 0;

static void check(int holds, const char* what, int line) {
    if (holds) return;
    fprintf(stderr, "c_test.c:%d: %s (last error: %s)\n", line, what, nz_last_error());
    ++failures;
}
#define CHECK(condition) check(condition, #condition, __LINE__)
#define EXPECT(status, call) check((call) == (status), #call " is not " #status, __LINE__)
/* The call is refused, with a sentence that has `words` in it. */
#define REFUSED(status, words, call)                                                    \
    do {                                                                                \
        EXPECT(status, call);                                                           \
        check(strstr(nz_last_error(), words) != NULL, "'" words "': " #call, __LINE__); \
    } while (0)

/* 4 x 3, not symmetric:  1 . 2
 *                        . 3 .
 *                        4 . 5
 *                        . . 6 */
enum { rows = 4, cols = 3, nnz = 6 };
static const int32_t narrow[] = {0, 2, 3, 5, 6};
static const int64_t wide[] = {0, 2, 3, 5, 6};
static const int32_t columns[] = {0, 2, 1, 0, 2, 2};
static const double reals[] = {1, 2, 3, 4, 5, 6};

/* The Laplacian of a grid of side x side points. */
enum { side = 12, n = side * side };
struct laplacian {
    int32_t row_ptr[n + 1], col_ind[5 * n];
    double val[5 * n];
};
static void make(struct laplacian* L, double diagonal) {
    int32_t k = 0;
    for (int i = 0; i < n; ++i) {
        const int neighbours[] = {i >= side ? i - side : -1, i % side ? i - 1 : -1, i,
                                  i % side < side - 1 ? i + 1 : -1, i < n - side ? i + side : -1};
        L->row_ptr[i] = k;
        for (int j = 0; j < 5; ++j)
            if (neighbours[j] >= 0) {
                L->col_ind[k] = neighbours[j];
                L->val[k++] = neighbours[j] == i ? diagonal : -1;
            }
    }
    L->row_ptr[n] = k;
}
static nz_matrix* wrapped(const struct laplacian* L) {
    nz_matrix* A;
    EXPECT(NZ_OK, nz_matrix_wrap(NZ_DOUBLE, n, n, L->row_ptr[n], NZ_INT32, L->row_ptr, L->col_ind,
                                 L->val, NZ_BORROW, NZ_CPU, NULL, &A));
    return A;
}
/* |b - A x| / |b|. */
static double residual(const struct laplacian* L, const double* x, const double* b) {
    double r2 = 0, b2 = 0;
    for (int i = 0; i < n; ++i) {
        double r = b[i];
        for (int k = L->row_ptr[i]; k < L->row_ptr[i + 1]; ++k) r -= L->val[k] * x[L->col_ind[k]];
        r2 += r * r, b2 += b[i] * b[i];
    }
    return sqrt(r2 / b2);
}

/* Products of one value type, from borrowed and copied arrays with positions of either width. The
 * numbers are small whole ones, so that they are exact in every type. */
#define PRODUCTS_OF(T, TYPE, UNIT)                                                                 \
    static void products_of_##TYPE(int position_type, int ownership) {                             \
        T val[nnz], x[cols], y[rows], xt[rows], yt[cols], many_x[cols * 2], many_y[rows * 2];      \
        const T alpha = 2, beta = 3, zero = 0, one = 1;                                            \
        const T expected[] = {7, 6, 19, 18};                                                       \
        nz_matrix* A = NULL;                                                                       \
        nz_operator* op = NULL;                                                                    \
        for (int k = 0; k < nnz; ++k) val[k] = (T)(reals[k] * (UNIT));                             \
        for (int j = 0; j < cols; ++j) x[j] = (T)(j + 1);                                          \
        x[1] = 2;                                                                                  \
        EXPECT(NZ_OK,                                                                              \
               nz_matrix_wrap(TYPE, rows, cols, nnz, position_type,                                \
                              position_type == NZ_INT64 ? (const void*)wide : (const void*)narrow, \
                              columns, val, ownership, NZ_CPU, NULL, &A));                         \
        EXPECT(NZ_OK, nz_plan(A, NZ_CPU, NULL, "threads=1 transposed=yes", &op));                  \
        for (int i = 0; i < rows; ++i) y[i] = (T)(i + 1);                                          \
        EXPECT(NZ_OK, nz_apply(op, NZ_PLAIN, TYPE, &alpha, x, cols, &beta, y, rows));              \
        for (int i = 0; i < rows; ++i) CHECK(y[i] == (T)(2 * expected[i] * (UNIT) + 3 * (i + 1))); \
        for (int i = 0; i < rows; ++i) xt[i] = 1;                                                  \
        EXPECT(NZ_OK, nz_apply(op, NZ_TRANSPOSE, TYPE, &one, xt, rows, &zero, yt, cols));          \
        CHECK(yt[0] == (T)(5 * (UNIT)) && yt[1] == (T)(3 * (UNIT)) && yt[2] == (T)(13 * (UNIT)));  \
        EXPECT(NZ_OK,                                                                              \
               nz_apply(op, NZ_CONJUGATE_TRANSPOSE, TYPE, &one, xt, rows, &zero, yt, cols));       \
        CHECK(yt[0] == (T)(5 * conj(UNIT)) && yt[2] == (T)(13 * conj(UNIT)));                      \
        for (int j = 0; j < cols; ++j) many_x[j] = x[j], many_x[cols + j] = (T)(2 * x[j]);         \
        EXPECT(NZ_OK, nz_apply_many(op, TYPE, 2, &one, many_x, cols * 2, cols, NZ_COLUMN_MAJOR,    \
                                    &zero, many_y, rows * 2, 2, NZ_ROW_MAJOR));                    \
        for (int i = 0; i < rows; ++i)                                                             \
            CHECK(many_y[2 * i] == (T)(expected[i] * (UNIT)) &&                                    \
                  many_y[2 * i + 1] == (T)(2 * expected[i] * (UNIT)));                             \
        for (int k = 0; k < nnz; ++k) val[k] = (T)(2 * val[k]);                                    \
        nz_matrix* twice = A;                                                                      \
        if (ownership == NZ_COPY)                                                                  \
            EXPECT(NZ_OK, nz_matrix_wrap(TYPE, rows, cols, nnz, NZ_INT32, narrow, columns, val,    \
                                         NZ_BORROW, NZ_CPU, NULL, &twice));                        \
        EXPECT(NZ_OK, nz_operator_update(op, twice));                                              \
        EXPECT(NZ_OK, nz_apply(op, NZ_PLAIN, TYPE, &one, x, cols, &zero, y, rows));                \
        for (int i = 0; i < rows; ++i) CHECK(y[i] == (T)(2 * expected[i] * (UNIT)));               \
        if (twice != A) EXPECT(NZ_OK, nz_matrix_destroy(twice));                                   \
        EXPECT(NZ_OK, nz_operator_destroy(op));                                                    \
        EXPECT(NZ_OK, nz_matrix_destroy(A));                                                       \
    }
PRODUCTS_OF(float, NZ_FLOAT, 1)
PRODUCTS_OF(double, NZ_DOUBLE, 1)
PRODUCTS_OF(float complex, NZ_COMPLEX_FLOAT, (1 + I))
PRODUCTS_OF(double complex, NZ_COMPLEX_DOUBLE, (1 + I))

static void test_products(void) {
    const int positions[] = {NZ_INT32, NZ_INT64}, ownerships[] = {NZ_BORROW, NZ_COPY};
    for (int p = 0; p < 2; ++p)
        for (int o = 0; o < 2; ++o) {
            products_of_NZ_FLOAT(positions[p], ownerships[o]);
            products_of_NZ_DOUBLE(positions[p], ownerships[o]);
            products_of_NZ_COMPLEX_FLOAT(positions[p], ownerships[o]);
            products_of_NZ_COMPLEX_DOUBLE(positions[p], ownerships[o]);
        }
}

static void test_words(void) {
    CHECK(nz_abi_version() == NZ_ABI);
    CHECK(strlen(nz_version()) >= 5);
    CHECK(strcmp(nz_status_name(NZ_OK), "ok") == 0);
    CHECK(strcmp(nz_status_name(NZ_NOT_CONVERGED), "not_converged") == 0);
    CHECK(strcmp(nz_status_name(NZ_INTERNAL_ERROR), "internal_error") == 0);
    CHECK(strcmp(nz_status_name(-1), "unknown") == 0);
    CHECK(strcmp(nz_status_name(NZ_INTERNAL_ERROR + 1), "unknown") == 0);
    CHECK(nz_gpu_count() >= 0);
}

static void* last_error_there(void* to) {
    *(int*)to = nz_last_error()[0] == '\0';
    return NULL;
}
static void test_errors_are_of_a_thread(void) {
    pthread_t other;
    int empty = 0;
    nz_matrix* A;
    EXPECT(NZ_INVALID_ARGUMENT, nz_matrix_read(NULL, NZ_DOUBLE, &A));
    CHECK(nz_last_error()[0] != '\0');
    CHECK(pthread_create(&other, NULL, last_error_there, &empty) == 0);
    CHECK(pthread_join(other, NULL) == 0);
    CHECK(empty);
}

static void test_matrices(const char* folder) {
    char path[1000];
    int32_t r = 0, c = 0;
    int64_t entries = 0;
    int type = 0, device = 0, position_type = 0;
    const void *row_ptr, *val;
    const int32_t* col_ind;
    nz_matrix* A = NULL;
    snprintf(path, sizeof path, "%s/memplus.mtx.gz", folder);
    EXPECT(NZ_OK, nz_matrix_read(path, NZ_FLOAT, &A));
    EXPECT(NZ_OK, nz_matrix_info(A, &r, &c, &entries, &type, &device));
    CHECK(r == 17758 && c == 17758 && entries == 126150 && type == NZ_FLOAT && device == NZ_CPU);
    EXPECT(NZ_OK, nz_matrix_info(A, NULL, NULL, NULL, NULL, NULL));
    EXPECT(NZ_OK, nz_matrix_arrays(A, &position_type, &row_ptr, &col_ind, &val));
    CHECK(position_type == NZ_INT32 && ((const int32_t*)row_ptr)[r] == entries);
    CHECK(col_ind[0] >= 0 && col_ind[entries - 1] < c && val != NULL);
    EXPECT(NZ_OK, nz_matrix_arrays(A, NULL, NULL, NULL, NULL));
    EXPECT(NZ_OK, nz_matrix_destroy(A));
    EXPECT(NZ_OK, nz_matrix_destroy(NULL));

    A = (nz_matrix*)path;
    REFUSED(NZ_PARSE_ERROR, "no_such", nz_matrix_read("no_such.mtx", NZ_DOUBLE, &A));
    CHECK(A == NULL);
    REFUSED(NZ_INVALID_ARGUMENT, "path is null", nz_matrix_read(NULL, NZ_DOUBLE, &A));
    REFUSED(NZ_INVALID_ARGUMENT, "A is null", nz_matrix_read(path, NZ_DOUBLE, NULL));
    REFUSED(NZ_WRONG_TYPE, "type is 0", nz_matrix_read(path, 0, &A));
    REFUSED(NZ_INVALID_HANDLE, "A is null", nz_matrix_info(NULL, &r, &c, NULL, NULL, NULL));
    REFUSED(NZ_INVALID_HANDLE, "A is null", nz_matrix_arrays(NULL, NULL, NULL, NULL, NULL));

#define WRAP(type, r, c, k, positions, row_ptr, col_ind, val, ownership, device, to) \
    nz_matrix_wrap(type, r, c, k, positions, row_ptr, col_ind, val, ownership, device, NULL, to)
    REFUSED(NZ_WRONG_TYPE, "type is 7",
            WRAP(7, rows, cols, nnz, NZ_INT32, narrow, columns, reals, NZ_COPY, NZ_CPU, &A));
    REFUSED(
        NZ_WRONG_TYPE, "position_type is 2",
        WRAP(NZ_DOUBLE, rows, cols, nnz, NZ_DOUBLE, narrow, columns, reals, NZ_COPY, NZ_CPU, &A));
    REFUSED(NZ_INVALID_ARGUMENT, "-1 x 3",
            WRAP(NZ_DOUBLE, -1, cols, nnz, NZ_INT32, narrow, columns, reals, NZ_COPY, NZ_CPU, &A));
    REFUSED(
        NZ_INVALID_ARGUMENT, "-6 nonzeros",
        WRAP(NZ_DOUBLE, rows, cols, -nnz, NZ_INT32, narrow, columns, reals, NZ_COPY, NZ_CPU, &A));
    REFUSED(NZ_INVALID_ARGUMENT, "row_ptr is null",
            WRAP(NZ_DOUBLE, rows, cols, nnz, NZ_INT32, NULL, columns, reals, NZ_COPY, NZ_CPU, &A));
    REFUSED(NZ_INVALID_ARGUMENT, "col_ind is null",
            WRAP(NZ_DOUBLE, rows, cols, nnz, NZ_INT32, narrow, NULL, reals, NZ_COPY, NZ_CPU, &A));
    REFUSED(NZ_INVALID_ARGUMENT, "val is null",
            WRAP(NZ_DOUBLE, rows, cols, nnz, NZ_INT32, narrow, columns, NULL, NZ_COPY, NZ_CPU, &A));
    REFUSED(NZ_INVALID_ARGUMENT, "ownership is 1",
            WRAP(NZ_DOUBLE, rows, cols, nnz, NZ_INT32, narrow, columns, reals, 1, NZ_CPU, &A));
    REFUSED(NZ_INVALID_ARGUMENT, "device is -2",
            WRAP(NZ_DOUBLE, rows, cols, nnz, NZ_INT32, narrow, columns, reals, NZ_COPY, -2, &A));
    REFUSED(NZ_UNAVAILABLE, "",
            WRAP(NZ_DOUBLE, rows, cols, nnz, NZ_INT32, narrow, columns, reals, NZ_COPY, 1000, &A));
    REFUSED(
        NZ_INVALID_ARGUMENT, "A is null",
        WRAP(NZ_DOUBLE, rows, cols, nnz, NZ_INT32, narrow, columns, reals, NZ_COPY, NZ_CPU, NULL));
    /* A matrix without entries needs no arrays of them, one without rows a position. */
    EXPECT(NZ_OK, WRAP(NZ_DOUBLE, 0, 0, 0, NZ_INT32, narrow, NULL, NULL, NZ_COPY, NZ_CPU, &A));
    EXPECT(NZ_OK, nz_matrix_destroy(A));
    /* Arrays that are no matrix are found where they are used. */
    const int32_t beyond[] = {0, 2, 9, 0, 2, 2}, descending[] = {0, 3, 2, 5, 6};
    nz_operator* op = NULL;
    EXPECT(NZ_OK,
           WRAP(NZ_DOUBLE, rows, cols, nnz, NZ_INT32, narrow, beyond, reals, NZ_COPY, NZ_CPU, &A));
    EXPECT(NZ_INVALID_ARGUMENT, nz_plan(A, NZ_CPU, NULL, NULL, &op));
    CHECK(op == NULL);
    EXPECT(NZ_OK, nz_matrix_destroy(A));
    EXPECT(NZ_OK, WRAP(NZ_DOUBLE, rows, cols, nnz, NZ_INT32, descending, columns, reals, NZ_BORROW,
                       NZ_CPU, &A));
    EXPECT(NZ_INVALID_ARGUMENT, nz_plan(A, NZ_CPU, NULL, NULL, &op));
    EXPECT(NZ_OK, nz_matrix_destroy(A));
}

static void test_handles(const struct laplacian* L) {
    nz_matrix* A = wrapped(L);
    nz_operator *op = NULL, *none = NULL;
    nz_solver* solver = NULL;
    char zeros[4096] = {0};
    EXPECT(NZ_OK, nz_plan(A, NZ_CPU, NULL, NULL, &op));
    EXPECT(NZ_OK, nz_solver_create(A, NZ_CPU, NULL, NULL, &solver));
    /* Of another kind. */
    EXPECT(NZ_INVALID_HANDLE, nz_matrix_destroy((nz_matrix*)op));
    EXPECT(NZ_INVALID_HANDLE, nz_operator_destroy((nz_operator*)solver));
    EXPECT(NZ_INVALID_HANDLE, nz_solver_destroy((nz_solver*)A));
    EXPECT(NZ_INVALID_HANDLE, nz_matrix_info((nz_matrix*)op, NULL, NULL, NULL, NULL, NULL));
    EXPECT(NZ_INVALID_HANDLE, nz_matrix_arrays((nz_matrix*)op, NULL, NULL, NULL, NULL));
    EXPECT(NZ_INVALID_HANDLE, nz_plan((nz_matrix*)solver, NZ_CPU, NULL, NULL, &none));
    EXPECT(NZ_INVALID_HANDLE, nz_amg((nz_matrix*)solver, NZ_CPU, NULL, NULL, 0, NULL, &none));
    CHECK(none == NULL);
    EXPECT(NZ_INVALID_HANDLE, nz_operator_info((nz_operator*)A, NULL, NULL, NULL, NULL, NULL));
    EXPECT(NZ_INVALID_HANDLE, nz_operator_text((nz_operator*)A, NULL, 0, NULL));
    EXPECT(NZ_INVALID_HANDLE, nz_operator_update((nz_operator*)A, A));
    EXPECT(NZ_INVALID_HANDLE, nz_operator_update(op, (nz_matrix*)op));
    EXPECT(NZ_INVALID_HANDLE, nz_solver_update(solver, (nz_matrix*)solver));
    EXPECT(NZ_INVALID_HANDLE, nz_solver_update((nz_solver*)op, A));
    /* Memory that was never a handle. */
    REFUSED(NZ_INVALID_HANDLE, "no handle",
            nz_matrix_info((nz_matrix*)zeros, NULL, NULL, NULL, NULL, NULL));
    EXPECT(NZ_INVALID_HANDLE, nz_operator_destroy((nz_operator*)zeros));
    EXPECT(NZ_INVALID_HANDLE, nz_solver_destroy((nz_solver*)zeros));
    /* Destroyed. A's memory is not taken anew between the two calls. */
    EXPECT(NZ_OK, nz_solver_destroy(solver));
    EXPECT(NZ_OK, nz_operator_destroy(op));
    EXPECT(NZ_OK, nz_matrix_destroy(A));
    EXPECT(NZ_INVALID_HANDLE, nz_matrix_destroy(A));
    EXPECT(NZ_INVALID_HANDLE, nz_matrix_info(A, NULL, NULL, NULL, NULL, NULL));
    EXPECT(NZ_OK, nz_operator_destroy(NULL));
    EXPECT(NZ_OK, nz_solver_destroy(NULL));
}

static void test_operators(const struct laplacian* L) {
    nz_matrix *A = wrapped(L), *other = NULL;
    nz_operator *op = NULL, *none = NULL;
    int32_t r = 0, c = 0;
    int type = 0, device = 0;
    int64_t bytes = 0, length = 0;
    char text[4000], few[8];
    double x[n], y[2 * n];
    const double one = 1, zero = 0;
    for (int i = 0; i < n; ++i) x[i] = 1;
    EXPECT(NZ_OK, nz_plan(A, NZ_CPU, NULL, "methods=csr.balanced,ell.row threads=2", &op));
    EXPECT(NZ_OK, nz_operator_info(op, &r, &c, &type, &device, &bytes));
    CHECK(r == n && c == n && type == NZ_DOUBLE && device == NZ_CPU && bytes > n * 12);
    EXPECT(NZ_OK, nz_operator_info(op, NULL, NULL, NULL, NULL, NULL));
    EXPECT(NZ_OK, nz_operator_text(op, text, sizeof text, &length));
    CHECK((int64_t)strlen(text) == length && strstr(text, "ell.row") != NULL);
    EXPECT(NZ_OK, nz_operator_text(op, few, sizeof few, NULL));
    CHECK(strlen(few) == 7 && strncmp(few, text, 7) == 0);
    EXPECT(NZ_OK, nz_operator_text(op, NULL, 0, &length));
    REFUSED(NZ_INVALID_ARGUMENT, "text", nz_operator_text(op, NULL, 9, &length));
    REFUSED(NZ_INVALID_ARGUMENT, "text", nz_operator_text(op, text, -1, &length));
    EXPECT(NZ_INVALID_HANDLE, nz_operator_text(NULL, text, 9, &length));
    EXPECT(NZ_INVALID_HANDLE, nz_operator_info(NULL, &r, &c, &type, &device, &bytes));

    REFUSED(NZ_INVALID_ARGUMENT, "op is null", nz_plan(A, NZ_CPU, NULL, NULL, NULL));
    EXPECT(NZ_INVALID_HANDLE, nz_plan(NULL, NZ_CPU, NULL, NULL, &none));
    EXPECT(NZ_OK, nz_plan(A, NZ_CPU, NULL, "", &none));
    EXPECT(NZ_OK, nz_operator_destroy(none));

    EXPECT(NZ_INVALID_HANDLE, nz_apply(NULL, NZ_PLAIN, NZ_DOUBLE, &one, x, n, &zero, y, n));
    EXPECT(NZ_INVALID_HANDLE,
           nz_apply((nz_operator*)A, NZ_PLAIN, NZ_DOUBLE, &one, x, n, &zero, y, n));
    REFUSED(NZ_WRONG_TYPE, "type is NZ_FLOAT, expected NZ_DOUBLE",
            nz_apply(op, NZ_PLAIN, NZ_FLOAT, &one, x, n, &zero, y, n));
    REFUSED(NZ_INVALID_ARGUMENT, "op is 0", nz_apply(op, 0, NZ_DOUBLE, &one, x, n, &zero, y, n));
    REFUSED(NZ_INVALID_ARGUMENT, "alpha",
            nz_apply(op, NZ_PLAIN, NZ_DOUBLE, NULL, x, n, &zero, y, n));
    REFUSED(NZ_INVALID_ARGUMENT, "beta", nz_apply(op, NZ_PLAIN, NZ_DOUBLE, &one, x, n, NULL, y, n));
    REFUSED(NZ_INVALID_ARGUMENT, "x is null",
            nz_apply(op, NZ_PLAIN, NZ_DOUBLE, &one, NULL, n, &zero, y, n));
    REFUSED(NZ_INVALID_ARGUMENT, "y is null",
            nz_apply(op, NZ_PLAIN, NZ_DOUBLE, &one, x, n, &zero, NULL, n));
    EXPECT(NZ_INVALID_ARGUMENT, nz_apply(op, NZ_PLAIN, NZ_DOUBLE, &one, x, n - 1, &zero, y, n));
    EXPECT(NZ_INVALID_ARGUMENT, nz_apply(op, NZ_PLAIN, NZ_DOUBLE, &one, x, n, &zero, y, n + 1));
    REFUSED(NZ_INVALID_ARGUMENT, "the length of x is -1",
            nz_apply(op, NZ_PLAIN, NZ_DOUBLE, &one, x, -1, &zero, y, n));
    EXPECT(NZ_INVALID_ARGUMENT, nz_apply(op, NZ_PLAIN, NZ_DOUBLE, &one, x, n, &zero, x, n));

#define MANY(type, count, X, X_length, X_stride, order, Y, Y_length, Y_stride)             \
    nz_apply_many(op, type, count, &one, X, X_length, X_stride, order, &zero, Y, Y_length, \
                  Y_stride, NZ_COLUMN_MAJOR)
    EXPECT(NZ_OK, MANY(NZ_DOUBLE, 1, x, n, n, NZ_COLUMN_MAJOR, y, n, n));
    EXPECT(NZ_INVALID_HANDLE, nz_apply_many(NULL, NZ_DOUBLE, 1, &one, x, n, n, NZ_COLUMN_MAJOR,
                                            &zero, y, n, n, NZ_COLUMN_MAJOR));
    EXPECT(NZ_WRONG_TYPE, MANY(NZ_COMPLEX_FLOAT, 1, x, n, n, NZ_COLUMN_MAJOR, y, n, n));
    EXPECT(NZ_INVALID_ARGUMENT, MANY(NZ_DOUBLE, 1, x, n, n, 0, y, n, n));
    EXPECT(NZ_INVALID_ARGUMENT, MANY(NZ_DOUBLE, -1, x, n, n, NZ_COLUMN_MAJOR, y, n, n));
    EXPECT(NZ_INVALID_ARGUMENT, MANY(NZ_DOUBLE, 2, x, n, n, NZ_COLUMN_MAJOR, y, 2 * n, n));
    EXPECT(NZ_INVALID_ARGUMENT, MANY(NZ_DOUBLE, 1, x, n, -n, NZ_COLUMN_MAJOR, y, n, n));
    EXPECT(NZ_INVALID_ARGUMENT, MANY(NZ_DOUBLE, 1, NULL, n, n, NZ_COLUMN_MAJOR, y, n, n));
    EXPECT(NZ_INVALID_ARGUMENT, MANY(NZ_DOUBLE, 1, x, n, n, NZ_COLUMN_MAJOR, NULL, n, n));
    EXPECT(NZ_INVALID_ARGUMENT, nz_apply_many(op, NZ_DOUBLE, 1, NULL, x, n, n, NZ_COLUMN_MAJOR,
                                              &zero, y, n, n, NZ_COLUMN_MAJOR));
    EXPECT(NZ_INVALID_ARGUMENT, nz_apply_many(op, NZ_DOUBLE, 1, &one, x, n, n, NZ_COLUMN_MAJOR,
                                              NULL, y, n, n, NZ_COLUMN_MAJOR));

    /* Another type, another pattern. */
    float singles[nnz] = {1, 2, 3, 4, 5, 6};
    EXPECT(NZ_OK, nz_matrix_wrap(NZ_FLOAT, rows, cols, nnz, NZ_INT32, narrow, columns, singles,
                                 NZ_COPY, NZ_CPU, NULL, &other));
    EXPECT(NZ_WRONG_TYPE, nz_operator_update(op, other));
    EXPECT(NZ_INVALID_HANDLE, nz_operator_update(op, NULL));
    EXPECT(NZ_INVALID_HANDLE, nz_operator_update(NULL, other));
    EXPECT(NZ_OK, nz_matrix_destroy(other));
    EXPECT(NZ_OK, nz_matrix_wrap(NZ_DOUBLE, rows, cols, nnz, NZ_INT32, narrow, columns, reals,
                                 NZ_COPY, NZ_CPU, NULL, &other));
    EXPECT(NZ_INVALID_ARGUMENT, nz_operator_update(op, other));
    EXPECT(NZ_OK, nz_apply(op, NZ_PLAIN, NZ_DOUBLE, &one, x, n, &zero, y, n));
    EXPECT(NZ_OK, nz_matrix_destroy(other));
    EXPECT(NZ_OK, nz_operator_destroy(op));
    EXPECT(NZ_OK, nz_matrix_destroy(A));
}

static void test_options(const struct laplacian* L) {
    nz_matrix* A = wrapped(L);
    nz_operator* op = NULL;
#define PLANNED(options) nz_plan(A, NZ_CPU, NULL, options, &op)
    REFUSED(NZ_INVALID_ARGUMENT, "no key is called 'thread'", PLANNED("thread=1"));
    REFUSED(NZ_INVALID_ARGUMENT, "expected-products", PLANNED("thread=1"));
    REFUSED(NZ_INVALID_ARGUMENT, "'tune', expected key=value", PLANNED("tune"));
    REFUSED(NZ_INVALID_ARGUMENT, "expected key=value", PLANNED("=1"));
    REFUSED(NZ_INVALID_ARGUMENT, "expected key=value", PLANNED("tune =yes"));
    REFUSED(NZ_INVALID_ARGUMENT, "tune=1, expected yes or no", PLANNED("tune=1"));
    REFUSED(NZ_INVALID_ARGUMENT, "threads=2x, expected a whole number", PLANNED("threads=2x"));
    REFUSED(NZ_INVALID_ARGUMENT, "threads=, expected a whole number", PLANNED("threads="));
    REFUSED(NZ_INVALID_ARGUMENT, "threads=-1", PLANNED("threads=-1"));
    REFUSED(NZ_INVALID_ARGUMENT, "threads=99999999999", PLANNED("threads=99999999999"));
    REFUSED(NZ_INVALID_ARGUMENT, "expected one of exact, single", PLANNED("storage=half"));
    REFUSED(NZ_INVALID_ARGUMENT, "has no end", PLANNED("methods=\"csr.balanced"));
    REFUSED(NZ_INVALID_ARGUMENT, "follows", PLANNED("methods=\"csr.balanced\"x"));
    REFUSED(NZ_INVALID_ARGUMENT, "no.such", PLANNED("methods=no.such"));
    EXPECT(NZ_INVALID_ARGUMENT, PLANNED("vectors=0"));
    EXPECT(NZ_INVALID_ARGUMENT, PLANNED("expected-products=-1"));
    REFUSED(NZ_INVALID_ARGUMENT, "device is -7", nz_plan(A, -7, NULL, NULL, &op));
    EXPECT(NZ_UNAVAILABLE, nz_plan(A, 1000, NULL, NULL, &op));
    CHECK(op == NULL);
    EXPECT(NZ_OK, PLANNED("\n methods=\"csr.balanced\"\tthreads=1 \n"));
    EXPECT(NZ_OK, nz_operator_destroy(op));
    EXPECT(NZ_OK, PLANNED("vectors=4 expected-products=100 deterministic=no storage=single"));
    EXPECT(NZ_OK, nz_operator_destroy(op));
    EXPECT(NZ_OK, nz_matrix_destroy(A));
}

static void test_solve(const struct laplacian* L) {
    nz_matrix *A = wrapped(L), *oblong = NULL;
    nz_report r = NZ_REPORT_INIT;
    double b[n], x[n];
    for (int i = 0; i < n; ++i) b[i] = 1 + i % 3;
#define SOLVED(options) \
    (memset(x, 0, sizeof x), nz_solve(A, NZ_CPU, NULL, NZ_DOUBLE, b, n, x, n, options, &r))
    EXPECT(NZ_OK, SOLVED(NULL));
    CHECK(r.converged && residual(L, x, b) < 1.1e-8 && r.residual <= 1e-8);
    CHECK(strcmp(r.status, "converged") == 0 && r.attempts == 1 && r.product[0] && r.why[0]);
    EXPECT(NZ_OK, SOLVED("method=cg precond=amg tol=1e-12 threads=2 block=1"));
    CHECK(strcmp(r.method, "cg") == 0 && strcmp(r.preconditioner, "amg") == 0);
    CHECK(residual(L, x, b) < 1e-11 && r.iterations > 0 && r.solve_s > 0);
    EXPECT(NZ_OK, SOLVED("method=direct direct-solver=eigen"));
    CHECK(strcmp(r.method, "direct") == 0);
    EXPECT(NZ_OK, SOLVED("method=gmres precond=ilu fill-level=1 restart=20 overlap=1"));
    EXPECT(NZ_OK, SOLVED("iterative=yes max-seconds=100"));
    CHECK(strcmp(r.method, "direct") != 0);
    EXPECT(NZ_OK, nz_solve(A, NZ_CPU, NULL, NZ_DOUBLE, b, n, x, n, NULL, NULL));
    REFUSED(NZ_NOT_CONVERGED, "iterations", SOLVED("method=cg precond=none max-iter=2 tol=1e-12"));
    CHECK(!r.converged && strcmp(r.status, "max-iter") == 0);

    EXPECT(NZ_INVALID_HANDLE, nz_solve(NULL, NZ_CPU, NULL, NZ_DOUBLE, b, n, x, n, NULL, &r));
    EXPECT(NZ_WRONG_TYPE, nz_solve(A, NZ_CPU, NULL, NZ_FLOAT, b, n, x, n, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_solve(A, NZ_CPU, NULL, NZ_DOUBLE, b, n - 1, x, n, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_solve(A, NZ_CPU, NULL, NZ_DOUBLE, b, n, x, n - 1, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_solve(A, NZ_CPU, NULL, NZ_DOUBLE, NULL, n, x, n, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_solve(A, NZ_CPU, NULL, NZ_DOUBLE, b, n, NULL, n, NULL, &r));
    EXPECT(NZ_UNAVAILABLE, nz_solve(A, 1000, NULL, NZ_DOUBLE, b, n, x, n, NULL, &r));
    REFUSED(NZ_INVALID_ARGUMENT, "no key is called 'maxiter'", SOLVED("maxiter=3"));
    REFUSED(NZ_INVALID_ARGUMENT, "expected one of cg, minres", SOLVED("method=sor"));
    EXPECT(NZ_INVALID_ARGUMENT, SOLVED("tol=-1"));
    EXPECT(NZ_INVALID_ARGUMENT, SOLVED("tol=nan"));
    EXPECT(NZ_INVALID_ARGUMENT, SOLVED("method=gmres restart=0"));
    EXPECT(NZ_INVALID_ARGUMENT, SOLVED("max-iter=-1"));
    EXPECT(NZ_INVALID_ARGUMENT, SOLVED("block=-1"));
    EXPECT(NZ_INVALID_ARGUMENT, SOLVED("fill-level=-1"));
    EXPECT(NZ_INVALID_ARGUMENT, SOLVED("overlap=11"));
    EXPECT(NZ_PARSE_ERROR, SOLVED("coordinates=\"no such file.mtx\""));
    r.struct_size = 8;
    REFUSED(NZ_INVALID_ARGUMENT, "struct_size is 8", SOLVED(NULL));
    r.struct_size = sizeof r;
    EXPECT(NZ_OK, nz_matrix_wrap(NZ_DOUBLE, rows, cols, nnz, NZ_INT32, narrow, columns, reals,
                                 NZ_COPY, NZ_CPU, NULL, &oblong));
    EXPECT(NZ_UNSUITABLE, nz_solve(oblong, NZ_CPU, NULL, NZ_DOUBLE, b, rows, x, cols, NULL, &r));
    EXPECT(NZ_OK, nz_matrix_destroy(oblong));
    EXPECT(NZ_OK, nz_matrix_destroy(A));
}

static void test_complex_solve(void) {
    /* Hermitian: 4 and 2 +- i beside it. */
    const int32_t ptr[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
    const float complex val[] = {4, 2 + I, 2 - I, 4};
    const float complex b[] = {6 + I, 6 - I};
    float complex x[] = {0, 0};
    nz_matrix* A = NULL;
    EXPECT(NZ_OK, nz_matrix_wrap(NZ_COMPLEX_FLOAT, 2, 2, 4, NZ_INT32, ptr, col, val, NZ_BORROW,
                                 NZ_CPU, NULL, &A));
    EXPECT(NZ_OK, nz_solve(A, NZ_CPU, NULL, NZ_COMPLEX_FLOAT, b, 2, x, 2, "iterative=yes", NULL));
    CHECK(cabsf(x[0] - 1) < 1e-4 && cabsf(x[1] - 1) < 1e-4);
    EXPECT(NZ_OK, nz_matrix_destroy(A));
}

static void test_solver(void) {
    struct laplacian L;
    double b[n], x[n];
    nz_report r = NZ_REPORT_INIT;
    nz_solver* s = NULL;
    make(&L, 4.5);
    nz_matrix* A = wrapped(&L);
    for (int i = 0; i < n; ++i) b[i] = 1, x[i] = 0;
    EXPECT(NZ_OK,
           nz_solver_create(A, NZ_CPU, NULL, "method=cg precond=amg tol=1e-10 threads=1", &s));
    EXPECT(NZ_OK, nz_solver_solve(s, NZ_DOUBLE, b, n, x, n, &r));
    CHECK(residual(&L, x, b) < 1.1e-10);
    make(&L, 4.7); /* what A borrows */
    EXPECT(NZ_OK, nz_solver_update(s, A));
    EXPECT(NZ_OK, nz_solver_solve(s, NZ_DOUBLE, b, n, x, n, NULL));
    CHECK(residual(&L, x, b) < 1.1e-10);

    EXPECT(NZ_INVALID_HANDLE, nz_solver_solve(NULL, NZ_DOUBLE, b, n, x, n, &r));
    EXPECT(NZ_INVALID_HANDLE, nz_solver_solve((nz_solver*)A, NZ_DOUBLE, b, n, x, n, &r));
    EXPECT(NZ_WRONG_TYPE, nz_solver_solve(s, NZ_FLOAT, b, n, x, n, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_solver_solve(s, NZ_DOUBLE, b, n + 1, x, n, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_solver_solve(s, NZ_DOUBLE, b, n, x, -n, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_solver_solve(s, NZ_DOUBLE, NULL, n, x, n, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_solver_solve(s, NZ_DOUBLE, b, n, NULL, n, &r));
    EXPECT(NZ_INVALID_HANDLE, nz_solver_update(s, NULL));
    EXPECT(NZ_INVALID_HANDLE, nz_solver_update(NULL, A));
    nz_matrix* other = NULL;
    EXPECT(NZ_OK, nz_matrix_wrap(NZ_DOUBLE, rows, cols, nnz, NZ_INT32, narrow, columns, reals,
                                 NZ_COPY, NZ_CPU, NULL, &other));
    REFUSED(NZ_INVALID_ARGUMENT, "pattern", nz_solver_update(s, other));
    EXPECT(NZ_OK, nz_matrix_destroy(other));
    float singles[nnz] = {0};
    EXPECT(NZ_OK, nz_matrix_wrap(NZ_FLOAT, rows, cols, nnz, NZ_INT32, narrow, columns, singles,
                                 NZ_COPY, NZ_CPU, NULL, &other));
    EXPECT(NZ_WRONG_TYPE, nz_solver_update(s, other));
    EXPECT(NZ_OK, nz_matrix_destroy(other));
    nz_solver* none = s;
    EXPECT(NZ_INVALID_HANDLE, nz_solver_create(NULL, NZ_CPU, NULL, NULL, &none));
    CHECK(none == NULL);
    EXPECT(NZ_INVALID_ARGUMENT, nz_solver_create(A, NZ_CPU, NULL, "tol=x", &none));
    EXPECT(NZ_INVALID_ARGUMENT, nz_solver_create(A, NZ_CPU, NULL, NULL, NULL));
    EXPECT(NZ_INVALID_ARGUMENT, nz_solver_create(A, -3, NULL, NULL, &none));
    EXPECT(NZ_OK, nz_solver_destroy(s));
    EXPECT(NZ_OK, nz_matrix_destroy(A));
}

static void test_krylov_amg_eigs(const struct laplacian* L) {
    const double pi = 3.14159265358979323846, s = sin(pi / (2 * (side + 1)));
    const double least = 8 * s * s;
    nz_matrix *A = wrapped(L), *complex_one = NULL;
    nz_operator *op = NULL, *M = NULL, *none = NULL;
    nz_report r = NZ_REPORT_INIT;
    double b[n], x[n], values[3], vectors[3 * n], near[n];
    int32_t found = 0;
    int64_t length = 0;
    char text[4000];
    for (int i = 0; i < n; ++i) b[i] = 1 + i % 3, near[i] = 1;
    EXPECT(NZ_OK, nz_plan(A, NZ_CPU, NULL, NULL, &op));
    EXPECT(NZ_OK,
           nz_amg(A, NZ_CPU, NULL, near, n, "cycle=w smoother=l1-jacobi coarse-rows=20", &M));
    EXPECT(NZ_OK, nz_operator_destroy(M));
    EXPECT(NZ_OK,
           nz_amg(A, NZ_CPU, NULL, NULL, 0, "coarse-rows=20 degree=3 precision=single", &M));
    EXPECT(NZ_OK, nz_operator_text(M, text, sizeof text, &length));
    CHECK(strstr(text, "level") != NULL);
    const char* const methods[] = {"method=cg", "method=minres", "method=bicgstab", "method=gmres",
                                   NULL};
    for (int k = 0; k < 5; ++k) {
        memset(x, 0, sizeof x);
        EXPECT(NZ_OK, nz_krylov(op, M, NZ_DOUBLE, b, n, x, n, methods[k], &r));
        CHECK(r.converged && residual(L, x, b) < 1.1e-8 && strcmp(r.preconditioner, "own") == 0);
    }
    EXPECT(NZ_OK, nz_operator_update(M, A));
    memset(x, 0, sizeof x);
    REFUSED(NZ_NOT_CONVERGED, "iterations",
            nz_krylov(op, NULL, NZ_DOUBLE, b, n, x, n, "method=cg max-iter=1 tol=1e-12", &r));
    EXPECT(NZ_INVALID_HANDLE, nz_krylov(NULL, M, NZ_DOUBLE, b, n, x, n, NULL, &r));
    EXPECT(NZ_INVALID_HANDLE, nz_krylov(op, (nz_operator*)A, NZ_DOUBLE, b, n, x, n, NULL, &r));
    EXPECT(NZ_WRONG_TYPE, nz_krylov(op, M, NZ_FLOAT, b, n, x, n, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_krylov(op, M, NZ_DOUBLE, b, n - 1, x, n, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_krylov(op, M, NZ_DOUBLE, b, n, x, n + 1, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_krylov(op, M, NZ_DOUBLE, NULL, n, x, n, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_krylov(op, M, NZ_DOUBLE, b, n, NULL, n, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_krylov(op, M, NZ_DOUBLE, b, n, x, n, "method=idrs", &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_krylov(op, M, NZ_DOUBLE, b, n, x, n, "threads=-1", &r));

    EXPECT(NZ_OK, nz_eigs(op, M, NZ_DOUBLE, values, 3, vectors, 3 * n, &found, "tol=1e-9", &r));
    CHECK(found == 3 && fabs(values[0] - least) < 1e-8 && values[1] > values[0] &&
          r.iterations > 0);
    EXPECT(NZ_OK, nz_eigs(op, NULL, NZ_DOUBLE, values, 1, NULL, 0, NULL, "which=largest", NULL));
    CHECK(fabs(values[0] - (8 - least)) < 1e-6);
    EXPECT(NZ_NOT_CONVERGED,
           nz_eigs(op, NULL, NZ_DOUBLE, values, 3, NULL, 0, NULL, "max-products=2 tol=1e-14", &r));
    EXPECT(NZ_INVALID_HANDLE, nz_eigs(NULL, M, NZ_DOUBLE, values, 3, NULL, 0, NULL, NULL, &r));
    EXPECT(NZ_INVALID_HANDLE,
           nz_eigs(op, (nz_operator*)A, NZ_DOUBLE, values, 3, NULL, 0, NULL, NULL, &r));
    EXPECT(NZ_WRONG_TYPE, nz_eigs(op, M, NZ_FLOAT, values, 3, NULL, 0, NULL, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_eigs(op, M, NZ_DOUBLE, NULL, 3, NULL, 0, NULL, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_eigs(op, M, NZ_DOUBLE, values, 0, NULL, 0, NULL, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_eigs(op, M, NZ_DOUBLE, values, 3000, NULL, 0, NULL, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_eigs(op, M, NZ_DOUBLE, values, 3, vectors, n, NULL, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_eigs(op, M, NZ_DOUBLE, values, 3, NULL, 3 * n, NULL, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT, nz_eigs(op, M, NZ_DOUBLE, values, 3, NULL, 0, NULL, "k=3", &r));

    EXPECT(NZ_INVALID_HANDLE, nz_amg(NULL, NZ_CPU, NULL, NULL, 0, NULL, &none));
    EXPECT(NZ_INVALID_ARGUMENT, nz_amg(A, NZ_CPU, NULL, NULL, 0, NULL, NULL));
    EXPECT(NZ_INVALID_ARGUMENT, nz_amg(A, NZ_CPU, NULL, near, n - 1, NULL, &none));
    EXPECT(NZ_INVALID_ARGUMENT, nz_amg(A, NZ_CPU, NULL, NULL, n, NULL, &none));
    EXPECT(NZ_INVALID_ARGUMENT, nz_amg(A, NZ_CPU, NULL, NULL, 0, "cycle=f", &none));
    EXPECT(NZ_INVALID_ARGUMENT, nz_amg(A, NZ_CPU, NULL, NULL, 0, "sweeps=-1", &none));
    EXPECT(NZ_OK, nz_operator_destroy(M));
    EXPECT(NZ_OK, nz_operator_destroy(op));

    /* Complex values: multigrid takes them, the others are for real values only. */
    const double complex val[] = {4, 4};
    double complex y[2] = {0, 0};
    const int32_t ptr[] = {0, 1, 2}, col[] = {0, 1};
    EXPECT(NZ_OK, nz_matrix_wrap(NZ_COMPLEX_DOUBLE, 2, 2, 2, NZ_INT32, ptr, col, val, NZ_COPY,
                                 NZ_CPU, NULL, &complex_one));
    EXPECT(NZ_OK, nz_plan(complex_one, NZ_CPU, NULL, NULL, &op));
    double complex Mb[2] = {0, 0};
    const double complex one = 1, zero = 0, c[2] = {8, 4 * I};
    EXPECT(NZ_OK, nz_amg(complex_one, NZ_CPU, NULL, NULL, 0, NULL, &M));
    EXPECT(NZ_OK, nz_apply(M, NZ_PLAIN, NZ_COMPLEX_DOUBLE, &one, c, 2, &zero, Mb, 2));
    CHECK(cabs(Mb[0] - 2) < 1e-12 && cabs(Mb[1] - I) < 1e-12);
    EXPECT(NZ_OK, nz_operator_destroy(M));
    EXPECT(NZ_UNAVAILABLE,
           nz_eigs(op, NULL, NZ_COMPLEX_DOUBLE, values, 1, NULL, 0, NULL, NULL, &r));
    EXPECT(NZ_UNAVAILABLE,
           nz_pagerank(complex_one, NZ_CPU, NULL, NZ_COMPLEX_DOUBLE, NULL, 0, y, 2, NULL, &r));
    EXPECT(NZ_OK, nz_operator_destroy(op));
    EXPECT(NZ_OK, nz_matrix_destroy(complex_one));
    EXPECT(NZ_OK, nz_matrix_destroy(A));
}

static void test_graphs(const struct laplacian* L) {
    nz_matrix *A = wrapped(L), *oblong = NULL;
    nz_report r = NZ_REPORT_INIT;
    double rank[n], teleport[n], sum = 0, imbalance = -1;
    int32_t part[n];
    int64_t cut = -1;
    EXPECT(NZ_OK,
           nz_pagerank(A, NZ_CPU, NULL, NZ_DOUBLE, NULL, 0, rank, n, "tol=1e-12 damping=0.9", &r));
    for (int i = 0; i < n; ++i) sum += rank[i], teleport[i] = i == 0;
    CHECK(fabs(sum - 1) < 1e-12 && r.converged && strcmp(r.status, "converged") == 0);
    EXPECT(NZ_OK, nz_pagerank(A, NZ_CPU, NULL, NZ_DOUBLE, teleport, n, rank, n,
                              "direction=column-links-to-row threads=1", NULL));
    CHECK(rank[0] > rank[n - 1]);
    EXPECT(NZ_NOT_CONVERGED,
           nz_pagerank(A, NZ_CPU, NULL, NZ_DOUBLE, teleport, n, rank, n, "max-iter=1", &r));
    EXPECT(NZ_INVALID_HANDLE,
           nz_pagerank(NULL, NZ_CPU, NULL, NZ_DOUBLE, NULL, 0, rank, n, NULL, &r));
    EXPECT(NZ_WRONG_TYPE, nz_pagerank(A, NZ_CPU, NULL, NZ_FLOAT, NULL, 0, rank, n, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT,
           nz_pagerank(A, NZ_CPU, NULL, NZ_DOUBLE, NULL, 0, rank, n - 1, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT,
           nz_pagerank(A, NZ_CPU, NULL, NZ_DOUBLE, NULL, 0, NULL, n, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT,
           nz_pagerank(A, NZ_CPU, NULL, NZ_DOUBLE, teleport, 3, rank, n, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT,
           nz_pagerank(A, NZ_CPU, NULL, NZ_DOUBLE, NULL, n, rank, n, NULL, &r));
    EXPECT(NZ_INVALID_ARGUMENT,
           nz_pagerank(A, NZ_CPU, NULL, NZ_DOUBLE, NULL, 0, rank, n, "damping=2", &r));

    EXPECT(NZ_OK,
           nz_partition(A, NZ_CPU, NULL, part, n, &cut, &imbalance,
                        "parts=4 method=spectral without-metis=yes precond=jacobi tol=1e-2"));
    CHECK(cut >= 2 * side && cut < 5 * side && imbalance >= 0 && imbalance <= 0.04);
    for (int i = 0; i < n; ++i) CHECK(part[i] >= 0 && part[i] < 4);
    EXPECT(NZ_OK, nz_partition(A, NZ_CPU, NULL, part, n, NULL, NULL, NULL));
    EXPECT(NZ_INVALID_HANDLE, nz_partition(NULL, NZ_CPU, NULL, part, n, NULL, NULL, NULL));
    EXPECT(NZ_INVALID_ARGUMENT, nz_partition(A, NZ_CPU, NULL, NULL, n, NULL, NULL, NULL));
    EXPECT(NZ_INVALID_ARGUMENT, nz_partition(A, NZ_CPU, NULL, part, n + 1, NULL, NULL, NULL));
    EXPECT(NZ_INVALID_ARGUMENT, nz_partition(A, NZ_CPU, NULL, part, n, NULL, NULL, "parts=0"));
    EXPECT(NZ_INVALID_ARGUMENT, nz_partition(A, NZ_CPU, NULL, part, n, NULL, NULL, "method=kway"));
    EXPECT(NZ_UNAVAILABLE, nz_partition(A, 1000, NULL, part, n, NULL, NULL, NULL));
    EXPECT(NZ_OK, nz_matrix_wrap(NZ_DOUBLE, rows, cols, nnz, NZ_INT32, narrow, columns, reals,
                                 NZ_COPY, NZ_CPU, NULL, &oblong));
    EXPECT(NZ_INVALID_ARGUMENT, nz_partition(oblong, NZ_CPU, NULL, part, rows, NULL, NULL, NULL));
    EXPECT(NZ_INVALID_ARGUMENT,
           nz_pagerank(oblong, NZ_CPU, NULL, NZ_DOUBLE, NULL, 0, rank, rows, NULL, &r));
    EXPECT(NZ_OK, nz_matrix_destroy(oblong));
    EXPECT(NZ_OK, nz_matrix_destroy(A));
}

int main(int argc, char** argv) {
    static struct laplacian L;
    make(&L, 4);
    CHECK(argc == 2);
    test_words();
    test_errors_are_of_a_thread();
    test_matrices(argv[argc - 1]);
    test_products();
    test_handles(&L);
    test_operators(&L);
    test_options(&L);
    test_solve(&L);
    test_complex_solve();
    test_solver();
    test_krylov_amg_eigs(&L);
    test_graphs(&L);
    if (failures == 0) printf("c_test: passed\n");
    return failures == 0 ? 0 : 1;
}
