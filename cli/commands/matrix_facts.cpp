#include "cli/commands/matrix_facts.hpp"
#include "nonzero/core/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nz::cli {

length_summary summarise(const matrix_stats& s) {
    if (s.rows == 0) return {};
    // The length of the k-th shortest row.
    const auto at = [&](std::int64_t k) {
        std::size_t c = 0;
        for (; k >= s.row_lengths[c].rows; ++c) k -= s.row_lengths[c].rows;
        return double(s.row_lengths[c].length);
    };
    const double mean = double(s.nnz) / double(s.rows);
    double squares = 0;
    for (const auto& [length, rows] : s.row_lengths)
        squares += (double(length) - mean) * (double(length) - mean) * double(rows);
    return {mean, (at((s.rows - 1) / 2) + at(s.rows / 2)) / 2, std::sqrt(squares / double(s.rows))};
}

std::vector<bin> histogram(const matrix_stats& s) {
    constexpr std::size_t few = 12;
    std::vector<bin> bins;
    if (s.row_lengths.size() <= few) {
        for (const auto& [length, rows] : s.row_lengths) bins.push_back({length, length, rows});
        return bins;
    }
    auto next = s.row_lengths.begin();
    for (std::int64_t first = 0, last = 0; next != s.row_lengths.end();
         first = last + 1, last = std::max<std::int64_t>(2 * last, 1)) {
        bin b{first, last, 0};
        for (; next != s.row_lengths.end() && next->length <= last; ++next) b.rows += next->rows;
        if (b.rows > 0 || !bins.empty()) bins.push_back(b);
    }
    return bins;
}

nz::json row_length_json(const matrix_stats& s) {
    const length_summary lengths = summarise(s);
    nz::json bins = nz::json::array();
    for (const auto& [first, last, rows] : histogram(s))
        bins.push_back({{"first", first}, {"last", last}, {"rows", rows}});
    return {{"min", s.min_row_nnz()}, {"mean", lengths.mean},           {"median", lengths.median},
            {"max", s.max_row_nnz()}, {"deviation", lengths.deviation}, {"histogram", bins}};
}

template <class V>
std::vector<layout_bytes> bytes_by_layout(const matrix_stats& s) {
    std::vector<layout_bytes> all;
    for (const method<V>& m : methods<V>()) {
        const estimate e = m.cost(s);
        const auto same = std::find_if(all.begin(), all.end(), [&](const layout_bytes& l) {
            return l.layout == m.layout() && l.cost.declined == e.declined &&
                   l.cost.matrix_bytes == e.matrix_bytes;
        });
        if (same != all.end()) {
            same->methods.push_back(m.name);
        } else {
            all.push_back({m.layout(), {m.name}, e});
        }
    }
    for (layout_bytes& l : all) {
        const bool is_most = std::all_of(all.begin(), all.end(), [&](const layout_bytes& other) {
            return other.layout != l.layout || other.methods.size() <= l.methods.size();
        });
        l.name = is_most ? std::string(l.layout) : fmt::format("{}", fmt::join(l.methods, ", "));
    }
    std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.name < b.name; });
    return all;
}

nz::json to_json(const std::vector<layout_bytes>& layouts) {
    nz::json all = nz::json::array();
    for (const layout_bytes& l : layouts) {
        nz::json line{{"name", l.name}, {"layout", l.layout}, {"methods", l.methods}};
        if (l.cost.declined.empty()) {
            line["bytes"] = l.cost.matrix_bytes;
        } else {
            line["declined"] = l.cost.declined;
        }
        all.push_back(line);
    }
    return all;
}

#define NZ_INSTANTIATE(V) \
    template std::vector<layout_bytes> bytes_by_layout<V>(const matrix_stats&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz::cli
