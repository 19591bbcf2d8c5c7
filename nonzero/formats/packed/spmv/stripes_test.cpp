#include "nonzero/formats/packed/spmv/stripes.hpp"

#include <gtest/gtest.h>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/oracle.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/products_on_gpu.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

TEST(stripes, are_declined_where_x_is_short) {
    matrix_stats s;
    s.rows = s.nnz = 1000;
    s.cols = stripe_bytes / 8;
    EXPECT_FALSE((cost_of_stripes<double, gpu>(s).declined.empty()));
    ++s.cols;
    EXPECT_TRUE((cost_of_stripes<double, gpu>(s).declined.empty()));
    EXPECT_FALSE((cost_of_stripes<float, gpu>(s).declined.empty()));
    EXPECT_TRUE((cost_of_stripes<float, cpu>(s).declined.empty()));
    s.cols = max_delta16 / 8 * 8;
    EXPECT_FALSE((cost_of_stripes<double, cpu>(s).declined.empty()));
}

TEST(stripes, are_as_many_as_keep_their_part_of_x_in_the_cache) {
    EXPECT_EQ(stripes_for<double>(gpu{}, stripe_bytes / 8), 1);
    EXPECT_EQ(stripes_for<double>(gpu{}, 5 * stripe_bytes / 8), 5);
    EXPECT_EQ(stripes_for<float>(gpu{}, 5 * stripe_bytes / 8), 3);
    EXPECT_EQ(stripes_for<double>(cpu{}, max_delta16), 2);
}

/// On a CPU the columns of a stripe take 16 bits, wherever its entries lie.
TEST(stripes, have_narrow_columns_on_a_cpu) {
    const index rows = 500, cols = 3 * (max_delta16 / 8 * 8), of_row = 300;
    host_vector<index> row, col;
    for (index i = 0; i < rows; ++i)
        for (index k = 0; k < of_row; ++k)
            row.push_back(i), col.push_back(k * (cols / of_row) + (i * i * 31 + k * 17) % 500);
    const auto A = assemble<double>({rows, cols}, row, col, host_vector<double>(row.size(), 1.0));
    const auto striped = suited_stripes<double>(cpu{2}, view(A));
    const auto whole = build(find_method<double>("packed.warp"), cpu{2}, view(A));
    EXPECT_LT(striped->bytes() * 3, whole->bytes() * 2);
}

/// y = 2 op(A) x - y of the zoo by any number of stripes, and the same by as many threads as there
/// are.
template <class V>
void expect_right_products_on_a_cpu(const csr<V, host>& A, index stripes) {
    const auto op = build_stripes(cpu{2}, view(A), stripes);
    EXPECT_EQ(op->shape(), A.shape);
    EXPECT_EQ(op->method_name(), "packed.stripes");
    for (const auto which : {transposition::plain, transposition::transpose}) {
        const bool plain = which == transposition::plain;
        const auto rows = std::size_t(plain ? A.shape.rows : A.shape.cols),
                   cols = std::size_t(plain ? A.shape.cols : A.shape.rows);
        host_vector<V> x(cols, V(0)), y(rows, V(3));
        for (std::size_t k = 0; k < cols; ++k) x[k] = V(1) / V(real<V>(1 + k % 37));
        const auto want = reference_product<V>(which, V(2), view(A), x, V(-1), y);
        auto alone = y;
        if (plain) {
            op->apply(V(2), x, V(-1), y);
            build_stripes(cpu{1}, view(A), stripes)->apply(V(2), x, V(-1), alone);
            EXPECT_EQ(y, alone);
        } else {
            op->apply_transposed(which, V(2), x, V(-1), y);
        }
        EXPECT_TRUE(compare<V>(y, want).holds());
    }
}
TEST(stripes, multiply_every_matrix_on_a_cpu) {
    for (const auto& [name, bug, A] : zoo<double>())
        for (const index stripes : {1, 2, 7}) {
            SCOPED_TRACE(name + " in " + std::to_string(stripes));
            expect_right_products_on_a_cpu(A, stripes);
        }
    for (const auto& [name, bug, A] : zoo<std::complex<float>>()) {
        SCOPED_TRACE(name);
        expect_right_products_on_a_cpu(A, 3);
    }
    EXPECT_THROW((void)build_stripes(cpu{}, view(zoo<double>().front().A), 0), argument_error);
}

