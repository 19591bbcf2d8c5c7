// Every loop of explicit SIMD that this machine can run, not only the fastest, beside the plain
// one.
#include "nonzero/formats/simd/simd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "nonzero/formats/bsr/bsr_simd.hpp"
#include "nonzero/formats/oracle.hpp"
#include "nonzero/formats/packed/spmv/simd.hpp"
#include "nonzero/formats/panel.hpp"
#include "nonzero/gen/generate.hpp"
#include "test/files.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <class V>
struct simd : testing::Test {};
using reals = testing::Types<float, double>;
TYPED_TEST_SUITE(simd, reals);

/// A panel of rows * width entries, every third of them padding; x that no padding may meet.
template <class V>
struct sample {
    std::int64_t rows, pitch, width;
    host_vector<index> col_ind;
    host_vector<V> val, x;

    sample(std::int64_t n, std::int64_t w) : rows(n), pitch(n + 3), width(w) {
        val = random_vector<V>(std::size_t(pitch * width), 1);
        x = random_vector<V>(101, 2);
        x[0] = std::numeric_limits<V>::infinity();
        col_ind.reserve(val.size());
        for (std::int64_t at = 0; at < pitch * width; ++at)
            col_ind.push_back(at % 3 == 1 ? index(-1) : index(1 + at * 7 % 100));
    }
    [[nodiscard]] panel<V> view() const { return {col_ind.data(), val.data(), rows, pitch, width}; }
};

TYPED_TEST(simd, every_panel_loop_gives_the_bits_of_the_plain_one) {
    using V = TypeParam;
    for (const std::int64_t rows : {0, 1, 3, 7, 8, 15, 16, 17, 31, 32, 33, 47, 64, 255, 256}) {
        for (const std::int64_t width : {0, 1, 2, 9}) {
            const sample<V> s(rows, width);
            const host_vector<V> before = random_vector<V>(std::size_t(rows) + 1, 3);
            host_vector<V> plain = before;
            multiply_panel_plainly(s.view(), s.x.data(), plain.data());
            EXPECT_EQ(plain.back(), before.back());
            for (const panel_loop<V> loop : simd_panel_loops<V>()) {
                host_vector<V> sums = before;  // the last one is a guard
                loop(s.view(), s.x.data(), sums.data());
                EXPECT_EQ(std::memcmp(sums.data(), plain.data(), sums.size() * sizeof(V)), 0)
                    << rows << " rows of " << width;
            }
        }
    }
}

/// Rows of 0 to 40 entries in a mixture, a long one, and many short ones at the end.
template <class V>
csr<V, host> mixed_rows() {
    std::vector<index> lengths;
    for (index i = 0; i < 300; ++i) lengths.push_back(i * 7 % 41);
    lengths.push_back(700);
    for (index i = 0; i < 300; ++i) lengths.push_back(i * i % 11);
    return from_lengths<V>(lengths, 1000);
}

/// The rows [0, rows) of y = 2 A x + beta y, in runs of `run` rows.
template <class V, class P>
host_vector<V> by_rows(rows_loop<V, P> loop, csr_rows<V, P> A, std::int64_t run, const V* x, V beta,
                       host_vector<V> y) {
    for (const std::int64_t rows = A.last; A.first < rows; A.first = A.last) {
        A.last = std::min(A.first + run, rows);
        loop(A, V(2), x, beta, y.data());
    }
    return y;
}

