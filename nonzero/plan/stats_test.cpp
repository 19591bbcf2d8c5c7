// Every number of compute_stats beside a computation as plain as its definition.
#include "nonzero/plan/stats.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/bsr/bsr.hpp"
#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/plan/estimate_stats.hpp"
#include "test/watched_memory.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

using lengths = std::vector<std::int64_t>;

lengths row_lengths(const csr<double, host>& A) {
    lengths n(std::size_t(A.shape.rows), 0);
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index, double) { ++n[std::size_t(i)]; });
    return n;
}

std::vector<matrix_stats::length_count> count(const lengths& n) {
    std::map<std::int64_t, std::int64_t> rows;
    for (const std::int64_t length : n) ++rows[length];
    std::vector<matrix_stats::length_count> counts;
    for (const auto& [length, of] : rows) counts.push_back({length, of});
    return counts;
}

/// The longest of every group of `group` rows.
lengths widths(const lengths& n, std::int64_t group) {
    lengths longest;
    for (std::size_t i = 0; i < n.size(); ++i) {
        if (i % std::size_t(group) == 0) longest.push_back(0);
        longest.back() = std::max(longest.back(), n[i]);
    }
    return longest;
}

std::int64_t sum(const lengths& n) {
    std::int64_t s = 0;
    for (const std::int64_t w : n) s += w;
    return s;
}

lengths sorted_in_scopes(lengths n) {
    constexpr auto scope = std::size_t(matrix_stats::sort_scope);
    for (std::size_t first = 0; first < n.size(); first += scope)
        std::sort(n.begin() + std::ptrdiff_t(first),
                  n.begin() + std::ptrdiff_t(std::min(first + scope, n.size())), std::greater<>());
    return n;
}

/// Sectors of four columns, as every row, every 32 rows and every 256 rows meet them; and columns
/// far from those of the row before.
void count_sectors(const csr<double, host>& A, matrix_stats& s) {
    std::vector<std::vector<index>> rows(std::size_t(A.shape.rows)), columns = rows;
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, double) {
        rows[std::size_t(i)].push_back(j / 4), columns[std::size_t(i)].push_back(j);
    });
    std::set<std::pair<std::size_t, index>> near;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t k = 0; k < rows[i].size(); ++k) {
            const index sector = rows[i][k];
            near.insert({i / 256, sector});
            s.row_sectors += k == 0 || rows[i][k - 1] != sector;
            const bool below = i % 32 != 0 && k < rows[i - 1].size();
            s.column_sectors += !below || rows[i - 1][k] != sector;
            s.compared_columns += below;
            s.far_columns += below && std::abs(columns[i - 1][k] - columns[i][k]) > (1 << 20);
        }
    }
    s.group_sectors = std::int64_t(near.size());
}

matrix_stats naive_stats(const csr<double, host>& A) {
    const lengths n = row_lengths(A);
    matrix_stats s;
    s.rows = A.shape.rows, s.cols = A.shape.cols, s.nnz = sum(n);
    s.row_lengths = count(n);
    for (std::size_t g = 0; g < std::size(matrix_stats::groups); ++g) {
        const lengths w = widths(n, matrix_stats::groups[g]);
        s.group_width[g] = sum(w), s.last_group_width[g] = w.empty() ? 0 : w.back();
    }
    s.sorted_group_width = sum(widths(sorted_in_scopes(n), 32));
    std::set<std::int64_t> diagonals;
    std::set<std::pair<index, index>> blocks[std::size(matrix_stats::block_sides)];
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, double) {
        diagonals.insert(std::int64_t(j) - i);
        for (std::size_t b = 0; b < std::size(matrix_stats::block_sides); ++b)
            blocks[b].insert({i / matrix_stats::block_sides[b], j / matrix_stats::block_sides[b]});
    });
    s.diagonals = std::int64_t(diagonals.size());
    for (const std::int64_t d : diagonals) s.bandwidth = std::max(s.bandwidth, std::abs(d));
    for (std::size_t b = 0; b < std::size(matrix_stats::block_sides); ++b)
        s.blocks[b] = std::int64_t(blocks[b].size());
    count_sectors(A, s);
    const auto P = packed<double, host>::from(view(A));
    s.packed.bytes = std::int64_t(bytes(P));
    s.packed.chunks = std::int64_t(P.chunks.size());
    for (const packed_chunk& c : P.chunks) {
        s.packed.width += c.width;
        if (c.kind <= packed_chunk::diagonals) s.packed.diagonal_width += c.width;
        s.packed.max_width = std::max<std::int64_t>(s.packed.max_width, c.width);
    }
    return s;
}

