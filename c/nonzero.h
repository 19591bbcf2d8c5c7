/* The C interface of nonzero: sparse matrices times vectors, A x = b, eigenpairs, graphs; on the
 * CPU and on GPUs. C99; link with -lnonzero_c, or take the flags of `pkg-config nonzero_c`.
 *
 *     nz_matrix* A;
 *     nz_report report = NZ_REPORT_INIT;
 *     int status = nz_matrix_read("A.mtx", NZ_DOUBLE, &A);
 *     if (status == NZ_OK)
 *         status = nz_solve(A, NZ_CPU, NULL, NZ_DOUBLE, b, n, x, n, "tol=1e-10", &report);
 *     if (status != NZ_OK) fprintf(stderr, "%s: %s\n", nz_status_name(status), nz_last_error());
 *     nz_matrix_destroy(A);
 *
 * Status     Every function that can fail returns a status, NZ_OK where all went well. What it was
 *            to make is then made, else its out arguments are as before; a handle that is to be
 *            made is NULL then. nz_last_error() says in a sentence what was wrong.
 * Handles    Made by the functions that take `T **`, given back by nz_T_destroy, which takes NULL
 *            too. Using one afterwards, or one of another kind, is NZ_INVALID_HANDLE where it can
 *            be known: always in debug builds, in others as long as its memory is not taken anew.
 * Types      Arrays come as `void *` with the type of their values, which must be that of the
 *            handle: NZ_WRONG_TYPE otherwise. alpha and beta are pointers to CPU memory, to one
 *            value of that type. Complex values are pairs of reals, as C99's and Fortran's.
 * Lengths    Every array of values has a length in elements, which must be what the matrix asks
 *            for: NZ_INVALID_ARGUMENT otherwise. NULL is refused unless the length is 0.
 * Places     device is NZ_CPU, or the number of a GPU; stream a cudaStream_t, or NULL for the
 *            default stream, and not looked at for the CPU; it must live as long as handles that
 *            were made with it. Arrays lie where the handle does;
 *            whether a pointer is one of that device is not checked. Work on a GPU is launched in
 *            the stream: products return before they are done, solvers after. Without a GPU, or in
 *            a build without CUDA, it is NZ_UNAVAILABLE.
 * Options    A string of `key=value`, separated by white space; a value with white space stands in
 *            "double quotes". NULL or "": the defaults. Keys are those of the command nz (nz help
 *            solve says more of each); an unknown key or a wrong value is NZ_INVALID_ARGUMENT.
 *            `threads`, which all take, is the number of threads of the CPU, 0 for all.
 * Threads    There is no global state but what the machine's speeds are cached in. Functions may be
 *            called from several threads at once; on one handle those that take it const may, but
 *            for products while its values are replaced.
 * Repeats    Products and solvers give the same bits in every run with the same plan, unless
 *            `deterministic=no` or a limit of time says otherwise.
 *
 * ABI        libnonzero_c.so.1 stays compatible: later versions add functions, constants and keys,
 *            and fields at the end of nz_report, which tells its size.
 */
#ifndef NONZERO_H
#define NONZERO_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define NZ_API __attribute__((visibility("default")))
#else
#define NZ_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define NZ_ABI 1

/* Statuses. */
enum {
    NZ_OK = 0,
    NZ_NOT_CONVERGED = 1,    /* the work is done, and x the best that was found: see the report */
    NZ_INVALID_ARGUMENT = 2, /* NULL, a wrong length, an unknown key, arrays that are no matrix */
    NZ_INVALID_HANDLE = 3,   /* NULL, destroyed, or of another kind */
    NZ_WRONG_TYPE = 4,       /* values of another type than the handle's */
    NZ_PARSE_ERROR = 5,      /* a file is wrong, or cannot be read */
    NZ_OUT_OF_MEMORY = 6,    /* of the CPU or of a GPU */
    NZ_DEVICE_ERROR = 7,     /* a CUDA call failed */
    NZ_UNAVAILABLE = 8,      /* this build or machine, or the library for that type, lacks it */
    NZ_UNSUITABLE = 9,       /* the matrix does not suit the method or preconditioner asked for */
    NZ_INTERNAL_ERROR = 10   /* anything else: please report it */
};

