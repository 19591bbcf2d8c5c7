// The eight lanes of vectors.hpp in NEON: four registers of doubles, two of floats. Elements of x
// and entries that are missing are read one by one, as NEON has neither gathers nor masked loads.
#pragma once

#include <arm_neon.h>

#include <bit>
#include <cstdint>

#include "nonzero/core/space.hpp"
#include "nonzero/formats/simd/targets.hpp"

namespace nz {
namespace neon {

/// Four doubles, and eight. Four floats are a float32x4_t.
struct four_doubles {
    float64x2_t low, high;
    NZ_ALWAYS_INLINE friend four_doubles operator+(four_doubles a, four_doubles b) {
        return {a.low + b.low, a.high + b.high};
    }
    NZ_ALWAYS_INLINE friend four_doubles operator*(double a, four_doubles b) {
        return {a * b.low, a * b.high};
    }
    NZ_ALWAYS_INLINE friend four_doubles operator*(four_doubles a, four_doubles b) {
        return {a.low * b.low, a.high * b.high};
    }
    NZ_ALWAYS_INLINE void operator+=(four_doubles more) { *this = *this + more; }
};
struct doubles {
    four_doubles low, high;
    NZ_ALWAYS_INLINE friend doubles operator+(doubles a, doubles b) {
        return {a.low + b.low, a.high + b.high};
    }
    NZ_ALWAYS_INLINE friend doubles operator*(doubles a, doubles b) {
        return {a.low * b.low, a.high * b.high};
    }
    NZ_ALWAYS_INLINE void operator+=(doubles more) { *this = *this + more; }
};
struct floats {
    float32x4_t low, high;
    NZ_ALWAYS_INLINE friend floats operator+(floats a, floats b) {
        return {a.low + b.low, a.high + b.high};
    }
    NZ_ALWAYS_INLINE friend floats operator*(floats a, floats b) {
        return {a.low * b.low, a.high * b.high};
    }
    NZ_ALWAYS_INLINE void operator+=(floats more) { *this = *this + more; }
};

/// As many as a register has.
NZ_ALWAYS_INLINE float64x2_t load_register(const double* p) { return vld1q_f64(p); }
NZ_ALWAYS_INLINE float32x4_t load_register(const float* p) { return vld1q_f32(p); }
NZ_ALWAYS_INLINE four_doubles load4(const double* p) {
    return {load_register(p), load_register(p + 2)};
}
NZ_ALWAYS_INLINE float32x4_t load4(const float* p) { return load_register(p); }
NZ_ALWAYS_INLINE doubles load(const double* p) { return {load4(p), load4(p + 4)}; }
NZ_ALWAYS_INLINE floats load(const float* p) { return {load4(p), load4(p + 4)}; }
NZ_ALWAYS_INLINE void store(double* p, float64x2_t v) { vst1q_f64(p, v); }
NZ_ALWAYS_INLINE void store(float* p, float32x4_t v) { vst1q_f32(p, v); }
NZ_ALWAYS_INLINE void store(double* p, doubles v) {
    store(p, v.low.low), store(p + 2, v.low.high);
    store(p + 4, v.high.low), store(p + 6, v.high.high);
}
NZ_ALWAYS_INLINE void store(float* p, floats v) { store(p, v.low), store(p + 4, v.high); }
// Overloads for write_scaled, beside those of targets.hpp: without memory between registers.
NZ_ALWAYS_INLINE void read(const double* from, four_doubles& to) { to = load4(from); }
NZ_ALWAYS_INLINE void write(const four_doubles& from, double* to) {
    store(to, from.low), store(to + 2, from.high);
}
NZ_ALWAYS_INLINE doubles spread(double v) {
    const four_doubles four{vdupq_n_f64(v), vdupq_n_f64(v)};
    return {four, four};
}
NZ_ALWAYS_INLINE floats spread(float v) { return {vdupq_n_f32(v), vdupq_n_f32(v)}; }

/// Eight words: numbers of elements, or 32 ones for each lane that is in and zeros elsewhere.
struct words {
    uint32x4_t low, high;
};
NZ_ALWAYS_INLINE float64x2_t keep(float64x2_t v, uint32x2_t in) {
    const int64x2_t wide = vmovl_s32(vreinterpret_s32_u32(in));
    return vreinterpretq_f64_s64(vandq_s64(vreinterpretq_s64_f64(v), wide));
}
NZ_ALWAYS_INLINE float32x4_t keep(float32x4_t v, uint32x4_t in) {
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(v), in));
}
NZ_ALWAYS_INLINE four_doubles keep(four_doubles v, uint32x4_t in) {
    return {keep(v.low, vget_low_u32(in)), keep(v.high, vget_high_u32(in))};
}
/// The lanes that are in; the others become 0.
NZ_ALWAYS_INLINE doubles keep(doubles v, words in) {
    return {keep(v.low, in.low), keep(v.high, in.high)};
}
NZ_ALWAYS_INLINE floats keep(floats v, words in) {
    return {keep(v.low, in.low), keep(v.high, in.high)};
}
/// The lanes whose bit is set.
NZ_ALWAYS_INLINE words lanes_of(std::uint32_t bits) {
    const uint32x4_t low = {1, 2, 4, 8}, high = {16, 32, 64, 128}, all = vdupq_n_u32(bits);
    return {vtstq_u32(all, low), vtstq_u32(all, high)};
}

