// Matrices of type nz against AIJ, on as many ranks as the test is started with. All numbers are
// small integers, so that sums are exact in any order and the two must agree bit for bit.
#include <gtest/gtest.h>
#include <omp.h>
#include <petscmat.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "nonzero/core/agreement.hpp"
#include "petsc/testing.hpp"

namespace nz::petsc {
namespace {

struct case_of {
    std::string name;
    PetscInt rows, cols;   ///< of the whole matrix
    bool first_rank_only;  ///< the others have no rows and no columns
    PetscInt per_row;
};
void PrintTo(const case_of& c, std::ostream* out) { *out << c.name; }

/// Whatever comes of (i, k), the same everywhere.
PetscInt scrambled(PetscInt i, PetscInt k) {
    const auto u = std::uint32_t(i) * 2654435761u + std::uint32_t(k) * 40503u + 977u;
    return PetscInt((u ^ (u >> 15)) & 0x7fffffff);
}

/// The matrix of that shape, not assembled.
Mat empty_matrix(const case_of& c, const char* type) {
    Mat A = nullptr;
    const bool none = c.first_rank_only && rank() > 0;
    const PetscInt rows = none ? 0 : c.first_rank_only ? c.rows : PETSC_DECIDE;
    const PetscInt cols = none ? 0 : c.first_rank_only ? c.cols : PETSC_DECIDE;
    EXPECT_EQ(0, MatCreate(PETSC_COMM_WORLD, &A));
    EXPECT_EQ(0, MatSetSizes(A, rows, cols, c.rows, c.cols));
    EXPECT_EQ(0, MatSetType(A, type));
    EXPECT_EQ(0, MatSetUp(A));
    EXPECT_EQ(0, MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    return A;
}

void assemble(Mat A) {
    MUST(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    MUST(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
}

/// Every third row stays empty; the others have their diagonal, where there is one, and more.
void fill(Mat A, const case_of& c) {
    PetscInt first = 0, last = 0;
    MUST(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt i = first; i < last; ++i) {
        if (c.per_row == 0 || i % 3 == 2) continue;
        if (i < c.cols) {
            MUST(MatSetValue(A, i, i, 7, ADD_VALUES));
        }
        for (PetscInt k = 1; k < c.per_row; ++k)
            MUST(MatSetValue(A, i, scrambled(i, k) % c.cols, PetscScalar(k % 5 - 2), ADD_VALUES));
    }
    assemble(A);
}

Mat matrix(const case_of& c, const char* type) {
    Mat A = empty_matrix(c, type);
    fill(A, c);
    return A;
}

void set_integers(Vec x, PetscInt seed) {
    PetscInt first = 0, last = 0;
    MUST(VecGetOwnershipRange(x, &first, &last));
    for (PetscInt i = first; i < last; ++i)
        MUST(VecSetValue(x, i, PetscScalar(scrambled(i, seed) % 19 - 9), INSERT_VALUES));
    MUST(VecAssemblyBegin(x));
    MUST(VecAssemblyEnd(x));
}

void expect_equal(Vec expected, Vec actual, const char* what) {
    PetscBool equal = PETSC_FALSE;
    MUST(VecEqual(expected, actual, &equal));
    EXPECT_TRUE(equal) << what;
}

/// All five products, A's of AIJ against B's.
void expect_same_products(Mat A, Mat B) {
    Vec x, y, z, yB, zB;
    MUST(MatCreateVecs(A, &x, &y));
    MUST(VecDuplicate(y, &z));
    MUST(VecDuplicate(y, &yB));
    MUST(VecDuplicate(y, &zB));
    set_integers(x, 3);
    MUST(VecSet(yB, std::numeric_limits<double>::quiet_NaN()));  // must not be read
    MUST(MatMult(A, x, y));
    MUST(MatMult(B, x, yB));
    expect_equal(y, yB, "MatMult");
    set_integers(y, 4);
    MUST(MatMultAdd(A, x, y, z));
    MUST(MatMultAdd(B, x, y, zB));
    expect_equal(z, zB, "MatMultAdd");
    MUST(MatMultAdd(A, x, z, z));
    MUST(MatMultAdd(B, x, zB, zB));
    expect_equal(z, zB, "MatMultAdd in place");

    Vec t, tB;
    MUST(VecDuplicate(x, &t));
    MUST(VecDuplicate(x, &tB));
    MUST(VecSet(tB, std::numeric_limits<double>::quiet_NaN()));
    MUST(MatMultTranspose(A, y, t));
    MUST(MatMultTranspose(B, y, tB));
    expect_equal(t, tB, "MatMultTranspose");
    MUST(MatMultTransposeAdd(A, y, x, t));
    MUST(MatMultTransposeAdd(B, y, x, tB));
    expect_equal(t, tB, "MatMultTransposeAdd");
    for (Vec* v : {&x, &y, &z, &yB, &zB, &t, &tB}) MUST(VecDestroy(v));
}

bool has_type(Mat A, const char* seq, const char* mpi) {
    PetscBool same = PETSC_FALSE;
    EXPECT_EQ(0, PetscObjectTypeCompareAny((PetscObject)A, &same, seq, mpi, ""));
    return same == PETSC_TRUE;
}
bool is_nz(Mat A) { return has_type(A, "seqaijnz", "mpiaijnz"); }
bool is_aij(Mat A) { return has_type(A, MATSEQAIJ, MATMPIAIJ); }

class shapes : public ::testing::TestWithParam<case_of> {};

TEST_P(shapes, multiply_as_aij_does) {
    Mat A = matrix(GetParam(), MATAIJ), B = matrix(GetParam(), "nz");
    EXPECT_TRUE(is_nz(B));
    expect_same_products(A, B);
    MUST(MatDestroy(&A));
    MUST(MatDestroy(&B));
}

TEST_P(shapes, convert_forth_and_back) {
    Mat A = matrix(GetParam(), MATAIJ), B = nullptr, C = nullptr;
    MUST(MatConvert(A, "nz", MAT_INITIAL_MATRIX, &B));
    EXPECT_TRUE(is_aij(A));
    EXPECT_TRUE(is_nz(B));
    expect_same_products(A, B);

    MUST(MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &C));
    EXPECT_TRUE(is_nz(B));
    EXPECT_TRUE(is_aij(C));
    expect_same_products(A, C);
    MUST(MatConvert(C, "nz", MAT_INPLACE_MATRIX, &C));
    EXPECT_TRUE(is_nz(C));
    expect_same_products(A, C);

    MUST(MatScale(A, 2));
    MUST(MatConvert(A, "nz", MAT_REUSE_MATRIX, &C));
    expect_same_products(A, C);
    MUST(MatConvert(C, MATAIJ, MAT_INPLACE_MATRIX, &C));
    EXPECT_TRUE(is_aij(C));
    expect_same_products(A, C);
    for (Mat* M : {&A, &B, &C}) MUST(MatDestroy(M));
}

TEST_P(shapes, duplicate) {
    Mat A = matrix(GetParam(), MATAIJ), B = matrix(GetParam(), "nz"), C = nullptr, D = nullptr;
    expect_same_products(A, B);
    MUST(MatDuplicate(B, MAT_COPY_VALUES, &C));
    MUST(MatDuplicate(B, MAT_SHARE_NONZERO_PATTERN, &D));
    MUST(MatScale(B, 3));
    EXPECT_TRUE(is_nz(C));
    expect_same_products(A, C);
    MUST(MatZeroEntries(A));
    expect_same_products(A, D);
    for (Mat* M : {&A, &B, &C, &D}) MUST(MatDestroy(M));
}

std::string name_of(const ::testing::TestParamInfo<case_of>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(
    nz, shapes,
    ::testing::Values(case_of{"square", 97, 97, false, 9}, case_of{"wide", 40, 211, false, 12},
                      case_of{"tall", 211, 40, false, 12}, case_of{"diagonal", 50, 50, false, 1},
                      case_of{"zero", 30, 20, false, 0}, case_of{"one_row", 1, 1, false, 1},
                      case_of{"empty", 0, 0, false, 0}, case_of{"no_columns", 8, 0, false, 0},
                      case_of{"on_the_first_rank", 60, 60, true, 7}),
    name_of);

/// A change of a matrix between two products.
struct change {
    std::string name;
    std::function<PetscErrorCode(Mat)> apply;
};
void PrintTo(const change& c, std::ostream* out) { *out << c.name; }

/// d A e, integers again.
PetscErrorCode scale_diagonally(Mat A) {
    Vec left, right;
    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, &right, &left));
    set_integers(left, 8);
    set_integers(right, 9);
    PetscCall(MatDiagonalScale(A, left, right));
    PetscCall(VecDestroy(&left));
    PetscCall(VecDestroy(&right));
    PetscFunctionReturn(0);
}

PetscErrorCode set_diagonal(Mat A) {
    Vec d;
    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, &d, nullptr));
    set_integers(d, 11);
    PetscCall(MatDiagonalSet(A, d, INSERT_VALUES));
    PetscCall(VecDestroy(&d));
    PetscFunctionReturn(0);
}

PetscErrorCode set_values(Mat A, InsertMode mode, PetscInt shift) {
    PetscInt first = 0, last = 0, cols = 0;
    PetscFunctionBegin;
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    PetscCall(MatGetSize(A, nullptr, &cols));
    for (PetscInt i = first; i < last; ++i)
        PetscCall(MatSetValue(A, i, (i + shift) % cols, PetscScalar(i % 4 + 1), mode));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

/// A += 2 X, where X has A's pattern or one of its own.
PetscErrorCode add_another(Mat A, PetscInt per_row, MatStructure pattern) {
    Mat X = matrix({"", 97, 97, false, per_row}, is_nz(A) ? "nz" : MATAIJ);
    PetscFunctionBegin;
    PetscCall(MatAXPY(A, 2, X, pattern));
    PetscCall(MatDestroy(&X));
    PetscFunctionReturn(0);
}

PetscErrorCode zero_rows(Mat A, bool columns_too, PetscBool keep) {
    const PetscInt rows[] = {0, 4, 33, 96};
    PetscFunctionBegin;
    PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, keep));
    if (columns_too)
        PetscCall(MatZeroRowsColumns(A, rank() == 0 ? 4 : 0, rows, 5, nullptr, nullptr));
    else
        PetscCall(MatZeroRows(A, rank() == 0 ? 4 : 0, rows, 5, nullptr, nullptr));
    PetscFunctionReturn(0);
}

