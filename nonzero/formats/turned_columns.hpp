// Column-major vectors turned to row-major ones on the CPU, for loops that run along the vectors.
#pragma once

#include <algorithm>
#include <concepts>

#include "nonzero/core/memory.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/formats/columns.hpp"

namespace nz {

/// Vectors that are turned at once.
inline constexpr std::size_t turned_vectors = 32;

/// Whether column-major vectors are faster turned: where each element of X is loaded so often that
/// this is worth a copy of it (docs/decisions/several-vectors.md).
template <class V>
bool turning_pays(std::int64_t loads, std::int64_t len, index vectors) {
    constexpr std::int64_t least_loads_an_element = 10;
    constexpr index least_vectors = 4;
    return std::floating_point<V> && vectors >= least_vectors &&
           loads >= least_loads_an_element * len;
}

/// Memory for n elements. The calling thread keeps what is no larger than kept_bytes for its next
/// product: new pages take the system as long as it takes to fill them.
template <class V>
class turned_memory {
  public:
    explicit turned_memory(std::size_t n) {
        if (kept().size() < n) kept() = host_vector<V>(n);
    }
    ~turned_memory() {
        if (kept().size() * sizeof(V) > kept_bytes) host_vector<V>().swap(kept());
    }
    turned_memory(const turned_memory&) = delete;
    turned_memory& operator=(const turned_memory&) = delete;
    [[nodiscard]] V* data() const { return kept().data(); }

  private:
    static constexpr std::size_t kept_bytes = std::size_t(64) << 20;
    static host_vector<V>& kept() {
        static thread_local host_vector<V> of_thread;
        return of_thread;
    }
};

/// X, of `len` elements a vector, as row-major vectors side by side.
template <class V>
void turn(cpu on, const in_columns<V, cpu>& X, std::size_t len, V* to) {
    constexpr std::int64_t tile = 64;  // elements of each vector that stay in L1 meanwhile
    const auto n = std::int64_t(len);
    const auto vectors = std::size_t(X.count);
    parallel_for(thread_count(on), (n + tile - 1) / tile, [&](std::int64_t t) {
        const std::int64_t first = t * tile, last = std::min(first + tile, n);
        for (std::size_t v = 0; v < vectors; ++v) {
            const V* const from = X.values.data() + v * X.vector_stride();
            for (std::int64_t j = first; j < last; ++j) to[std::size_t(j) * vectors + v] = from[j];
        }
    });
}

/// f(row-major vectors, the first's number) for some of X after the other, as they lie or turned.
template <class V, class F>
void for_some_by_rows(cpu on, const in_columns<V, cpu>& X, std::size_t len, F f) {
    const index at_once = index(turned_vectors);
    const turned_memory<V> memory(X.by_row() ? 0 : len * std::min<std::size_t>(X.count, at_once));
    for (index first = 0; first < X.count; first += at_once) {
        auto some = some_of(X, first, std::min(at_once, X.count - first));
        if (!X.by_row()) {
            turn<V>(on, some, len, memory.data());
            const auto stride = std::size_t(some.count);
            some = {{memory.data(), len * stride}, stride, some.count, storage_order::row_major};
        }
        f(some, first);
    }
}

}  // namespace nz
