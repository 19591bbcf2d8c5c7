#include "cli/explain/memory_view.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "cli/explain/explain.hpp"
#include "nonzero/core/error.hpp"
#include "nonzero/core/json.hpp"

namespace nz::cli {
namespace {

using V = double;
using rows_of = csr<V, host_view>;

/// About a second of counting for each million.
constexpr offset most_entries = 2'000'000;

struct row_range {
    index first, last;  ///< [first, last)
};

/// The first row that starts at an entry or behind it.
index row_from(const rows_of& A, offset entry) {
    index low = 0, high = A.shape.rows;
    while (low < high) {
        const index middle = low + (high - low) / 2;
        if (A.row_ptr[std::size_t(middle)] < entry) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/// The rows between two entries that are `most_entries` apart about the middle; one row at least.
row_range middle_rows(const rows_of& A) {
    const offset low = (A.row_ptr.back() - most_entries) / 2;
    const index first = std::min(row_from(A, low), A.shape.rows - 1);
    return {first, std::max(first + 1, row_from(A, low + most_entries + 1) - 1)};
}

/// Those rows as a matrix; `row_ptr` holds where they start.
rows_of part_of(const rows_of& A, row_range r, std::vector<std::int32_t>& row_ptr) {
    const offset begin = A.row_ptr[std::size_t(r.first)], end = A.row_ptr[std::size_t(r.last)];
    row_ptr.clear();
    for (index i = r.first; i <= r.last; ++i)
        row_ptr.push_back(std::int32_t(A.row_ptr[std::size_t(i)] - begin));
    const auto length = std::size_t(end - begin);
    return {{index(r.last - r.first), A.shape.cols},
            offset_span(std::span<const std::int32_t>(row_ptr)),
            A.col_ind.subspan(std::size_t(begin), length),
            A.val.subspan(std::size_t(begin), length)};
}

/// The requests of the first warp at work from the middle of the first launch on, where rows are
/// like others; as many as a screen shows.
nz::json picture_of(std::string_view method, const rows_of& A) {
    constexpr std::size_t most = 48;
    const auto t = trace_of<V>(method, A);
    const std::int64_t warps = t->warps(), middle = warps > 0 ? t->grids()[0].warps / 2 : 0;
    for (std::int64_t k = 0; k < warps; ++k) {
        const std::int64_t warp = (middle + k) % warps;
        const warp_requests requests = requests_of(*t, warp, most);
        if (requests.all == 0) continue;
        nz::json j = to_json(requests);
        j.update({{"method", method}, {"warp", warp}, {"place", place_of(*t, warp)}});
        return j;
    }
    return nullptr;
}

/// The first and the last method of the table: what the least and the most waste looks like.
nz::json pictures_of(const std::vector<explained_method>& best_first, const rows_of& A) {
    std::vector<std::string_view> ends;
    for (const explained_method& m : best_first)
        if (m.declined.empty()) ends.push_back(m.method);
    if (ends.size() > 2) ends.erase(ends.begin() + 1, ends.end() - 1);
    nz::json pictures = nz::json::array();
    for (const std::string_view method : ends) {
        nz::json picture = picture_of(method, A);
        if (!picture.is_null()) pictures.push_back(std::move(picture));
    }
    return pictures;
}

nz::json view_of(const rows_of& A, const std::string& name, int threads, running_clock& clock) {
    const l1_model l1 = l1_model::of(gpu_to_explain({}));
    const auto methods = explain_methods(A, compute_stats(A, nz::gpu{}),
                                         {.l1 = l1, .threads = threads}, name, clock);
    if (methods.empty()) return nullptr;
    nz::json j = {{"entries", A.val.size()},
                  {"l1_model", describe(l1)},
                  {"methods", nz::json::array()},
                  {"pictures", pictures_of(methods, A)}};
    for (const explained_method& m : methods) j["methods"].push_back(to_json(m));
    return j;
}

}  // namespace

nz::json memory_view(const csr<V, host_view>& A, const std::string& name, int threads,
                     running_clock& clock) try {
    if (offset(A.val.size()) <= most_entries) return view_of(A, name, threads, clock);
    std::vector<std::int32_t> row_ptr;
    const row_range rows = middle_rows(A);
    nz::json j = view_of(part_of(A, rows, row_ptr), name, threads, clock);
    if (!j.is_null()) j["rows"] = nz::json::array({rows.first, rows.last});
    return j;
} catch (const error& e) {  // which does not cost what was measured
    fmt::print(stderr, "nz: {}: what kernels ask of the memory was not counted: {}\n", name,
               e.what());
    return nullptr;
}

}  // namespace nz::cli
