// Launches that overlap: a kernel's blocks start while the one before it in the stream finishes.
#pragma once

#include <array>
#include <atomic>

#include "nonzero/core/cuda.cuh"

namespace nz {

/// Returns when the kernel before in the stream is done and all that it wrote can be seen; lets
/// the next one start its blocks as soon as there is room for them. What comes before this call
/// runs beside the last blocks of the kernel before, and may touch only what no kernel writes: the
/// matrix. Some thread of every grid has to come here, or the next kernel would wait for nothing.
///
/// Returns x, which must be read through what is returned only, by ordinary loads: those of a
/// __restrict__ const pointer, and __ldg, count as loads of constants, which the compiler moves to
/// before the wait, and which may find in the cache what the kernel before has overwritten.
template <class T>
__device__ const T* wait_for_previous(const T* x) {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" : "+l"(x) : : "memory");
#endif
    return x;
}
/// The same for a kernel that reads, of what others write, only what it writes itself, or only
/// through pointers that are not __restrict__.
__device__ inline void wait_for_previous() { wait_for_previous<void>(nullptr); }

/// *p for a p from the x that wait_for_previous returned, of which the compiler does not know any
/// more that it points to global memory.
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
        const bool on_device = cudaFuncGetAttributes(&of_kernel, kernel) == cudaSuccess;
        of_device = on_device && of_kernel.ptxVersion >= 90 ? yes : no;
    }
    return of_device == yes;
}

/// kernel<<<blocks, threads>>>(arguments...) in on.stream, for a kernel that calls
/// wait_for_previous. Its start hides behind the end of the kernel before (CUDA's programmatic
/// dependent launch, from sm_90 on): packed.warp takes 0.75 of the time in the mean, see
/// docs/decisions/launches.md. A failure is left for check_launch.
template <auto kernel, class... T>
void launch(gpu on, dim3 blocks, dim3 threads, const T&... arguments) {
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.stream = stream_of(on);
    config.attrs = &overlap;
    config.numAttrs = waits<kernel>(on) ? 1 : 0;
    cudaLaunchKernelEx(&config, kernel, arguments...);
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
