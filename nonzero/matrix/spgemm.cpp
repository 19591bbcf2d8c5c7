#include "nonzero/matrix/spgemm.hpp"

#include <omp.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "nonzero/core/parallel.hpp"

namespace nz {

namespace {

/// Runs are of 16 to 1024 rows: short enough that a thousand of them keep any number of threads
/// busy.
int log_run_of(index rows) {
    constexpr int least = 4, most = 10;
    constexpr index runs = 1024;
    int log = most;
    while (log > least && rows >> log < runs) --log;
    return log;
}

}  // namespace

template <class V>
row_runs<V>::row_runs(cpu on, nz::shape shape, offset most)
    : shape_(shape),
      log_run_(log_run_of(shape.rows)),
      most_(most),
      of_thread_(std::size_t(thread_count(on))),
      parts_((std::size_t(shape.rows) + (std::size_t(1) << log_run_) - 1) >> log_run_),
      ptr_(std::size_t(shape.rows) + 1) {
    ptr_[0] = 0;
}

template <class V>
void row_runs<V>::start(std::int64_t r) {
    memory& mine = of_thread_[std::size_t(omp_get_thread_num())];
    mine.run = r, mine.run_start = mine.used;
    if (!mine.blocks.empty()) parts_[std::size_t(r)] = mine.room_at(mine.used);
}

template <class V>
void row_runs<V>::append(std::int64_t i, sparse_accumulator<V>& row, bool ascending) {
    memory& mine = of_thread_[std::size_t(omp_get_thread_num())];
    const std::size_t n = row.length();
    if (mine.blocks.empty() || mine.blocks.back().col.size() - mine.used < n) add_block(mine, n);
    const room to = mine.room_at(mine.used);
    row.finish(ascending, to.col, to.val);
    mine.used += n;
    ptr_[std::size_t(i) + 1] = offset(n);
}

template <class V>
void row_runs<V>::end(std::int64_t r) {
    const range rows = rows_of(r);
    entries_ +=
        std::accumulate(ptr_.begin() + rows.first + 1, ptr_.begin() + rows.last + 1, offset(0));
}

/// Of `most` entries at least, and takes the run that is being written along.
template <class V>
void row_runs<V>::add_block(memory& mine, std::size_t most) {
    // Entries: of a small product every thread would touch huge pages for little.
    constexpr std::size_t smallest = std::size_t(1) << 14, usual = std::size_t(1) << 20;
    const std::size_t before = mine.blocks.empty() ? 0 : mine.blocks.back().col.size();
    const std::size_t written = mine.used - mine.run_start;
    // A run that outgrows its block moves to one twice as large, not with every row.
    const std::size_t n = std::max(2 * (written + most), std::clamp(2 * before, smallest, usual));
    const bool alone_in_block = !mine.blocks.empty() && mine.run_start == 0;
    mine.blocks.push_back({host_vector<index>(n), host_vector<V>(n)});
    const room from = parts_[std::size_t(mine.run)], to = mine.room_at(0);
    std::copy_n(from.col, written, to.col);
    std::copy_n(from.val, written, to.val);
    parts_[std::size_t(mine.run)] = to;
    if (alone_in_block) mine.blocks.erase(mine.blocks.end() - 2);
    mine.run_start = 0, mine.used = written;
}

template <class V>
void row_runs<V>::seal(cpu on) {
    // Within the runs in parallel, then from run to run.
    host_vector<offset> before(std::size_t(runs()) + 1);
    before[0] = 0;
    parallel_for(thread_count(on), runs(), [&](std::int64_t r) {
        const range rows = rows_of(r);
        const auto first = ptr_.begin() + rows.first + 1, last = ptr_.begin() + rows.last + 1;
        std::partial_sum(first, last, first);
        before[std::size_t(r) + 1] = ptr_[std::size_t(rows.last)];
    });
    std::partial_sum(before.begin(), before.end(), before.begin());
    parallel_for(thread_count(on), runs(), [&](std::int64_t r) {
        const range rows = rows_of(r);
        for (std::int64_t i = rows.first + 1; i <= rows.last; ++i)
            ptr_[std::size_t(i)] += before[std::size_t(r)];
    });
}

namespace {

/// The same positions, in 4 bytes each where they fit.
offset_vector narrowed_positions(cpu on, const host_vector<offset>& ptr) {
    if (ptr.back() > offset_vector::max_narrow) return ptr;
    host_vector<std::int32_t> narrow(ptr.size());
    parallel_for(thread_count(on), std::ssize(ptr), [&](std::int64_t i) {
        narrow[std::size_t(i)] = std::int32_t(ptr[std::size_t(i)]);
    });
    return offset_vector(std::move(narrow));
}

}  // namespace

template <class V>
csr<V, host> row_runs<V>::finish(cpu on) const {
    const auto nnz = std::size_t(ptr_.back());
    csr<V, host> C{shape_, {}, host_vector<index>(nnz), host_vector<V>(nnz)};
    parallel_for(thread_count(on), runs(), [&](std::int64_t r) {
        const auto [first_row, last_row] = rows_of(r);
        const offset first = ptr_[std::size_t(first_row)];
        const offset n = ptr_[std::size_t(last_row)] - first;
        const room from = parts_[std::size_t(r)];
        std::copy_n(from.col, n, C.col_ind.begin() + first);
        std::copy_n(from.val, n, C.val.begin() + first);
    });
    C.row_ptr = narrowed_positions(on, ptr_);
    return C;
}

namespace {

/// Up to this many columns are sorted by counting, whose time grows with their square.
constexpr std::size_t most_counted = 64;

/// Columns, all different, each put where the number of smaller ones says: several at once, and no
/// branch but the loops'.
void sort_by_counting(std::span<const index> col, index* sorted) {
    constexpr std::size_t lanes = 8;
    index padded[most_counted + lanes];
    const std::size_t n = col.size();
    std::copy(col.begin(), col.end(), padded);
    std::fill_n(padded + n, lanes, std::numeric_limits<index>::max());
    for (std::size_t k = 0; k < n; k += lanes) {
        std::int32_t smaller[lanes] = {};
        for (std::size_t m = 0; m < n; ++m)
            for (std::size_t l = 0; l < lanes; ++l) smaller[l] += padded[m] < padded[k + l];
        for (std::size_t l = 0; l < std::min(lanes, n - k); ++l) sorted[smaller[l]] = padded[k + l];
    }
}

}  // namespace

template <class V>
void sparse_accumulator<V>::finish(bool ascending, index* col, V* val) {
    if (!ascending || n_ > most_counted) {
        std::copy_n(col_.data(), n_, col);
        if (ascending) std::sort(col, col + n_);
    } else {
        sort_by_counting({col_.data(), n_}, col);
    }
    for (std::size_t k = 0; k < n_; ++k) val[k] = std::exchange(sum_[std::size_t(col[k])], nothing);
    n_ = 0;
}

namespace {

/// The rows of a CSR, its row_ptr of one type.
template <class V, class P>
struct csr_rows {
    const P* ptr;
    const index* col;
    const V* val;
    csr_rows(const P* row_ptr, const csr<V, host_view>& A)
        : ptr(row_ptr), col(A.col_ind.data()), val(A.val.data()) {}
    sparse_row<V> operator()(index i) const {
        return {col + ptr[i], val + ptr[i], std::size_t(ptr[i + 1] - ptr[i])};
    }
};

/// How many rows of B ahead are prefetched while one is added.
constexpr std::size_t ahead = 5;

template <class V>
void fetch(const sparse_row<V>& row) {
    __builtin_prefetch(row.col);
    __builtin_prefetch(row.val);
    __builtin_prefetch(row.val + 8);
}

/// The rows of A B into C, which is sealed then, unless it overflows. What is only multiplied
/// further need not be sorted.
template <class V, class A, class B>
void multiply(cpu on, const A& a_row, const B& b_row, bool ascending, row_runs<V>& C) {
    const auto multiply_run = [&](std::int64_t r, sparse_accumulator<V>& sum) {
        if (C.overflows()) return;
        const auto [first, last] = C.rows_of(r);
        C.start(r);
        for (std::int64_t i = first; i < last; ++i) {
            const auto a = a_row(index(i));
            sum.start(index(i));
            for (std::size_t k = 0; k < a.length; ++k) {
                if (k + ahead < a.length) fetch(b_row(a.col[k + ahead]));
                const auto b = b_row(a.col[k]);
                sum.add(a.val[k], b.col, b.val, b.length);
            }
            C.append(i, sum, ascending);
        }
        C.end(r);
    };
    parallel_for(
        thread_count(on), C.runs(), 1, [&] { return sparse_accumulator<V>(C.shape().cols); },
        multiply_run);
    if (!C.overflows()) C.seal(on);
}

/// Sums up rows whose columns are known beforehand: nothing is looked for, sorted or placed.
template <class V, class A, class B>
void multiply_values(cpu on, const A& a_row, const B& b_row, csr<V, host>& C) {
    constexpr std::int64_t run = 256;
    const auto zeros = [&] { return host_vector<V>(std::size_t(C.shape.cols), V(-0.0)); };
    view(C).row_ptr.visit([&](const auto* row_ptr) {
        parallel_for(thread_count(on), C.shape.rows, run, zeros, [&](std::int64_t i, auto& sums) {
            V* const sum = sums.data();
            const auto a = a_row(index(i));
            for (std::size_t k = 0; k < a.length; ++k) {
                if (k + ahead < a.length) fetch(b_row(a.col[k + ahead]));
                const auto b = b_row(a.col[k]);
                for (std::size_t m = 0; m < b.length; ++m)
                    sum[b.col[m]] += product(a.val[k], b.val[m]);
            }
            for (auto k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
                C.val[std::size_t(k)] = std::exchange(sum[C.col_ind[std::size_t(k)]], V(-0.0));
        });
    });
}

template <class V, class F>
auto with_rows(const csr<V, host_view>& A, F f) {
    return A.row_ptr.visit([&](const auto* row_ptr) { return f(csr_rows(row_ptr, A)); });
}

void require_fit(index cols, index rows) {
    if (cols != rows)
        throw argument_error("spgemm: a matrix of " + std::to_string(cols) +
                             " columns times one of " + std::to_string(rows) + " rows");
}

}  // namespace

template <class V>
csr<V, host> spgemm(cpu on, const csr<V, host_view>& A, const csr<V, host_view>& B) {
    require_fit(A.shape.cols, B.shape.rows);
    const nz::shape shape{A.shape.rows, B.shape.cols};
    return with_rows(A, [&](const auto& a_row) {
        return with_rows(B, [&](const auto& b_row) {
            row_runs<V> C(on, shape, any_number);
            multiply(on, a_row, b_row, true, C);
            return C.finish(on);
        });
    });
}

template <class V>
csr<V, host> galerkin_product(cpu on, const csr<V, host_view>& R, const csr<V, host_view>& A,
                              const csr<V, host_view>& P, offset most) {
    require_fit(R.shape.cols, A.shape.rows), require_fit(A.shape.cols, P.shape.rows);
    row_runs<V> AP(on, {A.shape.rows, P.shape.cols}, most);
    with_rows(A, [&](const auto& a_row) {
        with_rows(P, [&](const auto& p_row) { multiply(on, a_row, p_row, false, AP); });
    });
    if (AP.overflows()) return {};
    row_runs<V> C(on, {R.shape.rows, P.shape.cols}, most);
    with_rows(R, [&](const auto& r_row) { multiply(on, r_row, AP, true, C); });
    return C.overflows() ? csr<V, host>{} : C.finish(on);
}

template <class V>
void galerkin_values(cpu on, const csr<V, host_view>& R, const csr<V, host_view>& A,
                     const csr<V, host_view>& P, csr<V, host>& AP, csr<V, host>& C) {
    require_fit(R.shape.cols, A.shape.rows), require_fit(A.shape.cols, P.shape.rows);
    if (C.shape != nz::shape{R.shape.rows, P.shape.cols})
        throw argument_error("galerkin_values: the product is of another shape");
    const pattern_left in_the_end(AP);
    with_rows(A, [&](const auto& a_row) {
        with_rows(P, [&](const auto& p_row) {
            if (AP.shape.rows > 0) {
                AP.val = host_vector<V>(AP.col_ind.size());
                return multiply_values(on, a_row, p_row, AP);
            }
            row_runs<V> rows(on, {A.shape.rows, P.shape.cols}, any_number);
            multiply(on, a_row, p_row, false, rows);
            AP = rows.finish(on);
        });
    });
    with_rows(R, [&](const auto& r_row) {
        with_rows(view(AP), [&](const auto& ap_row) { multiply_values(on, r_row, ap_row, C); });
    });
}

template <class V>
csr<V, host> adjoint(cpu on, const csr<V, host_view>& A) {
    auto T = transposed(on, A);
    if constexpr (is_complex<V>)
        parallel_for(thread_count(on), std::ssize(T.val), [&](std::int64_t k) {
            T.val[std::size_t(k)] = std::conj(T.val[std::size_t(k)]);
        });
    return T;
}

#define NZ_INSTANTIATE(V)                                                                      \
    template csr<V, host> adjoint(cpu, const csr<V, host_view>&);                              \
    template class row_runs<V>;                                                                \
    template class sparse_accumulator<V>;                                                      \
    template csr<V, host> spgemm(cpu, const csr<V, host_view>&, const csr<V, host_view>&);     \
    template csr<V, host> galerkin_product(cpu, const csr<V, host_view>&,                      \
                                           const csr<V, host_view>&, const csr<V, host_view>&, \
                                           offset);                                            \
    template void galerkin_values(cpu, const csr<V, host_view>&, const csr<V, host_view>&,     \
                                  const csr<V, host_view>&, csr<V, host>&, csr<V, host>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
