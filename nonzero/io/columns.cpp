#include "nonzero/io/columns.hpp"

#include "nonzero/formats/assembler.hpp"
#include "nonzero/matrix/mirror.hpp"

namespace nz {

template <class V>
csr<V, host> from_columns(nz::shape shape, symmetry s, std::span<const offset> ends,
                          std::span<const index> row, std::span<const V> val, int threads) {
    constexpr std::size_t piece_entries = std::size_t(1) << 16;
    assembler<V> to(shape, std::int64_t(row.size()) * (s == symmetry::general ? 1 : 2));
    host_vector<index> rows, cols;
    host_vector<V> vals;
    std::int64_t number = 0;
    const auto add = [&] {
        if (!rows.empty()) to.add(number++, rows, cols, vals);
        rows.clear(), cols.clear(), vals.clear();
    };
    const auto push = [&](index i, index j, V v) {
        rows.push_back(i), cols.push_back(j), vals.push_back(v);
    };
    std::size_t k = 0;
    for (std::size_t j = 0; j < ends.size(); ++j) {
        for (; k < std::size_t(ends[j]); ++k) {
            const V v = val.empty() ? V(1) : val[k];
            push(row[k], index(j), v);
            if (s != symmetry::general && row[k] != index(j))
                push(index(j), row[k], mirrored(s, v));
            if (rows.size() >= piece_entries) add();
        }
    }
    add();
    return to.finish(threads);
}

#define NZ_INSTANTIATE(V)                                                            \
    template csr<V, host> from_columns(nz::shape, symmetry, std::span<const offset>, \
                                       std::span<const index>, std::span<const V>, int);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