class with_threads {
  public:
    explicit with_threads(int n) : before_(omp_get_max_threads()) { omp_set_num_threads(n); }
    ~with_threads() { omp_set_num_threads(before_); }
    with_threads(const with_threads&) = delete;
    with_threads& operator=(const with_threads&) = delete;

  private:
    int before_;
};

void expect_the_same_size(const matrix_stats& a, const matrix_stats& b) {
    EXPECT_EQ(a.rows, b.rows);
    EXPECT_EQ(a.cols, b.cols);
    EXPECT_EQ(a.nnz, b.nnz);
    EXPECT_EQ(a.max_row_nnz(), b.max_row_nnz());
    constexpr std::size_t many = 256;  // more lengths are fewer on a GPU
    if (b.row_lengths.size() <= many) {
        EXPECT_EQ(a.row_lengths, b.row_lengths);
    }
    EXPECT_EQ(a.packed.bytes, b.packed.bytes);
    EXPECT_EQ(a.packed.width, b.packed.width);
    EXPECT_EQ(a.packed.diagonal_width, b.packed.diagonal_width);
    EXPECT_EQ(a.packed.chunks, b.packed.chunks);
    EXPECT_EQ(a.packed.max_width, b.packed.max_width);
}

void expect_equal(const matrix_stats& a, const matrix_stats& b) {
    expect_the_same_size(a, b);
    EXPECT_EQ(a.row_lengths, b.row_lengths);
    EXPECT_EQ(a.diagonals, b.diagonals);
    EXPECT_EQ(a.bandwidth, b.bandwidth);
    for (std::size_t g = 0; g < std::size(matrix_stats::groups); ++g) {
        EXPECT_EQ(a.group_width[g], b.group_width[g]) << matrix_stats::groups[g];
        EXPECT_EQ(a.last_group_width[g], b.last_group_width[g]) << matrix_stats::groups[g];
    }
    EXPECT_EQ(a.sorted_group_width, b.sorted_group_width);
    EXPECT_EQ(a.row_sectors, b.row_sectors);
    EXPECT_EQ(a.column_sectors, b.column_sectors);
    EXPECT_EQ(a.group_sectors, b.group_sectors);
    EXPECT_EQ(a.far_columns, b.far_columns);
    EXPECT_EQ(a.compared_columns, b.compared_columns);
    for (std::size_t s = 0; s < std::size(matrix_stats::block_sides); ++s)
        EXPECT_EQ(a.blocks[s], b.blocks[s]) << matrix_stats::block_sides[s];
}

/// The zoo, and what is large enough that every thread has rows of its own.
std::vector<zoo_entry<double>> matrices() {
    auto z = zoo<double>();
    std::vector<index> n;
    for (index i = 0; i < 20000; ++i) n.push_back(index(i * 7919LL % 23));
    z.push_back({"20,000 rows", "a block across two threads is counted twice",
                 from_lengths<double>(n, 3001)});
    const index widest = std::numeric_limits<index>::max();
    z.push_back({"widest", "arrays over columns", from_lengths<double>({5, 0, 3, 90, 4}, widest)});
    z.push_back({"few columns too many", "some threads have arrays, some not",
                 from_lengths<double>(std::vector<index>(300, 4), 7000)});
    return z;
}

TEST(compute_stats, gives_every_number_as_defined_on_any_number_of_threads) {
    for (const auto& m : matrices()) {
        SCOPED_TRACE(m.name);
        const matrix_stats expected = naive_stats(m.A);
        for (const int threads : {1, 2, 3, 8}) {
            SCOPED_TRACE(threads);
            const with_threads guard(threads);
            expect_equal(compute_stats(view(m.A)), expected);
        }
    }
}

