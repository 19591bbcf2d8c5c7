// Packed's own tests, of what only packed can get wrong; the zoo tests every layout.
#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/formats/csr/to_csr.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/oracle.hpp"
#include "nonzero/formats/simd/simd.hpp"
#include "nonzero/gen/noise.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/matrix/transpose.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

/// A tridiagonal matrix with these values, again and again.
template <class V>
csr<V, host> tridiagonal(index rows, const std::vector<V>& values) {
    host_vector<index> row, col;
    host_vector<V> val;
    for (index i = 0; i < rows; ++i)
        for (index j = std::max(0, i - 1); j <= std::min(rows - 1, i + 1); ++j) {
            row.push_back(i), col.push_back(j);
            val.push_back(values[val.size() % values.size()]);
        }
    return assemble<V>({rows, rows}, row, col, val);
}

std::vector<double> numbers(int count, double step) {
    std::vector<double> v(std::size_t(count), 0);
    for (std::size_t k = 0; k < v.size(); ++k) v[k] = double(k) * step;
    return v;
}

template <class V>
void expect_exact(const csr<V, host>& A, value_encoding encoding) {
    const auto P = packed<V, host>::from(view(A), {});
    EXPECT_EQ(int(P.encoding), int(encoding));
    const auto back = to_csr(view(P));
    ASSERT_EQ(back.val.size(), A.val.size());
    EXPECT_EQ(back.row_ptr, A.row_ptr);
    EXPECT_EQ(back.col_ind, A.col_ind);
    EXPECT_EQ(std::memcmp(back.val.data(), A.val.data(), A.val.size() * sizeof(V)), 0);
}

TEST(packed, takes_the_shortest_code_that_is_exact) {
    const double third = 1.0 / 3;
    expect_exact(tridiagonal<double>(5000, {third}), value_encoding::constant);
    expect_exact(tridiagonal<double>(5000, numbers(256, third)), value_encoding::dictionary8);
    expect_exact(tridiagonal<double>(5000, numbers(257, third)), value_encoding::dictionary16);
    expect_exact(tridiagonal<double>(5000, numbers(4096, third)), value_encoding::dictionary16);
    expect_exact(tridiagonal<double>(5000, numbers(4097, third)), value_encoding::none);
    expect_exact(tridiagonal<double>(5000, numbers(4097, 0.5)), value_encoding::float32);
}

TEST(packed, is_rounded_to_single_precision_as_it_lies) {
    const double third = 1.0 / 3;
    auto lists = rmat<double>(10, 9, 0.57, 0.19, 0.19, 1);  // long rows among short ones
    for (std::size_t k = 0; k < lists.val.size(); ++k) lists.val[k] = 1.0 / (3 + double(k));
    for (const auto& A :
         {tridiagonal<double>(5000, {third}), tridiagonal<double>(5000, numbers(256, third)),
          tridiagonal<double>(5000, numbers(4097, third)),
          tridiagonal<double>(5000, numbers(4097, 0.5)), laplace3d<double>(20, 20, 20), lists}) {
        const auto R = rounded(view(packed<double, host>::from(view(A))));
        ASSERT_TRUE(R.has_value());
        const auto back = to_csr(view(*R));
        EXPECT_EQ(back.row_ptr, A.row_ptr);
        EXPECT_EQ(back.col_ind, A.col_ind);
        host_vector<float> y(std::size_t(A.shape.rows));
        for (std::size_t k = 0; k < A.val.size(); ++k) ASSERT_EQ(back.val[k], float(A.val[k]));
        const host_vector<float> x(std::size_t(A.shape.cols), 1.5F);
        const auto same = build(find_method<float>("packed.warp"), cpu{2}, view(back));
        auto expected = y;
        same->apply(1, x, 0, expected);
        build(find_method<double>("packed.warp"), cpu{2}, view(A))
            ->in_single_precision()
            ->apply(1, x, 0, y);
        for (std::size_t i = 0; i < y.size(); ++i)
            EXPECT_NEAR(y[i], expected[i], 1e-5F * std::abs(expected[i]));
    }
    const auto of_16_bits = tridiagonal<double>(5000, numbers(257, third));
    EXPECT_FALSE(rounded(view(packed<double, host>::from(view(of_16_bits), {}))).has_value());
}

/// However few entries the matrix has: on a CPU a diagonal of 32 rows takes no gather.
TEST(packed, takes_many_diagonals_on_a_cpu) {
    auto A = laplace27<double>(12, 12, 12);
    for (std::size_t k = 0; k < A.val.size(); ++k) A.val[k] = 1.0 / (3 + double(k));
    const auto s = size_of_packed(view(A), packed_options::suited_to(cpu{}, std::ssize(A.val)));
    EXPECT_GT(2 * s.diagonal_width, s.width);
}