// gatherN: N elements of x as one vector, by single loads. Their numbers are read by loads of 64
// bits, which spares a load for every two entries, or four.

NZ_ALWAYS_INLINE float64x2_t gather2(const double* a, const double* b) {
    return vld1q_lane_f64(b, vld1q_dup_f64(a), 1);
}
NZ_ALWAYS_INLINE float64x2_t gather2(std::uint64_t columns, const double* x) {
    return gather2(x + std::uint32_t(columns), x + (columns >> 32));
}
NZ_ALWAYS_INLINE float32x4_t gather4(const float* a, const float* b, const float* c,
                                     const float* d) {
    const float32x4_t two = vld1q_lane_f32(b, vld1q_dup_f32(a), 1);
    return vld1q_lane_f32(d, vld1q_lane_f32(c, two, 2), 3);
}
NZ_ALWAYS_INLINE four_doubles gather4(std::uint64_t low, std::uint64_t high, const double* x) {
    return {gather2(low, x), gather2(high, x)};
}
NZ_ALWAYS_INLINE float32x4_t gather4(std::uint64_t low, std::uint64_t high, const float* x) {
    return gather4(x + std::uint32_t(low), x + (low >> 32), x + std::uint32_t(high),
                   x + (high >> 32));
}
/// By four numbers of 32 bits in a vector.
template <class V>
NZ_ALWAYS_INLINE auto gather4(uint32x4_t at, const V* x) {
    const uint64x2_t two = vreinterpretq_u64_u32(at);
    return gather4(vgetq_lane_u64(two, 0), vgetq_lane_u64(two, 1), x);
}
NZ_ALWAYS_INLINE doubles gather8(const index* at, const double* x) {
    return {gather4(word_at(at), word_at(at + 2), x), gather4(word_at(at + 4), word_at(at + 6), x)};
}
NZ_ALWAYS_INLINE floats gather8(const index* at, const float* x) {
    return {gather4(word_at(at), word_at(at + 2), x), gather4(word_at(at + 4), word_at(at + 6), x)};
}
/// By four numbers of 16 bits in a word.
NZ_ALWAYS_INLINE four_doubles gather4(std::uint64_t word, const double* x) {
    return {gather2(x + (word & 0xffff), x + (word >> 16 & 0xffff)),
            gather2(x + (word >> 32 & 0xffff), x + (word >> 48))};
}
NZ_ALWAYS_INLINE float32x4_t gather4(std::uint64_t word, const float* x) {
    return gather4(x + (word & 0xffff), x + (word >> 16 & 0xffff), x + (word >> 32 & 0xffff),
                   x + (word >> 48));
}
NZ_ALWAYS_INLINE doubles gather8(std::uint64_t low, std::uint64_t high, const double* x) {
    return {gather4(low, x), gather4(high, x)};
}
NZ_ALWAYS_INLINE floats gather8(std::uint64_t low, std::uint64_t high, const float* x) {
    return {gather4(low, x), gather4(high, x)};
}
/// By eight numbers of 8 bits in a word.
NZ_ALWAYS_INLINE doubles gather8(std::uint64_t bytes, const double* x) {
    const auto at = [=](int k) { return x + (bytes >> 8 * k & 0xff); };
    return {{gather2(at(0), at(1)), gather2(at(2), at(3))},
            {gather2(at(4), at(5)), gather2(at(6), x + (bytes >> 56))}};
}
NZ_ALWAYS_INLINE floats gather8(std::uint64_t bytes, const float* x) {
    const auto at = [=](int k) { return x + (bytes >> 8 * k & 0xff); };
    return {gather4(at(0), at(1), at(2), at(3)), gather4(at(4), at(5), at(6), x + (bytes >> 56))};
}
NZ_ALWAYS_INLINE doubles gather8(words at, const double* x) {
    return {gather4(at.low, x), gather4(at.high, x)};
}
NZ_ALWAYS_INLINE floats gather8(words at, const float* x) {
    return {gather4(at.low, x), gather4(at.high, x)};
}