TEST(compute_stats, holds_at_most_eight_bytes_an_entry_and_row) {
    constexpr std::int64_t some = 16 << 20;  // tables of fixed size for 64 threads
    const index widest = std::numeric_limits<index>::max();
    const auto holds_little = [&](const std::string& name, const auto& A) {
        const std::int64_t most = 8 * (std::int64_t(A.val.size()) + A.shape.rows) + some;
        for (const int threads : {1, 2, 8, 64}) {
            const with_threads guard(threads);
            (void)most_bytes_held();
            (void)compute_stats(view(A));
            EXPECT_LE(most_bytes_held(), most) << name << ", " << threads << " threads";
        }
    };
    holds_little("3 entries", from_lengths<double>({1, 1, 1}, widest));
    holds_little("two long rows", from_lengths<float>({200000, 100000}, widest));
    holds_little("hypersparse", random<double>(400000, 400000, 1, 1));
    holds_little("wide", random<std::complex<double>>(1000, 5000000, 1000, 1));
    holds_little("plane", laplace2d<double>(600, 600));
}

/// Whether the GPU counts only some columns of a group of rows. It does so in a group of more than
/// 8,192 entries (most_entries_of_a_cell in stats_gpu.cu).
template <class V>
bool has_sampled_groups(const csr<V, host>& A) {
    constexpr std::int64_t most = 1 << 13, rows = matrix_stats::groups[1];
    for (std::int64_t i = 0; i < A.shape.rows; i += rows) {
        const std::int64_t last = std::min<std::int64_t>(i + rows, A.shape.rows);
        if (A.row_ptr[std::size_t(last)] - A.row_ptr[std::size_t(i)] > most) return true;
    }
    return false;
}

/// Compares what the GPU counts: all but what only layouts built on the CPU need.
template <class V>
void expect_the_same_on_the_gpu(const std::string& name, const csr<V, host>& A) {
    SCOPED_TRACE(name);
    const gpu_stream stream;
    const auto on_device = upload(stream, A);
    const matrix_stats got = compute_stats(stream, view(on_device)),
                       want = compute_stats(view(A), gpu{});
    expect_the_same_size(got, want);
    EXPECT_EQ(got.group_width[0], want.group_width[0]);
    // Samples of long rows have a test of their own: of_long_rows_among_short_ones.
    if (has_sampled_groups(A)) return;
    EXPECT_EQ(got.row_sectors, want.row_sectors);
    // Of more columns than a few blocks look at, a sample is.
    const double sampled = A.shape.cols > (1 << 25) ? 0.2 * double(want.nnz) : 0;
    EXPECT_NEAR(double(got.column_sectors), double(want.column_sectors), sampled);
    EXPECT_NEAR(double(got.group_sectors), double(want.group_sectors), sampled);
    EXPECT_NEAR(double(got.far_columns), double(want.far_columns), sampled);
    EXPECT_NEAR(double(got.compared_columns), double(want.compared_columns), sampled);
}

class stats_on_gpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    }
};

TEST_F(stats_on_gpu, are_those_of_the_cpu) {
    for (const auto& m : matrices()) expect_the_same_on_the_gpu(m.name, m.A);
    for (const auto& m : zoo<float>()) expect_the_same_on_the_gpu(m.name, m.A);
    expect_the_same_on_the_gpu("plane", laplace2d<double>(200, 301));
    expect_the_same_on_the_gpu("space", laplace3d<float>(30, 40, 50));
    // Several ranges of columns: x beyond the bits of a block, or few long rows.
    expect_the_same_on_the_gpu("wide", from_lengths<double>(std::vector<index>(700, 90), 5000000));
    expect_the_same_on_the_gpu("two long rows", from_lengths<float>({200000, 3, 199999}, 800001));
}

