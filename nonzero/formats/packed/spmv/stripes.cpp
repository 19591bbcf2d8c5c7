#include "nonzero/formats/packed/spmv/stripes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/formats/kernel_operator.hpp"
#include "nonzero/formats/packed/spmv/striped_segments.hpp"
#include "nonzero/formats/registry.hpp"

namespace nz {
namespace {

template <class V, class B>
using stripe = std::unique_ptr<linear_operator<V, B>>;

template <class V, class B>
class striped_operator final : public linear_operator<V, B> {
  public:
    /// stripes: at least one, all of one shape.
    striped_operator(B on, std::vector<stripe<V, B>> stripes, const setup_times& setup)
        : on_(on), stripes_(std::move(stripes)), setup_(setup) {}
    [[nodiscard]] nz::shape shape() const override { return stripes_.front()->shape(); }
    [[nodiscard]] std::size_t bytes() const override {
        std::size_t sum = 0;
        for (const stripe<V, B>& s : stripes_) sum += s->bytes();
        return sum;
    }
    [[nodiscard]] setup_times setup() const override { return setup_; }
    [[nodiscard]] std::string_view method_name() const override { return packed_stripes::name; }

  protected:
    void multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const override {
        for (const stripe<V, B>& s : stripes_) s->apply(alpha, x, std::exchange(beta, V(1)), y);
    }
    void multiply_transposed(transposition op, V alpha, in<V, B> x, V beta,
                             out<V, B> y) const override {
        if constexpr (std::is_same_v<B, gpu>)
            throw unavailable(std::string(packed_stripes::name) +
                              " has no transposed product on a GPU");
        for (const stripe<V, B>& s : stripes_)
            s->apply_transposed(op, alpha, x, std::exchange(beta, V(1)), y);
    }
    void multiply_many(V alpha, in_columns<V, B> X, V beta, out_columns<V, B> Y) const override {
        for (const stripe<V, B>& s : stripes_)
            s->apply_many(alpha, X, std::exchange(beta, V(1)), Y);
    }
    void scale(V beta, out<V, B> y) const override { scale_vector(on_, beta, y); }

  private:
    B on_;
    std::vector<stripe<V, B>> stripes_;
    setup_times setup_;
};

/// Columns of a stripe: whole sectors of x.
template <class V>
index width_of_stripe(std::int64_t columns, index stripes) {
    if (stripes < 1) throw argument_error("packed.stripes: there must be at least one stripe");
    constexpr std::int64_t unit =
        std::max<std::int64_t>(1, matrix_stats::sector_bytes / std::int64_t(sizeof(V)));
    const std::int64_t width = (columns + stripes - 1) / stripes;
    return index(std::min(columns, std::max<std::int64_t>(1, (width + unit - 1) / unit) * unit));
}

/// Takes stripes off a CSR on the CPU, from left to right.
template <class V>
class stripe_cutter {
  public:
    stripe_cutter(cpu on, const csr<V, host_view>& A)
        : threads_(thread_count(on)), A_(A), begin_(std::size_t(A.shape.rows)) {
        parallel_for(threads_, A.shape.rows,
                     [&](std::int64_t i) { begin_[std::size_t(i)] = A.row_ptr[std::size_t(i)]; });
    }
    /// All entries left of column `last` that no stripe has yet.
    csr<V, host> next(index last) {
        host_vector<offset> end(begin_.size() + 1, 0);
        parallel_for(threads_, A_.shape.rows, [&](std::int64_t i) {
            const auto first = A_.col_ind.begin() + begin_[std::size_t(i)];
            const auto of_row = A_.col_ind.begin() + A_.row_ptr[std::size_t(i) + 1];
            end[std::size_t(i) + 1] =
                std::find_if(first, of_row, [&](index j) { return j >= last; }) - first;
        });
        for (std::size_t i = 1; i < end.size(); ++i) end[i] += end[i - 1];
        csr<V, host> part{A_.shape,
                          {},
                          host_vector<index>(std::size_t(end.back())),
                          host_vector<V>(std::size_t(end.back()))};
        parallel_for(threads_, A_.shape.rows, [&](std::int64_t i) {
            offset& from = begin_[std::size_t(i)];
            const offset to = end[std::size_t(i)], count = end[std::size_t(i) + 1] - to;
            std::copy_n(A_.col_ind.begin() + from, count, part.col_ind.begin() + to);
            std::copy_n(A_.val.begin() + from, count, part.val.begin() + to);
            from += count;
        });
        part.row_ptr = offset_vector(end);
        return part;
    }

