#include "nonzero/formats/packed/spmv/striped_segments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/formats/oracle.hpp"
#include "nonzero/formats/packed/spmv/stripes.hpp"
#include "nonzero/formats/registry.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/products_on_gpu.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

/// 400 rows of 2,000 entries, the others of 10.
matrix_stats long_rows_among_short(std::int64_t cols) {
    matrix_stats s;
    s.rows = 600'400, s.cols = cols;
    s.row_lengths = {{10, 600'000}, {2000, 400}};
    s.nnz = 6'000'000 + 800'000;
    return s;
}

TEST(striped_segments, cost_what_long_rows_of_random_columns_load) {
    const auto declined = [](const matrix_stats& s) {
        return !cost_of_stripes<double, gpu>(s).declined.empty();
    };
    auto s = long_rows_among_short(600'000);
    s.row_sectors = s.column_sectors = 8'000'000;
    EXPECT_TRUE(declined(s)) << "an eighth of the entries";
    s.row_lengths[1] = {7000, 400}, s.nnz += 2'000'000;
    EXPECT_FALSE(declined(s));
    const estimate e = cost_of_stripes<double, gpu>(s);
    EXPECT_EQ(e.held_requests, 2'800'000);
    EXPECT_EQ(e.launches, 3);
    s.cols = 40'000;
    EXPECT_TRUE(declined(s)) << "more than one in eight columns";
    s = long_rows_among_short(600'000);
    s.row_lengths[1] = {63, 110'000}, s.nnz += 6'000'000;
    EXPECT_TRUE(declined(s)) << "no long rows";
    s = long_rows_among_short(600'000);
    s.row_lengths = {{10, 1'000}, {2000, 400}}, s.rows = 1'400, s.nnz = 810'000;
    EXPECT_TRUE(declined(s)) << "as few entries as the launches take";
    s.row_lengths[1].rows = 600, s.rows = 1'600, s.nnz = 1'210'000;
    EXPECT_FALSE(declined(s));
}

class striped_segments_on_gpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    }
};

constexpr segment_options of_small_matrices{
    .columns = 7, .least_row = 3, .least_mean = 1, .least_gap = 1, .longest = 4};

/// The segments that cut_by_stripes is to find.
template <class V>
struct cut_on_cpu {
    struct segment {
        index stripe, row;
        offset first, last;
    };
    std::vector<segment> segments;
    std::vector<index> rows;
    std::vector<unsigned> numbers{0};

    cut_on_cpu(const csr<V, host>& A, const segment_options& o) {
        for (index i = 0; i < A.shape.rows; ++i) {
            std::vector<segment> own;
            const offset first = A.row_ptr[std::size_t(i)], last = A.row_ptr[std::size_t(i) + 1];
            for (offset k = first; k < last; ++k) {
                const index stripe = A.col_ind[std::size_t(k)] / o.columns;
                if ((k - first) % o.longest == 0 || own.back().stripe != stripe)
                    own.push_back({stripe, i, k, k});
                own.back().last = k + 1;
            }
            const offset len = last - first;
            const offset stripes = len == 0 ? 0 : own.back().stripe - own.front().stripe + 1;
            if (len >= o.least_row && len * o.least_gap <= A.shape.cols && stripes > 1 &&
                len >= std::max(stripes, std::ssize(own)) * o.least_mean) {
                segments.insert(segments.end(), own.begin(), own.end());
                rows.push_back(i);
            }
            numbers.push_back(unsigned(segments.size()));
        }
    }
    [[nodiscard]] std::vector<std::size_t> by_stripe() const {
        std::vector<std::size_t> order(segments.size());
        for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
        std::ranges::stable_sort(order, {}, [&](std::size_t k) { return segments[k].stripe; });
        return order;
    }
};

template <class T>
std::vector<T> here(gpu on, const device_array<T>& there) {
    const auto all = to_host<T>(on, there);
    return {all.begin(), all.end()};
}

TEST_F(striped_segments_on_gpu, are_sorted_by_stripe) {
    const gpu on{};
    std::size_t all = 0;
    for (const auto& [name, bug, A] : zoo<double>()) {
        SCOPED_TRACE(name);
        const auto there = upload(on, A);
        const auto known = analyse_for_packing(on, view(there));
        const auto got = cut_by_stripes(on, view(there), of_small_matrices, known.get());
        const cut_on_cpu<double> want(A, of_small_matrices);
        EXPECT_EQ(here(on, got.rows), want.rows);
        EXPECT_EQ(here(on, got.numbers), want.numbers);
        const auto order = want.by_stripe();
        const auto places = here(on, got.places);
        const auto S = to_csr(view(download(on, got.matrix)));
        ASSERT_EQ(std::size_t(S.shape.rows), order.size());
        for (std::size_t p = 0; p < order.size(); ++p) {
            EXPECT_EQ(places[order[p]], p);
            const auto& segment = want.segments[order[p]];
            const offset begin = S.row_ptr[p];
            ASSERT_EQ(S.row_ptr[p + 1] - begin, segment.last - segment.first);
            for (offset k = segment.first; k < segment.last; ++k) {
                const auto at = std::size_t(begin + k - segment.first);
                EXPECT_EQ(S.col_ind[at], A.col_ind[std::size_t(k)]);
                EXPECT_EQ(S.val[at], A.val[std::size_t(k)]);
            }
        }
        EXPECT_EQ(std::size_t(got.entries), S.val.size());
        const auto whole = download(on, whole_rows(on, view(there), got));
        EXPECT_EQ(whole.shape, A.shape);
        EXPECT_EQ(whole.val.size() + S.val.size(), A.val.size());
        for (const index i : want.rows)
            EXPECT_EQ(whole.row_ptr[std::size_t(i)], whole.row_ptr[std::size_t(i) + 1]);
        all += order.size();
    }
    EXPECT_GT(all, 0U);
}

template <class V>
void expect_right_products_by_segments(gpu on, const csr<V, host>& A, const segment_options& o) {
    const auto there = upload(on, A);
    const auto analysis = analyse_for_packing(on, view(there));
    const packed_analysis<V>* const given[] = {analysis.get(), nullptr};
    for (const auto* const known : given) {
        SCOPED_TRACE(known != nullptr ? "analysed before" : "not analysed before");
        const auto op =
            build_segments(on, view(there), cut_by_stripes(on, view(there), o, known), 0, known);
        EXPECT_EQ(op->shape(), A.shape);
        EXPECT_EQ(op->method_name(), "packed.stripes");
        expect_right_products<V>(on, *op, A);
    }
}

TEST_F(striped_segments_on_gpu, multiply_every_matrix) {
    const gpu_stream stream;
    for (const auto& [name, bug, A] : zoo<double>()) {
        SCOPED_TRACE(name);
        expect_right_products_by_segments<double>(stream, A, of_small_matrices);
        expect_right_products_by_segments<double>(stream, A, segment_options::suited_to<double>());
    }
    for (const auto& [name, bug, A] : zoo<float>()) {
        SCOPED_TRACE(name);
        expect_right_products_by_segments<float>(stream, A, of_small_matrices);
    }
}

TEST_F(striped_segments_on_gpu, multiply_long_rows) {
    const gpu_stream stream;
    auto A = nz::random<double>(300, 200'000, 3'000, 7);
    expect_right_products_by_segments<double>(stream, A, segment_options::suited_to<double>());
    for (std::size_t k = 0; k < A.val.size(); ++k) A.val[k] = 1.0 / double(3 + k);
    expect_right_products_by_segments<double>(stream, A, segment_options::suited_to<double>());
}

/// Row i has length[i] entries of 1, evenly spaced from column 0 on.
csr<double, host> rows_of_ones(index cols, const std::vector<index>& length) {
    csr<double, host> A{{index(length.size()), cols}, {}, {}, {}};
    host_vector<offset> row_ptr{0};
    for (const index n : length) {
        for (index k = 0; k < n; ++k) A.col_ind.push_back(k * (cols / n)), A.val.push_back(1);
        row_ptr.push_back(row_ptr.back() + n);
    }
    A.row_ptr = offset_vector(row_ptr);
    return A;
}

/// The kernel starts before the one in front of it is done. That one has little to do in all rows
/// but the first, whose warp takes long.
TEST_F(striped_segments_on_gpu, wait_for_what_they_multiply) {
    const gpu_stream stream;
    const gpu on = stream;
    constexpr index n = 20'000, long_row = 2'000'000;
    std::vector<index> length(n, 0);
    length[0] = long_row;
    const auto slow =
        find_method<double>("csr.vector").on_gpu(on, view(rows_of_ones(long_row, length)));
    const auto there = upload(on, rows_of_ones(n, std::vector<index>(200, 2000)));
    auto segments =
        cut_by_stripes<double>(on, view(there), segment_options::suited_to<double>(), nullptr);
    ASSERT_EQ(segments.rows.size(), 200);
    const auto op = build_segments<double>(on, view(there), std::move(segments), 0, nullptr);
    const auto x = to_device<double>(on, std::vector<double>(long_row, 1));
    auto y = to_device<double>(on, std::vector<double>(n, NAN));
    auto z = to_device<double>(on, std::vector<double>(200, 0));
    op->apply(1, y, 0, z);  // loads the kernel, so that the next launch need not
    slow->apply(1, x, 0, y), op->apply(1, y, 0, z);
    EXPECT_EQ(here(on, z), std::vector<double>(200, long_row));
}

}  // namespace
}  // namespace nz::test
