// nonzero/core/gpu.hpp and gpu_graph.hpp in a build without CUDA: there is no GPU, and every call
// says so.
#include "nonzero/core/format.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/gpu_graph.hpp"
#include "nonzero/core/stream.hpp"

#include "nonzero/core/error.hpp"
#include "nonzero/core/value.hpp"

namespace nz {
namespace {
constexpr const char* why = "this build of nonzero has no CUDA";
[[noreturn]] void refuse() { throw unavailable(why); }
}  // namespace

int gpu_count() noexcept { return 0; }
std::string why_no_gpu(gpu) { return why; }
void require_gpu(gpu) { refuse(); }
void refuse_gpu() { refuse(); }
device_guard::device_guard(gpu) { refuse(); }
device_guard::~device_guard() = default;
void check_launch(const char*) { refuse(); }
void synchronize(gpu) { refuse(); }
device_memory memory_of(gpu) { refuse(); }
std::string pci_bus_id(gpu) { refuse(); }
gpu_stream::gpu_stream(int device) : device_(device) { refuse(); }
gpu_stream::~gpu_stream() = default;
gpu beside(gpu) { refuse(); }
void start_after(gpu, gpu) { refuse(); }
gpu_event::gpu_event() { refuse(); }
gpu_event::~gpu_event() = default;
void gpu_event::record(gpu) { refuse(); }
double gpu_event::seconds_since(const gpu_event&) const { refuse(); }
void* device_array<void>::allocate(gpu, std::size_t) { refuse(); }
void device_array<void>::release(gpu, void*) noexcept {}
void copy_to_device(gpu, const void*, void*, std::size_t) { refuse(); }
void copy_to_host(gpu, const void*, void*, std::size_t) { refuse(); }
void copy_on_device(gpu, const void*, void*, std::size_t) { refuse(); }
void zero_on_device(gpu, device_out<std::byte>) { refuse(); }
gpu_graph::gpu_graph(gpu, const std::function<void()>&) { refuse(); }
gpu_graph::~gpu_graph() = default;
void gpu_graph::run(gpu) const { refuse(); }
template <class V>
void scale_vector(gpu, V, device_out<V>) {
    refuse();
}
template <class V>
void negate_alone(gpu, device_out<V>) {
    refuse();
}
template <class V>
void conjugate(gpu, device_span<V>, device_out<V>) {
    refuse();
}
template <class V>
void copy_vectors(gpu, in_columns<V, gpu>, out_columns<V, gpu>, std::size_t) {
    refuse();
}

#define NZ_INSTANTIATE(V)                                        \
    template void scale_vector(gpu, V, device_out<V>);           \
    template void negate_alone(gpu, device_out<V>);              \
    template void conjugate(gpu, device_span<V>, device_out<V>); \
    template void copy_vectors(gpu, in_columns<V, gpu>, out_columns<V, gpu>, std::size_t);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