/* Types of values. */
enum { NZ_FLOAT = 1, NZ_DOUBLE = 2, NZ_COMPLEX_FLOAT = 3, NZ_COMPLEX_DOUBLE = 4 };
/* Types of positions among the nonzeros. Rows and columns are always int32_t. */
enum { NZ_INT32 = 32, NZ_INT64 = 64 };
/* Whether a matrix keeps pointers to the caller's arrays, or a copy of them. */
enum { NZ_BORROW = 101, NZ_COPY = 102 };
/* A, A^T or A^H in a product. */
enum { NZ_PLAIN = 201, NZ_TRANSPOSE = 202, NZ_CONJUGATE_TRANSPOSE = 203 };
/* How several vectors lie in one array: each vector's elements side by side (Fortran, BLAS, Julia),
 * or each row's (C, NumPy). */
enum { NZ_COLUMN_MAJOR = 301, NZ_ROW_MAJOR = 302 };
/* The device that is no GPU. */
enum { NZ_CPU = -1 };

typedef struct nz_matrix nz_matrix;     /* a matrix in compressed rows (CSR), owned or borrowed */
typedef struct nz_operator nz_operator; /* y = alpha A x + beta y: a plan's, or a multigrid cycle */
typedef struct nz_solver nz_solver;     /* a solver that is kept over systems of one pattern */

/* Report of a solver. Strings end in a zero and are cut where they are longer. Where a pointer to
 * one is taken, NULL says that none is wanted. */
typedef struct nz_report {
    size_t struct_size;      /* in: sizeof(nz_report), as NZ_REPORT_INIT has it */
    int32_t converged;       /* 1 or 0 */
    int32_t attempts;        /* pairs of a method and a preconditioner that were tried */
    int64_t iterations;      /* of the pair whose x it is; of nz_eigs the products */
    double residual;         /* |b - A x| / |b|; of nz_eigs the largest |A x - theta x| / |A|; of
                                nz_pagerank the last change, |r' - r|_1 */
    double residual_norm;    /* |b - A x|; 0 of nz_eigs and nz_pagerank */
    double setup_s;          /* planning and all preconditioners                            [s] */
    double solve_s;          /* everything after that                                       [s] */
    char status[32];         /* why it ended, in a word: converged, max-iter, stagnated, ... */
    char method[32];         /* the method whose x it is */
    char preconditioner[32]; /* its preconditioner */
    char product[64];        /* the storage format and kernel of A's products */
    char why[256];           /* why it ended, in a sentence */
    char advice[512];        /* of nz_solve where it has not converged: what to try next */
} nz_report;
#define NZ_REPORT_INIT \
    { sizeof(nz_report), 0, 0, 0, 0.0, 0.0, 0.0, 0.0, "", "", "", "", "", "" }

/* ---- The library ---- */

/* The version of the library, as in "0.2.0". */
NZ_API const char* nz_version(void);
/* NZ_ABI of the library that was loaded. */
NZ_API int nz_abi_version(void);
/* The name of a status, the same on every machine: "ok", "not_converged", "invalid_argument", ...;
 * "unknown" for a number that is none. */
NZ_API const char* nz_status_name(int status);
/* What was wrong in this thread's last call that did not return NZ_OK, in a sentence; "" where
 * there was none. Good until the thread's next call of this library. */
NZ_API const char* nz_last_error(void);
/* GPUs that this build and this machine can use; 0 where there is none. */
NZ_API int nz_gpu_count(void);

/* ---- Matrices ---- */

/* Reads a matrix of values of that type into CPU memory: Matrix Market, SciPy's .npz, MAT-files,
 * PETSc's binary format, Rutherford-Boeing, METIS's graphs, edge lists; gzipped text too. A complex
 * file into a real type is NZ_PARSE_ERROR. The same bits for any number of threads. */
NZ_API int nz_matrix_read(const char* path, int type, nz_matrix** A);

/* A matrix of the caller's arrays: row i has the entries row_ptr[i] to row_ptr[i + 1] - 1, counted
 * from 0. A column may stand in any place of a row; where it stands twice, its values add up.
 *
 *   type           of val
 *   rows, cols     0 or more
 *   nnz            the length of col_ind and val
 *   position_type  of row_ptr, NZ_INT32 or NZ_INT64
 *   row_ptr        rows + 1 positions, from 0 to nnz, none less than the one before
 *   col_ind        nnz columns, in [0, cols)
 *   val            nnz values
 *   ownership      NZ_BORROW: the arrays must live, unchanged but for their values, as long as the
 *                  matrix. NZ_COPY: they may go when the function returns, or where they are a
 *                  GPU's when what is launched in the stream so far is done.
 *   device         where all three arrays lie
 *   stream         in which a GPU's arrays are copied
 *
 * Whether the elements of row_ptr and col_ind are right is checked by what uses them. */
