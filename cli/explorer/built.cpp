#include "cli/explorer/built.hpp"

#include <map>

namespace nz::cli {

std::vector<std::string> options_of(const std::string& layout) {
    static const std::map<std::string, std::vector<std::string>> taken = {
        {"bsr", {"--block-side"}},
        {"hll", {"--hack"}},
        {"hll_rows", {"--hack"}},
        {"hyb", {"--split-width"}},
        {"icrs", {"--interleave"}},
        {"jds_ell", {"--least-fill"}},
        {"sell", {"--chunk", "--sort-scope"}},
    };
    const auto at = taken.find(layout);
    return at == taken.end() ? std::vector<std::string>{} : at->second;
}

bool is_given(const std::string& layout, const layout_options& o) {
    if (layout == "bsr") return o.block_side > 0;
    if (layout == "hll" || layout == "hll_rows") return o.hack > 0;
    if (layout == "hyb") return o.split_width > 0;
    if (layout == "icrs") return o.interleave > 0;
    if (layout == "jds_ell") return o.least_fill != layout_options{}.least_fill;
    return layout == "sell" && (o.chunk > 0 || o.sort_scope > 0);
}

}  // namespace nz::cli
