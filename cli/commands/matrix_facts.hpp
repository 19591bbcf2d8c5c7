// Facts about a matrix from its stats: how long its rows are, and its bytes in every layout.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nonzero/core/json.hpp"
#include "nonzero/formats/registry.hpp"

namespace nz::cli {

struct length_summary {
    double mean = 0, median = 0, deviation = 0;
};
length_summary summarise(const matrix_stats&);

/// Rows of `first` to `last` entries.
struct bin {
    std::int64_t first, last, rows;
};
/// A bin a length where there are few lengths, else 0, 1, 2, 3-4, 5-8, 9-16 ... up to the longest.
std::vector<bin> histogram(const matrix_stats&);
/// Both as JSON.
nz::json row_length_json(const matrix_stats&);

/// Cost of the methods of one layout that build the same.
struct layout_bytes {
    std::string_view layout;
    std::vector<std::string_view> methods;
    estimate cost;
    std::string name = {};  ///< the layout's for most of its methods, their own for the others
};
/// Sorted by name.
template <class V>
std::vector<layout_bytes> bytes_by_layout(const matrix_stats&);
nz::json to_json(const std::vector<layout_bytes>&);

}  // namespace nz::cli
