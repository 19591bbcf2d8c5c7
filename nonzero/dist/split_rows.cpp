#include "nonzero/dist/split_rows.hpp"

#include <algorithm>
#include <numeric>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/format.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/dist/local_rows.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "nonzero/matrix/order.hpp"

namespace nz {
namespace {

template <class V>
void check_shares(const matrix_slice<V>& A, int rank, int size) {
    if (A.rows.parts() != size || A.cols.parts() != size)
        throw argument_error(
            "distributed: rows or columns are shared out over another number of "
            "ranks than there are");
    const nz::shape expected{A.rows.count(rank), A.cols.total()};
    if (A.own.shape != expected)
        throw argument_error("distributed: own rows are " + std::to_string(A.own.shape.rows) +
                             " x " + std::to_string(A.own.shape.cols) + ", expected " +
                             std::to_string(expected.rows) + " x " + std::to_string(expected.cols));
}

/// A run of rows once it is compact: `kept` entries stay where it begins, the others are listed.
template <class V>
struct run_of_rows {
    std::size_t begin = 0, kept = 0;
    host_vector<index> col = {}, edge = {};
    host_vector<V> val = {};
    host_vector<offset> end = {};  ///< of each edge row among the listed
};

/// Takes the entries in others' columns, `columns`, out of these rows. length: of what stays of
/// each row.
template <class V>
run_of_rows<V> compact(range rows, range own, std::span<const index> columns, csr<V, host>& local,
                       offset* length) {
    run_of_rows<V> run{.begin = std::size_t(local.row_ptr[std::size_t(rows.first)])};
    std::size_t kept = run.begin;
    for (std::int64_t i = rows.first; i < rows.last; ++i) {
        const std::size_t before = kept, listed = run.col.size();
        const auto end = std::size_t(local.row_ptr[std::size_t(i) + 1]);
        for (auto k = std::size_t(local.row_ptr[std::size_t(i)]); k < end; ++k) {
            const index j = local.col_ind[k];
            const V v = local.val[k];
            if (j >= own.first && j < own.last) {
                local.col_ind[kept] = j - index(own.first), local.val[kept++] = v;
                continue;
            }
            const auto at = std::lower_bound(columns.begin(), columns.end(), j);
            run.col.push_back(index(at - columns.begin())), run.val.push_back(v);
        }
        length[i] = offset(kept - before);
        if (run.col.size() > listed)
            run.edge.push_back(index(i)), run.end.push_back(offset(run.col.size()));
    }
    run.kept = kept - run.begin;
    return run;
}

/// Closes the gaps between the runs; how many entries there are.
template <class V>
std::size_t join(const std::vector<run_of_rows<V>>& runs, csr<V, host>& local) {
    const auto close = [&](auto& all) {
        auto to = all.begin();
        for (const auto& run : runs) {
            const auto from = all.begin() + std::ptrdiff_t(run.begin);
            to = from == to ? to + std::ptrdiff_t(run.kept) : std::copy_n(from, run.kept, to);
        }
        return std::size_t(to - all.begin());
    };
    std::size_t kept = 0;
    parallel(2,
             [&](int t) { t == 0 ? void(kept = close(local.col_ind)) : void(close(local.val)); });
    return kept;
}

/// Moves the entries in others' columns, which A.halo.columns names, out of `local`.
template <class V>
void move_others(cpu on, range own, split_rows<V>& A) {
    auto &local = A.local, &others = A.others;
    const int threads = thread_count(on);
    host_vector<offset> stay(std::size_t(local.shape.rows) + 1), leave{0};
    stay[0] = 0;
    std::vector<run_of_rows<V>> runs(static_cast<std::size_t>(threads));
    parallel(threads, [&](int t) {
        const range rows = share(local.shape.rows, threads, t);
        runs[std::size_t(t)] =
            compact(rows, own, std::span(std::as_const(A.halo.columns)), local, stay.data() + 1);
    });
    std::partial_sum(stay.begin(), stay.end(), stay.begin());
    const std::size_t all = local.col_ind.size(), kept = join(runs, local);
    for (const auto& run : runs) {
        for (const offset end : run.end) leave.push_back(offset(others.val.size()) + end);
        others.col_ind.insert(others.col_ind.end(), run.col.begin(), run.col.end());
        others.val.insert(others.val.end(), run.val.begin(), run.val.end());
        A.edge.insert(A.edge.end(), run.edge.begin(), run.edge.end());
    }
    others.shape = {index(A.edge.size()), index(A.halo.columns.size())};
    others.row_ptr = offset_vector(leave);
    local.shape.cols = index(own.last - own.first);
    local.row_ptr = offset_vector(stay);
    local.col_ind.resize(kept), local.val.resize(kept);
    if (all - kept > kept / 8) local.col_ind.shrink_to_fit(), local.val.shrink_to_fit();
}

}  // namespace

template <class V>
split_rows<V> split(cpu on, const communicator& ranks, matrix_slice<V> A) {
    row_order order = row_order::any;
    agree(&ranks, [&] {
        order = order_of(cpu{}, view(A.own));
        check_shares(A, ranks.rank(), ranks.size());
    });
    const range own = A.cols.of(ranks.rank());
    split_rows<V> parts{std::move(A.rows),
                        std::move(A.cols),
                        {},
                        {},
                        std::move(A.own),
                        {},
                        order == row_order::ascending};
    agree(&ranks, [&] {
        parts.halo.columns = columns_outside(on, view(parts.local), own);
        move_others(on, own, parts);
    });
    parts.halo = make_halo(ranks, parts.cols, std::move(parts.halo.columns));
    return parts;
}

template <class V>
split_rows<V, device> split(gpu on, const communicator& ranks, const matrix_slice<V>& A) {
    local_columns columns{A.cols.of(ranks.rank()), {}};
    csr<V, device> rows;
    agree(&ranks, [&] {
        check_shares(A, ranks.rank(), ranks.size());
        const ascending<V, gpu> there(upload(on, A.own), on);
        columns.others = columns_outside(on, there.view(), columns.own);
        rows = numbered_locally(on, there.view(), columns);
    });
    auto halo = make_halo(ranks, A.cols, columns.others);
    split_rows<V, device> parts;
    agree(&ranks, [&] {
        auto block = own_columns(on, view(rows), columns.own_count());
        parts = split<V, gpu>(on, A.rows, A.cols, std::move(halo), rows, std::move(block));
    });
    return parts;
}

template <class V>
bool fits_to_split(gpu on, const communicator& ranks, const matrix_slice<V>& A) {
    // Three copies are there at once, and the packed product takes no more than another.
    constexpr std::size_t copies = 4;
    bool fits = false;
    agree(&ranks, [&] { fits = copies * bytes(A.own) <= memory_of(on).free_bytes; });
    return on_all(&ranks, fits);
}

template <class V, class C>
split_rows<V, typename C::memory> split(C here, const shares& rows, const shares& cols,
                                        nz::halo halo, const csr<V, typename C::memory>& A,
                                        csr<V, typename C::memory> block) {
    const index own = block.shape.cols;
    auto edge = edge_rows(here, view(A), own);
    const auto at_edge = rows_at(here, view(A), edge);
    return {rows,
            cols,
            std::move(halo),
            std::move(edge),
            std::move(block),
            other_columns(helpers(here), view(at_edge), own),
            true};
}

#define NZ_INSTANTIATE_ON(V, C)                                                                   \
    template split_rows<V, typename C::memory> split<V, C>(C, const shares&, const shares&, halo, \
                                                           const csr<V, typename C::memory>&,     \
                                                           csr<V, typename C::memory>);
#define NZ_INSTANTIATE(V)                                                    \
    template split_rows<V> split(cpu, const communicator&, matrix_slice<V>); \
    NZ_INSTANTIATE_ON(V, cpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)
#define NZ_INSTANTIATE_ON_GPU(V)                                                            \
    template split_rows<V, device> split(gpu, const communicator&, const matrix_slice<V>&); \
    template bool fits_to_split(gpu, const communicator&, const matrix_slice<V>&);          \
    NZ_INSTANTIATE_ON(V, gpu)
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE_ON_GPU(float))
NZ_WITH_CUDA_ONLY(NZ_INSTANTIATE_ON_GPU(double))

}  // namespace nz
