#include "nonzero/core/space.hpp"

#include <algorithm>

namespace nz {

offset_vector::offset_vector(std::span<const offset> p) {
    const bool fits = std::all_of(
        p.begin(), p.end(), [](offset v) { return v >= 0 && v <= offset_vector::max_narrow; });
    if (!fits) {
        wide_.assign(p.begin(), p.end());
        return;
    }
    narrow_.resize(p.size());
    std::transform(p.begin(), p.end(), narrow_.begin(), [](offset v) { return std::int32_t(v); });
}

offset_vector offset_vector::wide(host_vector<offset> p) {
    offset_vector v;
    v.wide_ = std::move(p);
    return v;
}

bool operator==(const offset_vector& a, const offset_vector& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t k = 0; k < a.size(); ++k)
        if (a[k] != b[k]) return false;
    return true;
}

}  // namespace nz
