#include "nonzero/formats/packed/spmv/striped_segments.hpp"

#include <utility>

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/formats/kernel_operator.hpp"
#include "nonzero/formats/packed/spmv/stripes.hpp"
#include "nonzero/formats/registry.hpp"

namespace nz {
namespace {

template <class V>
class segments_operator final : public operator_in_stream<V> {
  public:
    /// whole: null where all rows are cut.
    segments_operator(gpu on, nz::shape size, row_segments<V>&& segments,
                      std::unique_ptr<linear_operator<V, gpu>> whole, const setup_times& setup)
        : operator_in_stream<V>(on, std::size_t(segments.matrix.shape.rows) * sizeof(V), false,
                                setup),
          shape_(size),
          segments_(std::move(segments)),
          whole_(std::move(whole)) {}
    [[nodiscard]] nz::shape shape() const override { return shape_; }
    [[nodiscard]] std::size_t bytes() const override {
        const auto of = [](const auto& some) { return some.size() * sizeof *some.data(); };
        return nz::bytes(segments_.matrix) + of(segments_.shares) + of(segments_.rows) +
               of(segments_.numbers) + of(segments_.places) +
               (whole_ == nullptr ? 0 : whole_->bytes());
    }
    [[nodiscard]] std::string_view method_name() const override { return packed_stripes::name; }

  protected:
    void multiply(V alpha, device_span<V> x, V beta, device_out<V> y) const override {
        if (whole_ != nullptr) whole_->apply(alpha, x, std::exchange(beta, V(1)), y);
        const product_scope scope(*this);
        multiply_segments(this->on(), alpha, segments_, x, beta, y);
        check_launch(packed_stripes::name.data());
    }
    void multiply_transposed(transposition, V, device_span<V>, V, device_out<V>) const override {
        this->refuse_transposed();
    }
    void multiply_many(V alpha, in_columns<V, gpu> X, V beta,
                       out_columns<V, gpu> Y) const override {
        this->multiply_each(alpha, X, beta, Y);
    }

  private:
    using product_scope = typename operator_in_stream<V>::product_scope;
    nz::shape shape_;
    row_segments<V> segments_;
    std::unique_ptr<linear_operator<V, gpu>> whole_;
};

}  // namespace

namespace {

/// packed.warp of the rows that are not cut; null where there are none.
template <class V>
std::unique_ptr<linear_operator<V, gpu>> packed_whole_rows(gpu on, const csr<V, device_view>& A,
                                                           const row_segments<V>& cut,
                                                           const packed_analysis<V>* known) {
    if (std::ssize(cut.rows) == A.shape.rows) return nullptr;
    const auto whole = whole_rows(on, A, cut);
    const auto options = packed_options::suited_to(on, std::int64_t(whole.val.size()));
    const auto analysis =
        known == nullptr ? nullptr : analyse_part(on, view(whole), options, *known);
    return find_method<V>("packed.warp").from_device(on, view(whole), analysis.get());
}

}  // namespace

template <class V>
std::unique_ptr<linear_operator<V, gpu>> build_segments(gpu on, const csr<V, device_view>& A,
                                                        row_segments<V>&& cut, double cut_s,
                                                        const packed_analysis<V>* known) {
    const auto start = steady_clock::now();
    auto whole = packed_whole_rows(on, A, cut, known);
    return std::make_unique<segments_operator<V>>(
        on, A.shape, std::move(cut), std::move(whole),
        setup_times{.preprocessing_s = cut_s + seconds_since(start)});
}

#define NZ_INSTANTIATE(V)                                             \
    template std::unique_ptr<linear_operator<V, gpu>> build_segments( \
        gpu, const csr<V, device_view>&, row_segments<V>&&, double, const packed_analysis<V>*);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