/// A matrix that caches hold has no table of more values than vector registers hold. The bits of
/// products are the same.
TEST(packed, looks_few_values_up_in_a_small_matrix_on_a_cpu) {
    for (const int count : {32, 33, 300}) {
        const auto A = tridiagonal<double>(5000, numbers(count, 1.0 / 3));
        const auto encoding_of = [&](std::int64_t nnz) {
            const auto o = packed_options::suited_to(cpu{2}, nnz);
            return packed<double, host>::from(view(A), o).encoding;
        };
        EXPECT_EQ(int(encoding_of(std::ssize(A.val))),
                  int(count > 32 ? value_encoding::none : value_encoding::dictionary8));
        EXPECT_EQ(int(encoding_of(1'000'000)),
                  int(count > 256 ? value_encoding::dictionary16 : value_encoding::dictionary8));
        const auto x = noise<double>({0, A.shape.cols}, 1);
        host_vector<double> by_table(std::size_t(A.shape.rows)), plain = by_table;
        const auto multiply = [&](const packed_options& o, host_vector<double>& y) {
            const auto P = packed<double, host>::from(view(A), o);
            spmv(cpu{2}, packed_warp{}, 1.0, view(P), std::span<const double>(x), 0.0,
                 std::span(y));
        };
        multiply({}, by_table);
        multiply({.most_values = 0}, plain);
        EXPECT_EQ(by_table, plain);
    }
}

TEST(packed, has_tables_of_floats_of_8_bits_only) {
    auto A = laplace2d<float>(70, 70);
    const auto with_values = [&](std::size_t count) {
        for (std::size_t k = 0; k < A.val.size(); ++k) A.val[k] = 1 / float(3 + k % count);
    };
    with_values(256);
    expect_exact(A, value_encoding::dictionary8);
    with_values(257);
    expect_exact(A, value_encoding::none);
}

TEST(packed, tells_values_apart_by_their_bits) {
    const double nan = std::nan("1"), other_nan = std::nan("2"), inf = HUGE_VAL;
    std::uint64_t ones = ~std::uint64_t(0);
    double all_ones;
    std::memcpy(&all_ones, &ones, sizeof ones);
    expect_exact(tridiagonal<double>(99, {0.0, -0.0, nan, other_nan, inf, -inf, all_ones}),
                 value_encoding::dictionary8);
    expect_exact(tridiagonal<double>(99, {all_ones}), value_encoding::constant);
    auto many = numbers(5000, 0.5);
    many[77] = nan;  // which a float would not give back
    many[78] = other_nan;
    expect_exact(tridiagonal<double>(5000, many), value_encoding::none);
}

TEST(packed, stores_a_stencil_by_diagonals_without_columns) {
    const auto A = laplace2d<double>(100, 100);
    const auto P = packed<double, host>::from(view(A));
    const auto by_diagonals = std::count_if(P.chunks.begin(), P.chunks.end(), [](const auto& c) {
        return c.kind <= packed_chunk::diagonals;
    });
    EXPECT_GT(by_diagonals, 300);
    EXPECT_EQ(P.chunks.size(), std::size_t(10000 + 31) / 32);
}

/// One product, and three at once, of P with beta 0 and others.
template <class B, class P>
void expect_right_products(B on, const P& packed, const csr<double, host>& A) {
    const auto rows = std::size_t(A.shape.rows), cols = std::size_t(A.shape.cols);
    host_vector<double> X(3 * cols), Y(3 * rows, 2.0);
    for (std::size_t k = 0; k < X.size(); ++k) X[k] = 1 / (1 + double(k % 37));
    const auto want = [&](std::size_t c, double beta) {
        return reference_product<double>(transposition::plain, 2.0, view(A),
                                         std::span(X).subspan(c * cols, cols), beta,
                                         std::span<const double>(Y).subspan(c * rows, rows));
    };
    for (const double beta : {0.0, -1.0}) {
        auto got = Y;
        if constexpr (std::is_same_v<B, cpu>) {
            spmv_many(on, packed_warp{}, 2.0, packed,
                      in_columns<double, cpu>{std::span<const double>(X), cols, 3}, beta,
                      out_columns<double, cpu>{std::span(got), rows, 3});
        } else if constexpr (has_cuda) {
            const auto x = to_device<double>(on, X);
            auto y = to_device<double>(on, Y);
            spmv_many(on, packed_warp{}, 2.0, packed,
                      in_columns<double, gpu>{device_span<double>(x), cols, 3}, beta,
                      out_columns<double, gpu>{device_out<double>(y), rows, 3});
            copy_to_host(on, y.data(), got.data(), got.size() * sizeof(double));
        }
        for (std::size_t c = 0; c < 3; ++c)
            EXPECT_TRUE(
                compare<double>(std::span(got).subspan(c * rows, rows), want(c, beta)).holds());
    }
}

