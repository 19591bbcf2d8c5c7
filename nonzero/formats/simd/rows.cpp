#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/formats/simd/simd.hpp"
#include "nonzero/formats/simd/vectors.hpp"

// Every loop here adds entry k of a row to sum k mod 8 and then the eight sums in one order,
// ((0 + 4) + (1 + 5)) + ((2 + 6) + (3 + 7)), whatever rows it takes together: the same bits however
// the rows are shared out. Compiled with -ffp-contract=off, so that no product is fused.

namespace nz {
#if defined(NZ_LANES)
namespace {

using lanes::add_last, lanes::first, lanes::halved, lanes::totals;

/// Prefetches what comes 256 entries later.
template <class V>
NZ_ALWAYS_INLINE void prefetch(const index* col_ind, const V* val) {
    constexpr std::size_t ahead = 256;
    __builtin_prefetch(reinterpret_cast<const char*>(val) + ahead * sizeof(V));
    __builtin_prefetch(reinterpret_cast<const char*>(col_ind) + ahead * sizeof(index));
}

// -- rows by eight lanes: one after the other, four stored together ------------------------------

/// sums + the products of eight entries.
template <class S, class V>
NZ_LANES NZ_ALWAYS_INLINE S add(S s, const index* col_ind, const V* val, const V* x) {
    return s + lanes::load(val) * lanes::gather8(col_ind, x);
}

template <bool streaming, class V, class P>
NZ_LANES NZ_ALWAYS_INLINE auto sums_of_row(const csr_rows<V, P>& A, std::int64_t i, const V* x) {
    const index* col_ind = A.col_ind + A.row_ptr[i];
    const V* val = A.val + A.row_ptr[i];
    auto n = std::int64_t(A.row_ptr[i + 1] - A.row_ptr[i]);
    if constexpr (streaming) prefetch(col_ind, val);
    auto s = lanes::spread(V(0));
    for (; n >= simd_lanes; n -= simd_lanes, col_ind += simd_lanes, val += simd_lanes) {
        if constexpr (streaming) prefetch(col_ind, val);
        s = add(s, col_ind, val, x);
    }
    if (n > 0) s = add_last(s, col_ind, val, x, int(n));
    return halved(s);
}

/// The rows [i, last).
template <bool streaming, class V, class P>
NZ_LANES __attribute__((noinline)) void multiply_each(const csr_rows<V, P>& A, std::int64_t i,
                                                      std::int64_t last, V alpha, const V* x,
                                                      V beta, V* y) {
    for (; i + 4 <= last; i += 4) {
        const auto a = sums_of_row<streaming>(A, i, x), b = sums_of_row<streaming>(A, i + 1, x);
        const auto c = sums_of_row<streaming>(A, i + 2, x), d = sums_of_row<streaming>(A, i + 3, x);
        write_scaled(alpha, totals(a, b, c, d), beta, y + i);
    }
    for (; i < last; ++i) {
        const auto a = sums_of_row<streaming>(A, i, x);
        y[i] = scaled(alpha, first(totals(a, a, a, a)), beta, y[i]);
    }
}

template <class V, class P>
NZ_LANES void multiply_rows_by_lanes(const csr_rows<V, P>& A, V alpha, const V* x, V beta, V* y) {
    if (A.streaming) return multiply_each<true>(A, A.first, A.last, alpha, x, beta, y);
    multiply_each<false>(A, A.first, A.last, alpha, x, beta, y);
}

}  // namespace
#endif
#if defined(NZ_AVX512)
namespace {

constexpr std::int64_t block_rows = 64;      // rows that AVX-512 takes together
constexpr std::int64_t block_entries = 512;  // their entries at most: 8 a row; 4 KB of L1

// -- rows with AVX-512 and gathers, the same way -------------------------------------------------

NZ_AVX512 NZ_ALWAYS_INLINE __m256d halved(__m512d s) {
    return _mm256_add_pd(_mm512_castpd512_pd256(s), _mm512_extractf64x4_pd(s, 1));
}

/// The products of those of eight entries that are in.
template <class V>
NZ_AVX512 NZ_ALWAYS_INLINE auto products_of(const index* col_ind, const V* val, const V* x,
                                            __mmask8 in) {
    return avx512::load(val, in) * avx512::gathered(x, avx512::numbers(col_ind, in), in);
}

template <bool streaming, class V, class P>
NZ_AVX512 NZ_ALWAYS_INLINE auto gathered_row(const csr_rows<V, P>& A, std::int64_t i, const V* x) {
    const index* col_ind = A.col_ind + A.row_ptr[i];
    const V* val = A.val + A.row_ptr[i];
    auto n = std::int64_t(A.row_ptr[i + 1] - A.row_ptr[i]);
    if constexpr (streaming) prefetch(col_ind, val);
    auto s = avx512::spread(V(0));
    for (; n >= simd_lanes; n -= simd_lanes, col_ind += simd_lanes, val += simd_lanes) {
        if constexpr (streaming) prefetch(col_ind, val);
        s = avx512::added(s, avx512::every_lane, products_of(col_ind, val, x, avx512::every_lane));
    }
    const auto in = __mmask8((1U << n) - 1);
    if (n > 0) s = avx512::added(s, in, products_of(col_ind, val, x, in));
    return halved(s);
}

/// The rows [i, last).
template <bool streaming, class V, class P>
NZ_AVX512 __attribute__((noinline)) void gather_each(const csr_rows<V, P>& A, std::int64_t i,
                                                     std::int64_t last, V alpha, const V* x, V beta,
                                                     V* y) {
    for (; i + 4 <= last; i += 4) {
        const auto a = gathered_row<streaming>(A, i, x), b = gathered_row<streaming>(A, i + 1, x);
        const auto c = gathered_row<streaming>(A, i + 2, x),
                   d = gathered_row<streaming>(A, i + 3, x);
        write_scaled(alpha, totals(a, b, c, d), beta, y + i);
    }
    for (; i < last; ++i) {
        const auto a = gathered_row<streaming>(A, i, x);
        y[i] = scaled(alpha, first(totals(a, a, a, a)), beta, y[i]);
    }
}

// -- short rows with AVX-512: first all products of a block, then its rows, without a branch -----
// A processor predicts the end of every row; in a matrix of short rows of different lengths it is
// wrong every few rows, and each miss delays the entries behind it.

/// Of n entries.
template <bool gathers, bool streaming, class V>
NZ_AVX512 NZ_ALWAYS_INLINE void write_all_products(const index* col_ind, const V* val, const V* x,
                                                   std::int64_t n, V* to) {
    std::int64_t k = 0;
    for (; k + simd_lanes <= n; k += simd_lanes) {
        if constexpr (streaming) prefetch(col_ind + k, val + k);
        if constexpr (gathers) {
            avx512::store(to + k, products_of(col_ind + k, val + k, x, avx512::every_lane));
        } else {
            avx2::store(to + k, avx2::load(val + k) * avx2::gather8(col_ind + k, x));
        }
    }
    for (; k < n; ++k) to[k] = val[k] * x[col_ind[k]];
}

/// The lengths of eight rows.
NZ_AVX512 NZ_ALWAYS_INLINE __m256i lengths(const std::int32_t* row_ptr) {
    return _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row_ptr + 1)),
                            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row_ptr)));
}
NZ_AVX512 NZ_ALWAYS_INLINE __m256i lengths(const std::int64_t* row_ptr) {
    return _mm512_cvtepi64_epi32(
        _mm512_sub_epi64(_mm512_loadu_si512(row_ptr + 1), _mm512_loadu_si512(row_ptr)));
}

