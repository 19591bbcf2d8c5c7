#include "nonzero/formats/kernel_operator.hpp"

namespace nz {
namespace {

/// Row-major vectors one after the other, for kernels that take one.
template <class V>
struct column_copy {
    template <class Array>
    column_copy(gpu on, const columns<Array>& of, index len)
        : memory(on, of.by_row() ? std::size_t(len) * std::size_t(of.count) : 0),
          all{memory, std::size_t(len), of.count} {}
    device_array<V> memory;
    out_columns<V, gpu> all;
};

template <class V>
in_columns<V, gpu> as_input(const out_columns<V, gpu>& Y) {
    return {Y.values, Y.stride, Y.count, Y.order};
}

}  // namespace

with_scratch::with_scratch(cpu backend, std::size_t bytes) : memory(bytes), on(backend) {
    on.scratch = memory;
}
with_scratch::~with_scratch() = default;

template <class V>
operator_in_stream<V>::operator_in_stream(gpu on, std::size_t scratch_bytes, bool scratch_for_many,
                                          const setup_times& setup)
    : on_(on),
      scratch_(on, scratch_bytes),
      setup_(setup),
      is_locked_(scratch_bytes > 0 || scratch_for_many) {
    on_.scratch = scratch_;
    zero_on_device(on_, on_.scratch);
}

template <class V>
operator_in_stream<V>::product_scope::product_scope(const operator_in_stream& of)
    : guard_(of.on_),
      mine_(of.is_locked_ ? std::unique_lock(of.mutex_) : std::unique_lock<std::mutex>()) {}

template <class V>
void operator_in_stream<V>::refuse_transposed() const {
    throw unavailable(std::string(this->method_name()) + " has no transposed product on a GPU");
}

template <class V>
void operator_in_stream<V>::scale(V beta, device_out<V> y) const {
    scale_vector(on_, beta, y);
}

template <class V>
void operator_in_stream<V>::multiply_each(V alpha, in_columns<V, gpu> X, V beta,
                                          out_columns<V, gpu> Y) const {
    const auto [rows, cols] = this->shape();
    column_copy<V> x(on_, X, cols), y(on_, Y, rows);
    if (X.by_row()) copy_vectors<V>(on_, X, x.all, std::size_t(cols));
    if (Y.by_row() && beta != V(0)) copy_vectors<V>(on_, as_input<V>(Y), y.all, std::size_t(rows));
    linear_operator<V, gpu>::multiply_many(alpha, X.by_row() ? as_input<V>(x.all) : X, beta,
                                           Y.by_row() ? y.all : Y);
    if (Y.by_row()) copy_vectors<V>(on_, as_input<V>(y.all), Y, std::size_t(rows));
}

template <class V>
gpu operator_in_stream<V>::with_more_scratch(std::size_t bytes) const {
    gpu on = on_;
    try {
        if (bytes > 0 && (for_many_.empty() || for_many_.back().size() < bytes))
            for_many_.emplace_back(on_, bytes);
        if (bytes > 0) on.more_scratch = for_many_.back();
    } catch (const device_error&) {  // memory is short, or the stream is being captured
    }
    return on;
}

#define NZ_INSTANTIATE(V) template class operator_in_stream<V>;
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
