#include "nonzero/formats/registry.hpp"

#include <algorithm>

#include "nonzero/formats/build_operator.hpp"
#include "nonzero/formats/kernels.hpp"

namespace nz {
namespace {

/// A texture over linear memory holds 2^27 elements on every GPU since Volta; x may start behind
/// the texture, by up to 512 bytes.
constexpr std::int64_t max_texture_elements = (std::int64_t(1) << 27) - 128;

using layout_cost = estimate (*)(const matrix_stats&);

/// The cost of a layout with the work of a kernel over it.
estimate cost_on_cpu(layout_cost cost, const kernel_hooks& k, const matrix_stats& s) {
    estimate e = cost(s);
    if (k.work_on_cpu != nullptr) e = with_work(std::move(e), k.work_on_cpu(s));
    // No other thread helps. A kernel without work_on_cpu tests every entry for
    // padding, or adds it to memory: about two work units.
    if (k.one_thread) {
        e.critical_units = e.work_units > 0 ? e.work_units : 2 * double(s.nnz);
        if (s.nnz > 0) e.launches = 0;  // no parallel region
    }
    return e;
}

/// A kernel that gives few threads a whole row says from which length on that is hopeless, and
/// one that reads x by texture has its limit; others know reasons of their own.
estimate cost_on_gpu(layout_cost cost, const kernel_hooks& k, const matrix_stats& s) {
    estimate e = cost(s);
    if (!e.declined.empty()) return e;
    if (k.work_on_gpu != nullptr) e = with_work(std::move(e), k.work_on_gpu(s));
    if (k.longest_row_on_gpu != nullptr) {
        if (const std::int64_t longest = k.longest_row_on_gpu(s); s.max_row_nnz() > longest)
            e.declined = "too few threads would share a row of " + std::to_string(s.max_row_nnz()) +
                         " entries, more than " + std::to_string(longest);
    }
    if (k.declined_on_gpu != nullptr) {
        if (std::string why = k.declined_on_gpu(s); !why.empty()) e.declined = std::move(why);
    }
    if (k.x_by_texture && s.cols > max_texture_elements)
        e.declined =
            "x is longer than a texture's " + std::to_string(max_texture_elements) + " elements";
    return e;
}

template <class K, class V>
constexpr layout_cost cost_of_layout() {
    if constexpr (K::template hooks_over<V>.cost != nullptr) {
        return K::template hooks_over<V>.cost;
    } else {
        return K::template layout<V, host>::cost;
    }
}

template <class K, class V>
constexpr layout_cost gpu_cost_of_layout() {
    if constexpr (K::template hooks_over<V>.cost_on_gpu != nullptr) {
        return K::template hooks_over<V>.cost_on_gpu;
    } else {
        return cost_of_layout<K, V>();
    }
}

/// Whether it exists on a CPU.
template <class K, class V>
inline constexpr bool on_cpu = runs_on<K, cpu> || has_own_on_cpu<K, V>;

template <class K, class V>
constexpr method<V> row = {
    .name = K::name,
    .deterministic = K::deterministic,
    .any_order = reads_csr<K, V>,
    .packs = K::hooks.packs,
    .one_thread = K::hooks.one_thread,
    .synchronises = K::hooks.synchronises,
    .teaches = teaching_kernels::has<K>,
    .source = K::source,
    .cost = [](const matrix_stats& s) { return cost_on_cpu(cost_of_layout<K, V>(), K::hooks, s); },
    .cost_on_gpu =
        [](const matrix_stats& s) { return cost_on_gpu(gpu_cost_of_layout<K, V>(), K::hooks, s); },
    .transposed_on_cpu = on_cpu<K, V>,
    .transposed_on_gpu = on_gpu<K, V>&& runs_transposed_on<K, gpu>,
    .many_on_cpu = K::hooks.many_on_cpu,
    .many_on_gpu = K::hooks.many_on_gpu,
    .exists_on_cpu = on_cpu<K, V>,
    .exists_on_gpu = on_gpu<K, V> || has_own_on_gpu<K, V>,
    .on_cpu = cpu_builder<K, V>(),
    .on_gpu = gpu_builder<K, V>(),
    .from_device = gpu_builder_from_device<K, V>(),
};

/// Null where nothing declares the kernel for values V.
template <class K, class V>
constexpr const method<V>* row_of() {
    if constexpr (on_cpu<K, V> || runs_on<K, gpu> || has_own_on_gpu<K, V>) return &row<K, V>;
    return nullptr;
}

template <class V, class... K>
std::vector<method<V>> table_of(kernel_list<K...>) {
    std::vector<method<V>> table;
    table.reserve(sizeof...(K));
    for (const method<V>* m : {row_of<K, V>()...}) {
        if (m == nullptr) continue;
        const auto before = [](const method<V>& a, std::string_view name) { return a.name < name; };
        table.insert(std::lower_bound(table.begin(), table.end(), m->name, before), *m);
    }
    return table;
}

}  // namespace

template <class V>
std::span<const method<V>> methods() {
    static const std::vector<method<V>> all = table_of<V>(all_kernels{});
    return all;
}

template <class V>
const method<V>& find_method(std::string_view name) {
    std::string near;
    for (const method<V>& m : methods<V>()) {
        if (m.name == name) return m;
        if (m.layout() == name.substr(0, name.find('.'))) near += " " + std::string(m.name);
    }
    throw argument_error("no method '" + std::string(name) + "'" +
                         (near.empty() ? "; `nz methods` lists them" : "; there are" + near));
}

#define NZ_INSTANTIATE(V)                          \
    template std::span<const method<V>> methods(); \
    template const method<V>& find_method(std::string_view);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
