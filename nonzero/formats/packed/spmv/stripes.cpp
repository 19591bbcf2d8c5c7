#include "nonzero/formats/packed/spmv/stripes.hpp"

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/formats/kernel_operator.hpp"
#include "nonzero/formats/registry.hpp"

namespace nz {
namespace {

template <class V>
using stripe = std::unique_ptr<linear_operator<V, gpu>>;

template <class V>
class striped_operator final : public linear_operator<V, gpu> {
  public:
    /// stripes: at least one, all of one shape.
    striped_operator(gpu on, std::vector<stripe<V>> stripes, const setup_times& setup)
        : on_(on), stripes_(std::move(stripes)), setup_(setup) {}
    [[nodiscard]] nz::shape shape() const override { return stripes_.front()->shape(); }
    [[nodiscard]] std::size_t bytes() const override {
        std::size_t sum = 0;
        for (const stripe<V>& s : stripes_) sum += s->bytes();
        return sum;
    }
    [[nodiscard]] setup_times setup() const override { return setup_; }
    [[nodiscard]] std::string_view method_name() const override { return packed_stripes::name; }

  protected:
    void multiply(V alpha, device_span<V> x, V beta, device_out<V> y) const override {
        for (const stripe<V>& s : stripes_) s->apply(alpha, x, std::exchange(beta, V(1)), y);
    }
    void multiply_transposed(transposition, V, device_span<V>, V, device_out<V>) const override {
        throw unavailable(std::string(packed_stripes::name) +
                          " has no transposed product on a GPU");
    }
    void multiply_many(V alpha, in_columns<V, gpu> X, V beta,
                       out_columns<V, gpu> Y) const override {
        for (const stripe<V>& s : stripes_) s->apply_many(alpha, X, std::exchange(beta, V(1)), Y);
    }
    void scale(V beta, device_out<V> y) const override { scale_vector(on_, beta, y); }

  private:
    gpu on_;
    std::vector<stripe<V>> stripes_;
    setup_times setup_;
};

/// Columns of a stripe: whole sectors of x.
template <class V>
index width_of_stripe(std::int64_t columns, index stripes) {
    constexpr std::int64_t unit = matrix_stats::sector_bytes / std::int64_t(sizeof(V));
    const std::int64_t width = (columns + stripes - 1) / stripes;
    return index(std::min(columns, std::max<std::int64_t>(1, (width + unit - 1) / unit) * unit));
}

}  // namespace

template <class V>
std::unique_ptr<linear_operator<V, gpu>> build_stripes(gpu on, const csr<V, device_view>& A,
                                                       index stripes) {
    if (stripes < 1) throw argument_error("packed.stripes: there must be at least one stripe");
    require_gpu(on);
    const typename method<V>::device_builder pack = find_method<V>("packed.warp").from_device;
    const auto start = steady_clock::now();
    const index width = width_of_stripe<V>(A.shape.cols, stripes);
    std::vector<stripe<V>> all;
    for (std::int64_t first = 0; all.empty() || first < A.shape.cols; first += width) {
        const auto part = columns_between(
            on, A, index(first), index(std::min<std::int64_t>(A.shape.cols, first + width)));
        if (all.empty() || part.val.size() > 0) all.push_back(pack(on, view(part), nullptr));
    }
    return std::make_unique<striped_operator<V>>(
        on, std::move(all), setup_times{.preprocessing_s = seconds_since(start)});
}

template <class V>
std::unique_ptr<linear_operator<V, gpu>> suited_stripes(gpu on, const csr<V, device_view>& A,
                                                        const packed_analysis<V>*) {
    require_gpu(on);
    const device_guard guard(on);
    return build_stripes(on, A, std::max<index>(1, stripes_for<V>(A.shape.cols)));
}

template <class V>
estimate cost_of_stripes(const matrix_stats& s) {
    estimate e = with_work(packed<V, host>::cost(s), packed_warp::work_on_gpu(s));
    const double stripes = stripes_for<V>(s.cols);
    if (stripes < 2) {
        e.declined = "x is short enough for the caches";
        return e;
    }
    // A row takes its share of a chunk and a place in an order in every stripe.
    constexpr double bytes_of_row = sizeof(packed_chunk) / double(warp_rows) + sizeof(index);
    e.matrix_bytes += (stripes - 1) * double(s.rows) * bytes_of_row;
    e.vector_bytes += 2 * (stripes - 1) * double(s.rows) * sizeof(V);
    e.work_units += (stripes - 1) * units_of_a_warp * double(s.packed.chunks);
    e.x_bytes = double(s.cols) * sizeof(V);
    e.stripes = e.launches = stripes;
    return e;
}

#define NZ_INSTANTIATE(V)                                             \
    template std::unique_ptr<linear_operator<V, gpu>> build_stripes(  \
        gpu, const csr<V, device_view>&, index);                      \
    template estimate cost_of_stripes<V>(const matrix_stats&);        \
    template std::unique_ptr<linear_operator<V, gpu>> suited_stripes( \
        gpu, const csr<V, device_view>&, const packed_analysis<V>*);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
