#include "nonzero/vector/vectors.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "nonzero/vector/vector_steps.hpp"

namespace nz {
namespace {

vector<std::byte, cpu> make_scratch(cpu on, std::int64_t n) {
    return vector<std::byte, cpu>(fused_scratch_bytes(on, n));
}
vector<std::byte, gpu> make_scratch(gpu on, std::int64_t n) {
    const device_guard guard(on);
    vector<std::byte, gpu> scratch(on, fused_scratch_bytes(on, n));
    zero_on_device(on, scratch);
    return scratch;
}

template <class V>
constexpr one_scalar<V> zero_of = {V(0)};

/// The last sum, which steps write.
template <class V, class Bytes>
one_scalar<V>* scalar_at(Bytes& result) {
    return static_cast<one_scalar<V>*>(static_cast<void*>(result.data()));
}

template <class B>
B checked(B on, std::int64_t n) {
    if (n < 0 || n > std::numeric_limits<index>::max())
        throw argument_error("vector_space: " + std::to_string(n) +
                             " elements, expected 0 to 2^31 - 1");
    if constexpr (std::is_same_v<B, gpu>) require_gpu(on);
    return on;
}

}  // namespace

template <class V, class B>
vector_space<V, B>::vector_space(B on, std::int64_t n)
    : on_(checked(on, n)),
      n_(n),
      scratch_(make_scratch(on, n)),
      result_(from_host(on, std::as_bytes(std::span(&zero_of<V>, 1)))) {
    on_.scratch = scratch_;
}

template <class V, class B>
void vector_space<V, B>::check(const char* what, std::size_t len) const {
    if (len != std::size_t(n_))
        throw argument_error(std::string(what) + ": a vector of " + std::to_string(len) +
                             " elements, expected " + std::to_string(n_));
}

template <class V, class B>
vector<V, B> vector_space<V, B>::make() const {
    return make_vector<V>(on_, std::size_t(n_));
}
template <class V, class B>
vector<V, B> vector_space<V, B>::zero() {
    auto v = make();
    fill(V(0), v);
    return v;
}

template <class V, class B>
void vector_space<V, B>::fill(V alpha, out<V, B> y) {
    check_all("fill", y);
    run_fused(*this, fill_step<V>{alpha, y.data()}, scalar_at<V>(result_));
}
template <class V, class B>
void vector_space<V, B>::copy(in<V, B> x, out<V, B> y) {
    axpby(V(1), x, V(0), y);
}
template <class V, class B>
void vector_space<V, B>::scale(V alpha, out<V, B> y) {
    axpby(alpha, y, V(0), y);
}
template <class V, class B>
void vector_space<V, B>::axpy(V alpha, in<V, B> x, out<V, B> y) {
    axpby(alpha, x, V(1), y);
}
template <class V, class B>
void vector_space<V, B>::xpby(in<V, B> x, V beta, out<V, B> y) {
    axpby(V(1), x, beta, y);
}
template <class V, class B>
void vector_space<V, B>::axpby(V alpha, in<V, B> x, V beta, out<V, B> y) {
    check_all("axpby", x, y);
    run_fused(*this, axpby_step<V>{alpha, x.data(), beta, y.data()}, scalar_at<V>(result_));
}
template <class V, class B>
void vector_space<V, B>::multiply(in<V, B> d, in<V, B> x, out<V, B> y) {
    check_all("multiply", d, x, y);
    run_fused(*this, multiply_step<V>{d.data(), x.data(), y.data()}, scalar_at<V>(result_));
}
template <class V, class B>
V vector_space<V, B>::dot(in<V, B> x, in<V, B> y) {
    check_all("dot", x, y);
    run_fused(*this, dot_step<V>{x.data(), y.data()}, scalar_at<V>(result_));
    V sum;
    const auto there = to_host<std::byte>(on_, in<std::byte, B>(result_));
    std::memcpy(&sum, there.data(), sizeof(V));
    return sum;
}
template <class V, class B>
real<V> vector_space<V, B>::norm(in<V, B> x) {
    return std::sqrt(std::real(dot(x, x)));
}

template class vector_space<float, cpu>;
template class vector_space<double, cpu>;
template class vector_space<std::complex<float>, cpu>;
template class vector_space<std::complex<double>, cpu>;
template class vector_space<float, gpu>;
template class vector_space<double, gpu>;
template class vector_space<std::complex<float>, gpu>;
template class vector_space<std::complex<double>, gpu>;

}  // namespace nz
