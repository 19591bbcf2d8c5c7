// Loops for AVX2 and AVX-512, chosen at run time by what the machine has, and for NEON, which every
// arm64 has: how a function says which it is for, and vectors by the compiler's own operators,
// which need no intrinsics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#define NZ_AVX2 __attribute__((target("avx2")))
#define NZ_AVX512 __attribute__((target("avx2,avx512f,avx512vl")))
#elif defined(__aarch64__) && defined(__GNUC__)
#define NZ_NEON
#endif

// Loops that are written once, over the eight lanes of vectors.hpp, in AVX2 or in NEON.
#if defined(NZ_AVX2)
#define NZ_LANES NZ_AVX2
#elif defined(NZ_NEON)
#define NZ_LANES NZ_NEON
#endif

// For the pieces of a loop: a call would spill their vectors, and compile them for another machine
// than the loop (docs/decisions/simd.md).
#if defined(__GNUC__)
#define NZ_ALWAYS_INLINE __attribute__((always_inline)) inline
#else
#define NZ_ALWAYS_INLINE inline
#endif

#if defined(__clang__)
#define NZ_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#define NZ_UNROLL _Pragma("GCC unroll 16")
#else
#define NZ_UNROLL
#endif

#if defined(NZ_LANES)
namespace nz {

#if defined(NZ_AVX2)
[[nodiscard]] inline bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }
/// Whether the processor has AVX-512, with its instructions on shorter vectors.
[[nodiscard]] inline bool has_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
}
/// Whether gathers are faster than single loads here. Measured once in a process, since no
/// processor name tells it: they are faster on Sapphire Rapids and slower on Zen 4, and a security
/// fix of 2023 slowed them on Intel's processors from Skylake to Ice Lake
/// (docs/experiments/simd.md). It decides about time only: the bits are the same.
[[nodiscard]] bool gathers_are_fast();
/// Whether the machine has the eight lanes of NZ_LANES.
[[nodiscard]] inline bool has_lanes() { return has_avx2(); }
inline constexpr std::size_t lane_register_bytes = 32;
#else
[[nodiscard]] inline bool has_lanes() { return true; }
inline constexpr std::size_t lane_register_bytes = 16;
#endif

inline constexpr int simd_lanes = 8;  ///< of the vectors of vectors.hpp

/// The eight bytes at p, such as two columns or four codes of 16 bits.
NZ_ALWAYS_INLINE std::uint64_t word_at(const void* p) {
    std::uint64_t word;
    std::memcpy(&word, p, sizeof word);
    return word;
}

/// Prefetches the cache lines of `bytes` bytes, `ahead` bytes later.
template <std::size_t bytes, std::size_t ahead>
NZ_ALWAYS_INLINE void prefetch_lines(const void* now) {
    constexpr std::size_t line = 64;
    for (std::size_t k = 0; k < bytes; k += line)
        __builtin_prefetch(static_cast<const char*>(now) + ahead + k);
}

/// A register of `bytes` bytes. It is handed on by reference: a compiler may refuse one as an
/// argument of a function for any target.
template <class V, std::size_t bytes>
using simd_vector __attribute__((vector_size(bytes))) = V;

template <class R, class V>
NZ_ALWAYS_INLINE void read(const V* from, R& to) {
    std::memcpy(&to, from, sizeof to);
}
template <class R, class V>
NZ_ALWAYS_INLINE void write(const R& from, V* to) {
    std::memcpy(to, &from, sizeof from);
}
/// y = alpha sums + beta y, y not read where beta is 0.
template <class R, class V>
NZ_ALWAYS_INLINE void write_scaled(V alpha, const R& sums, V beta, V* y) {
    R v = alpha * sums;
    if (beta != V(0)) {
        R old;
        read(y, old);
        v += beta * old;
    }
    write(v, y);
}

}  // namespace nz
#endif
