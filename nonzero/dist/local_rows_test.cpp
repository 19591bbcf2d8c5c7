// A rank's rows in its own numbers of columns: on the CPU against what they stand for, on a GPU
// against the CPU.
#include "nonzero/dist/local_rows.hpp"

#include <gtest/gtest.h>

#include "nonzero/core/format.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "nonzero/matrix/order.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <class V>
csr<V, host> in_order(const csr<V, host>& A) {
    return order_of(cpu{}, view(A)) == row_order::ascending ? A : canonical(view(A));
}
std::vector<range> parts_of(index cols) {
    return {{0, cols}, {cols / 3, 2 * cols / 3}, {cols / 2, cols}, {0, cols / 2}, {cols, cols}};
}

template <class V>
void expect_equal(const csr<V, host>& got, const csr<V, host>& want) {
    EXPECT_EQ(got.shape, want.shape);
    EXPECT_EQ(got.row_ptr, want.row_ptr);
    EXPECT_EQ(got.col_ind, want.col_ind);
    EXPECT_EQ(got.val, want.val);
}

/// Every third row, the last one first, and one twice.
host_vector<index> some_rows(index rows) {
    host_vector<index> some;
    if (rows > 0) some = {rows - 1, 0};
    for (index i = 0; i < rows; i += 3) some.push_back(i);
    return some;
}

template <class V>
class local_rows : public ::testing::Test {};
using real_values = ::testing::Types<float, double>;
TYPED_TEST_SUITE(local_rows, real_values);

TEST(local_numbers, are_places_and_whole_nodes) {
    EXPECT_EQ(in_whole_nodes({1, 2, 8, 9, 11}, 1), (host_vector<index>{1, 2, 8, 9, 11}));
    EXPECT_EQ(in_whole_nodes({1, 2, 8, 9, 11}, 3),
              (host_vector<index>{0, 1, 2, 6, 7, 8, 9, 10, 11}));
    EXPECT_EQ(in_whole_nodes({}, 3), host_vector<index>{});
    const host_vector<index> these{1, 4, 5, 9}, others{1, 3, 5, 8};
    EXPECT_EQ(places_among(these, others), (host_vector<index>{0, 2, 2, 4}));
    const auto unknowns = unknowns_of({{2, 4}, {1, 7}}, 2);
    EXPECT_EQ(unknowns.own.first, 4);
    EXPECT_EQ(unknowns.own.last, 8);
    EXPECT_EQ(unknowns.others, (host_vector<index>{2, 3, 14, 15}));
}

TYPED_TEST(local_rows, are_the_rows_in_other_numbers) {
    using V = TypeParam;
    const cpu on{.threads = 3};
    for (const auto& [name, bug, unordered] : zoo<V>()) {
        const auto A = in_order(unordered);
        for (const range own : parts_of(A.shape.cols)) {
            SCOPED_TRACE(::testing::Message() << name << " from " << own.first << " on");
            local_columns columns{own, columns_outside(on, view(A), own)};
            EXPECT_EQ(columns.others, columns_outside(cpu{1}, view(A), own));
            for (const index j : columns.others) EXPECT_FALSE(columns.is_own(j));
            const auto L = numbered_locally(on, view(A), columns);
            EXPECT_EQ(order_of(cpu{}, view(L)), row_order::ascending);
            expect_equal(numbered_globally(on, view(L), columns, A.shape.cols), A);
            const auto block = own_columns(on, view(L), columns.own_count());
            const auto others = other_columns(on, view(L), columns.own_count());
            const auto edge = edge_rows(on, view(L), columns.own_count());
            std::size_t at = 0;
            for (index i = 0; i < A.shape.rows; ++i) {
                const auto r = std::size_t(i);
                EXPECT_EQ(block.row_ptr[r + 1] - block.row_ptr[r] + others.row_ptr[r + 1] -
                              others.row_ptr[r],
                          A.row_ptr[r + 1] - A.row_ptr[r]);
                if (others.row_ptr[r + 1] == others.row_ptr[r]) continue;
                ASSERT_LT(at, edge.size());
                EXPECT_EQ(edge[at++], i);
            }
            EXPECT_EQ(at, edge.size());
            for (std::size_t k = 0; k < block.col_ind.size(); ++k)
                EXPECT_LT(block.col_ind[k], columns.own_count());
            for (std::size_t k = 0; k < others.col_ind.size(); ++k)
                EXPECT_LT(others.col_ind[k], index(columns.others.size()));
        }
    }
}

