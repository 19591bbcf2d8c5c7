#include "cli/conditions/gpu_clocks.hpp"

#include <dlfcn.h>

#include <array>

#include "nonzero/core/stream.hpp"

namespace nz::cli {
namespace {

/// A shared library and its C functions, which return 0 where they succeed.
class loaded {
  public:
    explicit loaded(const char* name) : library_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}
    loaded(const loaded&) = delete;
    loaded& operator=(const loaded&) = delete;
    ~loaded() {
        if (library_ != nullptr) dlclose(library_);
    }
    /// Calls the function of that name; false where it is missing or fails.
    template <class... Arguments>
    bool call(const char* name, Arguments... arguments) const {
        if (library_ == nullptr) return false;
        const auto f = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name));
        return f != nullptr && f(arguments...) == 0;
    }

  private:
    void* library_;
};

/// Name of the first GPU that CUDA sees, for NVML, which counts GPUs in its own order.
std::optional<std::array<char, 32>> pci_bus_id() {
    const loaded cuda("libcuda.so.1");
    std::array<char, 32> id{};
    int device = 0;
    if (cuda.call("cuInit", 0U) && cuda.call("cuDeviceGet", &device, 0) &&
        cuda.call("cuDeviceGetPCIBusId", id.data(), int(id.size()), device))
        return id;
    return {};
}

}  // namespace

std::optional<gpu_clocks> read_gpu_clocks() {
    constexpr int of_sm = 1, of_memory = 2;  // nvmlClockType_t
    const auto id = pci_bus_id();
    const loaded nvml("libnvidia-ml.so.1");
    if (!id || !nvml.call("nvmlInit_v2")) return {};
    gpu_clocks c;
    void* device = nullptr;
    std::array<char, 80> driver{};
    const bool known =
        nvml.call("nvmlDeviceGetHandleByPciBusId_v2", id->data(), &device) &&
        nvml.call("nvmlDeviceGetClockInfo", device, of_sm, &c.sm_mhz) &&
        nvml.call("nvmlDeviceGetClockInfo", device, of_memory, &c.memory_mhz) &&
        nvml.call("nvmlDeviceGetMaxClockInfo", device, of_sm, &c.max_sm_mhz) &&
        nvml.call("nvmlDeviceGetMaxClockInfo", device, of_memory, &c.max_memory_mhz) &&
        nvml.call("nvmlSystemGetDriverVersion", driver.data(), unsigned(driver.size()));
    nvml.call("nvmlShutdown");
    if (!known) return {};
    c.driver = driver.data();
    return c;
}

}  // namespace nz::cli
