// A row of the registry, made of a kernel's tag: what it costs, where it exists, how it is built.
#pragma once

#include "nonzero/formats/build_operator.hpp"
#include "nonzero/formats/registry.hpp"

namespace nz {

/// The cost of the layout: what its arrays take.
template <class K, class V>
estimate layout_cost(const matrix_stats& s) {
    if constexpr (K::hooks.cost) {
        return K::template cost<V>(s);
    } else {
        return K::template layout<V, host>::cost(s);
    }
}

inline estimate with_work(estimate e, const work& w) {
    e.sector_requests = w.sector_requests, e.work_units = w.work_units,
    e.critical_units = w.critical_units;
    e.launches = w.launches, e.imbalance = w.imbalance, e.bypasses_l1 = w.bypasses_l1;
    return e;
}

template <class K, class V>
estimate cost_of(const matrix_stats& s) {
    estimate e = layout_cost<K, V>(s);
    if constexpr (K::hooks.work_on_cpu) e = with_work(e, K::work_on_cpu(s));
    // No other thread helps. A kernel without work_on_cpu tests every entry for
    // padding, or adds it to memory: about two work units.
    if (K::hooks.one_thread) {
        e.critical_units = e.work_units > 0 ? e.work_units : 2 * double(s.nnz);
        if (s.nnz > 0) e.launches = 0;  // no parallel region
    }
    return e;
}

/// A texture over linear memory holds 2^27 elements on every GPU since Volta; x may start behind
/// the texture, by up to 512 bytes.
inline constexpr std::int64_t max_texture_elements = (std::int64_t(1) << 27) - 128;

/// A kernel that gives few threads a whole row says from which length on that is hopeless, and
/// one that reads x by texture has its limit; others know reasons of their own.
template <class K, class V>
estimate cost_on_gpu(const matrix_stats& s) {
    estimate e = layout_cost<K, V>(s);
    if (!e.declined.empty()) return e;
    if constexpr (K::hooks.work_on_gpu) e = with_work(e, K::work_on_gpu(s));
    if constexpr (K::hooks.longest_row_on_gpu) {
        if (const std::int64_t longest = K::longest_row_on_gpu(s); s.max_row_nnz() > longest)
            e.declined = "too few threads would share a row of " + std::to_string(s.max_row_nnz()) +
                         " entries, more than " + std::to_string(longest);
    }
    if constexpr (K::hooks.declined_on_gpu) {
        if (std::string why = K::declined_on_gpu(s); !why.empty()) e.declined = std::move(why);
    }
    if constexpr (K::hooks.x_by_texture) {
        if (s.cols > max_texture_elements)
            e.declined = "x is longer than a texture's " + std::to_string(max_texture_elements) +
                         " elements";
    }
    return e;
}

/// Every hook of K has its function, and every function its hook.
template <class K>
constexpr bool hooks_match_functions() {
    using any = double;  // a value type, for the functions that are templates
    constexpr kernel_hooks h = K::hooks;
    using host_layout = typename K::template layout<any, host_view>;
    using device_layout = typename K::template layout<any, device>;
    using device_layout_view = typename K::template layout<any, device_view>;
    const matrix_stats* const s = nullptr;
    constexpr bool scratch = requires(cpu on, const host_layout& A) { K::scratch_bytes(on, A); }
    || requires(gpu on, const device_layout_view& A) { K::scratch_bytes(on, A); };
    static_assert(
        h.work_on_cpu == requires { K::work_on_cpu(*s); },
        "K::work_on_cpu and its hook go together");
    static_assert(
        h.work_on_gpu == requires { K::work_on_gpu(*s); },
        "K::work_on_gpu and its hook go together");
    static_assert(
        h.longest_row_on_gpu == requires { K::longest_row_on_gpu(*s); },
        "K::longest_row_on_gpu and its hook go together");
    static_assert(
        h.declined_on_gpu == requires { K::declined_on_gpu(*s); },
        "K::declined_on_gpu and its hook go together");
    static_assert(
        h.cost == requires { K::template cost<any>(*s); }, "K::cost and its hook go together");
    static_assert(
        h.from == requires(const csr<any, host_view>& A) { K::from(A); },
        "K::from and its hook go together");
    static_assert(
        h.build == requires(gpu on, const csr<any, device_view>& A) { K::build(on, A); },
        "K::build and its hook go together");
    static_assert(
        h.refill == requires(gpu on, const csr<any, device_view>& A,
                             device_layout& to) { K::refill(on, A, to); },
        "K::refill and its hook go together");
    static_assert(h.scratch_bytes == scratch, "K::scratch_bytes and its hook go together");
    static_assert(
        h.scratch_for_many ==
            requires(gpu on, const device_layout_view& A, const in_columns<any, gpu>& X) {
                K::scratch_for_many(on, A, X);
            },
        "K::scratch_for_many and its hook go together");
    return true;
}

template <class K, class V>
requires(hooks_match_functions<K>()) constexpr method<V> row = {
    .name = K::name,
    .deterministic = K::deterministic,
    .any_order = reads_csr<K, V>,
    .packs = K::hooks.packs,
    .one_thread = K::hooks.one_thread,
    .synchronises = K::hooks.synchronises,
    .source = K::source,
    .cost = cost_of<K, V>,
    .cost_on_gpu = cost_on_gpu<K, V>,
    .transposed_on_cpu = runs_on<K, cpu, V>,
    .transposed_on_gpu = on_gpu<K, V> && runs_transposed_on<K, gpu, V>,
    .many_on_cpu = K::hooks.many_on_cpu,
    .many_on_gpu = K::hooks.many_on_gpu,
    .exists_on_cpu = runs_on<K, cpu, V>,
    .exists_on_gpu = on_gpu<K, V>,
    .on_cpu = cpu_builder<K, V>(),
    .on_gpu = gpu_builder<K, V>(),
    .from_device = gpu_builder_from_device<K, V>(),
};

}  // namespace nz
