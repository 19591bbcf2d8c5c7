// The matrices that nz bench measures: as a file holds them, or tiled, or with distinct values.
#pragma once

#include <optional>
#include <string>

#include "nonzero/core/json.hpp"
#include "nonzero/plan/storage/storage.hpp"

namespace nz::cli {

/// Changes to a file's matrix.
struct input_options {
    std::optional<double> tile;  ///< entries: whole copies along the diagonal until it has them
    bool distinct = false;       ///< no two values equal, by make_distinct
    std::uint64_t seed = 1;      ///< seed of the values' factors
    value_storage storage = value_storage::exact;  ///< every value as a plan would store it
};
/// Throws argument_error where `tile` is no whole number from 1 to 10^12.
void check(const input_options&);

template <class V>
struct bench_input {
    std::string name;
    csr<V, host> A;
    std::int64_t copies = 1;           ///< how often the file's matrix stands on the diagonal
    std::int64_t distinct_values = 0;  ///< before they are rounded
};
/// Throws as read_matrix, tiled, make_distinct, count_distinct and stored_values.
template <class V>
bench_input<V> read_bench_input(const std::string& path, const input_options&);

/// Where a product finds its matrix. The cache is a GPU's L2, or a CPU's last level ("llc").
struct cache_level {
    std::string_view name;
    std::int64_t bytes = 0;  ///< 0: not known
};
cache_level last_level_cache(bool on_gpu);

/// "in_l2" where the CSR fits the cache, else "beyond_l2", or "beyond_l2_distinct" where no two
/// values are equal; on a CPU the same of "llc". Empty where the cache's size is not known.
inline std::string matrix_class(std::size_t csr_bytes, bool all_distinct,
                                const cache_level& cache) {
    if (cache.bytes == 0) return {};
    const std::string name(cache.name);
    if (double(csr_bytes) <= double(cache.bytes)) return "in_" + name;
    return "beyond_" + name + (all_distinct ? "_distinct" : "");
}

/// The matrix's entry in the JSON.
template <class V>
nz::json to_json(const bench_input<V>&, const cache_level&);

}  // namespace nz::cli