TEST_F(stats_on_gpu, take_similar_lengths_of_hundreds_for_one) {
    std::vector<index> length;
    for (index n = 0; n < 700; ++n) length.push_back(7 * n);
    const auto A = from_lengths<double>(length, 100000);
    const auto there = upload(gpu{}, A);
    const matrix_stats s = compute_stats(gpu{}, view(there));
    EXPECT_LT(s.row_lengths.size(), 200U);
    EXPECT_EQ(s.max_row_nnz(), 7 * 699);
    EXPECT_EQ(s.row_lengths.back().rows, 1);
    EXPECT_EQ(s.empty_rows(), 1);
    std::int64_t rows = 0, before = -1;
    double entries = 0;
    for (const auto& [n, count] : s.row_lengths) {
        EXPECT_GT(n, before);
        before = n, rows += count, entries += double(n) * double(count);
    }
    EXPECT_EQ(rows, 700);
    EXPECT_NEAR(entries, double(A.val.size()), 350);  // means are rounded
}

TEST_F(stats_on_gpu, count_a_sample_of_large_matrices) {
    const gpu on{};
    const auto A = laplace2d<double>(1000, 800);  // 3125 groups of rows, nearly alike
    const auto on_device = upload(on, A);
    const matrix_stats got = compute_stats(on, view(on_device)),
                       want = compute_stats(view(A), gpu{});
    expect_the_same_size(got, want);
    // 800 of 800,000 rows start a line of the grid and load a sector more or less.
    EXPECT_NEAR(double(got.row_sectors), double(want.row_sectors), 0.001 * double(want.nnz));
    EXPECT_NEAR(double(got.column_sectors), double(want.column_sectors), 0.001 * double(want.nnz));
    EXPECT_NEAR(double(got.group_sectors), double(want.group_sectors), 0.001 * double(want.nnz));
}

/// The columns of a part of the long rows stand for all of these.
TEST_F(stats_on_gpu, of_long_rows_among_short_ones_are_nearly_those_of_the_cpu) {
    const gpu on{};
    std::vector<index> rows(50000, 5);
    std::fill_n(rows.begin(), 300, 3000);
    const auto A = from_lengths<double>(rows, 400000);
    const auto on_device = upload(on, A);
    const matrix_stats got = compute_stats(on, view(on_device)),
                       want = compute_stats(view(A), gpu{});
    expect_the_same_size(got, want);
    EXPECT_NEAR(double(got.row_sectors), double(want.row_sectors), 0.05 * double(want.nnz));
    EXPECT_NEAR(double(got.column_sectors), double(want.column_sectors), 0.05 * double(want.nnz));
    EXPECT_NEAR(double(got.group_sectors), double(want.group_sectors), 0.05 * double(want.nnz));
}

