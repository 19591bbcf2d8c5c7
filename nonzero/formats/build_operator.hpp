// Builds the operator of a kernel from a CSR, on the CPU or on a GPU, whatever the order of its
// rows.
#pragma once

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/formats/device_analysis.hpp"
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
    auto own = with_order<K>(A, [](const csr<V, host_view>& B) { return build_layout<K>(B); });
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

/// The same where f(A) throws argument_error for any flaw of A, if K says so: nothing is then read
/// twice of a matrix without one.
template <class K, class V, class F>
auto with_order_or_refusal(gpu on, const csr<V, device_view>& A, F f) {
    if constexpr (K::hooks.refuses_disorder) try {
            return f(A);
        } catch (const argument_error&) {  // of which with_order finds out more
        }
    return with_order<K>(on, A, f);
}

template <class K, class V>
std::unique_ptr<linear_operator<V, gpu>> build_from_device(gpu on, const csr<V, device_view>& A,
                                                           const device_analysis<V>& known) {
    require_gpu(on);
    check_sizes(A);
    const device_guard guard(on);
    const auto start = steady_clock::now();
    const auto build = [&](const csr<V, device_view>& B) {
        if constexpr (K::hooks.build) {
            return K::build(on, B, known);
        } else {
            return upload(on, B);
        }
    };
    const auto build_known = [&] {
        return reads_csr<K, V> || known.ordered == nullptr ? build(A) : build(view(*known.ordered));
    };
    auto own = known.checked ? build_known() : with_order_or_refusal<K>(on, A, build);
    synchronize(on);
    const setup_times t{.preprocessing_s = seconds_since(start)};
    return std::make_unique<gpu_operator<K, V, decltype(own)>>(on, std::move(own), t);
}

/// From A, whose columns ascend or which K takes in any order.
template <class K, class V>
std::unique_ptr<linear_operator<V, gpu>> build_from_checked(gpu on, const csr<V, host_view>& A) {
    const auto start = steady_clock::now();
    if constexpr (K::hooks.build) try {
            const auto on_device = upload(on, A);
            setup_times t{.upload_s = seconds_since(start)};
            auto own = K::build(on, view(on_device), device_analysis<V>{});
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
std::unique_ptr<linear_operator<V, gpu>> build_on_gpu(gpu on, const csr<V, host_view>& A) {
    require_gpu(on);
    const device_guard guard(on);
    return with_order<K>(
        A, [&](const csr<V, host_view>& B) { return build_from_checked<K, V>(on, B); });
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