/// A byte a row: which of its sums have an entry among the first eight.
NZ_AVX512 NZ_ALWAYS_INLINE std::uint64_t first_entries(__m256i length) {
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i n = _mm256_min_epi32(length, _mm256_set1_epi32(simd_lanes));
    const __m256i in = _mm256_sub_epi32(_mm256_sllv_epi32(one, n), one);
    return std::uint64_t(_mm_cvtsi128_si64(_mm256_cvtepi32_epi8(in)));
}

/// The halves of a and b added: four sums of a, then four of b.
NZ_AVX512 NZ_ALWAYS_INLINE __m512d halved(__m512d a, __m512d b) {
    return _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x44), _mm512_shuffle_f64x2(a, b, 0xee));
}
NZ_AVX512 NZ_ALWAYS_INLINE __m256 halved(__m256 a, __m256 b) {
    return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}
NZ_AVX512 NZ_ALWAYS_INLINE __m512d neighbours_added(__m512d a, __m512d b) {
    return _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
}

/// The sums of eight rows. Where every entry is a product of -0, a sum that began with 0 is 0, so
/// that is added to these, too.
NZ_AVX512 NZ_ALWAYS_INLINE __m512d totals(const __m512d* s) {
    const __m512d low = neighbours_added(halved(s[0], s[2]), halved(s[1], s[3]));
    const __m512d high = neighbours_added(halved(s[4], s[6]), halved(s[5], s[7]));
    const __m512d sums =
        _mm512_add_pd(_mm512_shuffle_f64x2(low, high, 0x88), _mm512_shuffle_f64x2(low, high, 0xdd));
    return _mm512_add_pd(sums, _mm512_setzero_pd());
}
NZ_AVX512 NZ_ALWAYS_INLINE __m256 totals(const __m256* s) {
    const __m256 sums = _mm256_hadd_ps(_mm256_hadd_ps(halved(s[0], s[4]), halved(s[1], s[5])),
                                       _mm256_hadd_ps(halved(s[2], s[6]), halved(s[3], s[7])));
    return _mm256_add_ps(sums, _mm256_setzero_ps());
}

