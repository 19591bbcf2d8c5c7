#include <map>
#include <mutex>
#include <tuple>

#include "nonzero/core/gpu/texture.cuh"

namespace nz {
namespace {

using key = std::tuple<int, const void*, std::size_t, bool>;

struct texture_cache {
    std::mutex guard;
    std::map<key, cudaTextureObject_t> made;
};

// A solver uses a handful of vectors; past this many the cache starts afresh.
constexpr std::size_t most_textures = 1024;

texture_cache& cache() {
    static texture_cache c;
    return c;
}

cudaTextureObject_t make_texture(const void* x, std::size_t bytes, bool is_double) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<void*>(x);
    resource.res.linear.sizeInBytes = bytes;
    resource.res.linear.desc =
        is_double ? cudaCreateChannelDesc<int2>() : cudaCreateChannelDesc<float>();
    cudaTextureDesc how{};
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    check(cudaCreateTextureObject(&texture, &resource, &how, nullptr), "cudaCreateTextureObject");
    return texture;
}

}  // namespace

cudaTextureObject_t texture_of(gpu on, const void* x, std::size_t bytes, bool is_double) {
    if (bytes == 0) return 0;
    texture_cache& c = cache();
    const std::lock_guard lock(c.guard);
    const key k{on.device, x, bytes, is_double};
    if (const auto found = c.made.find(k); found != c.made.end()) return found->second;
    if (c.made.size() >= most_textures) {
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // one may still be in use
        for (const auto& [_, texture] : c.made) cudaDestroyTextureObject(texture);
        c.made.clear();
    }
    return c.made[k] = make_texture(x, bytes, is_double);
}

}  // namespace nz
