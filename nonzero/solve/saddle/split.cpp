#include "nonzero/solve/saddle/split.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nz {
namespace {

/// Whether the entries of row i in the columns of `is_second` that stand beside the diagonal weigh
/// no more than it does.
template <class V>
bool is_dominant(const csr<V, host_view>& K, index i, const std::vector<char>& is_second) {
    double beside = 0, centre = 0;
    for (auto k = std::size_t(K.row_ptr[std::size_t(i)]);
         k < std::size_t(K.row_ptr[std::size_t(i) + 1]); ++k) {
        if (is_second[std::size_t(K.col_ind[k])] == 0) continue;
        (K.col_ind[k] == i ? centre : beside) += double(std::abs(K.val[k]));
    }
    constexpr double rounding = 16 * double(std::numeric_limits<real<V>>::epsilon());
    return beside <= (1 + rounding) * centre;
}

}  // namespace

template <class V>
saddle_split find_saddle(const ascending<V>& K, std::span<const V> diagonal) {
    const auto above = std::ranges::count_if(diagonal, [](V d) { return std::real(d) > 0; });
    const auto below = std::ranges::count_if(diagonal, [](V d) { return std::real(d) < 0; });
    saddle_split split;
    split.is_negated = below > above;
    const real<V> sign = split.is_negated ? -1 : 1;
    std::vector<char> is_second(diagonal.size());
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
        is_second[i] = !(sign * std::real(diagonal[i]) > 0);
        (is_second[i] != 0 ? split.second : split.first).push_back(index(i));
    }
    const bool is_so = !split.first.empty() && std::ranges::all_of(split.second, [&](index i) {
        return is_dominant(K.view(), i, is_second);
    });
    return is_so ? split : saddle_split();
}

#define NZ_INSTANTIATE(V) \
    template saddle_split find_saddle(const ascending<V>&, std::span<const V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