/// Eight x side by side, read where the bit is set; elsewhere one that is. Some bit is set.
template <class V>
NZ_ALWAYS_INLINE auto load_some(const V* x, std::uint32_t bits, words in) {
    const uint32x4_t low = {0, 1, 2, 3}, high = {4, 5, 6, 7};
    const uint32x4_t first = vdupq_n_u32(std::uint32_t(std::countr_zero(bits)));
    return gather8({vbslq_u32(in.low, low, first), vbslq_u32(in.high, high, first)}, x);
}

/// Eight floats as elements of the second argument's type.
NZ_ALWAYS_INLINE four_doubles widened(float32x4_t v) {
    return {vcvt_f64_f32(vget_low_f32(v)), vcvt_high_f64_f32(v)};
}
NZ_ALWAYS_INLINE doubles widened(const float* p, double) {
    return {widened(load4(p)), widened(load4(p + 4))};
}
NZ_ALWAYS_INLINE floats widened(const float* p, float) { return load(p); }

// sums + val * x[column] for eight lanes, but for those whose column is all ones: padding. They
// must not read x, which need not be finite.

template <class S>
NZ_ALWAYS_INLINE S add_padded(S sums, uint32x4_t low, uint32x4_t high, words padding, const auto* x,
                              S val) {
    const words some{vbicq_u32(low, padding.low), vbicq_u32(high, padding.high)};
    return sums + keep(val * gather8(some, x), {vmvnq_u32(padding.low), vmvnq_u32(padding.high)});
}
template <class S>
NZ_ALWAYS_INLINE S add_listed(S sums, const std::uint16_t* column, const auto* x, S val) {
    const uint16x8_t columns = vld1q_u16(column);
    if (vmaxvq_u16(columns) != 0xffff)
        return sums + val * gather8(word_at(column), word_at(column + 4), x);
    const int16x8_t padding = vreinterpretq_s16_u16(vceqq_u16(columns, vdupq_n_u16(0xffff)));
    return add_padded(sums, vmovl_u16(vget_low_u16(columns)), vmovl_high_u16(columns),
                      {vreinterpretq_u32_s32(vmovl_s16(vget_low_s16(padding))),
                       vreinterpretq_u32_s32(vmovl_high_s16(padding))},
                      x, val);
}
template <class S>
NZ_ALWAYS_INLINE S add_listed(S sums, const std::uint32_t* column, const auto* x, S val) {
    const uint32x4_t low = vld1q_u32(column), high = vld1q_u32(column + 4);
    if (vmaxvq_u32(vmaxq_u32(low, high)) != 0xffffffff)
        return sums + val * gather8(reinterpret_cast<const index*>(column), x);
    const uint32x4_t ones = vdupq_n_u32(0xffffffff);
    return add_padded(sums, low, high, {vceqq_u32(low, ones), vceqq_u32(high, ones)}, x, val);
}

