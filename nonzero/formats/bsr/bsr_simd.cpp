#include "nonzero/formats/bsr/bsr_simd.hpp"

#include "nonzero/formats/simd/loads.hpp"
#include "nonzero/formats/simd/simd.hpp"

namespace nz {
#if defined(NZ_AVX512)
namespace {

/// A row of a block as a vector; lanes outside the mask are 0.
template <class V, bool wide>
struct row_lanes;
template <>
struct row_lanes<double, false> {
    using vector = __m256d;
    NZ_AVX512 NZ_ALWAYS_INLINE static vector zero() { return _mm256_setzero_pd(); }
    NZ_AVX512 NZ_ALWAYS_INLINE static vector load(const double* p, __mmask8 in) {
        return _mm256_maskz_loadu_pd(in, p);
    }
    NZ_AVX512 NZ_ALWAYS_INLINE static vector add(vector sums, vector a, vector b) {
        return _mm256_add_pd(sums, _mm256_mul_pd(a, b));
    }
    NZ_AVX512 NZ_ALWAYS_INLINE static double total(vector v) {
        const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
        return _mm_cvtsd_f64(_mm_hadd_pd(two, two));
    }
};
template <>
struct row_lanes<float, false> {
    using vector = __m128;
    NZ_AVX512 NZ_ALWAYS_INLINE static vector zero() { return _mm_setzero_ps(); }
    NZ_AVX512 NZ_ALWAYS_INLINE static vector load(const float* p, __mmask8 in) {
        return _mm_maskz_loadu_ps(in, p);
    }
    NZ_AVX512 NZ_ALWAYS_INLINE static vector add(vector sums, vector a, vector b) {
        return _mm_add_ps(sums, _mm_mul_ps(a, b));
    }
    NZ_AVX512 NZ_ALWAYS_INLINE static float total(vector v) {
        const __m128 two = _mm_add_ps(v, _mm_movehl_ps(v, v));
        return _mm_cvtss_f32(_mm_hadd_ps(two, two));
    }
};
template <>
struct row_lanes<double, true> {
    using vector = __m512d;
    NZ_AVX512 NZ_ALWAYS_INLINE static vector zero() { return _mm512_setzero_pd(); }
    NZ_AVX512 NZ_ALWAYS_INLINE static vector load(const double* p, __mmask8 in) {
        return _mm512_maskz_loadu_pd(in, p);
    }
    NZ_AVX512 NZ_ALWAYS_INLINE static vector add(vector sums, vector a, vector b) {
        return _mm512_add_pd(sums, _mm512_mul_pd(a, b));
    }
    NZ_AVX512 NZ_ALWAYS_INLINE static double total(vector v) {
        return row_lanes<double, false>::total(
            _mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1)));
    }
};
template <>
struct row_lanes<float, true> {
    using vector = __m256;
    NZ_AVX512 NZ_ALWAYS_INLINE static vector zero() { return _mm256_setzero_ps(); }
    NZ_AVX512 NZ_ALWAYS_INLINE static vector load(const float* p, __mmask8 in) {
        return _mm256_maskz_loadu_ps(in, p);
    }
    NZ_AVX512 NZ_ALWAYS_INLINE static vector add(vector sums, vector a, vector b) {
        return _mm256_add_ps(sums, _mm256_mul_ps(a, b));
    }
    NZ_AVX512 NZ_ALWAYS_INLINE static float total(vector v) {
        return row_lanes<float, false>::total(
            _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1)));
    }
};

/// Values of a matrix that streams from beyond the caches are prefetched this many bytes ahead.
constexpr std::size_t fetched_ahead = 2048;

/// Every row of a block is a vector, which keeps a sum for each of the block's columns.
template <int side, bool streaming, class V, class P>
NZ_AVX512 void multiply_block_rows(const P* ptr, V alpha, const bsr<V, host_view>& A, const V* x,
                                   V beta, V* y, std::int64_t first, std::int64_t last) {
    using lanes = row_lanes<V, (side > 4)>;
    constexpr std::uint64_t row = (1U << side) - 1;
    constexpr std::uint64_t full = ~std::uint64_t(0) >> (64 - side * side);
    for (std::int64_t i = first; i < last; ++i) {
        typename lanes::vector sums[side];
        NZ_UNROLL
        for (int r = 0; r < side; ++r) sums[r] = lanes::zero();
        for (auto b = std::size_t(ptr[i]); b < std::size_t(ptr[i + 1]); ++b) {
            const V* const val = A.val.data() + b * side * side;
            const V* const xs = x + std::int64_t(A.block_col_ind[b]) * side;
            const std::uint64_t stored = A.stored[b];
            if constexpr (streaming) prefetch_lines<side * side * sizeof(V), fetched_ahead>(val);
            if (stored == full) {
                const auto of_block = lanes::load(xs, row);
                NZ_UNROLL
                for (int r = 0; r < side; ++r)
                    sums[r] = lanes::add(sums[r], lanes::load(val + r * side, row), of_block);
                continue;
            }
            NZ_UNROLL
            for (int r = 0; r < side; ++r) {
                const auto in = __mmask8(stored >> r * side & row);
                sums[r] = lanes::add(sums[r], lanes::load(val + r * side, in), lanes::load(xs, in));
            }
        }
        NZ_UNROLL
        for (int r = 0; r < side; ++r)
            if (const std::int64_t k = i * side + r; k < A.shape.rows)
                y[k] = scaled(alpha, lanes::total(sums[r]), beta, y[k]);
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