/// Preallocates and assembles anew, another pattern, from lists of coordinates.
PetscErrorCode assemble_from_lists(Mat A) {
    PetscInt first = 0, last = 0;
    std::vector<PetscInt> row, col;
    std::vector<PetscScalar> val;
    PetscFunctionBegin;
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt i = first; i < last; ++i)
        for (PetscInt k = 0; k < 4; ++k) {
            row.push_back(i), col.push_back(scrambled(i, k) % 97), val.push_back(k + 1);
        }
    PetscCall(MatSetPreallocationCOO(A, PetscCount(row.size()), row.data(), col.data()));
    PetscCall(MatSetValuesCOO(A, val.data(), INSERT_VALUES));
    PetscFunctionReturn(0);
}

/// Writes into the arrays of the block on the diagonal, as PETSc allows.
PetscErrorCode write_arrays(Mat A) {
    Mat block = A;
    PetscScalar* values = nullptr;
    PetscFunctionBegin;
    if (ranks() > 1) PetscCall(MatMPIAIJGetSeqAIJ(A, &block, nullptr, nullptr));
    PetscCall(MatSeqAIJGetArray(block, &values));
    values[0] = 42;
    PetscCall(MatSeqAIJRestoreArray(block, &values));
    PetscFunctionReturn(0);
}

