/* x = nz_solve(A, b, options): A x = b from MATLAB and Octave, as a MEX function. A is real, sparse
 * and square; options are a string of key=value, such as 'tol=1e-10 precond=amg'.
 *
 *   mkoctfile --mex nz_solve.c $(pkg-config --cflags --libs nonzero_c)
 *   mex nz_solve.c -lnonzero_c                     (in MATLAB, where it is untested) */
#include <mex.h>
#include <nonzero.h>
#include <string.h>

static void expect(int status) {
    if (status != NZ_OK)
        mexErrMsgIdAndTxt("nonzero:failed", "%s: %s", nz_status_name(status), nz_last_error());
}

/* mexErrMsgIdAndTxt does not return, so that the matrix is given back before it is called. */
static int solved(const mxArray* A, const double* b, double* x, mwSize n, const char* options) {
    /* MATLAB's matrices lie by columns: the columns of A' are the rows of A. */
    mxArray *rows = NULL, *in = (mxArray*)A;
    if (mexCallMATLAB(1, &rows, 1, &in, "transpose") != 0) return NZ_INTERNAL_ERROR;
    const mwIndex *jc = mxGetJc(rows), *ir = mxGetIr(rows);
    const mwIndex nnz = jc[n];
    int64_t* row_ptr = mxMalloc((n + 1) * sizeof *row_ptr);
    int32_t* col_ind = mxMalloc((nnz + 1) * sizeof *col_ind);
    for (mwIndex i = 0; i <= n; ++i) row_ptr[i] = (int64_t)jc[i];
    for (mwIndex k = 0; k < nnz; ++k) col_ind[k] = (int32_t)ir[k];
    nz_matrix* matrix = NULL;
    int status = nz_matrix_wrap(NZ_DOUBLE, (int32_t)n, (int32_t)n, (int64_t)nnz, NZ_INT64, row_ptr,
                                col_ind, mxGetPr(rows), NZ_BORROW, NZ_CPU, NULL, &matrix);
    if (status == NZ_OK)
        status =
            nz_solve(matrix, NZ_CPU, NULL, NZ_DOUBLE, b, (int64_t)n, x, (int64_t)n, options, NULL);
    nz_matrix_destroy(matrix);
    mxFree(row_ptr), mxFree(col_ind), mxDestroyArray(rows);
    return status;
}

void mexFunction(int outputs, mxArray* out[], int inputs, const mxArray* in[]) {
    if (inputs < 2 || inputs > 3 || outputs > 1)
        mexErrMsgIdAndTxt("nonzero:usage", "x = nz_solve(A, b, options)");
    const mwSize n = mxGetM(in[0]);
    if (!mxIsSparse(in[0]) || !mxIsDouble(in[0]) || mxIsComplex(in[0]) || mxGetN(in[0]) != n ||
        n > INT32_MAX)
        mexErrMsgIdAndTxt("nonzero:matrix", "A must be real, sparse and square");
    if (mxIsSparse(in[1]) || !mxIsDouble(in[1]) || mxIsComplex(in[1]) ||
        mxGetNumberOfElements(in[1]) != n)
        mexErrMsgIdAndTxt("nonzero:vector",
                          "b must be a real vector of as many elements as A has rows");
    if (inputs == 3 && !mxIsChar(in[2]))
        mexErrMsgIdAndTxt("nonzero:options", "options must be a string of key=value");
    char* options = inputs == 3 ? mxArrayToString(in[2]) : NULL;
    out[0] = mxCreateDoubleMatrix(n, 1, mxREAL);
    const int status = solved(in[0], mxGetPr(in[1]), mxGetPr(out[0]), n, options);
    mxFree(options);
    expect(status);
}
