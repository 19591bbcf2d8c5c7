#include "nonzero/formats/registry.hpp"

#include "nonzero/formats/kernels.hpp"
#include "nonzero/formats/method_row.hpp"

namespace nz {

namespace {

template <class V, class... K>
std::span<const method<V>> table_of(kernel_list<K...>) {
    static constexpr method<V> table[] = {row<K, V>...};
    return table;
}

}  // namespace

template <class V>
std::span<const method<V>> methods() {
    return table_of<V>(all_kernels{});
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
