#include "nonzero/dist/halo_rows.hpp"

namespace nz {
namespace {

/// The entries of the rows that others need, of the array given.
template <class T, class V>
host_vector<T> entries_of_halo(const communicator& ranks, const halo& h,
                               const csr<V, host_view>& own, std::span<const T> of) {
    std::vector<host_vector<T>> to(std::size_t(ranks.size()));
    for (const halo_segment& s : h.sends)
        for (std::size_t k = s.first; k < s.first + s.count; ++k) {
            const auto i = std::size_t(h.sent[k]);
            auto& list = to[std::size_t(s.peer)];
            list.insert(list.end(), of.begin() + own.row_ptr[i], of.begin() + own.row_ptr[i + 1]);
        }
    host_vector<T> all;
    for (const auto& list : exchanged(ranks, to)) all.insert(all.end(), list.begin(), list.end());
    return all;
}

}  // namespace

template <class V>
csr<V, host> rows_of_halo(const communicator& ranks, const halo& h, const csr<V, host_view>& own) {
    host_vector<index> lengths(std::size_t(own.shape.rows));
    for (std::size_t i = 0; i < lengths.size(); ++i)
        lengths[i] = index(own.row_ptr[i + 1] - own.row_ptr[i]);
    lengths = values_of_halo<index>(ranks, h, lengths);
    host_vector<offset> ptr{0};
    for (const index length : lengths) ptr.push_back(ptr.back() + length);
    return {{index(lengths.size()), own.shape.cols},
            offset_vector(ptr),
            entries_of_halo<index>(ranks, h, own, own.col_ind),
            entries_of_halo<V>(ranks, h, own, own.val)};
}

#define NZ_INSTANTIATE(V) \
    template csr<V, host> rows_of_halo(const communicator&, const halo&, const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
