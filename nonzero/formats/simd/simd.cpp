#include "nonzero/formats/simd/simd.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "nonzero/formats/panel.hpp"
#include "nonzero/formats/simd/vectors.hpp"

namespace nz {
#if defined(NZ_AVX512)

namespace {

NZ_AVX512 double sum_by_gathers(std::span<const index> col_ind, const double* x) {
    __m512d sums = _mm512_setzero_pd();
    for (std::size_t k = 0; k + simd_lanes <= col_ind.size(); k += simd_lanes) {
        const auto* const at = reinterpret_cast<const __m256i*>(&col_ind[k]);
        sums = _mm512_add_pd(sums, _mm512_i32gather_pd(_mm256_loadu_si256(at), x, sizeof *x));
    }
    return _mm512_reduce_add_pd(sums);
}
NZ_AVX512 double sum_by_loads(std::span<const index> col_ind, const double* x) {
    __m256d low = _mm256_setzero_pd(), high = _mm256_setzero_pd();
    for (std::size_t k = 0; k + simd_lanes <= col_ind.size(); k += simd_lanes) {
        low = _mm256_add_pd(low, avx2::gather4(&col_ind[k], x));
        high = _mm256_add_pd(high, avx2::gather4(&col_ind[k + 4], x));
    }
    return _mm_cvtsd_f64(_mm256_castpd256_pd128(_mm256_add_pd(low, high)));
}

/// Compares the least times of several runs on data in L1.
bool measure_whether_gathers_are_fast() {
    constexpr std::size_t entries = 2048, width = 1024;
    std::vector<index> col_ind(entries);
    for (std::size_t k = 0; k < entries; ++k) col_ind[k] = index(k * 389 % width);
    const std::vector<double> x(width, 1.0);
    std::array<double, 2> least{1e300, 1e300};
    volatile double seen = 0;  // so that the sums are computed
    for (int run = 0; run < 20; ++run)
        for (const std::size_t way : {0U, 1U}) {
            const auto start = std::chrono::steady_clock::now();
            seen = way == 0 ? sum_by_gathers(col_ind, x.data()) : sum_by_loads(col_ind, x.data());
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
            least[way] = std::min(least[way], took.count());
        }
    (void)seen;
    return least[0] < least[1];
}

}  // namespace

bool gathers_are_fast() {
    static const bool are = has_avx512() && measure_whether_gathers_are_fast();
    return are;
}

#endif
#if defined(NZ_LANES)
namespace {

// Panels of at most this many rows keep their sums in registers. In larger ones the sums stay in
// L1, and every stored column is walked for all rows: where columns are far apart, as in ELL, 32
// rows at a time are slower (docs/experiments/simd.md).
constexpr int narrow = 32;

// -- by eight lanes
// ---------------------------------------------------------------------------------

// A step of a register, with x put together from single loads; padding reads x[0], which is there
// where any entry is, and leaves its sum as it was.
#if defined(NZ_AVX2)
NZ_AVX2 __m256d step(__m256d sums, const index* col_ind, const double* val, const double* x) {
    const __m128i col = _mm_loadu_si128(reinterpret_cast<const __m128i*>(col_ind));
    const __m128i at = _mm_max_epi32(col, _mm_setzero_si128());
    const __m256d from = _mm256_set_pd(x[_mm_extract_epi32(at, 3)], x[_mm_extract_epi32(at, 2)],
                                       x[_mm_extract_epi32(at, 1)], x[_mm_cvtsi128_si32(at)]);
    const __m256d more = sums + _mm256_loadu_pd(val) * from;
    return _mm256_blendv_pd(more, sums, _mm256_castsi256_pd(_mm256_cvtepi32_epi64(col)));
}

NZ_AVX2 __m256 step(__m256 sums, const index* col_ind, const float* val, const float* x) {
    const __m256i col = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(col_ind));
    const __m256i at = _mm256_max_epi32(col, _mm256_setzero_si256());
    const __m256 from =
        _mm256_set_ps(x[_mm256_extract_epi32(at, 7)], x[_mm256_extract_epi32(at, 6)],
                      x[_mm256_extract_epi32(at, 5)], x[_mm256_extract_epi32(at, 4)],
                      x[_mm256_extract_epi32(at, 3)], x[_mm256_extract_epi32(at, 2)],
                      x[_mm256_extract_epi32(at, 1)], x[_mm256_extract_epi32(at, 0)]);
    const __m256 more = sums + _mm256_loadu_ps(val) * from;
    return _mm256_blendv_ps(more, sums, _mm256_castsi256_ps(col));
}
#else
float64x2_t step(float64x2_t sums, const index* col_ind, const double* val, const double* x) {
    const int32x2_t col = vld1_s32(col_ind), at = vmax_s32(col, vdup_n_s32(0));
    const float64x2_t from = neon::gather2(vget_lane_u64(vreinterpret_u64_s32(at), 0), x);
    const float64x2_t more = sums + vld1q_f64(val) * from;
    const uint64x2_t padding = vcltzq_s64(vmovl_s32(col));
    return vbslq_f64(padding, sums, more);
}

float32x4_t step(float32x4_t sums, const index* col_ind, const float* val, const float* x) {
    const int32x4_t col = vld1q_s32(col_ind), at = vmaxq_s32(col, vdupq_n_s32(0));
    const float32x4_t from = neon::gather4(vreinterpretq_u32_s32(at), x);
    const float32x4_t more = sums + vld1q_f32(val) * from;
    return vbslq_f32(vcltzq_s32(col), sums, more);
}
#endif

template <class V>
NZ_LANES void multiply_narrow_by_lanes(const panel<V>& A, const V* x, V* sums) {
    constexpr int held = lane_register_bytes / sizeof(V), parts = narrow / held;
    decltype(lanes::load_register(sums)) sum[parts];
    NZ_UNROLL
    for (int p = 0; p < parts; ++p) sum[p] = lanes::load_register(sums + p * held);
    const index* col_ind = A.col_ind;
    const V* val = A.val;
    for (std::int64_t k = 0; k < A.width; ++k, col_ind += A.pitch, val += A.pitch) {
        NZ_UNROLL
        for (int p = 0; p < parts; ++p)
            sum[p] = step(sum[p], col_ind + p * held, val + p * held, x);
    }
    NZ_UNROLL
    for (int p = 0; p < parts; ++p) lanes::store(sums + p * held, sum[p]);
}

template <class V>
NZ_LANES void multiply_panel_by_lanes(const panel<V>& A, const V* x, V* sums) {
    if (A.rows == narrow) return multiply_narrow_by_lanes(A, x, sums);
    constexpr int held = lane_register_bytes / sizeof(V);
    for (std::int64_t k = 0; k < A.width; ++k) {
        const index* const col_ind = A.col_ind + k * A.pitch;
        const V* const val = A.val + k * A.pitch;
        std::int64_t r = 0;
        for (; r + held <= A.rows; r += held)
            lanes::store(sums + r, step(lanes::load_register(sums + r), col_ind + r, val + r, x));
        for (; r < A.rows; ++r)
            if (col_ind[r] >= 0) sums[r] += val[r] * x[col_ind[r]];
    }
}

}  // namespace
#endif
#if defined(NZ_AVX512)
namespace {

/// Which lanes of a register of 64 bytes are in, as intrinsics want it; elsewhere it is unsigned.
template <class V>
using mask = std::conditional_t<sizeof(V) == 8, __mmask8, __mmask16>;
/// The first n of `lanes` lanes.
NZ_AVX512 unsigned first_lanes(std::int64_t n, int lanes) {
    return (1U << std::clamp<std::int64_t>(n, 0, lanes)) - 1;
}

// One step of each width: sums + val * x[col], of the entries in `in` whose column is no padding.
// The product is rounded before it is added, as it is everywhere else: no FMA, same bits.

NZ_AVX512 __m512d step(__m512d sums, const index* col_ind, const double* val, const double* x,
                       unsigned in) {
    const __m256i col = avx512::numbers(col_ind, __mmask8(in));
    const __mmask8 stored = _mm256_mask_cmpge_epi32_mask(__mmask8(in), col, _mm256_setzero_si256());
    return avx512::added(sums, stored,
                         avx512::load(val, stored) * avx512::gathered(x, col, stored));
}

NZ_AVX512 __m512 step(__m512 sums, const index* col_ind, const float* val, const float* x,
                      unsigned in) {
    const __m512i col = _mm512_maskz_loadu_epi32(__mmask16(in), col_ind);
    const __mmask16 stored =
        _mm512_mask_cmpge_epi32_mask(__mmask16(in), col, _mm512_setzero_si512());
    const __m512 from = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), stored, col, x, 4);
    return _mm512_mask_add_ps(sums, stored, sums, avx512::load(val, stored) * from);
}

