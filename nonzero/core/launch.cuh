// Launches that overlap: a kernel's blocks start while the one before it in the stream finishes.
#pragma once

#include <array>
#include <atomic>

#include "nonzero/core/cuda.cuh"

namespace nz {

/// Returns when the previous kernel of the stream is done and all that it wrote is visible. Lets
/// the next kernel start its blocks as soon as there is room for them. What comes before this call
/// runs at the same time as the last blocks of the previous kernel, so it may read only what no
/// kernel writes: the matrix. At least one thread of every grid must call this; otherwise the next
/// kernel would not wait for the previous one.
///
/// Returns x. Read x through the returned pointer only, and by ordinary loads. The compiler treats
/// loads through a __restrict__ const pointer, and __ldg, as loads of constants: it may move them
/// before the wait, and they may hit stale lines in the cache.
template <class T>
__device__ const T* wait_for_previous(const T* x) {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" : "+l"(x) : : "memory");
#endif
    return x;
}
/// The same for a kernel that reads other kernels' results only through pointers that are not
/// __restrict__.
__device__ inline void wait_for_previous() { wait_for_previous<void>(nullptr); }

/// *p for a p into the x that wait_for_previous returned. The compiler no longer knows that such a
/// pointer is to global memory; this tells it.
template <class T>
__device__ T gather(const T* p) {
    __builtin_assume(__isGlobal(p));
    return *p;
}

/// Whether the code that runs on this device waits. The driver compiles for new devices what was
/// built for old ones, so the device does not tell.
template <auto kernel>
bool waits(gpu on) {
    constexpr int most_devices = 64;
    enum : signed char { unknown, yes, no };
    static std::array<std::atomic<signed char>, most_devices> known{};
    if (on.device >= most_devices) return false;
    auto& of_device = known[std::size_t(on.device)];
    if (of_device == unknown) {
        cudaFuncAttributes of_kernel{};
        const bool found = cudaFuncGetAttributes(&of_kernel, kernel) == cudaSuccess;
        of_device = found && of_kernel.ptxVersion >= 90 ? yes : no;
    }
    return of_device == yes;
}

/// kernel<<<blocks, threads, shared_bytes>>>(arguments...) in on.stream, for a kernel that calls
/// wait_for_previous. Its start hides behind the end of the kernel before (CUDA's programmatic
/// dependent launch, from sm_90 on); docs/decisions/launches.md has the times with and without. A
/// failure is left for check_launch.
template <auto kernel, class... T>
void launch_with_shared(gpu on, dim3 blocks, dim3 threads, std::size_t shared_bytes,
                        const T&... arguments) {
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream_of(on);
    config.attrs = &overlap;
    config.numAttrs = waits<kernel>(on) ? 1 : 0;
    cudaLaunchKernelEx(&config, kernel, arguments...);
}

/// The same without shared memory that is sized at the launch.
template <auto kernel, class... T>
void launch(gpu on, dim3 blocks, dim3 threads, const T&... arguments) {
    launch_with_shared<kernel>(on, blocks, threads, 0, arguments...);
}

/// The same for a kernel that gathers x by a Gather. Where that goes through a cache which does not
/// follow what other kernels write, the kernel starts when the one before is done.
template <class Gather, auto kernel, class... T>
void launch_gathering(gpu on, dim3 blocks, dim3 threads, const T&... arguments) {
    if constexpr (Gather::follows_writes) {
        launch<kernel>(on, blocks, threads, arguments...);
    } else {
        kernel<<<blocks, threads, 0, stream_of(on)>>>(arguments...);
    }
}

}  // namespace nz