NZ_API int nz_matrix_wrap(int type, int32_t rows, int32_t cols, int64_t nnz, int position_type,
                          const void* row_ptr, const int32_t* col_ind, const void* val,
                          int ownership, int device, void* stream, nz_matrix** A);

/* The size of a matrix, its type and where it lies. Each pointer may be NULL. */
NZ_API int nz_matrix_info(const nz_matrix* A, int32_t* rows, int32_t* cols, int64_t* nnz, int* type,
                          int* device);
/* The arrays of a matrix, as nz_matrix_wrap describes them: read-only, and good as long as the
 * matrix. A copy may hold its positions in another type than they came in. Each pointer may be
 * NULL. */
NZ_API int nz_matrix_arrays(const nz_matrix* A, int* position_type, const void** row_ptr,
                            const int32_t** col_ind, const void** val);
NZ_API int nz_matrix_destroy(nz_matrix* A);

/* ---- Products ---- */

/* The operator of A, by the method that is fastest for it on this machine: planned and built. A is
 * not needed afterwards. A matrix in GPU memory can be used on its GPU only; one in CPU memory is
 * copied where it is for a GPU.
 *
 * Options: threads, tune, fresh, expected-products, vectors, storage (exact, single), as of nz
 * plan; transposed=yes plans products with A^T as well, without which they may be slow, or
 * unavailable on a GPU; deterministic=no also takes methods whose bits differ from run to run;
 * methods=csr.simd,ell.row names those to choose from (nz methods lists them); accept=predicted
 * takes the choice as it was predicted, which else is timed beside plain CSR. */
NZ_API int nz_plan(const nz_matrix* A, int device, void* stream, const char* options,
                   nz_operator** op);

/* The size of an operator, the type of its values, where it lies, and the bytes of its arrays. Each
 * pointer may be NULL. */
NZ_API int nz_operator_info(const nz_operator* op, int32_t* rows, int32_t* cols, int* type,
                            int* device, int64_t* bytes);
/* The plan, or the levels of multigrid, as a table for people. Writes at most `capacity` bytes, the
 * last of them a zero; *length, which may be NULL, is the length of the whole text without the
 * zero. text may be NULL where capacity is 0. */
NZ_API int nz_operator_text(const nz_operator* op, char* text, int64_t capacity, int64_t* length);
/* Gives the operator the values of A, whose pattern must be the one it was made of: nothing is
 * planned again, and multigrid keeps its aggregates. Not while it is applied. Waits for the stream
 * of a GPU. */
NZ_API int nz_operator_update(nz_operator* op, const nz_matrix* A);
NZ_API int nz_operator_destroy(nz_operator* op);

/* y = alpha op(A) x + beta y, with op one of NZ_PLAIN, NZ_TRANSPOSE, NZ_CONJUGATE_TRANSPOSE. x has
 * as many elements as op(A) has columns, y as it has rows; they do not overlap. y is not read where
 * beta is 0, x not where alpha is 0. NaN and infinities go through by IEEE 754. */
NZ_API int nz_apply(const nz_operator* A, int op, int type, const void* alpha, const void* x,
                    int64_t x_length, const void* beta, void* y, int64_t y_length);

/* Y = alpha A X + beta Y for `count` vectors at once. The i-th element of vector c is element
 * c * stride + i of a column-major array, i * stride + c of a row-major one; strides are no smaller
 * than a vector, or than `count`. Lengths are those of the whole arrays, gaps included, at least up
 * to the last element. X and Y do not overlap. */
NZ_API int nz_apply_many(const nz_operator* A, int type, int32_t count, const void* alpha,
                         const void* X, int64_t X_length, int64_t X_stride, int X_order,
                         const void* beta, void* Y, int64_t Y_length, int64_t Y_stride,
                         int Y_order);

/* ---- Multigrid ---- */

/* One cycle of algebraic multigrid for a symmetric, of complex values Hermitian, positive definite
 * A: an operator that multiplies by an approximate inverse of A, for the M of nz_krylov and
 * nz_eigs. A is not needed afterwards.
 *
 *   near    vectors that coarser levels must represent, such as rigid-body modes: near_length /
 * rows of them, those of one row side by side, in CPU memory and of A's type. NULL and 0: the
 *           constant, one for each of a node's `block` unknowns
 *
 * Options: threads, cycle (v, w), smoother (chebyshev, l1-jacobi), degree, sweeps,
 * eigenvalue-ratio, aggregation-distance, strength, omega, block, coarse-rows, max-levels,
 * adaptive-candidates, relaxations, lanczos-iterations, precision (exact, single), check, keep.
 * keep=no forbids nz_operator_update. */