// The same with x put together from single loads, where none of these entries is padding. An array
// may end behind the entries in `in`, so the columns are read only where all entries are in it.

NZ_AVX512 NZ_ALWAYS_INLINE bool none_is_padding(__m256i col) {
    return _mm256_movemask_ps(_mm256_castsi256_ps(col)) == 0;
}
NZ_AVX512 NZ_ALWAYS_INLINE __m256i load_columns(const index* col_ind) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(col_ind));
}
NZ_AVX512 NZ_ALWAYS_INLINE __m512d step_by_loads(__m512d sums, const index* col_ind,
                                                 const double* val, const double* x, unsigned in) {
    if (in != 0xff || !none_is_padding(load_columns(col_ind)))
        return step(sums, col_ind, val, x, in);
    const __m512d from = _mm512_insertf64x4(_mm512_castpd256_pd512(avx2::gather4(col_ind, x)),
                                            avx2::gather4(col_ind + 4, x), 1);
    return sums + _mm512_loadu_pd(val) * from;
}
NZ_AVX512 NZ_ALWAYS_INLINE bool none_of_16_is_padding(const index* col_ind) {
    return none_is_padding(
        _mm256_or_si256(load_columns(col_ind), load_columns(col_ind + simd_lanes)));
}
NZ_AVX512 NZ_ALWAYS_INLINE __m512 step_by_loads(__m512 sums, const index* col_ind, const float* val,
                                                const float* x, unsigned in) {
    if (in != 0xffff || !none_of_16_is_padding(col_ind)) return step(sums, col_ind, val, x, in);
    const __m512d low = _mm512_castpd256_pd512(_mm256_castps_pd(avx2::gather8(col_ind, x)));
    const __m512d from =
        _mm512_insertf64x4(low, _mm256_castps_pd(avx2::gather8(col_ind + simd_lanes, x)), 1);
    return sums + _mm512_loadu_ps(val) * _mm512_castpd_ps(from);
}
template <bool gathers, class S, class V>
NZ_AVX512 NZ_ALWAYS_INLINE S step_by(S sums, const index* col_ind, const V* val, const V* x,
                                     unsigned in) {
    if constexpr (gathers) return step(sums, col_ind, val, x, in);
    return step_by_loads(sums, col_ind, val, x, in);
}

