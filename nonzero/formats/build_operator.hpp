// Builds the operator of a kernel from a CSR, on the CPU or on a GPU. Nothing is checked here.
#pragma once

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/formats/kernel_operator.hpp"
#include "nonzero/formats/registry.hpp"

namespace nz {

// One builder for each layout; those of its kernels differ in what they hand to it.

template <class V, template <class, class> class L>
std::unique_ptr<linear_operator<V, cpu>> built_on_cpu(cpu on, const csr<V, host_view>& A,
                                                      const cpu_kernel<V, L>& k) {
    return std::unique_ptr<linear_operator<V, cpu>>(new cpu_operator<V, L>(on, k.from(A), k));
}

template <class V, template <class, class> class L>
std::unique_ptr<linear_operator<V, gpu>> built_from_device(gpu on, const csr<V, device_view>& A,
                                                           const packed_analysis<V>* known,
                                                           const gpu_kernel<V, L>& k) {
    require_gpu(on);
    const device_guard guard(on);
    const auto start = steady_clock::now();
    auto own = [&] {
        if constexpr (reads_csr<kernel_of<L>, V>) {
            return upload(on, A);
        } else {
            return k.build(on, A, known);
        }
    }();
    auto op = std::make_unique<gpu_operator<V, L>>(on, std::move(own), k, setup_times{});
    synchronize(on);
    op->set_setup({.preprocessing_s = seconds_since(start)});
    return op;
}

template <class V, template <class, class> class L>
std::unique_ptr<linear_operator<V, gpu>> converted(gpu on, const csr<V, host_view>& A,
                                                   const gpu_kernel<V, L>& k) {
    const auto start = steady_clock::now();
    const auto here = k.from(A);
    setup_times t{.conversion_s = seconds_since(start)};
    auto on_device = upload(on, here);
    t.upload_s = seconds_since(start) - t.conversion_s;
    return std::make_unique<gpu_operator<V, L>>(on, std::move(on_device), k, t);
}

/// The same, made on the GPU.
template <class V, template <class, class> class L>
std::unique_ptr<linear_operator<V, gpu>> built_on_gpu(gpu on, const csr<V, host_view>& A,
                                                      const gpu_kernel<V, L>& k) {
    const auto start = steady_clock::now();
    try {
        const auto on_device = upload(on, A);
        setup_times t{.upload_s = seconds_since(start)};
        auto own = k.build(on, view(on_device), nullptr);
        synchronize(on);
        t.preprocessing_s = seconds_since(start) - t.upload_s;
        return std::make_unique<gpu_operator<V, L>>(on, std::move(own), k, t);
    } catch (const device_error&) {  // the layout may fit where CSR and scratch do not as well
        return converted(on, A, k);
    }
}

// The builders of the registry: null where there is no such kernel or no CUDA in this build.

/// A method that is no kernel over one layout has operators of its own.
template <class K, class V>
inline constexpr bool has_own_on_cpu = K::template hooks_over<V>.operator_on_cpu != nullptr;
template <class K, class V>
inline constexpr bool has_own_on_gpu = K::template hooks_over<V>.operator_on_gpu != nullptr;

template <class K, class V>
constexpr typename method<V>::template builder<cpu> cpu_builder() {
    if constexpr (has_own_on_cpu<K, V>) {
        return K::template hooks_over<V>.operator_on_cpu;
    } else if constexpr (runs_on<K, cpu>) {
        return [](cpu on, const csr<V, host_view>& A) {
            return built_on_cpu(on, A, kernel_on_cpu<K, V>);
        };
    }
    return nullptr;
}

/// The kernels for GPUs are written for real values, but for those with the hook.
template <class K, class V>
concept on_gpu = runs_on<K, gpu> &&(std::floating_point<V> || K::hooks.complex_on_gpu);

template <class K, class V>
constexpr typename method<V>::device_builder gpu_builder_from_device() {
    if constexpr (has_cuda && has_own_on_gpu<K, V>) {
        return K::template hooks_over<V>.operator_on_gpu;
    } else if constexpr (has_cuda && on_gpu<K, V> &&
                         (reads_csr<K, V> || K::template hooks_over<V>.build != nullptr)) {
        return [](gpu on, const csr<V, device_view>& A, const packed_analysis<V>* known) {
            return built_from_device(on, A, known, kernel_on_gpu<K, V>);
        };
    }
    return nullptr;
}

template <class K, class V>
constexpr typename method<V>::template builder<gpu> gpu_builder() {
    if constexpr (has_cuda && has_own_on_gpu<K, V>) {
        return [](gpu on, const csr<V, host_view>& A) {
            require_gpu(on);
            return K::template hooks_over<V>.operator_on_gpu(on, view(upload(on, A)), nullptr);
        };
    } else if constexpr (has_cuda && on_gpu<K, V>) {
        return [](gpu on, const csr<V, host_view>& A) {
            require_gpu(on);
            const device_guard guard(on);
            if constexpr (K::template hooks_over<V>.build != nullptr) {
                return built_on_gpu(on, A, kernel_on_gpu<K, V>);
            } else {
                return converted(on, A, kernel_on_gpu<K, V>);
            }
        };
    }
    return nullptr;
}

}  // namespace nz