TYPED_TEST(local_rows, are_taken_apart_and_put_together) {
    using V = TypeParam;
    const cpu on{.threads = 3};
    for (const auto& [name, bug, unordered] : zoo<V>()) {
        SCOPED_TRACE(name);
        const auto A = in_order(unordered);
        for (const index cut : {index(0), A.shape.rows / 3, A.shape.rows}) {
            const auto below = rows_from(on, view(A), cut);
            const auto all = stacked(on, rows_before(on, view(A), cut), view(below));
            expect_equal(all, A);
        }
        const auto rows = some_rows(A.shape.rows);
        const auto some = rows_at(on, view(A), rows);
        ASSERT_EQ(some.shape, (nz::shape{index(rows.size()), A.shape.cols}));
        for (std::size_t k = 0; k < rows.size(); ++k) {
            const auto i = std::size_t(rows[k]);
            ASSERT_EQ(some.row_ptr[k + 1] - some.row_ptr[k], A.row_ptr[i + 1] - A.row_ptr[i]);
            for (offset e = 0; e < some.row_ptr[k + 1] - some.row_ptr[k]; ++e) {
                EXPECT_EQ(some.col_ind[std::size_t(some.row_ptr[k] + e)],
                          A.col_ind[std::size_t(A.row_ptr[i] + e)]);
                EXPECT_EQ(some.val[std::size_t(some.row_ptr[k] + e)],
                          A.val[std::size_t(A.row_ptr[i] + e)]);
            }
        }
    }
    const host_vector<V> v{0, 1, 2, 3, 4, 5}, more{7};
    const host_vector<index> places{2, 0, 2};
    EXPECT_EQ(elements_at<V>(on, v, places, 2), (host_vector<V>{4, 5, 0, 1, 4, 5}));
    EXPECT_EQ(extended<V>(on, v, more), (host_vector<V>{0, 1, 2, 3, 4, 5, 7}));
}

template <class V>
class local_rows_on_gpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    }
};
TYPED_TEST_SUITE(local_rows_on_gpu, real_values);

TYPED_TEST(local_rows_on_gpu, are_those_of_the_cpu) {
    using V = TypeParam;
    const gpu_stream stream;
    const gpu on = stream;
    const cpu here{};
    for (const auto& [name, bug, unordered] : zoo<V>()) {
        const auto A = in_order(unordered);
        const auto A_on_gpu = upload(on, A);
        for (const range own : parts_of(A.shape.cols)) {
            SCOPED_TRACE(::testing::Message() << name << " from " << own.first << " on");
            const local_columns columns{own, columns_outside(here, view(A), own)};
            EXPECT_EQ(columns_outside(on, view(A_on_gpu), own), columns.others);
            auto L = numbered_locally(here, view(A), columns);
            auto L_on_gpu = numbered_locally(on, view(A_on_gpu), columns);
            expect_equal(download(on, L_on_gpu), L);
            const index n = columns.own_count();
            expect_equal(download(on, own_columns(on, view(L_on_gpu), n)),
                         own_columns(here, view(L), n));
            EXPECT_EQ(edge_rows(on, view(L_on_gpu), n), edge_rows(here, view(L), n));
            host_vector<index> twice(columns.others.size());
            for (std::size_t k = 0; k < twice.size(); ++k) twice[k] = index(2 * k + 1);
            renumber_others(here, L, n, twice, n + 2 * index(twice.size()));
            renumber_others(on, L_on_gpu, n, twice, n + 2 * index(twice.size()));
            expect_equal(download(on, L_on_gpu), L);
        }
    }
}

TYPED_TEST(local_rows_on_gpu, are_taken_apart_as_on_the_cpu) {
    using V = TypeParam;
    const gpu_stream stream;
    const gpu on = stream;
    const cpu here{};
    for (const auto& [name, bug, unordered] : zoo<V>()) {
        SCOPED_TRACE(name);
        const auto A = in_order(unordered);
        const auto A_on_gpu = upload(on, A);
        const auto rows = some_rows(A.shape.rows);
        expect_equal(rows_at(on, view(A_on_gpu), rows), rows_at(here, view(A), rows));
        expect_equal(rows_at(on, view(A_on_gpu), {}), rows_at(here, view(A), {}));
        for (const index cut : {index(0), A.shape.rows / 3, A.shape.rows}) {
            const auto below = rows_from(here, view(A), cut);
            expect_equal(rows_from(on, view(A_on_gpu), cut), below);
            const auto below_on_gpu = upload(on, below);
            const auto all = stacked(on, rows_before(on, view(A_on_gpu), cut), view(below_on_gpu));
            expect_equal(download(on, all), A);
        }
    }
    const host_vector<V> v{0, 1, 2, 3, 4, 5}, more{7};
    const host_vector<index> places{2, 0, 2};
    const auto v_on_gpu = to_device(on, std::span<const V>(v));
    EXPECT_EQ(elements_at<V>(on, v_on_gpu, places, 2), elements_at<V>(here, v, places, 2));
    EXPECT_EQ(elements_at<V>(on, v_on_gpu, {}), host_vector<V>{});
    const auto all = extended<V>(on, v_on_gpu, more);
    EXPECT_EQ(to_host<V>(on, all), (host_vector<V>{0, 1, 2, 3, 4, 5, 7}));
    EXPECT_EQ(to_host<V>(on, extended<V>(on, v_on_gpu, {})), v);
}

}  // namespace
}  // namespace nz::test