class stripes_on_gpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    }
};

template <class V>
csr<V, host> columns_between_on_cpu(const csr<V, host>& A, index first, index last) {
    host_vector<index> rows, cols;
    host_vector<V> values;
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, V v) {
        if (first <= j && j < last) rows.push_back(i), cols.push_back(j), values.push_back(v);
    });
    return assemble<V>(A.shape, rows, cols, values);
}

TEST_F(stripes_on_gpu, hold_the_columns_between_two) {
    const gpu on{};
    for (const auto& [name, bug, A] : zoo<double>()) {
        SCOPED_TRACE(name);
        const index middle = A.shape.cols / 3;
        for (const auto& [first, last] :
             {std::pair{0, middle}, {middle, A.shape.cols}, {middle, middle}}) {
            const auto got = download(on, columns_between(on, view(upload(on, A)), first, last));
            const auto want = columns_between_on_cpu(A, first, last);
            EXPECT_EQ(got.shape, want.shape);
            EXPECT_EQ(got.row_ptr, want.row_ptr);
            EXPECT_EQ(got.col_ind, want.col_ind);
            EXPECT_EQ(got.val, want.val);
        }
    }
}

/// Rows are copied by lanes or, where they are longer than 2,048 entries, by parts.
TEST_F(stripes_on_gpu, hold_rows_of_any_length) {
    const gpu on{};
    csr<double, host> A{{0, 300'000}, {}, {}, {}};
    host_vector<offset> row_ptr{0};
    for (const index len : {2048, 0, 2049, 0, 0, 5, 300'000, 1, 2047, 4096, 0, 6143, 3, 0}) {
        for (index j = 0; j < len; ++j)
            A.col_ind.push_back(j), A.val.push_back(double(A.val.size()));
        row_ptr.push_back(row_ptr.back() + len);
    }
    A.shape.rows = index(row_ptr.size()) - 1;
    A.row_ptr = offset_vector(row_ptr);
    const auto there = upload(on, A);
    for (const index first : {0, 1, 2048, 299'999}) {
        const auto got = download(on, columns_between(on, view(there), first, A.shape.cols));
        const auto want = columns_between_on_cpu(A, first, A.shape.cols);
        EXPECT_EQ(got.row_ptr, want.row_ptr);
        EXPECT_EQ(got.col_ind, want.col_ind);
        EXPECT_EQ(got.val, want.val);
    }
}

template <class V>
void expect_right_products_of_the_zoo(gpu on) {
    for (const auto& [name, bug, A] : zoo<V>())
        for (const index stripes : {1, 2, 3, 7}) {
            SCOPED_TRACE(name + " in " + std::to_string(stripes));
            const auto op = build_stripes(on, view(upload(on, A)), stripes);
            EXPECT_EQ(op->shape(), A.shape);
            EXPECT_EQ(op->method_name(), "packed.stripes");
            expect_right_products<V>(on, *op, A);
        }
}

TEST_F(stripes_on_gpu, multiply_every_matrix_by_any_number_of_them) {
    const gpu_stream stream;
    expect_right_products_of_the_zoo<double>(stream);
    expect_right_products_of_the_zoo<float>(stream);
}

TEST_F(stripes_on_gpu, are_refused_where_there_is_not_one) {
    const auto A = upload(gpu{}, zoo<double>().front().A);
    EXPECT_THROW((void)build_stripes(gpu{}, view(A), 0), argument_error);
}

}  // namespace
}  // namespace nz::test
