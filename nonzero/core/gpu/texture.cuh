// x through the texture units: one texture object a vector, made once and kept.
#pragma once

#include "nonzero/core/launch.cuh"

namespace nz {

/// A texture object over x, kept for the next product with the same x: making one takes some
/// microseconds. It refers to the address only, so it stays right when that memory is used anew.
cudaTextureObject_t texture_of(gpu on, const void* x, std::size_t bytes, bool is_double);

/// Gathers x[j] through a texture. The hardware has no double texels: a double is fetched as two
/// 32-bit words and put together again, exactly.
template <class V>
struct texture_gather {
    static constexpr bool follows_writes = false;
    cudaTextureObject_t texture;
    int first;  ///< where x starts in the texture
    __device__ void wait() const { wait_for_previous(); }
    __device__ V operator[](index j) const {
        if constexpr (sizeof(V) == 4) {
            return tex1Dfetch<float>(texture, first + j);
        } else {
            const int2 words = tex1Dfetch<int2>(texture, first + j);
            return __hiloint2double(words.y, words.x);
        }
    }
};

template <class V>
texture_gather<V> gather_by_texture(gpu on, device_span<V> x) {
    // A texture starts at a multiple of 512 bytes, as all memory that cudaMalloc gives does.
    constexpr std::uintptr_t alignment = 512;
    const auto at = reinterpret_cast<std::uintptr_t>(x.data());
    const std::uintptr_t before = at % alignment;
    return {texture_of(on, reinterpret_cast<const void*>(at - before),
                       before + x.size() * sizeof(V), sizeof(V) == 8),
            int(before / sizeof(V))};
}

}  // namespace nz