/// Rows of one group load a few hundred of a million columns, of which a part stands for all.
TEST_F(stats_on_gpu, of_a_tiled_matrix_are_nearly_those_of_the_cpu) {
    const gpu on{};
    constexpr index rows = 1024, of_row = 100, apart = 1'000'000;
    csr<double, host> A{{rows, 4 * apart}, {}, {}, {}};
    host_vector<offset> begin(1, 0);
    for (index i = 0; i < rows; ++i) {
        for (index k = 0; k < of_row; ++k)
            A.col_ind.push_back(i / 256 * apart + 700'000 + i % 256 + 3 * k);
        begin.push_back(offset(A.col_ind.size()));
    }
    A.row_ptr = offset_vector(begin);
    A.val = host_vector<double>(A.col_ind.size(), 1.0);
    const auto on_device = upload(on, A);
    const matrix_stats got = compute_stats(on, view(on_device)),
                       want = compute_stats(view(A), gpu{});
    expect_the_same_size(got, want);
    EXPECT_EQ(got.far_columns, 0);
    EXPECT_NEAR(double(got.row_sectors), double(want.row_sectors), 0.05 * double(want.nnz));
    EXPECT_NEAR(double(got.column_sectors), double(want.column_sectors), 0.05 * double(want.nnz));
    EXPECT_NEAR(double(got.group_sectors), double(want.group_sectors), 0.05 * double(want.nnz));
}

TEST_F(stats_on_gpu, of_rows_in_disorder_are_those_of_the_canonical_copy) {
    const gpu on{};
    for (const host_vector<index>& columns : {host_vector<index>{1, 0, 2}, {1, 1, 2}}) {
        const csr<double, host> A{{2, 3}, {0, 2, 3}, columns, {1, 2, 3}};
        const matrix_stats got = compute_stats(on, view(upload(on, A)));
        expect_the_same_size(got, compute_stats(view(canonical(view(A))), gpu{}));
    }
}

TEST_F(stats_on_gpu, refuse_what_is_no_csr) {
    const gpu on{};
    const auto refused = [&](const csr<double, host>& A) {
        const auto on_device = upload(on, A);
        EXPECT_THROW((void)compute_stats(on, view(on_device)), argument_error);
    };
    const host_vector<double> val{1, 2, 3};
    refused({{2, 3}, {0, 2, 9}, {0, 1, 2}, val});
    refused({{2, 3}, {0, 3, 2}, {0, 1, 2}, val});
    refused({{2, 3}, {1, 2, 3}, {0, 1, 2}, val});
    refused({{2, 3}, {0, 2, 3}, {0, 3, 2}, val});
    refused({{2, 3}, {0, 2, 3}, {-1, 1, 2}, val});
    // More long rows, which overlap, than the entries can fill.
    csr<double, host> overlapping{{64, 5000}, {}, {}, host_vector<double>(5000, 1.0)};
    host_vector<offset> ptr(65, 0);
    for (std::size_t i = 1; i < ptr.size(); i += 2) ptr[i] = 5000;
    overlapping.row_ptr = offset_vector(ptr);
    for (index j = 0; j < 5000; ++j) overlapping.col_ind.push_back(j);
    refused(overlapping);
}

/// Estimates are within a twentieth of the exact stats, where all parts of the matrix are alike.
void expect_estimated(const csr<double, host>& A) {
    const matrix_stats exact = compute_stats(view(A)),
                       s = estimate_stats(ascending(view(A)), cpu{});
    EXPECT_EQ(s.row_lengths, exact.row_lengths);
    EXPECT_EQ(s.sorted_group_width, exact.sorted_group_width);
    const auto near = [](std::int64_t is, std::int64_t should, const char* what) {
        EXPECT_NEAR(double(is), double(should), 0.05 * double(should)) << what;
    };
    for (std::size_t b = 0; b < std::size(matrix_stats::block_sides); ++b)
        near(s.blocks[b], exact.blocks[b], "blocks");
    near(s.row_sectors, exact.row_sectors, "sectors of rows");
    near(s.column_sectors, exact.column_sectors, "sectors of columns");
    near(s.group_sectors, exact.group_sectors, "sectors of groups");
    near(s.packed.bytes, exact.packed.bytes, "packed bytes");
    near(s.packed.width, exact.packed.width, "packed width");
    near(s.packed.chunks, exact.packed.chunks, "packed chunks");
    if (exact.diagonals < 100) {
        EXPECT_EQ(s.diagonals, exact.diagonals);
        EXPECT_EQ(s.bandwidth, exact.bandwidth);
    }
}

TEST(stats, are_estimated_for_the_planner) {
    expect_estimated(laplace3d<double>(70, 60, 60));
    expect_estimated(random<double>(100'000, 80'000, 12, 1));
    expect_estimated(blocks<double>(60'000, 3, 8, 2));
    expect_estimated(random<double>(40'000, 30'000, 5, 3));   // fewer than half a million
    expect_estimated(random<double>(20'000, 3'000, 200, 4));  // ten runs of long rows
}

TEST(stats, of_small_matrices_are_counted_for_the_planner_too) {
    for (const auto& [name, bug, A] : zoo<double>()) {
        SCOPED_TRACE(name);
        const matrix_stats exact = compute_stats(view(A)),
                           s = estimate_stats(ascending(view(A)), cpu{});
        EXPECT_EQ(s.group_sectors, exact.group_sectors);
        EXPECT_EQ(s.packed.bytes, exact.packed.bytes);
        EXPECT_EQ(s.diagonals, exact.diagonals);
    }
}

/// All entries lie where the sample does not look.
TEST(stats, of_entries_that_no_sample_meets_are_counted) {
    const auto A = from_rule<double>(
        20'000, 400, [](index i, index, double) { return i >= 5'000 && i < 6'000; });
    EXPECT_EQ(estimate_stats(ascending(view(A)), cpu{}).packed.bytes,
              compute_stats(view(A)).packed.bytes);
}

}  // namespace
}  // namespace nz::test
