// Builds the operator of a kernel from a CSR, on the CPU or on a GPU. Nothing is checked: the CSR
// is known to be one, and its rows ascend unless the kernel reads CSR (matrix/build.hpp sees to
// that).
#pragma once

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/formats/kernel_operator.hpp"
#include "nonzero/formats/registry.hpp"

namespace nz {

/// The layout of K; a kernel that wants other parameters than the layout's own has K::from.
template <class K, class V>
auto build_layout(const csr<V, host_view>& A) {
    if constexpr (K::hooks.from) {
        return K::from(A);
    } else {
        return K::template layout<V, host>::from(A);
    }
}

template <class K, class V>
std::unique_ptr<linear_operator<V, cpu>> build_on_cpu(cpu on, const csr<V, host_view>& A) {
    auto own = build_layout<K>(A);
    return std::make_unique<cpu_operator<K, V, decltype(own)>>(on, std::move(own));
}

template <class K, class V>
constexpr builder<V, cpu> cpu_builder() {
    if constexpr (runs_on<K, cpu, V>) return build_on_cpu<K, V>;
    return nullptr;
}

/// The kernels for GPUs are written for real values, but for those with the hook.
template <class K, class V>
concept on_gpu = runs_on<K, gpu, V> &&(std::floating_point<V> || K::hooks.complex_on_gpu);

template <class K, class V>
std::unique_ptr<linear_operator<V, gpu>> build_from_device(gpu on, const csr<V, device_view>& A,
                                                           const packed_analysis<V>* known) {
    require_gpu(on);
    const device_guard guard(on);
    const auto start = steady_clock::now();
    auto own = [&] {
        if constexpr (K::hooks.packs) {
            return K::build(on, A, known);
        } else if constexpr (K::hooks.build) {
            return K::build(on, A);
        } else {
            return upload(on, A);
        }
    }();
    synchronize(on);
    const setup_times t{.preprocessing_s = seconds_since(start)};
    return std::make_unique<gpu_operator<K, V, decltype(own)>>(on, std::move(own), t);
}

template <class K, class V>
std::unique_ptr<linear_operator<V, gpu>> build_on_gpu(gpu on, const csr<V, host_view>& A) {
    require_gpu(on);
    const device_guard guard(on);
    const auto start = steady_clock::now();
    if constexpr (K::hooks.build) try {
            const auto on_device = upload(on, A);
            setup_times t{.upload_s = seconds_since(start)};
            auto own = K::build(on, view(on_device));
            synchronize(on);
            t.preprocessing_s = seconds_since(start) - t.upload_s;
            return std::make_unique<gpu_operator<K, V, decltype(own)>>(on, std::move(own), t);
        } catch (const device_error&) {  // the layout may fit where CSR and scratch do not as well
        }
    const auto here = build_layout<K>(A);
    setup_times t{.conversion_s = seconds_since(start)};
    auto on_device = upload(on, here);
    t.upload_s = seconds_since(start) - t.conversion_s;
    return std::make_unique<gpu_operator<K, V, decltype(on_device)>>(on, std::move(on_device), t);
}

template <class K, class V>
constexpr device_builder<V> gpu_builder_from_device() {
    if constexpr (has_cuda && on_gpu<K, V> && (K::hooks.build || reads_csr<K, V>))
        return build_from_device<K, V>;
    return nullptr;
}

template <class K, class V>
constexpr builder<V, gpu> gpu_builder() {
    if constexpr (has_cuda && on_gpu<K, V>) return build_on_gpu<K, V>;
    return nullptr;
}

}  // namespace nz