  private:
    int threads_;
    const csr<V, host_view>& A_;
    host_vector<offset> begin_;  ///< of what is left of each row
};

}  // namespace

template <class V>
std::unique_ptr<linear_operator<V, gpu>> build_stripes(gpu on, const csr<V, device_view>& A,
                                                       index stripes) {
    const index width = width_of_stripe<V>(A.shape.cols, stripes);
    require_gpu(on);
    const typename method<V>::device_builder pack = find_method<V>("packed.warp").from_device;
    const auto start = steady_clock::now();
    std::vector<stripe<V, gpu>> all;
    for (std::int64_t first = 0; all.empty() || first < A.shape.cols; first += width) {
        const auto part = columns_between(
            on, A, index(first), index(std::min<std::int64_t>(A.shape.cols, first + width)));
        if (all.empty() || part.val.size() > 0) all.push_back(pack(on, view(part), nullptr));
    }
    return std::make_unique<striped_operator<V, gpu>>(
        on, std::move(all), setup_times{.preprocessing_s = seconds_since(start)});
}

template <class V>
std::unique_ptr<linear_operator<V, cpu>> build_stripes(cpu on, const csr<V, host_view>& A,
                                                       index stripes) {
    const index width = width_of_stripe<V>(A.shape.cols, stripes);
    const auto pack = find_method<V>("packed.warp").on_cpu;
    stripe_cutter<V> cut(on, A);
    std::vector<stripe<V, cpu>> all;
    for (std::int64_t first = 0; all.empty() || first < A.shape.cols; first += width) {
        const auto part = cut.next(index(std::min<std::int64_t>(A.shape.cols, first + width)));
        if (all.empty() || !part.val.empty()) all.push_back(pack(on, view(part)));
    }
    return std::make_unique<striped_operator<V, cpu>>(on, std::move(all), setup_times{});
}

namespace {

/// Whether rows are cut for L1, and not columns for L2, where that share of the entries would be in
/// segments.
bool cuts_rows(double share, index stripes) {
    constexpr double most = 0.5;
    return share > 0 && (share >= most || stripes < 2);
}

}  // namespace

template <class V>
std::unique_ptr<linear_operator<V, gpu>> suited_stripes_on_gpu(gpu on, const csr<V, device_view>& A,
                                                               const packed_analysis<V>* known) {
    require_gpu(on);
    const device_guard guard(on);
    const index stripes = std::max<index>(1, stripes_for<V>(on, A.shape.cols));
    const auto start = steady_clock::now();
    auto cut = cut_by_stripes(on, A, segment_options::suited_to<V>(), known);
    if (cuts_rows(double(cut.entries) / std::max(1.0, double(A.val.len)), stripes))
        return build_segments(on, A, std::move(cut), seconds_since(start), known);
    cut = {};
    return build_stripes(on, A, stripes);
}
template <class V>
std::unique_ptr<linear_operator<V, cpu>> suited_stripes(cpu on, const csr<V, host_view>& A) {
    return build_stripes(on, A, std::max<index>(1, stripes_for<V>(on, A.shape.cols)));
}

namespace {

/// Adds the cost of stripes on a CPU, beside one stripe that holds all. Fitted on a Xeon
/// (docs/experiments/packed.md).
template <class V>
void add_cost_on_cpu(const matrix_stats& s, double stripes, estimate& e) {
    constexpr double units_of_row = 3, units_of_padding = 0.6;
    const double more_rows = (stripes - 1) * double(s.rows);
    // Parts of rows differ more in length than rows, and chunks pad them.
    const double part = std::max(1.0, double(s.nnz) / std::max(stripes * double(s.rows), 1.0));
    e.work_units += units_of_row * more_rows + units_of_padding * double(s.nnz) / std::sqrt(part);
    // Columns of 32 bits take 16.
    e.matrix_bytes -= sizeof(std::uint16_t) * warp_rows * double(s.packed.wide_width);
    matrix_stats more;
    more.rows = std::int64_t(more_rows);
    const double copied = 2 * double(s.nnz) * (sizeof(V) + sizeof(index));
    e.setup_bytes += packed<V, host>::cost(more).setup_bytes + copied;
}

/// The rows that cut_by_stripes would cut, were their columns random.
struct segment_count {
    double entries = 0, segments = 0, rows = 0;
};
segment_count count_segments(const matrix_stats& s, const segment_options& o) {
    segment_count all;
    const double stripes = std::ceil(double(s.cols) / double(o.columns));
    if (stripes < 2) return all;
    const double log_missed = std::log1p(-1 / stripes);  // a stripe, by an entry
    for (const auto& [length, rows] : s.row_lengths) {
        const auto len = double(length), n = double(rows);
        const double of_row = stripes * (1 - std::exp(len * log_missed)) + len / double(o.longest);
        if (length < o.least_row || length * o.least_gap > s.cols ||
            len < std::max(stripes, of_row) * double(o.least_mean))
            continue;
        all.entries += len * n, all.segments += of_row * n, all.rows += n;
    }
    return all;
}

/// Of segments on a GPU, where that pays. e: of packed.warp.
template <class V>
std::optional<estimate> cost_of_segments(const matrix_stats& s, estimate e) {
    const auto o = segment_options::suited_to<V>();
    const segment_count cut = count_segments(s, o);
    // Fewer gain less than another launch takes: the 850,000 of covering_1 lost.
    constexpr double least_share = 0.25, least_entries = 1e6;
    const double share = cut.entries / std::max(1.0, double(s.nnz));
    if (share < least_share || cut.entries < least_entries ||
        !cuts_rows(share, stripes_for<V>(gpu{}, s.cols)))
        return {};
    e.held_requests = std::min(e.sector_requests, cut.entries);
    e.matrix_bytes += cut.segments * (sizeof(unsigned) + sizeof(index) + 1);
    e.vector_bytes += 2 * cut.segments * sizeof(V);
    e.x_bytes = double(s.cols) * sizeof(V);
    e.work_units +=
        (units_of_a_warp + 1) * cut.segments / double(warp_rows) + units_of_a_warp * cut.rows;
    e.launches = cut.rows < double(s.rows) ? 3 : 2;
    // Look-ups in a table of values load from L1, too (docs/experiments/packed.md). Without one
    // each stored place takes a value and a column.
    constexpr double loads_of_table = 4.0 / 3;
    const double places = double(warp_rows) * double(s.packed.width);
    const bool has_table = double(s.packed.bytes) < places * double(sizeof(V) + sizeof(short));
    e.imbalance = has_table ? loads_of_table : 1;
    return e;
}

}  // namespace

template <class V, class B>
estimate cost_of_stripes(const matrix_stats& s) {
    constexpr bool is_cpu = std::is_same_v<B, cpu>;
    estimate e = with_work(packed<V, host>::cost(s),
                           is_cpu ? packed_warp::work_on_cpu(s) : packed_warp::work_on_gpu(s));
    if (!is_cpu)
        if (auto cut = cost_of_segments<V>(s, e)) return *cut;
    const double stripes = stripes_for<V>(B{}, s.cols);
    if (stripes < 2) {
        e.declined = "x is short enough for the caches";
        return e;
    }
    // A row takes its share of a chunk and a place in an order in every stripe.
    constexpr double bytes_of_row = sizeof(packed_chunk) / double(warp_rows) + sizeof(index);
    e.matrix_bytes += (stripes - 1) * double(s.rows) * bytes_of_row;
    e.vector_bytes += 2 * (stripes - 1) * double(s.rows) * sizeof(V);
    e.x_bytes = double(s.cols) * sizeof(V);
    e.stripes = e.launches = stripes;
    if (is_cpu)
        add_cost_on_cpu<V>(s, stripes, e);
    else
        e.work_units += (stripes - 1) * units_of_a_warp * double(s.packed.chunks);
    return e;
}

#define NZ_INSTANTIATE_ON_GPU(V)                                             \
    template std::unique_ptr<linear_operator<V, gpu>> build_stripes(         \
        gpu, const csr<V, device_view>&, index);                             \
    template std::unique_ptr<linear_operator<V, gpu>> suited_stripes_on_gpu( \
        gpu, const csr<V, device_view>&, const packed_analysis<V>*);
NZ_INSTANTIATE_ON_GPU(float)
NZ_INSTANTIATE_ON_GPU(double)
#define NZ_INSTANTIATE(V)                                                                          \
    template std::unique_ptr<linear_operator<V, cpu>> build_stripes(cpu, const csr<V, host_view>&, \
                                                                    index);                        \
    template std::unique_ptr<linear_operator<V, cpu>> suited_stripes(cpu,                          \
                                                                     const csr<V, host_view>&);    \
    template estimate cost_of_stripes<V, cpu>(const matrix_stats&);                                \
    template estimate cost_of_stripes<V, gpu>(const matrix_stats&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