/// Eight rows, whose products lie one after the other.
template <class V, class P>
NZ_AVX512 NZ_ALWAYS_INLINE void put_rows(const P* row_ptr, const V* products, V alpha, V beta,
                                         V* y) {
    const __m256i length = lengths(row_ptr);
    const std::uint64_t in = first_entries(length);
    decltype(avx512::load(products, avx512::every_lane)) sums[simd_lanes];
    NZ_UNROLL
    for (int r = 0; r < simd_lanes; ++r)
        sums[r] =
            avx512::load(products + (row_ptr[r] - row_ptr[0]), __mmask8(in >> simd_lanes * r));
    if (_mm256_cmpgt_epi32_mask(length, _mm256_set1_epi32(simd_lanes)) != 0) {
        NZ_UNROLL
        for (int r = 0; r < simd_lanes; ++r)
            for (P k = row_ptr[r] + simd_lanes; k < row_ptr[r + 1]; k += simd_lanes) {
                const auto left = unsigned(std::min<P>(row_ptr[r + 1] - k, simd_lanes));
                const auto rest = __mmask8((1U << left) - 1);
                sums[r] = avx512::added(sums[r], avx512::every_lane,
                                        avx512::load(products + (k - row_ptr[0]), rest));
            }
    }
    write_scaled(alpha, totals(sums), beta, y);
}

template <bool gathers, bool streaming, class V, class P>
NZ_AVX512 void multiply_blocks(const csr_rows<V, P>& A, V alpha, const V* x, V beta, V* y) {
    alignas(64) V products[block_entries + simd_lanes];  // loads reach behind the last row
    const auto is_short = [&](std::int64_t i) {
        return i + block_rows <= A.last &&
               A.row_ptr[i + block_rows] - A.row_ptr[i] <= block_entries;
    };
    for (std::int64_t i = A.first; i < A.last;) {
        if (is_short(i)) {
            const P k = A.row_ptr[i];
            write_all_products<gathers, streaming>(A.col_ind + k, A.val + k, x,
                                                   A.row_ptr[i + block_rows] - k, products);
            for (const std::int64_t last = i + block_rows; i < last; i += simd_lanes)
                put_rows(A.row_ptr + i, products + (A.row_ptr[i] - k), alpha, beta, y + i);
            continue;
        }
        std::int64_t last = i;
        while (last < A.last && !is_short(last)) last = std::min(last + block_rows, A.last);
        if constexpr (gathers) {
            gather_each<streaming>(A, i, last, alpha, x, beta, y);
        } else {
            multiply_each<streaming>(A, i, last, alpha, x, beta, y);
        }
        i = last;
    }
}

template <bool gathers, class V, class P>
NZ_AVX512 void multiply_rows_avx512(const csr_rows<V, P>& A, V alpha, const V* x, V beta, V* y) {
    if (A.streaming) return multiply_blocks<gathers, true>(A, alpha, x, beta, y);
    multiply_blocks<gathers, false>(A, alpha, x, beta, y);
}

}  // namespace
#endif
namespace {

template <class V, class P>
std::vector<rows_loop<V, P>> find_rows_loops() {
    std::vector<rows_loop<V, P>> loops;
#if defined(NZ_AVX512)
    if (has_avx512()) {
        loops = {multiply_rows_avx512<true, V, P>, multiply_rows_avx512<false, V, P>};
        if (!gathers_are_fast()) std::swap(loops[0], loops[1]);
    }
#endif
#if defined(NZ_LANES)
    if (has_lanes()) loops.push_back(multiply_rows_by_lanes<V, P>);
#endif
    return loops;
}

}  // namespace

template <class V, class P>
std::span<const rows_loop<V, P>> simd_rows_loops() {
    static const std::vector<rows_loop<V, P>> loops = find_rows_loops<V, P>();
    return loops;
}

template std::span<const rows_loop<float, std::int32_t>> simd_rows_loops();
template std::span<const rows_loop<float, std::int64_t>> simd_rows_loops();
template std::span<const rows_loop<double, std::int32_t>> simd_rows_loops();
template std::span<const rows_loop<double, std::int64_t>> simd_rows_loops();

}  // namespace nz