TEST(packed, cuts_long_rows_into_parts_that_fill_blocks) {
    auto options = packed_options::suited_to(cpu{}, 0);
    options.split = 256;
    index cut = 0;
    for (const auto& [name, bug, A] : zoo<double>()) {
        const auto P = packed<double, host>::from(view(A), options);
        expect_right_products(cpu{2}, view(P), A);
        cut += P.segment_chunks;
        EXPECT_EQ(P.segment_chunks % packed_block, 0) << name;
        for (index k = 0; k < P.segment_chunks; ++k) {
            const packed_chunk& c = P.chunks[std::size_t(k)];
            if (c.segments == 0) continue;
            const bool in_one_block = k % packed_block - c.number + c.segments <= packed_block;
            EXPECT_TRUE(in_one_block || k % packed_block == c.number % packed_block) << name;
        }
    }
    EXPECT_GT(cut, 0);
}

/// With GPU warps that take `chunks` chunks at once, however few the matrix has.
packed_options at_once(index chunks) {
    packed_options o;
    o.pair_min_chunks = chunks >= 2 ? 1 : std::numeric_limits<std::int64_t>::max();
    o.quad_min_chunks = chunks == 4 ? 1 : std::numeric_limits<std::int64_t>::max();
    return o;
}

/// Stencils whose neighbouring chunks mostly have equal diagonals, but not always; of a diagonal's
/// values each its own, or all one.
std::vector<csr<double, host>> stencils() {
    std::vector<csr<double, host>> all;
    all.push_back(laplace2d<double>(77, 101));
    all.push_back(laplace3d<double>(32, 20, 17));
    all.push_back(tridiagonal<double>(32 * 67 + 7, numbers(5000, 1.0 / 3)));
    all.push_back(tridiagonal<double>(32 * 66, numbers(5000, 0.5)));
    return all;
}

/// Rows whose segments do not fill a block: the rest of it is chunks without a place.
TEST(packed, shares_the_parts_of_long_rows_among_threads) {
    const auto A = from_lengths<double>(std::vector<index>(60, 12000), 30000);
    const auto P = packed<double, host>::from(view(A));
    const std::span segments(P.chunks.data(), std::size_t(P.segment_chunks));
    ASSERT_FALSE(segments.empty());
    ASSERT_TRUE(std::ranges::any_of(segments, [](const packed_chunk& c) { return c.rows == 0; }));
    for (const int threads : {1, 2, 3, 7, 100}) {
        std::size_t taken = 0, most = 0;
        for (int t = 0; t < threads; ++t) {
            const auto mine = share_of(view(P), t, threads)[0];
            EXPECT_TRUE(mine.empty() || mine.data() == segments.data() + taken);
            taken += mine.size(), most = std::max(most, mine.size());
        }
        EXPECT_EQ(taken, segments.size());
        const std::size_t fair = segments.size() / std::size_t(threads);
        EXPECT_LE(most, fair + 2 * packed_block) << threads << " threads";
    }
}

/// The thread that takes the long row takes fewer of the others.
TEST(packed, shares_a_long_row_and_short_ones_equally) {
    std::vector<index> lengths(30000, 5);
    lengths.push_back(50000);
    const auto A = from_lengths<double>(lengths, 60000);
    const auto P = packed<double, host>::from(view(A));
    ASSERT_GT(P.segment_chunks, 0);
    for (const int threads : {2, 3}) {
        std::size_t taken = 0;
        std::int64_t all = 0, most = 0;
        for (int t = 0; t < threads; ++t) {
            std::int64_t bytes = 0;  // values, columns, headers and y
            for (const auto some : share_of(view(P), t, threads)) {
                taken += some.size();
                for (const packed_chunk& c : some)
                    bytes += 32 * c.width * (8 + 2) + std::int64_t(sizeof c) + 8 * c.rows;
            }
            all += bytes, most = std::max(most, bytes);
        }
        EXPECT_EQ(taken, P.chunks.size());
        EXPECT_LT(double(most), 1.1 * double(all) / threads) << threads << " threads";
    }
}

