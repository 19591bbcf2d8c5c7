#include "nonzero/formats/bsr/bsr_simd.hpp"

#include <bit>

#include "nonzero/formats/simd/simd.hpp"
#include "nonzero/formats/simd/vectors.hpp"

namespace nz {
#if defined(NZ_AVX512)
#define NZ_BLOCKS NZ_AVX512
namespace {

using lane_bits = __mmask8;

/// A row of a block, in four elements or eight; lanes outside the mask are 0.
template <int side, class V>
NZ_AVX512 NZ_ALWAYS_INLINE auto load_row(const V* p, lane_bits in) {
    if constexpr (side > 4) return avx512::load(p, in);
    if constexpr (side <= 4) return avx512::load4(p, in);
}

NZ_AVX512 NZ_ALWAYS_INLINE double total(__m256d v) {
    const __m128d two = _mm256_castpd256_pd128(v) + _mm256_extractf128_pd(v, 1);
    return _mm_cvtsd_f64(_mm_hadd_pd(two, two));
}
NZ_AVX512 NZ_ALWAYS_INLINE double total(__m512d v) {
    return total(_mm512_castpd512_pd256(v) + _mm512_extractf64x4_pd(v, 1));
}
NZ_AVX512 NZ_ALWAYS_INLINE float total(__m128 v) {
    const __m128 two = v + _mm_movehl_ps(v, v);
    return _mm_cvtss_f32(_mm_hadd_ps(two, two));
}
NZ_AVX512 NZ_ALWAYS_INLINE float total(__m256 v) {
    return total(_mm256_castps256_ps128(v) + _mm256_extractf128_ps(v, 1));
}

}  // namespace
#elif defined(NZ_NEON)
#define NZ_BLOCKS NZ_NEON
namespace {

using neon::doubles, neon::floats, neon::four_doubles;
using lane_bits = std::uint32_t;

/// The first n of two doubles, or of four floats, n < 0 being 0; the others are 0 and not read.
template <int n>
NZ_ALWAYS_INLINE float64x2_t load_first(const double* p) {
    if constexpr (n >= 2) return vld1q_f64(p);
    if constexpr (n == 1) return float64x2_t{*p, 0};
    return float64x2_t{};
}
template <int n>
NZ_ALWAYS_INLINE float32x4_t load_first(const float* p) {
    if constexpr (n >= 4) return vld1q_f32(p);
    if constexpr (n == 3) return float32x4_t{p[0], p[1], p[2], 0};
    if constexpr (n == 2) return vcombine_f32(vld1_f32(p), float32x2_t{});
    return float32x4_t{};
}
/// A row of a block, in four elements or eight.
template <int side>
NZ_ALWAYS_INLINE auto load_whole(const double* p) {
    const four_doubles low{load_first<side>(p), load_first<side - 2>(p + 2)};
    if constexpr (side <= 4) return low;
    if constexpr (side > 4)
        return doubles{low, {load_first<side - 4>(p + 4), load_first<side - 6>(p + 6)}};
}
template <int side>
NZ_ALWAYS_INLINE auto load_whole(const float* p) {
    if constexpr (side <= 4) return load_first<side>(p);
    if constexpr (side > 4) return floats{load_first<4>(p), load_first<side - 4>(p + 4)};
}
/// The same; lanes outside the mask are 0 and not read.
template <int side, class V>
NZ_ALWAYS_INLINE auto load_row(const V* p, lane_bits in) {
    if (in == (1U << side) - 1) return load_whole<side>(p);
    alignas(16) V some[8] = {};
    for (; in != 0; in &= in - 1) some[std::countr_zero(in)] = p[std::countr_zero(in)];
    return load_whole<(side > 4 ? 8 : 4)>(some);
}

NZ_ALWAYS_INLINE double total(four_doubles v) { return vaddvq_f64(v.low + v.high); }
NZ_ALWAYS_INLINE double total(doubles v) { return total(v.low + v.high); }
NZ_ALWAYS_INLINE float total(float32x4_t v) {
    return vaddv_f32(vget_low_f32(v) + vget_high_f32(v));
}
NZ_ALWAYS_INLINE float total(floats v) { return total(v.low + v.high); }

}  // namespace
#endif

#if defined(NZ_BLOCKS)
namespace {

/// Values of a matrix that streams from beyond the caches are prefetched this many bytes ahead.
constexpr std::size_t fetched_ahead = 2048;

/// Every row of a block is a vector, which keeps a sum for each of the block's columns.
template <int side, bool streaming, class V, class P>
NZ_BLOCKS void multiply_block_rows(const P* ptr, V alpha, const bsr<V, host_view>& A, const V* x,
                                   V beta, V* y, std::int64_t first, std::int64_t last) {
    using lanes = decltype(load_row<side>(x, 0));
    constexpr std::uint64_t row = (1U << side) - 1;
    constexpr std::uint64_t full = ~std::uint64_t(0) >> (64 - side * side);
    for (std::int64_t i = first; i < last; ++i) {
        lanes sums[side];
        NZ_UNROLL
        for (int r = 0; r < side; ++r) sums[r] = lanes{};
        for (auto b = std::size_t(ptr[i]); b < std::size_t(ptr[i + 1]); ++b) {
            const V* const val = A.val.data() + b * side * side;
            const V* const xs = x + std::int64_t(A.block_col_ind[b]) * side;
            const std::uint64_t stored = A.stored[b];
            if constexpr (streaming) prefetch_lines<side * side * sizeof(V), fetched_ahead>(val);
            if (stored == full) {
                const auto of_block = load_row<side>(xs, row);
                NZ_UNROLL
                for (int r = 0; r < side; ++r)
                    sums[r] += load_row<side>(val + r * side, row) * of_block;
                continue;
            }
            NZ_UNROLL
            for (int r = 0; r < side; ++r) {
                const auto in = lane_bits(stored >> r * side & row);
                sums[r] += load_row<side>(val + r * side, in) * load_row<side>(xs, in);
            }
        }
        NZ_UNROLL
        for (int r = 0; r < side; ++r)
            if (const std::int64_t k = i * side + r; k < A.shape.rows)
                y[k] = scaled(alpha, total(sums[r]), beta, y[k]);
    }
}

template <int side, class V, class P>
block_rows_loop<V, P> loop_of(const bsr<V, host_view>& A) {
    const bool streaming = A.val.size() * sizeof(V) >= out_of_cache_bytes;
    return streaming ? multiply_block_rows<side, true, V, P>
                     : multiply_block_rows<side, false, V, P>;
}

}  // namespace

bool has_simd_block_rows() {
#if defined(NZ_AVX512)
    static const bool has = has_avx512();
    return has;
#else
    return true;
#endif
}

template <class V, class P>
block_rows_loop<V, P> simd_block_rows_loop(const bsr<V, host_view>& A) {
    if (!has_simd_block_rows() || A.block_rows != A.block_cols) return nullptr;
    switch (A.block_rows) {
        case 2:
            return loop_of<2, V, P>(A);
        case 3:
            return loop_of<3, V, P>(A);
        case 4:
            return loop_of<4, V, P>(A);
        case 6:
            return loop_of<6, V, P>(A);
        case 8:
            return loop_of<8, V, P>(A);
        default:
            return nullptr;
    }
}
#else

bool has_simd_block_rows() { return false; }

template <class V, class P>
block_rows_loop<V, P> simd_block_rows_loop(const bsr<V, host_view>&) {
    return nullptr;
}
#endif

#define NZ_INSTANTIATE(V)                                                                     \
    template block_rows_loop<V, std::int32_t> simd_block_rows_loop(const bsr<V, host_view>&); \
    template block_rows_loop<V, std::int64_t> simd_block_rows_loop(const bsr<V, host_view>&);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
