// Loads of a matrix that is too large for the caches: they bypass L1, which then holds x only.
#pragma once

#include <cstdint>

#include "nonzero/core/cuda.cuh"
#include "nonzero/core/streamed.hpp"

namespace nz {

/// f.operator()<streams>() for a matrix of `bytes`.
template <class F>
decltype(auto) with_loads(std::size_t bytes, F f) {
    if (bytes > streamed_bytes) return f.template operator()<true>();
    return f.template operator()<false>();
}

/// *p, of a matrix that no kernel writes. The compiler may move loads of constants (.nc, as __ldg
/// makes them). It moves loads of values behind the wait for the previous kernel, to save
/// registers. A small matrix is slower for it, so its loads are volatile and stay in place. A large
/// matrix is faster with loads that move, as the registers let more warps be resident.
template <bool streams, class T>
__device__ T load(const T* p) {
    return *p;
}
template <bool streams>
__device__ double load(const double* p) {
    double v;
    if constexpr (streams) {
        asm("ld.global.nc.L1::no_allocate.f64 %0, [%1];" : "=d"(v) : "l"(p));
    } else {
        asm volatile("ld.global.f64 %0, [%1];" : "=d"(v) : "l"(p));
    }
    return v;
}
template <bool streams>
__device__ float load(const float* p) {
    float v;
    if constexpr (streams) {
        asm("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(p));
    } else {
        asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p));
    }
    return v;
}
template <bool streams>
__device__ std::int32_t load(const std::int32_t* p) {
    std::int32_t v;
    if constexpr (streams) {
        asm("ld.global.nc.L1::no_allocate.s32 %0, [%1];" : "=r"(v) : "l"(p));
    } else {
        asm volatile("ld.global.s32 %0, [%1];" : "=r"(v) : "l"(p));
    }
    return v;
}
template <bool streams>
__device__ std::uint32_t load(const std::uint32_t* p) {
    std::uint32_t v;
    if constexpr (streams) {
        asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(p));
    } else {
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p));
    }
    return v;
}
template <bool streams>
__device__ std::uint16_t load(const std::uint16_t* p) {
    std::uint16_t v;
    if constexpr (streams) {
        asm("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(v) : "l"(p));
    } else {
        asm volatile("ld.global.u16 %0, [%1];" : "=h"(v) : "l"(p));
    }
    return v;
}

}  // namespace nz