/// `whole`: the panel has `narrow` rows, so no step needs to test for the last one.
template <bool gathers, bool whole, class V>
NZ_AVX512 void multiply_narrow_avx512(const panel<V>& A, const V* x, V* sums) {
    constexpr int lanes = 64 / sizeof(V), parts = narrow / lanes;
    decltype(avx512::load_register(sums)) sum[parts];
    unsigned in[parts];
    NZ_UNROLL
    for (int p = 0; p < parts; ++p) {
        in[p] = first_lanes(whole ? narrow : A.rows - p * lanes, lanes);
        sum[p] = avx512::load(sums + p * lanes, mask<V>(in[p]));
    }
    const index* col_ind = A.col_ind;
    const V* val = A.val;
    for (std::int64_t k = 0; k < A.width; ++k, col_ind += A.pitch, val += A.pitch) {
        NZ_UNROLL
        for (int p = 0; p < parts; ++p)
            sum[p] = step_by<gathers>(sum[p], col_ind + p * lanes, val + p * lanes, x, in[p]);
    }
    NZ_UNROLL
    for (int p = 0; p < parts; ++p) avx512::store(sums + p * lanes, sum[p], mask<V>(in[p]));
}

template <bool gathers, class V>
NZ_AVX512 void multiply_panel_avx512(const panel<V>& A, const V* x, V* sums) {
    if (A.rows == narrow) return multiply_narrow_avx512<gathers, true>(A, x, sums);
    if (A.rows < narrow) return multiply_narrow_avx512<gathers, false>(A, x, sums);
    constexpr int lanes = 64 / sizeof(V);
    constexpr unsigned every = (1U << lanes) - 1;
    for (std::int64_t k = 0; k < A.width; ++k) {
        const index* const col_ind = A.col_ind + k * A.pitch;
        const V* const val = A.val + k * A.pitch;
        std::int64_t r = 0;
        for (; r + lanes <= A.rows; r += lanes)
            avx512::store(sums + r, step_by<gathers>(avx512::load_register(sums + r), col_ind + r,
                                                     val + r, x, every));
        if (r == A.rows) continue;
        const unsigned rest = first_lanes(A.rows - r, lanes);
        const auto some = avx512::load(sums + r, mask<V>(rest));
        avx512::store(sums + r, step(some, col_ind + r, val + r, x, rest), mask<V>(rest));
    }
}

}  // namespace
#endif
namespace {

template <class V>
std::vector<panel_loop<V>> find_panel_loops() {
    std::vector<panel_loop<V>> loops;
#if defined(NZ_AVX512)
    if (has_avx512()) {
        loops = {multiply_panel_avx512<true, V>, multiply_panel_avx512<false, V>};
        if (!gathers_are_fast()) std::swap(loops[0], loops[1]);
    }
#endif
#if defined(NZ_LANES)
    if (has_lanes()) loops.push_back(multiply_panel_by_lanes<V>);
#endif
    return loops;
}

}  // namespace

template <class V>
std::span<const panel_loop<V>> simd_panel_loops() {
    static const std::vector<panel_loop<V>> loops = find_panel_loops<V>();
    return loops;
}

template std::span<const panel_loop<float>> simd_panel_loops();
template std::span<const panel_loop<double>> simd_panel_loops();

}  // namespace nz
