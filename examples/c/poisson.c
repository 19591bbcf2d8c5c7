/* Poisson's equation on a square: A x = b by multigrid and conjugate gradients, then one product to
 * see how far A x is from b.
 *
 *   cc -std=c99 poisson.c $(pkg-config --cflags --libs nonzero_c) -o poisson */
#include <nonzero.h>
#include <stdio.h>
#include <stdlib.h>

enum { side = 100, n = side * side };
static int64_t row_ptr[n + 1];
static int32_t col_ind[5 * n];
static double val[5 * n], b[n], x[n], y[n];

static void expect(int status) {
    if (status == NZ_OK) return;
    fprintf(stderr, "%s: %s\n", nz_status_name(status), nz_last_error());
    exit(1);
}

static void add(int64_t* k, int there, int column, double value) {
    if (!there) return;
    col_ind[*k] = column;
    val[(*k)++] = value;
}

int main(void) {
    const double minus_one = -1, one = 1;
    nz_report report = NZ_REPORT_INIT;
    nz_matrix* A;
    nz_operator* op;
    int64_t k = 0;
    for (int i = 0; i < n; ++i) {
        row_ptr[i] = k, b[i] = y[i] = 1;
        add(&k, i >= side, i - side, -1);
        add(&k, i % side > 0, i - 1, -1);
        add(&k, 1, i, 4);
        add(&k, i % side < side - 1, i + 1, -1);
        add(&k, i < n - side, i + side, -1);
    }
    row_ptr[n] = k;

    expect(nz_matrix_wrap(NZ_DOUBLE, n, n, k, NZ_INT64, row_ptr, col_ind, val, NZ_BORROW, NZ_CPU,
                          NULL, &A));
    expect(nz_solve(A, NZ_CPU, NULL, NZ_DOUBLE, b, n, x, n, "method=cg precond=amg tol=1e-10",
                    &report));
    printf("iterations %d, residual %.1e\n", (int)report.iterations, report.residual);

    expect(nz_plan(A, NZ_CPU, NULL, NULL, &op));
    expect(nz_apply(op, NZ_PLAIN, NZ_DOUBLE, &minus_one, x, n, &one, y, n));
    for (int i = 0; i < n; ++i)
        if (y[i] > 1e-6 || y[i] < -1e-6) return 1;
    printf("x in the middle %.3f\n", x[n / 2 + side / 2]);

    expect(nz_operator_destroy(op));
    expect(nz_matrix_destroy(A));
    return 0;
}
