#include "nonzero/plan/storage/storage.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "nonzero/core/parallel.hpp"
#include "nonzero/plan/storage/stored_values.hpp"

namespace nz {

std::string_view name_of(value_storage s) {
    return s == value_storage::single ? "single" : "exact";
}

value_storage storage_named(std::string_view name) {
    for (const value_storage s : value_storages)
        if (name == name_of(s)) return s;
    throw argument_error(fmt::format("storage: '{}' is not one of exact and single", name));
}

template <class V>
storage_bound bound_of(value_storage s, std::int64_t longest_row) {
    constexpr double u = std::numeric_limits<real<V>>::epsilon() / 2;
    // As in the reference that products are held against (nonzero/formats/oracle.hpp).
    const double n = double(is_complex<V> ? 2 * longest_row + 6 : longest_row + 3);
    const double gamma = n * u < 1 ? n * u / (1 - n * u) : std::numeric_limits<double>::infinity();
    if (!rounds<V>(s)) return {.relative = gamma};
    constexpr double single = std::numeric_limits<float>::epsilon() / 2;
    constexpr double half_of_least = double(std::numeric_limits<float>::denorm_min()) / 2;
    return {.unit_roundoff = single,
            .relative = single + (1 + single) * gamma,
            .absolute = half_of_least * (1 + gamma),
            .smallest = std::numeric_limits<float>::min()};
}

void refuse_overflow(std::int64_t at) {
    throw argument_error(fmt::format(
        "storage: the value of entry {} is beyond the range of single precision, 3.4e38", at));
}

void refuse_complex() { throw argument_error("storage: complex values are stored exactly only"); }

template <class V>
host_vector<V> stored_values(cpu on, std::span<const V> values, value_storage how) {
    host_vector<V> rounded;
    if constexpr (std::is_same_v<V, double>) {
        if (!rounds<V>(how)) return rounded;
        rounded.resize(values.size());
        const std::int64_t first =
            parallel_reduce(thread_count(on), std::ssize(values), no_overflow, smaller_of(),
                            [from = values.data(), to = rounded.data()](std::int64_t k) {
                                to[k] = double(float(from[k]));
                                return std::isinf(to[k]) && !std::isinf(from[k]) ? k : no_overflow;
                            });
        if (first != no_overflow) refuse_overflow(first);
    } else if constexpr (is_complex<V>) {
        if (how != value_storage::exact) refuse_complex();
    }
    return rounded;
}

#define NZ_INSTANTIATE(V)                                            \
    template storage_bound bound_of<V>(value_storage, std::int64_t); \
    template host_vector<V> stored_values(cpu, std::span<const V>, value_storage);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