class changes : public ::testing::TestWithParam<change> {};

TEST_P(changes, are_seen) {
    const case_of square{"square", 97, 97, false, 9};
    Mat A = matrix(square, MATAIJ), B = matrix(square, "nz");
    expect_same_products(A, B);  // makes the plan
    for (int twice = 0; twice < 2; ++twice) {
        MUST(GetParam().apply(A));
        MUST(GetParam().apply(B));
        EXPECT_TRUE(is_nz(B));
        expect_same_products(A, B);
    }
    MUST(MatDestroy(&A));
    MUST(MatDestroy(&B));
}

const change all_changes[] = {
    {"scale", [](Mat A) { return MatScale(A, 3); }},
    {"shift", [](Mat A) { return MatShift(A, 2); }},
    {"zero_entries", [](Mat A) { return MatZeroEntries(A); }},
    {"scale_diagonally", scale_diagonally},
    {"set_diagonal", set_diagonal},
    {"insert_values", [](Mat A) { return set_values(A, INSERT_VALUES, 0); }},
    {"add_values", [](Mat A) { return set_values(A, ADD_VALUES, 0); }},
    {"new_pattern", [](Mat A) { return set_values(A, ADD_VALUES, 41); }},
    {"add_same_pattern", [](Mat A) { return add_another(A, 9, SAME_NONZERO_PATTERN); }},
    {"add_other_pattern", [](Mat A) { return add_another(A, 14, DIFFERENT_NONZERO_PATTERN); }},
    {"zero_rows", [](Mat A) { return zero_rows(A, false, PETSC_FALSE); }},
    {"zero_rows_keeping", [](Mat A) { return zero_rows(A, false, PETSC_TRUE); }},
    {"zero_rows_columns", [](Mat A) { return zero_rows(A, true, PETSC_TRUE); }},
    {"assemble_from_lists", assemble_from_lists},
    {"write_arrays", write_arrays},
};
INSTANTIATE_TEST_SUITE_P(nz, changes, ::testing::ValuesIn(all_changes),
                         [](const auto& of) { return of.param.name; });

