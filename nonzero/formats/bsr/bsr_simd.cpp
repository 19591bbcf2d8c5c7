#include "nonzero/formats/bsr/bsr_simd.hpp"

#include "nonzero/formats/simd/simd.hpp"
#include "nonzero/formats/simd/vectors.hpp"

namespace nz {
#if defined(NZ_AVX512)
namespace {

/// A row of a block, of at most four elements or eight; lanes outside the mask are 0.
template <bool wide, class V>
NZ_AVX512 NZ_ALWAYS_INLINE auto load_row(const V* p, __mmask8 in) {
    if constexpr (wide) return avx512::load(p, in);
    if constexpr (!wide) return avx512::load4(p, in);
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

/// Values of a matrix that streams from beyond the caches are prefetched this many bytes ahead.
constexpr std::size_t fetched_ahead = 2048;

/// Every row of a block is a vector, which keeps a sum for each of the block's columns.
template <int side, bool streaming, class V, class P>
NZ_AVX512 void multiply_block_rows(const P* ptr, V alpha, const bsr<V, host_view>& A, const V* x,
                                   V beta, V* y, std::int64_t first, std::int64_t last) {
    constexpr bool wide = side > 4;
    using lanes = decltype(load_row<wide>(x, 0));
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
                const auto of_block = load_row<wide>(xs, row);
                NZ_UNROLL
                for (int r = 0; r < side; ++r)
                    sums[r] += load_row<wide>(val + r * side, row) * of_block;
                continue;
            }
            NZ_UNROLL
            for (int r = 0; r < side; ++r) {
                const auto in = __mmask8(stored >> r * side & row);
                sums[r] += load_row<wide>(val + r * side, in) * load_row<wide>(xs, in);
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
    static const bool has = has_avx512();
    return has;
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