/// The rows of y = 2 A x + beta y, in the order that every loop adds in, on any machine.
template <class V>
host_vector<V> rows_in_order(const csr<V, host>& A, const V* x, V beta, host_vector<V> y) {
    for (index i = 0; i < A.shape.rows; ++i) {
        V s[8] = {};
        const auto first = std::size_t(A.row_ptr[std::size_t(i)]);
        for (std::size_t k = first; k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            s[(k - first) % 8] += A.val[k] * x[A.col_ind[k]];
        const V sum = ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
        y[std::size_t(i)] = scaled(V(2), sum, beta, y[std::size_t(i)]);
    }
    return y;
}

template <class V, class P>
void expect_same_bits_of_rows() {
    const auto A = mixed_rows<V>();
    const auto rows = std::int64_t(A.shape.rows);
    host_vector<P> row_ptr(std::size_t(rows) + 1);
    for (std::size_t i = 0; i < row_ptr.size(); ++i) row_ptr[i] = P(A.row_ptr[i]);
    const host_vector<V> x = random_vector<V>(1000, 4);
    host_vector<V> y = random_vector<V>(std::size_t(rows) + 1, 5);
    for (const V beta : {V(0), V(3)}) {
        if (beta == V(0)) y.assign(y.size(), std::numeric_limits<V>::quiet_NaN());
        const csr_rows<V, P> all{row_ptr.data(), A.col_ind.data(), A.val.data(), 0, rows, false};
        const bool any = !simd_rows_loops<V, P>().empty();
        auto first = any ? rows_in_order(A, x.data(), beta, y) : host_vector<V>();
        for (const rows_loop<V, P> loop : simd_rows_loops<V, P>())
            for (const bool streaming : {false, true})
                for (const std::int64_t run : {rows, std::int64_t(1), std::int64_t(67)}) {
                    csr_rows<V, P> some = all;
                    some.streaming = streaming;
                    const auto z = by_rows(loop, some, run, x.data(), beta, y);
                    EXPECT_EQ(std::memcmp(z.data(), first.data(), z.size() * sizeof(V)), 0)
                        << "in runs of " << run;
                }
        if (first.empty()) continue;
        first.pop_back();
        const std::span before(std::as_const(y).data(), std::size_t(rows));
        const reference r = reference_product<V>(transposition::plain, V(2), view(A), x, beta,
                                                 beta == V(0) ? std::span<const V>() : before);
        EXPECT_TRUE(compare<V>(first, r).holds());
        y = random_vector<V>(std::size_t(rows) + 1, 5);
    }
}

TYPED_TEST(simd, every_rows_loop_gives_the_same_bits_in_any_runs_and_keeps_the_bound) {
    expect_same_bits_of_rows<TypeParam, std::int32_t>();
    expect_same_bits_of_rows<TypeParam, std::int64_t>();
}

/// Entries that no row may meet lie behind it, and a product of -0 alone is 0 in every loop.
TYPED_TEST(simd, a_row_ends_where_it_ends) {
    using V = TypeParam;
    constexpr V infinity = std::numeric_limits<V>::infinity();
    host_vector<index> col_ind;
    host_vector<V> val;
    host_vector<std::int32_t> row_ptr{0};
    for (int i = 0; i < 128; ++i) {  // every other row is infinite
        for (int k = 0; k <= i % 9; ++k) col_ind.push_back(i % 2), val.push_back(V(0));
        row_ptr.push_back(std::int32_t(val.size()));
    }
    col_ind.shrink_to_fit(), val.shrink_to_fit(), row_ptr.shrink_to_fit();
    const host_vector<V> x{V(-1), infinity};
    for (const auto loop : simd_rows_loops<V, std::int32_t>())
        for (const std::int64_t run : {1, 128}) {
            const csr_rows<V, std::int32_t> A{row_ptr.data(), col_ind.data(), val.data(), 0, 128,
                                              false};
            const auto y = by_rows(loop, A, run, x.data(), V(0), host_vector<V>(128, infinity));
            for (std::size_t i = 0; i < 128; i += 2) {
                EXPECT_EQ(y[i], V(0)) << i;
                EXPECT_FALSE(std::signbit(y[i])) << i;
                EXPECT_TRUE(std::isnan(y[i + 1])) << i;
            }
        }
}

/// Where the place of lane l in step s of a chunk has its column; -1: nowhere.
std::int64_t column_of(const packed_chunk& c, const std::uint32_t* code, std::uint32_t s,
                       std::uint32_t l) {
    const std::size_t place = 32 * std::size_t(s) + l;
    if (c.kind == packed_chunk::delta16) {
        const auto column = reinterpret_cast<const std::uint16_t*>(code)[place];
        return column == 0xffff ? -1 : std::int64_t(c.base) + column;
    }
    if (c.kind == packed_chunk::delta32)
        return code[place] == ~0U ? -1 : std::int64_t(c.base) + code[place];
    const std::uint32_t* const word =
        code + std::size_t(s) * (c.kind == packed_chunk::constant_diagonals ? 4 : 2);
    return (word[1] >> l & 1) == 0 ? -1 : std::int64_t(c.first_row) + std::int32_t(word[0]) + l;
}

/// The sums of simd_chunk_loops, entry by entry.
template <value_encoding C, class V>
void add_entries(const packed_chunk& c, const std::uint32_t* code, decoder<C, V> value,
                 std::size_t at, const V* x, V* sums) {
    for (std::uint32_t s = 0; s < c.width; ++s)
        for (std::uint32_t l = 0; l < 32; ++l) {
            const std::int64_t column = column_of(c, code, s, l);
            if (column < 0) continue;
            V v;
            if (c.kind == packed_chunk::constant_diagonals) {
                std::memcpy(&v, code + 4 * s + 2, sizeof v);
            } else {
                v = value[at + 32 * s + l];
            }
            const volatile V term = v * x[column];  // rounded before it is added
            sums[l] += term;
        }
}

using kinds_and_encodings = std::set<std::pair<int, int>>;

template <class V>
void expect_same_bits_of_chunks(const csr<V, host>& A, kinds_and_encodings& met) {
    const auto P = packed<V, host>::from(view(A), {});
    const auto x = random_vector<V>(std::size_t(A.shape.cols), 6);
    with_decoder(view(P), [&]<value_encoding C>(decoder<C, V> value) {
        for (const packed_chunk& c : P.chunks) {
            const std::uint32_t* const code =
                P.indices.data() + std::size_t(c.index_at) * packed_index_unit;
            const std::size_t at = std::size_t(c.val_at) * packed_value_unit;
            host_vector<V> plain(32, V(0));
            add_entries(c, code, value, at, x.data(), plain.data());
            for (const bool streaming : {false, true})
                for (const auto loop : simd_chunk_loops<V>(C, streaming)) {
                    auto sums = random_vector<V>(32, 7);
                    loop(view(P), c, x.data(), sums.data());
                    ASSERT_TRUE(same_bits<V>(sums, plain)) << int(c.kind) << " " << int(C);
                }
            met.emplace(int(c.kind), int(C));
        }
    });
}

/// `distinct` values, again and again: halves, or no floats.
template <class V>
host_vector<V> recurring_values(std::size_t n, std::size_t distinct, double step) {
    host_vector<V> val(n);
    for (std::size_t k = 0; k < n; ++k) val[k] = V(double(k % distinct) * step);
    return val;
}

TYPED_TEST(simd, every_chunk_loop_gives_the_bits_of_its_entries) {
    using V = TypeParam;
    if (simd_chunk_loops<V>(value_encoding::none, false).empty()) GTEST_SKIP() << "no SIMD here";
    kinds_and_encodings met;
    for (auto A : {laplace2d<V>(30, 70), from_lengths<V>(std::vector<index>(300, 11), 3000),
                   from_lengths<V>(std::vector<index>(200, 31), 200000)}) {
        const std::size_t n = A.val.size();
        expect_same_bits_of_chunks(A, met);
        for (const std::size_t distinct : {1, 7, 8, 9, 16, 17, 32, 33, 200, 300, 5000}) {
            A.val = recurring_values<V>(n, distinct, 0.5);
            expect_same_bits_of_chunks(A, met);
        }
        A.val = random_vector<V>(n, 8);
        expect_same_bits_of_chunks(A, met);
    }
    // All five codings of columns near and far, all but constants by diagonals, which shared ones
    // are, and these two. Floats have no codes of 16 bits and nothing narrower.
    EXPECT_EQ(met.size(), sizeof(V) == 8 ? 16U : 10U);
}

/// y = 2 A x + beta y, `run` rows of blocks at a time.
template <class V, class P>
host_vector<V> by_block_rows(block_rows_loop<V, P> loop, const bsr<V, host>& A, std::int64_t run,
                             const V* x, V beta, host_vector<V> y) {
    host_vector<P> ptr;
    for (std::size_t i = 0; i < A.block_row_ptr.size(); ++i) ptr.push_back(P(A.block_row_ptr[i]));
    const std::int64_t block_rows = piece_count(view(A));
    for (std::int64_t i = 0; i < block_rows; i += run)
        loop(ptr.data(), V(2), view(A), x, beta, y.data(), i, std::min(i + run, block_rows));
    return y;
}

/// The same in the order that the loop adds in, on any machine: a sum for each column of a block.
template <class V>
host_vector<V> blocks_in_order(const bsr<V, host>& A, const V* x, V beta, host_vector<V> y) {
    const auto side = std::size_t(A.block_rows);
    for (std::size_t i = 0; i < y.size(); ++i) {
        V s[8] = {};
        const std::size_t row = i / side, r = i % side;
        for (auto b = std::size_t(A.block_row_ptr[row]); b < std::size_t(A.block_row_ptr[row + 1]);
             ++b)
            for (std::size_t c = 0; c < side; ++c)
                if (A.stored[b] >> (r * side + c) & 1)
                    s[c] += A.val[(b * side + r) * side + c] *
                            x[std::size_t(A.block_col_ind[b]) * side + c];
        if (side > 4)
            for (std::size_t c = 0; c < 4; ++c) s[c] += s[c + 4];
        y[i] = scaled(V(2), (s[0] + s[2]) + (s[1] + s[3]), beta, y[i]);
    }
    return y;
}

/// Full blocks and others, some of them at the edges; column 5 has no entry, and x is infinite
/// there.
template <class V, class P>
void expect_block_rows_keep_the_bound(index side, std::uint32_t density) {
    const auto A = from_rule<V>(101, 103, [&](index i, index j, double u) {
        const auto block = std::uint32_t(i / side * 31 + j / side * 17);
        return j != 5 && (block % 5 == 0 || (block % 5 == 1 && u * 10 < density));
    });
    const auto blocks = bsr<V, host>::from(view(A), side, side);
    const auto loop = simd_block_rows_loop<V, P>(view(blocks));
    ASSERT_NE(loop, nullptr);
    host_vector<V> x = random_vector<V>(103, 4);
    const auto finite = x;
    x[5] = std::numeric_limits<V>::infinity();
    for (const V beta : {V(0), V(3)}) {
        host_vector<V> y = random_vector<V>(101, 5);
        const reference r = reference_product<V>(transposition::plain, V(2), view(A), finite, beta,
                                                 std::span<const V>(y));
        if (beta == V(0)) y.assign(101, std::numeric_limits<V>::quiet_NaN());
        const auto at_once = by_block_rows(loop, blocks, 101, x.data(), beta, y);
        EXPECT_TRUE(compare<V>(at_once, r).holds());
        EXPECT_TRUE(same_bits<V>(by_block_rows(loop, blocks, 1, x.data(), beta, y), at_once));
        EXPECT_TRUE(same_bits<V>(blocks_in_order(blocks, x.data(), beta, y), at_once));
    }
}

TYPED_TEST(simd, block_rows_keep_the_bound_and_have_the_same_bits_in_any_runs) {
    if (!has_simd_block_rows()) GTEST_SKIP() << "no AVX-512 or NEON here";
    for (const index side : {2, 3, 4, 6, 8})
        for (const std::uint32_t density : {0U, 5U, 10U}) {
            SCOPED_TRACE("side " + std::to_string(side));
            expect_block_rows_keep_the_bound<TypeParam, std::int32_t>(side, density);
            expect_block_rows_keep_the_bound<TypeParam, std::int64_t>(side, density);
        }
    const bsr<TypeParam, host> oblong{{4, 4}, 2, 4, {}, {}, {}, {}};
    EXPECT_EQ((simd_block_rows_loop<TypeParam, std::int32_t>(view(oblong))), nullptr);
}

}  // namespace
}  // namespace nz::test