/// Threads multiply several pieces each, not the same ones in every run. All segments of a row lie
/// in one piece.
TEST(packed, gives_the_same_bits_by_any_number_of_threads) {
    std::vector<index> lengths(100'000, 3);
    for (std::size_t i = 0; i < lengths.size(); i += 7) lengths[i] = index(i % 30);
    lengths.insert(lengths.end(), 20, 12'000);
    const auto A = from_lengths<double>(lengths, 30'000);
    const auto P = packed<double, host>::from(view(A));
    ASSERT_GT(P.segment_chunks, 0);
    const auto x = random_vector<double>(30'000, 3);
    const auto by = [&](int threads) {
        host_vector<double> y(lengths.size(), -1.0);
        spmv(cpu{threads}, packed_warp{}, 1.0, view(P), std::span<const double>(x), 0.0,
             std::span<double>(y));
        return y;
    };
    const auto serial = by(1);
    expect_right_products(cpu{1}, view(P), A);
    for (const int threads : {2, 3, 5}) EXPECT_EQ(by(threads), serial) << threads << " threads";
}

TEST(packed, marks_chunks_of_equal_diagonals) {
    int alone = 0;
    for (const auto& A : stencils()) {
        const auto P = packed<double, host>::from(view(A), at_once(4));
        EXPECT_EQ(P.chunks_per_warp, 4);
        std::array<int, 5> marked{};
        for (std::size_t k = 0; k < P.chunks.size(); ++k) {
            const packed_chunk& c = P.chunks[k];
            ++marked.at(c.identical);
            for (std::size_t g = 1; g < c.identical; ++g) {
                const packed_chunk& other = P.chunks.at(k + g);
                EXPECT_EQ(other.first_row, c.first_row + index(32 * g));
                ASSERT_EQ(other.width, c.width);
                const std::size_t words = c.kind == packed_chunk::constant_diagonals ? 4 : 2;
                for (std::size_t w = 0; w < words * c.width; ++w)
                    if (w % words != 1) {
                        EXPECT_EQ(P.indices[16 * other.index_at + w],
                                  P.indices[16 * c.index_at + w]);
                    }
            }
        }
        EXPECT_GT(marked[4], 0);
        alone += int(P.chunks.size()) - 2 * marked[2] - 2 * marked[4];
        EXPECT_EQ((packed<double, host>::from(view(A)).chunks_per_warp), 1);  // too few
    }
    EXPECT_GT(alone, 0);
}

/// Of 20 MB, beyond the caches: its chunks are fetched ahead.
TEST(packed, multiplies_what_streams) {
    const auto A = nz::random<double>(40000, 30000, 50, 3);
    const auto P = packed<double, host>::from(view(A));
    ASSERT_GT(bytes(P), out_of_cache_bytes);
    const host_vector<double> x(std::size_t(A.shape.cols), 1.25);
    host_vector<double> y(std::size_t(A.shape.rows));
    spmv(cpu{2}, packed_warp{}, 2.0, view(P), std::span<const double>(x), 0.0, std::span(y));
    const auto truth = reference_product<double>(transposition::plain, 2, view(A), x, 0, {});
    EXPECT_TRUE(compare<double>(y, truth).holds());
}

/// Rows of 0 to `longest` entries, many short and few long, all values different.
template <class V>
csr<V, host> uneven_rows(index rows, index longest, index cols) {
    std::vector<index> length(std::size_t(rows), 0);
    std::mt19937_64 next(rows);
    for (index& n : length)
        if (next() % 3 > 0) n = next() % 16 > 0 ? index(next() % 4) : index(next() % longest);
    csr<V, host> A = from_lengths<V>(length, cols);
    for (std::size_t k = 0; k < A.val.size(); ++k) A.val[k] = V(1) / (V(3) + V(k));
    return A;
}

packed_options with_tiles() {
    packed_options o;
    o.tile_gain = o.tile_share = 0;  // wherever there can be some
    return o;
}

/// Columns within 16 bits of each other and beyond; more than 255 rows without an entry; rows that
/// fill a tile, and that no tile holds; a window of no entries; long rows among short ones.
std::vector<csr<double, host>> rows_for_tiles() {
    std::vector<csr<double, host>> all;
    all.push_back(uneven_rows<double>(5000, 60, 3000));
    all.push_back(uneven_rows<double>(5000, 250, 300'000));
    std::vector<index> length(7000, 0);
    for (std::size_t i = 0; i < length.size(); i += 300) length[i] = 256;
    for (std::size_t i = 4096; i < 6144; ++i) length[i] = i % 2 == 0 ? 3 : 1;
    for (const std::size_t i : {100, 101, 5119, 6999}) length[i] = 257;
    all.push_back(from_lengths<double>(length, 5000));
    all.push_back(rmat<double>(13, 9, 0.57, 0.19, 0.19, 1));
    for (auto* const A : {&all[2], &all[3]})
        for (std::size_t k = 0; k < A->val.size(); ++k) A->val[k] = 1 / (3 + double(k));
    return all;
}

TEST(packed, stores_tiles_and_gives_them_back) {
    for (const auto& A : rows_for_tiles()) {
        const auto P = packed<double, host>::from(view(A), with_tiles());
        EXPECT_GT(P.tiles, 0);
        for (const packed_chunk& c : P.chunks) EXPECT_LE(c.rows, most_tile_rows);
        const auto back = to_csr(view(P));
        EXPECT_EQ(back.row_ptr, A.row_ptr);
        EXPECT_EQ(back.col_ind, A.col_ind);
        EXPECT_EQ(back.val, A.val);
        EXPECT_EQ((packed<double, host>::from(view(A)).tiles), 0);
    }
    const auto one = tridiagonal<double>(5000, {1.0 / 3});  // values in a table
    EXPECT_EQ((packed<double, host>::from(view(one), with_tiles()).tiles), 0);
}

TEST(packed, makes_a_list_of_a_row_among_tiles_that_no_tile_holds) {
    std::vector<index> length(1024, 2);
    length[0] = length[500] = 300;
    for (std::size_t i = 0; i < length.size(); i += 16) length[i] += 30;
    const auto A = from_lengths<double>(length, 70'000);
    auto options = packed_options::suited_to(gpu{}, 6'000'000);
    options.tile_gain = 1;
    const auto P = packed<double, host>::from(view(A), options);
    std::vector<index> of_lists;
    for (const packed_chunk& c : P.chunks) {
        if (is_tile(c.kind)) continue;
        EXPECT_EQ(c.rows, 1);
        of_lists.push_back(c.first_row);
    }
    EXPECT_EQ(of_lists, (std::vector<index>{0, 500}));
    EXPECT_EQ(to_csr(view(P)).col_ind, A.col_ind);
}

/// Rows of 24 entries, and in the last of `windows` short ones, which tiles would suit.
csr<double, host> short_rows_at_the_end(index windows) {
    std::vector<index> length(std::size_t(windows) * packed_window, 24);
    for (std::size_t i = length.size() - packed_window; i < length.size(); ++i)
        length[i] = i % 40 == 0 ? 200 : 2;
    auto A = from_lengths<double>(length, 50'000);
    for (std::size_t k = 0; k < A.val.size(); ++k) A.val[k] = 1 / (3 + double(k));
    return A;
}

TEST(packed, makes_no_tiles_where_they_would_be_few) {
    const auto A = short_rows_at_the_end(30);
    packed_options options = with_tiles();
    EXPECT_GT((packed<double, host>::from(view(A), options).tiles), 0);
    EXPECT_GT(size_of_packed(view(A), options).tile_width, 0);
    options.tile_share = 1.0 / 16;
    const auto P = packed<double, host>::from(view(A), options);
    EXPECT_EQ(P.tiles, 0);
    EXPECT_EQ(to_csr(view(P)).col_ind, A.col_ind);
    const auto size = size_of_packed(view(A), options);
    options.tile_gain = HUGE_VAL;
    const auto without = packed<double, host>::from(view(A), options);
    EXPECT_EQ(P.scalars(P), without.scalars(without));
    EXPECT_TRUE(P.chunks == without.chunks);
    EXPECT_EQ(size.tile_width, 0);
    EXPECT_EQ(size.bytes, std::int64_t(bytes(P)));
}

TEST(packed, multiplies_tiles) {
    for (const auto& A : rows_for_tiles()) {
        const auto P = packed<double, host>::from(view(A), with_tiles());
        expect_right_products(cpu{2}, view(P), A);
    }
}

/// 20,000 rows of 12 entries, 240,000 in all, `step` columns apart within a row.
csr<double, host> rows_of_twelve(index cols, index step) {
    auto A = from_lengths<double>(std::vector<index>(20'000, 12), cols);
    for (index i = 0; i < A.shape.rows; ++i)
        for (index k = 0; k < 12; ++k)
            A.col_ind[12 * std::size_t(i) + std::size_t(k)] =
                (i * 97) % (cols - 12 * step) + k * step;
    return A;
}

TEST(packed, gives_rows_of_columns_far_apart_more_lanes_on_a_gpu) {
    const auto lanes = [](const csr<double, host>& A, const packed_options& o) {
        const auto P = packed<double, host>::from(view(A), o);
        EXPECT_EQ(size_of_packed(view(A), o).bytes, std::int64_t(bytes(P)));
        return 1 << P.chunks.front().log_lanes;
    };
    const auto far = rows_of_twelve(1'000'000, 70'000), near = rows_of_twelve(60'000, 4'000);
    auto o = packed_options::suited_to(gpu{}, std::ssize(far.val));
    EXPECT_EQ(lanes(far, o), 8);
    EXPECT_EQ(lanes(near, o), 2);
    o.few_chunks = 20'000 * 2 / 32;  // as many as there are
    EXPECT_EQ(lanes(far, o), 2);
    ++o.few_chunks;
    EXPECT_EQ(lanes(far, o), 8);
    EXPECT_EQ(packed_options::suited_to(cpu{2}, std::ssize(far.val)).few_chunks, 0);
    EXPECT_EQ(packed_options::suited_to(gpu{}, 100'000).few_chunks, 0) << "as soon as a launch";
}

TEST(packed, refuses_options_out_of_range) {
    const auto A = tridiagonal<double>(10, {1.0});
    const auto with = [&](auto change) {
        packed_options o;
        change(o);
        return packed<double, host>::from(view(A), o);
    };
    EXPECT_THROW(with([](auto& o) { o.lane_width = 0; }), argument_error);
    EXPECT_THROW(with([](auto& o) { o.few_chunks = -1; }), argument_error);
    EXPECT_THROW(with([](auto& o) { o.split = 31; }), argument_error);
    EXPECT_THROW(with([](auto& o) { o.most_diagonals = -1; }), argument_error);
    EXPECT_THROW(with([](auto& o) { o.diagonal_fill = 0; }), argument_error);
    EXPECT_THROW(with([](auto& o) { o.constant_fill = std::nan(""); }), argument_error);
    EXPECT_THROW(with([](auto& o) { o.sort_gain = -1; }), argument_error);
    EXPECT_THROW(with([](auto& o) { o.local_scope = -1; }), argument_error);
    EXPECT_THROW(with([](auto& o) { o.tile_gain = std::nan(""); }), argument_error);
    EXPECT_THROW(with([](auto& o) { o.tile_share = 1.5; }), argument_error);
    EXPECT_THROW(with([](auto& o) { o.pair_min_chunks = 0; }), argument_error);
    EXPECT_THROW(with([](auto& o) { o.quad_min_chunks = -1; }), argument_error);
    EXPECT_NO_THROW(with([](auto&) {}));
}

/// Uneven rows, each from column `step` times its number on.
csr<double, host> uneven_rows(index rows, index step) {
    std::vector<index> row, col;
    std::vector<double> val;
    for (index i = 0; i < rows; ++i)
        for (index k = 0; k < 2 + i * 7 % 13; ++k)
            row.push_back(i), col.push_back(step * i + 8 * k), val.push_back(1.0 + i + k);
    return assemble<double>({rows, step * rows + 128}, row, col, val);
}

/// Over the sorted chunks, the most rows from the first to behind the last.
index widest_scope(const packed<double, host>& P) {
    index widest = 0;
    for (const packed_chunk& c : P.chunks) {
        if (!c.sorted) continue;
        const auto [first, last] =
            std::minmax_element(P.perm.begin() + c.number, P.perm.begin() + c.number + c.rows);
        widest = std::max(widest, *last - *first + 1);
    }
    return widest;
}

TEST(packed, sorts_few_rows_together_where_l1_holds_only_their_x) {
    auto options = packed_options::suited_to(cpu{}, 20'000);
    const auto sorted = [&](index step) {
        const auto A = uneven_rows(3000, step);
        auto P = packed<double, host>::from(view(A), options);
        expect_right_products(cpu{2}, view(P), A);
        return P;
    };
    const auto within = widest_scope(sorted(4));  // 9 KB of x for 256 rows, 33 KB for a window
    EXPECT_GT(within, 0);
    EXPECT_LE(within, 256);
    EXPECT_GT(widest_scope(sorted(1)), 256);   // 9 KB of x for a window
    EXPECT_GT(widest_scope(sorted(16)), 256);  // 33 KB for 256 rows
    options.local_scope = 0;
    EXPECT_GT(widest_scope(sorted(4)), 256);
    EXPECT_EQ(packed_options::suited_to(gpu{}, 20'000).local_scope, 0);
}

class packed_on_gpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
    }
};

template <class V>
void expect_same_arrays(const packed<V, host>& got, const packed<V, host>& want) {
    EXPECT_EQ(got.scalars(got), want.scalars(want));
    EXPECT_TRUE(got.chunks == want.chunks);
    EXPECT_TRUE(got.perm == want.perm);
    EXPECT_TRUE(got.indices == want.indices);
    EXPECT_TRUE(got.val == want.val);
    ASSERT_EQ(got.table.size(), want.table.size());
    if (!want.table.empty()) {
        EXPECT_EQ(std::memcmp(got.table.data(), want.table.data(), want.table.size() * sizeof(V)),
                  0);
    }
}

template <class V>
void expect_the_same_on_the_gpu(const std::string& name, const csr<V, host>& A) {
    SCOPED_TRACE(name);
    const gpu_stream stream;
    const auto on_device = upload(stream, A);
    const auto options = packed_options::suited_to(gpu{}, std::int64_t(A.val.size()));
    expect_same_arrays(download(stream, pack(stream, view(on_device))),
                       packed<V, host>::from(view(A), options));
}

/// With 400 rows that are cut into two or three segments.
csr<double, host> many_long_rows() {
    return from_rule<double>(1500, 5000,
                             [](index i, index, double u) { return u > (i < 400 ? 0.8 : 0.998); });
}

TEST_F(packed_on_gpu, packs_as_the_cpu_does) {
    for (const auto& [name, bug, A] : zoo<double>()) expect_the_same_on_the_gpu(name, A);
    for (const auto& [name, bug, A] : zoo<float>()) expect_the_same_on_the_gpu(name, A);
    expect_the_same_on_the_gpu("plane", laplace2d<double>(300, 300));
    expect_the_same_on_the_gpu("space", laplace3d<float>(40, 50, 60));
    expect_the_same_on_the_gpu("many long rows", many_long_rows());
    expect_the_same_on_the_gpu("chunks in pair_min_chunks", laplace2d<double>(500, 401));
    expect_the_same_on_the_gpu("chunks in quad_min_chunks",
                               tridiagonal<float>(1'600'000, {1, 2, 1, -3}));
    expect_the_same_on_the_gpu("with values of their own",
                               tridiagonal<double>(1'600'000, numbers(5000, 1.0 / 3)));
    for (const int count : {1, 2, 255, 256, 257, 4096, 4097}) {
        const std::string name = std::to_string(count) + " values";
        expect_the_same_on_the_gpu(name, tridiagonal<double>(9000, numbers(count, 1.0 / 3)));
        expect_the_same_on_the_gpu(name, tridiagonal<double>(9000, numbers(count, 0.5)));
    }
    const std::uint64_t ones = ~std::uint64_t(0);
    double all_ones;
    std::memcpy(&all_ones, &ones, sizeof ones);
    expect_the_same_on_the_gpu("all ones", tridiagonal<double>(99, {all_ones, 2.0, -0.0, 0.0}));
    expect_the_same_on_the_gpu("far columns", rows_of_twelve(1'000'000, 70'000));
    expect_the_same_on_the_gpu("near columns", rows_of_twelve(60'000, 4'000));
}

TEST_F(packed_on_gpu, packs_a_transpose_by_what_its_matrix_was_seen_to_hold) {
    const auto expect_same = [](const std::string& name, const csr<double, host>& A) {
        SCOPED_TRACE(name);
        const gpu_stream stream;
        const auto given = upload(stream, A), of = transposed(stream, view(given));
        const auto known = analyse_for_packing(stream, view(given));
        const auto by_known = analyse_for_packing(
            stream, view(of), [] {}, known);
        expect_same_arrays(download(stream, pack(stream, *by_known)),
                           download(stream, pack(stream, view(of))));
    };
    for (const auto& [name, bug, A] : zoo<double>()) expect_same(name, A);
    expect_same("plane", laplace2d<double>(300, 300));
    expect_same("many long rows", many_long_rows());
    expect_same("4096 values", tridiagonal<double>(9000, numbers(4096, 1.0 / 3)));
    expect_same("4097 values", tridiagonal<double>(9000, numbers(4097, 1.0 / 3)));
    expect_same("floats", tridiagonal<double>(9000, numbers(5000, 0.5)));
}

/// Values that change in between tell when each layout was packed.
TEST_F(packed_on_gpu, hands_over_once_what_was_packed_ahead) {
    const gpu_stream stream;
    auto A = tridiagonal<double>(9000, numbers(5000, 1.0 / 3));
    const auto on_device = upload(stream, A);
    const auto before = download(stream, pack(stream, view(on_device)));
    const auto known = analyse_for_packing(stream, view(on_device));
    pack_ahead(stream, *known);
    for (double& v : A.val) v *= -0.7;  // as many distinct values, no floats either
    copy_to_device(stream, A.val.data(), on_device.val.data(), A.val.size() * sizeof(double));
    expect_same_arrays(download(stream, pack(stream, *known)), before);
    expect_same_arrays(download(stream, pack(stream, *known)),
                       download(stream, pack(stream, view(on_device))));
}

TEST_F(packed_on_gpu, packs_tiles_as_the_cpu_does) {
    const auto options = packed_options::suited_to(gpu{}, 6'000'000);
    ASSERT_LT(options.tile_gain, HUGE_VAL);
    for (const index cols : {40'000, 3'000'000}) {
        const auto A = uneven_rows<double>(2'500'003, 120, cols);
        ASSERT_GE(A.val.size(), 6'000'000U);
        ASSERT_GT((packed<double, host>::from(view(A), options).tiles), 0);
        expect_the_same_on_the_gpu("uneven rows", A);
    }
    std::vector<index> length(3'000'000, 1);
    for (std::size_t i = 0; i < length.size(); i += 97) length[i] = 100;
    for (std::size_t i = 0; i < length.size(); i += 5000) length[i] = 257 + index(i % 900);
    auto A = from_lengths<double>(length, 50'000);
    for (std::size_t k = 0; k < A.val.size(); ++k) A.val[k] = 1 / (3 + double(k));
    expect_the_same_on_the_gpu("rows that no tile holds", A);
    expect_the_same_on_the_gpu("tiles that would be few", short_rows_at_the_end(250));
    expect_the_same_on_the_gpu("uneven rows of floats",
                               uneven_rows<float>(2'500'003, 120, 1'000'000));
}

TEST_F(packed_on_gpu, multiplies_tiles) {
    const gpu_stream stream;
    for (const auto& A : rows_for_tiles()) {
        const auto P = upload(stream, packed<double, host>::from(view(A), with_tiles()));
        EXPECT_GT(P.tiles, 0);
        host_vector<std::byte> zeros;
        zeros.assign(packed_warp::scratch_bytes(stream, view(P)), std::byte{0});
        auto scratch = to_device<std::byte>(stream, zeros);
        gpu on = stream;
        on.scratch = device_out<std::byte>(scratch);
        expect_right_products(on, view(P), A);
    }
}

/// New values of the same pattern, where the old ones lie.
TEST_F(packed_on_gpu, refills_tiles) {
    const gpu_stream stream;
    auto A = uneven_rows<double>(2'500'003, 120, 40'000);
    const auto before = upload(stream, A);
    auto P = pack(stream, view(before));
    EXPECT_GT(P.tiles, 0);
    for (double& v : A.val) v = -3 * v;
    const auto changed = upload(stream, A);
    ASSERT_TRUE(refill(stream, view(changed), P));
    const auto back = to_csr(view(download(stream, P)));
    EXPECT_EQ(back.row_ptr, A.row_ptr);
    EXPECT_EQ(back.col_ind, A.col_ind);
    EXPECT_EQ(back.val, A.val);
}

template <class V>
void expect_the_same_product_in_twos_and_fours(const csr<V, host>& A) {
    const gpu_stream stream;
    host_vector<V> x(std::size_t(A.shape.cols), V(0));
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = V(1) / V(1 + k % 37);
    const auto x_on_device = to_device<V>(stream, x);
    std::vector<host_vector<V>> y;
    for (const index chunks : {1, 2, 4}) {
        const auto P = packed<V, host>::from(view(A), at_once(chunks));
        ASSERT_EQ(P.chunks_per_warp, chunks);
        const auto on_device = upload(stream, P);
        auto y_on_device = to_device<V>(stream, host_vector<V>(std::size_t(A.shape.rows), V(3)));
        if constexpr (has_cuda)
            spmv(stream, packed_warp{}, V(2), view(on_device), device_span<V>(x_on_device), V(-1),
                 device_out<V>(y_on_device));
        y.emplace_back(std::size_t(A.shape.rows));
        copy_to_host(stream, y_on_device.data(), y.back().data(), y.back().size() * sizeof(V));
    }
    EXPECT_EQ(y[1], y[0]);
    EXPECT_EQ(y[2], y[0]);
    const auto truth = reference_product<V>(transposition::plain, V(2), view(A), x, V(-1),
                                            host_vector<V>(std::size_t(A.shape.rows), V(3)));
    EXPECT_TRUE(compare<V>(y[0], truth).holds());
}

TEST_F(packed_on_gpu, multiplies_chunks_at_once_as_one_by_one) {
    for (const auto& A : stencils()) expect_the_same_product_in_twos_and_fours(A);
    expect_the_same_product_in_twos_and_fours(laplace3d<float>(33, 40, 30));
    expect_the_same_product_in_twos_and_fours(laplace2d<float>(1200, 1300));
}

TEST_F(packed_on_gpu, refuses_what_is_no_csr) {
    const gpu on{};
    const auto refused = [&](const csr<double, host>& A) {
        const auto on_device = upload(on, A);
        EXPECT_THROW((void)pack(on, view(on_device)), argument_error);
    };
    const host_vector<double> val{1, 2, 3};
    refused({{2, 3}, {0, 2, 9}, {0, 1, 2}, val});
    refused({{2, 3}, {0, 3, 2}, {0, 1, 2}, val});
    refused({{2, 3}, {0, 2, 3}, {1, 0, 2}, val});
    refused({{2, 3}, {0, 2, 3}, {0, 3, 2}, val});
    refused({{2, 3}, {0, 2, 3}, {-1, 1, 2}, val});
}

}  // namespace
}  // namespace nz::test
