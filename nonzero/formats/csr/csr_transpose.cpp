// A^T of a CSR in the CPU's memory.
#include <algorithm>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/place_by_key.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/formats/csr/to_csr.hpp"

namespace nz {
namespace {

/// Positions of the entries of each column, for every share of the rows: counted, summed up in the
/// order of columns and then shares.
template <class V>
struct column_places {
    column_places(cpu on, const csr<V, host_view>& A, int parts)
        : ptr(std::size_t(A.shape.cols) + 1), next(std::size_t(parts)) {
        const auto cols = std::size_t(A.shape.cols);
        parallel_for(thread_count(on), parts, [&](std::int64_t p) {
            auto& n = next[std::size_t(p)];
            n.assign(cols, 0);
            const range rows = share(A.shape.rows, parts, p);
            for_each_entry(A, rows.first, rows.last,
                           [&](index, index j, V) { ++n[std::size_t(j)]; });
        });
        place_by_key(on, next, ptr);
    }
    host_vector<offset> ptr;
    std::vector<host_vector<offset>> next;
};

}  // namespace

template <class V>
csr<V, host> transposed(cpu any, const csr<V, host_view>& A) {
    const cpu on = worth(any, std::ssize(A.val));
    // Counters for every column and share: no more shares than entries pay for.
    const auto most = std::int64_t(A.val.size()) / std::max<std::int64_t>(A.shape.cols, 1);
    const int parts =
        int(std::clamp<std::int64_t>(thread_count(on), 1, std::max<std::int64_t>(most, 1)));
    column_places<V> at(on, A, parts);
    csr<V, host> T{{A.shape.cols, A.shape.rows},
                   {},
                   host_vector<index>(A.val.size()),
                   host_vector<V>(A.val.size())};
    parallel_for(thread_count(on), parts, [&](std::int64_t p) {
        offset* const next = at.next[std::size_t(p)].data();
        const range rows = share(A.shape.rows, parts, p);
        for_each_entry(A, rows.first, rows.last, [&](index i, index j, V v) {
            const auto k = std::size_t(next[j]++);
            T.col_ind[k] = i, T.val[k] = v;
        });
    });
    T.row_ptr = offset_vector(at.ptr);
    return T;
}

#define NZ_INSTANTIATE(V) template csr<V, host> transposed(cpu, const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
