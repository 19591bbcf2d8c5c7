// From counts of things to the places where they go, in the order of their keys.
#pragma once

#include <numeric>
#include <vector>

#include "nonzero/core/parallel.hpp"

namespace nz {

/// From counts to places: of[p][j], the things with key j in part p, becomes the place of the first
/// of them, those with one key side by side, the parts in order. first: of keys + 1 elements, where
/// each key's start.
template <class T>
void place_by_key(cpu on, std::vector<host_vector<T>>& of, host_vector<T>& first) {
    const std::size_t keys = first.size() - 1;
    first[0] = 0;
    parallel_for(thread_count(on), std::int64_t(keys), [&](std::int64_t j) {
        T count = 0;
        for (const auto& part : of) count += part[std::size_t(j)];
        first[std::size_t(j) + 1] = count;
    });
    std::partial_sum(first.begin(), first.end(), first.begin());
    parallel_for(thread_count(on), std::int64_t(keys), [&](std::int64_t j) {
        T at = first[std::size_t(j)];
        for (auto& part : of) at += std::exchange(part[std::size_t(j)], at);
    });
}

}  // namespace nz