/// The same of eight x side by side; the lanes whose bit is set.
template <class S>
NZ_ALWAYS_INLINE S add_side_by_side(S sums, std::uint32_t bits, const auto* x, S val) {
    if (bits == 0xff) return sums + val * load(x);
    if (bits == 0) return sums;
    const words in = lanes_of(bits);
    return sums + keep(val * load_some(x, bits, in), in);
}

// -- rows: sum k mod 8 has entry k ---------------------------------------------------------------

/// sums + the products of n entries, of as many as a register has at most; less than 1: of none.
/// Elements behind them are not read.
NZ_ALWAYS_INLINE float64x2_t add_last(float64x2_t s, const index* col_ind, const double* val,
                                      const double* x, int n) {
    if (n >= 2) return s + load_register(val) * gather2(word_at(col_ind), x);
    if (n < 1) return s;
    return s + float64x2_t{*val * x[*col_ind], 0};
}
NZ_ALWAYS_INLINE float32x4_t add_last(float32x4_t s, const index* col_ind, const float* val,
                                      const float* x, int n) {
    if (n >= 4) return s + load_register(val) * gather4(word_at(col_ind), word_at(col_ind + 2), x);
    if (n < 1) return s;
    float32x4_t terms = {*val * x[*col_ind], 0, 0, 0};
    if (n > 1) terms[1] = val[1] * x[col_ind[1]];
    if (n > 2) terms[2] = val[2] * x[col_ind[2]];
    return s + terms;
}
/// The same of n < 8.
NZ_ALWAYS_INLINE doubles add_last(doubles s, const index* col_ind, const double* val,
                                  const double* x, int n) {
    return {{add_last(s.low.low, col_ind, val, x, n),
             add_last(s.low.high, col_ind + 2, val + 2, x, n - 2)},
            {add_last(s.high.low, col_ind + 4, val + 4, x, n - 4),
             add_last(s.high.high, col_ind + 6, val + 6, x, n - 6)}};
}
NZ_ALWAYS_INLINE floats add_last(floats s, const index* col_ind, const float* val, const float* x,
                                 int n) {
    return {add_last(s.low, col_ind, val, x, n), add_last(s.high, col_ind + 4, val + 4, x, n - 4)};
}

// The eight sums of a row added to four, and the totals of four rows.
NZ_ALWAYS_INLINE four_doubles halved(doubles s) { return s.low + s.high; }
NZ_ALWAYS_INLINE float32x4_t halved(floats s) { return s.low + s.high; }
NZ_ALWAYS_INLINE four_doubles totals(four_doubles a, four_doubles b, four_doubles c,
                                     four_doubles d) {
    return {vpaddq_f64(a.low, b.low) + vpaddq_f64(a.high, b.high),
            vpaddq_f64(c.low, d.low) + vpaddq_f64(c.high, d.high)};
}
NZ_ALWAYS_INLINE float32x4_t totals(float32x4_t a, float32x4_t b, float32x4_t c, float32x4_t d) {
    return vpaddq_f32(vpaddq_f32(a, b), vpaddq_f32(c, d));
}

NZ_ALWAYS_INLINE double first(four_doubles v) { return vgetq_lane_f64(v.low, 0); }
NZ_ALWAYS_INLINE float first(float32x4_t v) { return vgetq_lane_f32(v, 0); }

}  // namespace neon
}  // namespace nz