NZ_API int nz_amg(const nz_matrix* A, int device, void* stream, const void* near,
                  int64_t near_length, const char* options, nz_operator** M);

/* ---- A x = b ---- */

/* Solves A x = b by what suits A: method and preconditioner are chosen, and others tried where they
 * fail. x is the guess on entry, the best solution found afterwards, never worse than the guess.
 * b and x lie where A does, the work is done on `device`; a matrix in GPU memory is copied to the
 * CPU, where choices are made. NZ_NOT_CONVERGED where the tolerance was not reached.
 *
 * Options: threads, method, precond, iterative, direct-solver, tol, max-iter, max-seconds, restart,
 * block, coordinates, fill-level, overlap, as of nz solve. */
NZ_API int nz_solve(const nz_matrix* A, int device, void* stream, int type, const void* b,
                    int64_t b_length, void* x, int64_t x_length, const char* options,
                    nz_report* report);

/* One Krylov method with operators of the caller's: method=cg (symmetric positive definite A and
 * M), minres (symmetric A), bicgstab or gmres; without, gmres. M approximates A's inverse, or is
 * NULL. b and x lie where the operators do, of one type and device. NZ_NOT_CONVERGED where the
 * tolerance was not reached.
 *
 * Options: threads, method, tol, max-iter, max-seconds, restart (of gmres), replace-every, graph.
 */
NZ_API int nz_krylov(const nz_operator* A, const nz_operator* M, int type, const void* b,
                     int64_t b_length, void* x, int64_t x_length, const char* options,
                     nz_report* report);

/* A solver for a sequence of systems whose matrices have one pattern: it keeps the plan, the method
 * that has converged and its preconditioner. Options as of nz_solve. */
NZ_API int nz_solver_create(const nz_matrix* A, int device, void* stream, const char* options,
                            nz_solver** solver);
/* As nz_solve. Calls from several threads take turns. */
NZ_API int nz_solver_solve(nz_solver* solver, int type, const void* b, int64_t b_length, void* x,
                           int64_t x_length, nz_report* report);
/* The values of A, which has the pattern of the first one and lies where that did. */
NZ_API int nz_solver_update(nz_solver* solver, const nz_matrix* A);
NZ_API int nz_solver_destroy(nz_solver* solver);

/* ---- Eigenpairs ---- */

/* A few eigenpairs at the ends of the spectrum of a symmetric A of real values. Whether A is
 * symmetric is not checked. NZ_NOT_CONVERGED where not all keep the tolerance.
 *
 *   M        an approximate inverse of A, such as nz_amg's, for the smallest ones; or NULL
 *   values   up to values_length eigenvalues, in CPU memory; as many are looked for, 1 to 50
 *   vectors  in CPU memory, of A's type: rows * values_length elements, vector after vector, or
 * NULL and 0 found    how many there are, which is fewer where A is smaller; may be NULL
 *
 * Options: threads, which (smallest, largest, magnitude, both), tol, max-products, basis. */
NZ_API int nz_eigs(const nz_operator* A, const nz_operator* M, int type, double* values,
                   int64_t values_length, void* vectors, int64_t vectors_length, int32_t* found,
                   const char* options, nz_report* report);

/* ---- Graphs ---- */

/* PageRank of the graph whose links are A's entries, whatever their values. `rank` gets a number
 * for each node; they sum to 1. teleport: where else a walk goes on, a number for each node, none
 * negative; or NULL and 0 for anywhere. Both lie where A does, and are of A's type, which is real:
 * complex values are NZ_UNAVAILABLE. NZ_NOT_CONVERGED where the tolerance was not reached.
 *
 * Options: threads, direction (row-links-to-column, column-links-to-row), damping, tol, max-iter,
 * graph. */
NZ_API int nz_pagerank(const nz_matrix* A, int device, void* stream, int type, const void* teleport,
                       int64_t teleport_length, void* rank, int64_t rank_length,
                       const char* options, nz_report* report);

/* Cuts the graph of A + A^T into parts of nearly equal size with few edges between them. part, in
 * CPU memory, gets the part of each node, 0 to parts - 1. cut: edges between parts; imbalance:
 * nodes of the heaviest part over the mean, less 1; both may be NULL.
 *
 * Options: threads, parts, method (auto, metis, spectral), without-metis, imbalance, tol,
 * max-products, precond (amg, jacobi, none), as of nz partition. */
NZ_API int nz_partition(const nz_matrix* A, int device, void* stream, int32_t* part,
                        int64_t part_length, int64_t* cut, double* imbalance, const char* options);

#ifdef __cplusplus
}
#endif

#endif
