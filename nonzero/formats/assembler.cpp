#include "nonzero/formats/assembler.hpp"

namespace nz {

template <class V>
void assembler<V>::add(std::int64_t number, std::span<const index> row, std::span<const index> col,
                       std::span<const V> val) {
    piece p{{row.begin(), row.end()}, {col.begin(), col.end()}, {val.begin(), val.end()}};
    if (val.empty()) p.val.assign(row.size(), V(1));
    const std::lock_guard lock(mutex_);
    pieces_.emplace(number, std::move(p));
}

template <class V>
csr<V, host> assembler<V>::finish(int) {
    piece all;
    for (auto& [number, p] : pieces_) {
        all.row.insert(all.row.end(), p.row.begin(), p.row.end());
        all.col.insert(all.col.end(), p.col.begin(), p.col.end());
        all.val.insert(all.val.end(), p.val.begin(), p.val.end());
        p = {};
    }
    return assemble<V>(shape_, all.row, all.col, all.val);
}

#define NZ_INSTANTIATE(V) template class assembler<V>;
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
