/* What the tests of AmgX's interface share. */
#ifndef AMGX_TEST_CHECK_H
#define AMGX_TEST_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amgx_c.h"

static int failures = 0;

#define CHECK(holds)                                                          \
    do {                                                                      \
        if (!(holds)) {                                                       \
            ++failures;                                                       \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #holds); \
        }                                                                     \
    } while (0)
#define OK(call) CHECK((call) == AMGX_RC_OK)
#define FAILS(code, call) CHECK((call) == (code))

/* The last text that the library printed, and how often it did. */
static char told[65536];
static int times_told = 0;
static inline void note(const char *text, int length) {
    (void)length;
    ++times_told;
    if (strlen(told) + strlen(text) + 1 < sizeof told) strcat(told, text);
}
static inline void forget_told(void) { told[0] = 0, times_told = 0; }

/* The Laplacian of an n x n grid, with `skew` between east and west. */
typedef struct {
    int n, nnz;
    int *row, *col;
    double *val;
} grid;

static inline grid make_grid(int side, double skew) {
    grid A;
    int i, j, at = 0;
    A.n = side * side;
    A.row = malloc(sizeof(int) * (size_t)(A.n + 1));
    A.col = malloc(sizeof(int) * 5 * (size_t)A.n);
    A.val = malloc(sizeof(double) * 5 * (size_t)A.n);
    A.row[0] = 0;
    for (i = 0; i < side; ++i)
        for (j = 0; j < side; ++j) {
            const int me = i * side + j;
            if (i > 0) A.col[at] = me - side, A.val[at++] = -1;
            if (j > 0) A.col[at] = me - 1, A.val[at++] = -1 - skew;
            A.col[at] = me, A.val[at++] = 4;
            if (j + 1 < side) A.col[at] = me + 1, A.val[at++] = -1 + skew;
            if (i + 1 < side) A.col[at] = me + side, A.val[at++] = -1;
            A.row[me + 1] = at;
        }
    A.nnz = at;
    return A;
}
static inline void free_grid(grid A) { free(A.row), free(A.col), free(A.val); }

/* |b - A x| / |b| */
static inline double residual(grid A, const double *b, const double *x) {
    double sum = 0, size = 0;
    int i, k;
    for (i = 0; i < A.n; ++i) {
        double r = b[i];
        for (k = A.row[i]; k < A.row[i + 1]; ++k) r -= A.val[k] * x[A.col[k]];
        sum += r * r, size += b[i] * b[i];
    }
    return sqrt(sum / size);
}

#endif
