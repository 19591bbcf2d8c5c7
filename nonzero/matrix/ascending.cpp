#include "nonzero/matrix/ascending.hpp"

#include <algorithm>
#include <atomic>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/formats/assembler.hpp"
#include "nonzero/formats/csr/merge_path.hpp"
#include "nonzero/matrix/order.hpp"
#include "nonzero/vector/copied.hpp"

namespace nz {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw argument_error("csr: " + what); }

void check_ends(offset_span row_ptr, std::size_t nnz) {
    if (row_ptr[0] != 0) refuse("row_ptr[0] is " + std::to_string(row_ptr[0]) + ", expected 0");
    if (row_ptr.back() != offset(nnz))
        refuse("row_ptr ends with " + std::to_string(row_ptr.back()) +
               ", expected the number of entries, " + std::to_string(nnz));
}

/// Throws where row_ptr descends.
template <class P>
void check_row_ptr(const P* ptr, std::int64_t rows) {
    std::int64_t wrong = 0;
#pragma omp parallel for simd schedule(static) num_threads(thread_count({}, rows)) \
    reduction(+ : wrong)
    for (std::int64_t i = 0; i < rows; ++i) wrong += ptr[i] > ptr[i + 1];
    if (wrong == 0) return;
    std::int64_t i = 0;
    while (ptr[i] <= ptr[i + 1]) ++i;
    refuse("row_ptr decreases at row " + std::to_string(i) + ", from " + std::to_string(ptr[i]) +
           " to " + std::to_string(ptr[i + 1]));
}

template <class P>
[[noreturn]] void refuse_column(const P* ptr, const index* col, index cols) {
    std::int64_t k = 0, i = 0;
    while (col[k] >= 0 && col[k] < cols) ++k;
    while (ptr[i + 1] <= k) ++i;
    refuse("column " + std::to_string(col[k]) + " in row " + std::to_string(i) +
           (cols > 0 ? ", expected 0 to " + std::to_string(cols - 1)
                     : ", of a matrix without columns"));
}

/// Entries of a CSR whose column is no larger than that of the entry before.
struct descents {
    std::int64_t all = 0, between_rows = 0;
    bool outside = false;  ///< whether any column is
};

/// Those of the entries [first, last): a loop that leaves the rows out, so that it is vectorised.
void count_descents(const index* col, std::int64_t first, std::int64_t last, index cols,
                    descents& found) {
    if (first == last) return;
    const auto beyond = [=](index j) {  // its sign bit: j is negative, or cols or more
        return std::uint32_t(j) | (std::uint32_t(cols) - 1 - std::uint32_t(j));
    };
    std::uint32_t outside = beyond(col[first]);
    std::int32_t ascents = first > 0 && col[first - 1] < col[first];
#pragma omp simd reduction(+ : ascents) reduction(| : outside)
    for (std::int64_t k = first + 1; k < last; ++k) {
        ascents += col[k - 1] < col[k];
        outside |= beyond(col[k]);
    }
    found.all += last - first - ascents - (first == 0);
    found.outside |= outside >> 31 != 0;
}

/// In one pass over the columns. row_ptr must not descend.
template <class P>
descents count_descents(const P* ptr, std::int64_t rows, const index* col, std::int64_t nnz,
                        index cols) {
    constexpr std::int64_t piece = 1 << 14;  // steps: 32 bits count them, and L2 holds them
    const std::int64_t steps = rows + nnz, pieces = (steps + piece - 1) / piece;
    std::int64_t all = 0, between_rows = 0;
    bool outside = false;
#pragma omp parallel for schedule(static) num_threads(thread_count({}, steps)) \
    reduction(+ : all, between_rows) reduction(|| : outside)
    for (std::int64_t p = 0; p < pieces; ++p) {
        const std::int64_t begin = p * piece, end = std::min(begin + piece, steps);
        const std::int64_t row = merge_path_rows(ptr + 1, rows, nnz, begin);
        const std::int64_t last_row = merge_path_rows(ptr + 1, rows, nnz, end);
        descents found;
        count_descents(col, begin - row, end - last_row, cols, found);
        for (std::int64_t i = row; i < last_row; ++i) {
            const std::int64_t next = ptr[i + 1];
            found.between_rows += ptr[i] < next && next < nnz && col[next - 1] >= col[next];
        }
        all += found.all, between_rows += found.between_rows, outside = outside || found.outside;
    }
    return {all, between_rows, outside};
}

/// Orders every row of A and closes the gaps that summed duplicates leave.
template <class V>
void order_rows(host_vector<offset>& row_ptr, host_vector<index>& col, host_vector<V>& val) {
    const auto rows = std::int64_t(row_ptr.size()) - 1;
    host_vector<offset> kept(std::size_t(std::max<std::int64_t>(rows, 0)));
    const auto order = [&](std::int64_t i, row_scratch<V>& scratch) {
        const auto b = std::size_t(row_ptr[std::size_t(i)]);
        const auto n = std::size_t(row_ptr[std::size_t(i) + 1]) - b;
        kept[std::size_t(i)] =
            offset(order_row<V>({col.data() + b, n}, {val.data() + b, n}, scratch));
    };
    parallel_for(
        thread_count({}), rows, 256, [] { return row_scratch<V>(); }, order);
    std::size_t to = 0;
    for (std::size_t i = 0; i < std::size_t(rows); ++i) {
        const auto from = std::size_t(row_ptr[i]), n = std::size_t(kept[i]);
        row_ptr[i] = offset(to);
        if (from != to) {
            std::copy_n(col.data() + from, n, col.data() + to);
            std::copy_n(val.data() + from, n, val.data() + to);
        }
        to += n;
    }
    row_ptr.back() = offset(to);
    col.resize(to), val.resize(to);
}

