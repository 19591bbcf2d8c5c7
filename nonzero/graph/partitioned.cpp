#include "nonzero/graph/partitioned.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/exchange.hpp"
#include "nonzero/dist/own_block.hpp"
#include "nonzero/graph/partition.hpp"

namespace nz {
namespace {

void check_parts(std::span<const index> part, index rows, int parts) {
    if (part.size() != std::size_t(rows))
        throw argument_error("partitioned_slice: parts of " + std::to_string(part.size()) +
                             " rows, expected " + std::to_string(rows));
    const auto wrong = std::ranges::find_if(part, [&](index p) { return p < 0 || p >= parts; });
    if (wrong != part.end())
        throw argument_error("partitioned_slice: row " + std::to_string(wrong - part.begin()) +
                             " is of part " + std::to_string(*wrong) + ", expected 0 to " +
                             std::to_string(parts - 1));
}

}  // namespace

template <class V>
std::pair<matrix_slice<V>, ordering> partitioned_slice(const communicator& ranks,
                                                       const csr<V, host_view>& A,
                                                       std::span<const index> part) {
    std::pair<matrix_slice<V>, ordering> mine;
    matrix_slice<V>& slice = mine.first;
    ordering& order = mine.second;
    csr<V, host> permuted;
    agree(&ranks, [&] {
        check_parts(part, A.shape.rows, ranks.size());
        order.resize(part.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, {}, [&](index i) { return part[std::size_t(i)]; });
        permuted = reordered(A, order);
    });
    expect_equal(&ranks, "partitioned_slice",
                 std::array{double(A.shape.rows), double(A.val.size())});
    slice.rows.first.assign(std::size_t(ranks.size()) + 1, 0);
    for (const index p : part) ++slice.rows.first[std::size_t(p) + 1];
    std::partial_sum(slice.rows.first.begin(), slice.rows.first.end(), slice.rows.first.begin());
    slice.cols = slice.rows;
    slice.own = rows_of(view(permuted), slice.rows.of(ranks.rank()));
    return mine;
}

template <class V>
std::pair<matrix_slice<V>, ordering> partitioned_slice(const communicator& ranks,
                                                       const csr<V, host_view>& A) {
    std::vector<host_vector<index>> to(std::size_t(ranks.size()));
    agree(&ranks, [&] {
        if (ranks.rank() != 0) return;
        // More parts than rows cannot be: the ranks behind have none.
        const auto parts = std::clamp<index>(index(ranks.size()), 1, std::max(A.shape.rows, 1));
        std::ranges::fill(to, partition(A, {.parts = parts}).part);
    });
    return partitioned_slice(ranks, A, exchanged(ranks, to)[0]);
}

#define NZ_INSTANTIATE(V)                                                                \
    template std::pair<matrix_slice<V>, ordering> partitioned_slice(                     \
        const communicator&, const csr<V, host_view>&, std::span<const index>);          \
    template std::pair<matrix_slice<V>, ordering> partitioned_slice(const communicator&, \
                                                                    const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
