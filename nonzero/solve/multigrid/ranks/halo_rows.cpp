#include "nonzero/solve/multigrid/ranks/halo_rows.hpp"

namespace nz {
namespace {

/// The entries of the rows that others need, of the array given.
template <class T, class V>
host_vector<T> entries_of_halo(const communicator& ranks, const halo& h,
                               const csr<V, host_view>& sent, std::span<const T> of) {
    std::vector<host_vector<T>> to(std::size_t(ranks.size()));
    for (const halo_segment& s : h.sends)
        to[std::size_t(s.peer)].assign(of.begin() + sent.row_ptr[s.first],
                                       of.begin() + sent.row_ptr[s.first + s.count]);
    host_vector<T> all;
    for (const auto& list : exchanged(ranks, to)) all.insert(all.end(), list.begin(), list.end());
    return all;
}

}  // namespace

template <class V>
csr<V, host> rows_of_halo(const communicator& ranks, const halo& h, const csr<V, host_view>& sent) {
    host_vector<index> lengths(std::size_t(sent.shape.rows));
    for (std::size_t k = 0; k < lengths.size(); ++k)
        lengths[k] = index(sent.row_ptr[k + 1] - sent.row_ptr[k]);
    lengths = values_of_halo<index>(ranks, h, lengths);
    host_vector<offset> ptr{0};
    for (const index length : lengths) ptr.push_back(ptr.back() + length);
    return {{index(lengths.size()), sent.shape.cols},
            offset_vector(ptr),
            entries_of_halo<index>(ranks, h, sent, sent.col_ind),
            entries_of_halo<V>(ranks, h, sent, sent.val)};
}

#define NZ_INSTANTIATE(V) \
    template csr<V, host> rows_of_halo(const communicator&, const halo&, const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
