// The pointers of callers, as CUDA knows them.
#include <cuda_runtime_api.h>

#include <cstring>

#include "amgx/failure.hpp"
#include "amgx/memory.hpp"
#include "nonzero/core/stream.hpp"

namespace nz::amgx {
namespace {

void check(cudaError_t code, const char* call) {
    if (code == cudaSuccess) return;
    cudaGetLastError();
    throw device_error(std::string(call) + ": " + cudaGetErrorString(code));
}

}  // namespace

int device_of(const void* pointer) {
    cudaPointerAttributes found{};
    if (cudaPointerGetAttributes(&found, pointer) != cudaSuccess) {
        cudaGetLastError();  // without a driver all memory is the host's
        return -1;
    }
    return found.type == cudaMemoryTypeDevice ? found.device : -1;
}

int current_device() {
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess) cudaGetLastError();
    return device;
}

void copy_anywhere(int device, const void* from, void* to, std::size_t bytes) {
    if (bytes == 0) return;
    const int source = device_of(from), target = device_of(to);
    if (source < 0 && target < 0) {
        std::memcpy(to, from, bytes);
        return;
    }
    for (const int other : {source, target})
        if (other >= 0 && other != device)
            throw failure(AMGX_RC_BAD_PARAMETERS,
                          fmt::format("an array lies on GPU {}, the resources are those of GPU {}",
                                      other, device));
    const device_guard guard(gpu{.device = device});
    // In the default stream, after what the caller has launched there.
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
    if (source >= 0 && target >= 0) check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

void pin(void* at, std::size_t bytes) {
    if (gpu_count() == 0) return;
    check(cudaHostRegister(at, bytes, cudaHostRegisterDefault), "cudaHostRegister");
}

void unpin(void* at) {
    if (gpu_count() == 0) return;
    check(cudaHostUnregister(at), "cudaHostUnregister");
}

}  // namespace nz::amgx
