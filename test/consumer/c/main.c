#include <nonzero.h>

/* A matrix of one entry, read back. */
int main(void) {
    const int32_t row_ptr[] = {0, 1}, col_ind[] = {0};
    const double val[] = {2}, b[] = {6}, one = 1, zero = 0;
    double x[] = {0}, y[] = {0};
    nz_matrix *A;
    nz_operator *op;
    if (nz_abi_version() != NZ_ABI ||
        nz_matrix_wrap(NZ_DOUBLE, 1, 1, 1, NZ_INT32, row_ptr, col_ind, val, NZ_BORROW, NZ_CPU, 0, &A) ||
        nz_solve(A, NZ_CPU, 0, NZ_DOUBLE, b, 1, x, 1, 0, 0) || nz_plan(A, NZ_CPU, 0, 0, &op) ||
        nz_apply(op, NZ_PLAIN, NZ_DOUBLE, &one, x, 1, &zero, y, 1))
        return 1;
    nz_operator_destroy(op);
    nz_matrix_destroy(A);
    return y[0] == 6 ? 0 : 2;
}