TEST(type, of_an_assembled_matrix_may_be_set) {
    const case_of square{"square", 97, 97, false, 9};
    Mat A = matrix(square, MATAIJ), B = matrix(square, MATAIJ);
    MUST(MatSetType(B, "nz"));
    EXPECT_TRUE(is_nz(B));
    expect_same_products(A, B);
    MUST(MatDestroy(&A));
    MUST(MatDestroy(&B));
}

TEST(type, of_sequential_matrices_and_blocks_is_set_by_an_option) {
    const case_of square{"square", 97, 97, false, 9};
    Mat A = matrix(square, MATAIJ);
    MUST(PetscOptionsSetValue(nullptr, "-mat_seqaij_type", "nz"));
    Mat B = matrix(square, MATAIJ), block = nullptr;
    MUST(PetscOptionsClearValue(nullptr, "-mat_seqaij_type"));
    MUST(MatGetDiagonalBlock(B, &block));
    EXPECT_TRUE(is_nz(block));
    expect_same_products(A, B);
    MUST(MatDestroy(&A));
    MUST(MatDestroy(&B));
}

TEST(type, takes_one_thread_where_several_ranks_run) {
    omp_set_num_threads(3);
    Mat B = matrix({"square", 97, 97, false, 9}, "nz"), block = nullptr;
    Vec x, y;
    MUST(MatCreateVecs(B, &x, &y));
    MUST(MatMult(B, x, y));
    MUST(MatGetDiagonalBlock(B, &block));
    EXPECT_NE(std::string::npos,
              viewed((PetscObject)block).find(ranks() > 1 ? " with 1 threads" : " with 3 threads"))
        << viewed((PetscObject)block);
    for (Vec* v : {&x, &y}) MUST(VecDestroy(v));
    MUST(MatDestroy(&B));
}

TEST(options, few_products_are_left_to_aij) {
    const case_of square{"square", 97, 97, false, 9};
    MUST(PetscOptionsSetValue(nullptr, "-mat_nz_expected_products", "5"));
    Mat A = matrix(square, MATAIJ), B = matrix(square, "nz"), block = nullptr;
    MUST(PetscOptionsClearValue(nullptr, "-mat_nz_expected_products"));
    expect_same_products(A, B);
    MUST(MatGetDiagonalBlock(B, &block));
    EXPECT_NE(std::string::npos, viewed((PetscObject)block).find("nonzero: AIJ multiplies"));
    MUST(MatDestroy(&A));
    MUST(MatDestroy(&B));
}

TEST(options, below_their_range_are_refused) {
    MUST(PetscOptionsSetValue(nullptr, "-mat_nz_threads", "-1"));
    Mat A = nullptr;
    MUST(MatCreate(PETSC_COMM_SELF, &A));
    MUST(MatSetSizes(A, 2, 2, 2, 2));
    {
        caught_error caught;
        EXPECT_EQ(PETSC_ERR_ARG_OUTOFRANGE, MatSetType(A, "nz"));
        EXPECT_NE(std::string::npos, caught.message.find("-1")) << caught.message;
    }
    MUST(PetscOptionsClearValue(nullptr, "-mat_nz_threads"));
    MUST(MatDestroy(&A));
}

}  // namespace
}  // namespace nz::petsc
