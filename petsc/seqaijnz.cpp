// seqaijnz: PETSc's sequential AIJ, whose products run by a plan of nonzero.
//
// The matrix stays an AIJ: all but its products is AIJ's own. The plan is made at the first product
// and holds a copy of the values in the layout it chose. Before each product the object's state
// tells whether the values changed since, and the pattern's state whether that did.
#include <petsc/private/matimpl.h>

#include <memory>

#include "nonzero/core/threads.hpp"
#include "nonzero/plan/plan.hpp"
#include "petsc/petsc.hpp"

namespace nz::petsc {
namespace {

/// Data of a matrix of the type beyond AIJ's, in Mat::spptr.
struct planned_product {
    cpu on;
    std::int64_t expected_products;
    bool transposed = false;  ///< also holds A^T, from the first product with it on
    nz::plan<PetscScalar, cpu> plan = {};
    std::unique_ptr<linear_operator<PetscScalar, cpu>> op = {};  ///< null: AIJ multiplies
    /// From which matrix, values and pattern it was made. PETSc moves the contents of matrices
    /// (MatHeaderMerge), so that the matrix is part of the question.
    Mat made_of = nullptr;
    PetscObjectState values = 0, pattern = 0;
};

/// The operations of MATSEQAIJ, which are the same for all its matrices. PETSc exports none of them
/// by name, so they are kept when the first of them becomes a seqaijnz.
_MatOps aij;
PetscLogEvent plan_event;  ///< planning, building and new values, in -log_view

planned_product*& product_of(Mat A) { return reinterpret_cast<planned_product*&>(A->spptr); }

PetscErrorCode make_product(Mat A) {
    PetscInt threads = 0;
    auto expected = PetscInt(100);  // those of a Krylov solve or two
    PetscFunctionBegin;
    PetscCall(default_threads(threads));
    PetscOptionsBegin(PETSC_COMM_SELF, ((PetscObject)A)->prefix, "Products by nonzero", "Mat");
    PetscCall(PetscOptionsRangeInt("-mat_nz_threads", "Threads of a rank; 0: all", nullptr, threads,
                                   &threads, nullptr, 0, max_threads));
    PetscCall(PetscOptionsBoundedInt("-mat_nz_expected_products",
                                     "Products that must repay the setup", nullptr, expected,
                                     &expected, nullptr, 1));
    PetscOptionsEnd();
    PetscCall(guarded([&] {
        product_of(A) =
            new planned_product{.on = {.threads = threads}, .expected_products = expected};
    }));
    PetscFunctionReturn(0);
}

/// Whether AIJ multiplies itself: it leaves out empty rows where they are that many
/// (MatCheckCompressedRow), as in the block off the diagonal of a matrix on several ranks.
bool is_mostly_empty(const aij_view& A) {
    std::int64_t filled = 0;
    for (std::size_t i = 0; i < std::size_t(A.shape.rows); ++i)
        filled += A.row_ptr[i + 1] > A.row_ptr[i];
    return 10 * filled <= 4 * std::int64_t(A.shape.rows);
}

/// A plan pays after 13 to 27 products of the matrices measured (docs/experiments/petsc.md), and
/// others gain less by one: where fewer than this are expected, AIJ multiplies.
constexpr std::int64_t fewest_products = 40;

void plan_anew(planned_product& p, const aij_view& A) {
    p.op.reset();
    if (p.expected_products < fewest_products || is_mostly_empty(A)) return;
    p.plan =
        make_plan(A, p.on, {.expected_products = p.expected_products, .transposed = p.transposed});
    p.op = build(p.plan, A);
}

/// Brings the product up to date with A, for products with op(A).
PetscErrorCode refresh(Mat A, transposition op) {
    PetscObjectState values = 0;
    aij_view view;
    PetscFunctionBegin;
    if (product_of(A) == nullptr) PetscCall(make_product(A));
    planned_product& p = *product_of(A);
    if (op != transposition::plain && !p.transposed) {
        p.transposed = true;
        if (p.op) p.made_of = nullptr;
    }
    PetscCall(PetscObjectStateGet((PetscObject)A, &values));
    if (p.made_of == A && p.values == values) PetscFunctionReturn(0);

    PetscCall(view_of(A, view));
    const bool same_pattern = p.made_of == A && p.pattern == A->nonzerostate &&
                              p.plan.nnz == std::int64_t(view.val.size());
    p.made_of = nullptr;  // where the next lines fail, the next product plans anew
    PetscCall(PetscLogEventBegin(plan_event, A, nullptr, nullptr, nullptr));
    PetscCall(guarded([&] {
        if (!same_pattern)
            plan_anew(p, view);
        else if (p.op)
            update_values(p.op, p.plan, view);
    }));
    PetscCall(PetscLogEventEnd(plan_event, A, nullptr, nullptr, nullptr));
    if (p.op && !same_pattern) PetscCall(PetscInfo(A, "nonzero: %s\n", p.plan.why.c_str()));
    p.made_of = A, p.values = values, p.pattern = A->nonzerostate;
    PetscFunctionReturn(0);
}

/// y = op(A) x + beta y.
PetscErrorCode multiply(Mat A, transposition op, Vec x, PetscScalar beta, Vec y) {
    const planned_product& p = *product_of(A);
    const PetscScalar* from = nullptr;
    PetscScalar* to = nullptr;
    PetscInt from_size = 0, to_size = 0;
    PetscFunctionBegin;
    PetscCall(VecGetLocalSize(x, &from_size));
    PetscCall(VecGetLocalSize(y, &to_size));
    PetscCall(VecGetArrayRead(x, &from));
    PetscCall(VecGetArray(y, &to));
    PetscCall(guarded([&] {
        const std::span in(from, std::size_t(from_size));
        const std::span out(to, std::size_t(to_size));
        if (op == transposition::plain)
            p.op->apply(1, in, beta, out);
        else
            p.op->apply_transposed(op, 1, in, beta, out);
    }));
    PetscCall(VecRestoreArray(y, &to));
    PetscCall(VecRestoreArrayRead(x, &from));
    PetscCall(PetscLogFlops(2.0 * double(p.plan.nnz)));
    PetscFunctionReturn(0);
}

PetscErrorCode mult(Mat A, Vec x, Vec y) {
    PetscFunctionBegin;
    PetscCall(refresh(A, transposition::plain));
    if (product_of(A)->op)
        PetscCall(multiply(A, transposition::plain, x, 0, y));
    else
        PetscCall(aij.mult(A, x, y));
    PetscFunctionReturn(0);
}

PetscErrorCode mult_transposed(Mat A, Vec x, Vec y) {
    PetscFunctionBegin;
    PetscCall(refresh(A, transposition::transpose));
    if (product_of(A)->op)
        PetscCall(multiply(A, transposition::transpose, x, 0, y));
    else
        PetscCall(aij.multtranspose(A, x, y));
    PetscFunctionReturn(0);
}

/// z = y + A x; y and z may be one vector.
PetscErrorCode mult_add(Mat A, Vec x, Vec y, Vec z) {
    PetscFunctionBegin;
    PetscCall(refresh(A, transposition::plain));
    if (product_of(A)->op) {
        if (y != z) PetscCall(VecCopy(y, z));
        PetscCall(multiply(A, transposition::plain, x, 1, z));
    } else {
        PetscCall(aij.multadd(A, x, y, z));
    }
    PetscFunctionReturn(0);
}

PetscErrorCode mult_transposed_add(Mat A, Vec x, Vec y, Vec z) {
    PetscFunctionBegin;
    PetscCall(refresh(A, transposition::transpose));
    if (product_of(A)->op) {
        if (y != z) PetscCall(VecCopy(y, z));
        PetscCall(multiply(A, transposition::transpose, x, 1, z));
    } else {
        PetscCall(aij.multtransposeadd(A, x, y, z));
    }
    PetscFunctionReturn(0);
}

/// AIJ's view, and with ::ascii_info_detail the method behind it.
PetscErrorCode view(Mat A, PetscViewer viewer) {
    PetscBool ascii = PETSC_FALSE;
    PetscViewerFormat format = PETSC_VIEWER_DEFAULT;
    PetscFunctionBegin;
    PetscCall(aij.view(A, viewer));
    PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
    PetscCall(PetscViewerGetFormat(viewer, &format));
    if (!ascii || format != PETSC_VIEWER_ASCII_INFO_DETAIL) PetscFunctionReturn(0);
    const planned_product* const p = product_of(A);
    if (p != nullptr && p->op)
        PetscCall(PetscViewerASCIIPrintf(viewer, "nonzero: %s with %d threads\n",
                                         std::string(p->op->method_name()).c_str(),
                                         thread_count(p->on)));
    else
        PetscCall(PetscViewerASCIIPrintf(viewer, "nonzero: AIJ multiplies\n"));
    PetscFunctionReturn(0);
}

PetscErrorCode destroy(Mat A) {
    PetscFunctionBegin;
    delete product_of(A);
    product_of(A) = nullptr;
    PetscCall(aij.destroy(A));
    PetscFunctionReturn(0);
}

PetscErrorCode become_seqaij(Mat A) {
    PetscBool plain = PETSC_FALSE;
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJ, &plain));
    if (plain) PetscFunctionReturn(0);
    delete product_of(A);
    product_of(A) = nullptr;
    A->ops->mult = aij.mult;
    A->ops->multadd = aij.multadd;
    A->ops->multtranspose = aij.multtranspose;
    A->ops->multtransposeadd = aij.multtransposeadd;
    A->ops->view = aij.view;
    A->ops->destroy = aij.destroy;
    PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATSEQAIJ));
    PetscFunctionReturn(0);
}