std::atomic<std::int64_t> checks = 0;

}  // namespace

std::int64_t order_checks() { return checks; }

template <class V, class S>
void check_sizes(const csr<V, S>& A) {
    if (A.shape.rows < 0 || A.shape.cols < 0) refuse("the shape is negative");
    const std::size_t want = std::size_t(A.shape.rows) + 1;
    if (A.row_ptr.size() != want)
        refuse("row_ptr has " + std::to_string(A.row_ptr.size()) +
               " elements, expected rows + 1 = " + std::to_string(want));
    if (A.col_ind.size() != A.val.size())
        refuse("col_ind has " + std::to_string(A.col_ind.size()) + " elements and val " +
               std::to_string(A.val.size()) + ", expected as many");
    if (A.shape.rows == 0 && A.val.size() > 0)
        refuse(std::to_string(A.val.size()) + " entries in a matrix without rows");
}

template <class V>
row_order order_of(cpu, const csr<V, host_view>& A) {
    ++checks;
    check_sizes(A);
    check_ends(A.row_ptr, A.val.size());
    return A.row_ptr.visit([&](const auto* ptr) {
        const index* const col = A.col_ind.data();
        const auto nnz = std::int64_t(A.col_ind.size());
        check_row_ptr(ptr, A.shape.rows);
        const descents found = count_descents(ptr, A.shape.rows, col, nnz, A.shape.cols);
        if (found.outside) refuse_column(ptr, col, A.shape.cols);
        return found.all == found.between_rows ? row_order::ascending : row_order::any;
    });
}

template <class V>
void validate(const csr<V, host_view>& A, bool canonical) {
    if (order_of(cpu{}, A) == row_order::ascending || !canonical) return;
    for (std::int64_t i = 0; i < A.shape.rows; ++i)
        for (auto k = A.row_ptr[std::size_t(i)] + 1; k < A.row_ptr[std::size_t(i) + 1]; ++k)
            if (A.col_ind[std::size_t(k) - 1] >= A.col_ind[std::size_t(k)])
                refuse("columns of row " + std::to_string(i) + " are not ascending");
}

template <class V>
csr<V, host> ordered_copy(cpu, const csr<V, host_view>& A) {
    csr<V, host> B{A.shape, {}, copied(A.col_ind), copied(A.val)};
    host_vector<offset> ptr(A.row_ptr.size());
    for (std::size_t i = 0; i < ptr.size(); ++i) ptr[i] = A.row_ptr[i];
    order_rows(ptr, B.col_ind, B.val);
    B.row_ptr = offset_vector(ptr);
    return B;
}

template <class V, class B>
ascending<V, B>::ascending(const matrix& A, B on)
    : ascending(A, order_of(on, A) == row_order::ascending, on) {}

template <class V, class B>
ascending<V, B>::ascending(const matrix& A, bool in_order, B on) : given_(A), view_(A) {
    if (in_order) return;
    copy_ = std::make_shared<const owner>(ordered_copy(on, A));
    view_ = nz::view(*copy_);
}

template <class V>
csr<V, host> canonical(const csr<V, host_view>& A) {
    validate(A, false);
    return ordered_copy(cpu{}, A);
}

template <class V>
csr<V, device> canonical(gpu on, const csr<V, device_view>& A) {
    (void)order_of(on, A);
    return ordered_copy(on, A);
}

namespace {

template <class Matrix, class B>
Matrix in_order(B on, Matrix&& A) {
    if (order_of(on, view(A)) == row_order::ascending) return std::forward<Matrix>(A);
    return ordered_copy(on, view(A));
}

}  // namespace

template <class V>
csr<V, host> canonical(csr<V, host>&& A) {
    return in_order(cpu{}, std::move(A));
}

template <class V>
csr<V, device> canonical(gpu on, csr<V, device>&& A) {
    return in_order(on, std::move(A));
}

#define NZ_INSTANTIATE(V)                                               \
    template row_order order_of(cpu, const csr<V, host_view>&);         \
    template csr<V, host> ordered_copy(cpu, const csr<V, host_view>&);  \
    template void validate(const csr<V, host_view>&, bool);             \
    template void check_sizes(const csr<V, host_view>&);                \
    template void check_sizes(const csr<V, device_view>&);              \
    template class ascending<V, cpu>;                                   \
    template class ascending<V, gpu>;                                   \
    template csr<V, host> canonical(const csr<V, host_view>&);          \
    template csr<V, device> canonical(gpu, const csr<V, device_view>&); \
    template csr<V, host> canonical(csr<V, host>&&);                    \
    template csr<V, device> canonical(gpu, csr<V, device>&&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
