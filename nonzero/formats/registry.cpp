#include "nonzero/formats/registry.hpp"

#include "nonzero/formats/kernels.hpp"
#include "nonzero/formats/method_row.hpp"
#include "nonzero/formats/packed/spmv/stripes.hpp"

namespace nz {

namespace {

template <class V, class... K>
std::vector<method<V>> table_of(kernel_list<K...>) {
    std::vector<method<V>> table{row<K, V>...};
    if constexpr (std::floating_point<V>) table.push_back(stripes_method<V>());
    std::ranges::sort(table, {}, &method<V>::name);
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