PetscErrorCode convert_to_seqaij(Mat A, MatType, MatReuse reuse, Mat* out) {
    return convert(A, reuse, out, become_seqaij);
}

PetscErrorCode become_seqaijnz(Mat A) {
    PetscBool already = PETSC_FALSE, plain = PETSC_FALSE;
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare((PetscObject)A, seq_type, &already));
    if (already) PetscFunctionReturn(0);
    PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJ, &plain));
    // Other types derived from AIJ have operations of their own.
    if (!plain) PetscCall(MatConvert(A, MATSEQAIJ, MAT_INPLACE_MATRIX, &A));
    if (aij.mult == nullptr) aij = *A->ops;
    PetscCall(make_product(A));
    A->ops->mult = mult;
    A->ops->multadd = mult_add;
    A->ops->multtranspose = mult_transposed;
    A->ops->multtransposeadd = mult_transposed_add;
    A->ops->view = view;
    A->ops->destroy = destroy;
    PetscCall(PetscObjectChangeTypeName((PetscObject)A, seq_type));
    // MatConvert asks the matrix that it has, or an empty one of the type that it wants, by the
    // names of both types.
    for (const char* name :
         {"MatConvert_seqaij_seqaijnz_C", "MatConvert_seqaij_nz_C", "MatConvert_seqaijnz_nz_C"})
        PetscCall(PetscObjectComposeFunction((PetscObject)A, name, convert_to_seqaijnz));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_seqaijnz_seqaij_C",
                                         convert_to_seqaij));
    PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode convert_to_seqaijnz(Mat A, MatType, MatReuse reuse, Mat* out) {
    return convert(A, reuse, out, become_seqaijnz);
}

PetscErrorCode register_events() {
    PetscFunctionBegin;
    PetscCall(PetscLogEventRegister("MatNzSetUp", MAT_CLASSID, &plan_event));
    PetscFunctionReturn(0);
}

PetscErrorCode create_seqaijnz(Mat A) {
    PetscFunctionBegin;
    PetscCall(MatSetType(A, MATSEQAIJ));
    PetscCall(become_seqaijnz(A));
    PetscFunctionReturn(0);
}

}  // namespace nz::petsc
