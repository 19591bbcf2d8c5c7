#include "nonzero/formats/jds_ell/jds_ell.hpp"

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/row_order.hpp"

namespace nz {
namespace {

/// Where the sections are, grown by rows of ever smaller length.
class section_cutter {
  public:
    explicit section_cutter(sectioning rule) : rule_(rule) {}

    void add(offset length, std::int64_t rows) {
        if (width.empty() || double(length) < rule_.least_fill * width.back() ||
            (length == 0 && width.back() > 0)) {
            width.push_back(index(length));
            ptr.push_back(ptr.back()), start.push_back(start.back());
        }
        ptr.back() += index(rows);
        start.back() += rows * width.back();
    }

    host_vector<index> ptr{0}, width;
    host_vector<offset> start{0};

  private:
    sectioning rule_;
};

}  // namespace

template <class V, class S>
estimate jds_ell<V, S>::cost(const matrix_stats& s) {
    section_cutter cut{{}};
    for (auto n = s.row_lengths.rbegin(); n != s.row_lengths.rend(); ++n)
        cut.add(n->length, n->rows);
    const double stored = double(cut.start.back());
    const std::size_t indices = std::size_t(s.rows) + cut.ptr.size() + cut.width.size();
    return {.matrix_bytes = stored * (sizeof(V) + sizeof(index)) + double(indices) * sizeof(index) +
                            offset_bytes(double(cut.start.size()), stored),
            .vector_bytes = vector_bytes<V>(s)};
}

work jds_ell_sections::work_on_gpu(const matrix_stats& s) {
    section_cutter cut{{}};
    for (auto n = s.row_lengths.rbegin(); n != s.row_lengths.rend(); ++n)
        cut.add(n->length, n->rows);
    work w = thread_a_row_work(s, double(cut.start.back()) / warp_rows, 0, strided_units);
    w.launches = double(cut.width.size());
    for (const index width : cut.width) w.critical_units += width * strided_units;
    return w;
}

template <class V, class S>
jds_ell<V, host> jds_ell<V, S>::from(const csr<V, host_view>& A, sectioning rule) {
    if (!(rule.least_fill >= 0 && rule.least_fill <= 1))
        throw argument_error("jds_ell: least_fill is " + std::to_string(rule.least_fill) +
                             ", expected 0 to 1");
    auto perm = rows_by_length(A.row_ptr, std::max(A.shape.rows, index(1)));
    section_cutter cut(rule);
    for (const index i : perm) cut.add(longest_row(A, i, i + 1), 1);
    check_padding("jds_ell", cut.start.back(), A);
    const auto size = std::size_t(cut.start.back());
    jds_ell<V, host> B{A.shape,
                       std::move(perm),
                       std::move(cut.ptr),
                       std::move(cut.width),
                       offset_vector(cut.start),
                       host_vector<index>(size),
                       host_vector<V>(size)};
    for (std::size_t s = 0; s < B.section_width.size(); ++s) {
        const std::int64_t begin = B.section_ptr[s], rows = B.section_ptr[s + 1] - begin;
        parallel_for(thread_count({}), (rows + panel_rows - 1) / panel_rows, [&](std::int64_t p) {
            const std::int64_t first = p * panel_rows;
            const auto row_of = [&](std::int64_t r) {
                return B.perm[std::size_t(begin + first + r)];
            };
            const offset at = cut.start[s] + first;
            fill_panel(A, row_of, std::min(panel_rows, rows - first), rows, B.section_width[s],
                       B.col_ind.data() + at, B.val.data() + at);
        });
    }
    return B;
}

namespace {

/// The sorted rows [first, last) of y = alpha A x + beta y.
template <class V>
void multiply_rows(V alpha, const jds_ell<V, host_view>& A, std::span<const V> x, V beta,
                   std::span<V> y, std::int64_t first, std::int64_t last) {
    for_each_section(A, first, last, [&](const panel<V>& part, const index* row) {
        for_each_sum(part, x.data(), [&](std::int64_t r, V sum) {
            V& to = y[std::size_t(row[r])];
            to = scaled(alpha, sum, beta, to);
        });
    });
}

/// The first sorted row of part p of `parts` parts of equal stored elements plus rows.
template <class V>
std::int64_t first_row(const jds_ell<V, host_view>& A, int parts, int p) {
    if (p == 0 || p == parts) return p == 0 ? 0 : A.shape.rows;
    const std::int64_t target = share(offset(A.val.size()) + A.shape.rows, parts, p).first;
    const auto before = [&](std::size_t s) { return A.section_start[s] + A.section_ptr[s]; };
    std::size_t s = 0;
    while (s + 1 < A.section_width.size() && before(s + 1) <= target) ++s;
    return A.section_ptr[s] + (target - before(s)) / (A.section_width[s] + 1);
}

}  // namespace

template <class V>
void spmv(cpu, jds_ell_serial, V alpha, const jds_ell<V, host_view>& A, std::span<const V> x,
          V beta, std::span<V> y) {
    multiply_rows(alpha, A, x, beta, y, 0, A.shape.rows);
}

template <class V>
void spmv(cpu on, jds_ell_sections, V alpha, const jds_ell<V, host_view>& A, std::span<const V> x,
          V beta, std::span<V> y) {
    if (A.shape.rows == 0) return;
    const int threads = thread_count(on);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; ++t)
        multiply_rows(alpha, A, x, beta, y, first_row(A, threads, t), first_row(A, threads, t + 1));
}

#define NZ_INSTANTIATE(V)                                                                          \
    template estimate jds_ell<V, host>::cost(const matrix_stats&);                                 \
    template jds_ell<V, host> jds_ell<V, host>::from(const csr<V, host_view>&, sectioning);        \
    template void spmv(cpu, jds_ell_serial, V, const jds_ell<V, host_view>&, std::span<const V>,   \
                       V, std::span<V>);                                                           \
    template void spmv(cpu, jds_ell_sections, V, const jds_ell<V, host_view>&, std::span<const V>, \
                       V, std::span<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
