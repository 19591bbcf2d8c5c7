// Scalars where a backend computes, and passes over vectors that read and write them.
#pragma once

#include "nonzero/core/stream.hpp"
#include "nonzero/vector/fused.hpp"
#include "nonzero/vector/vector_space.hpp"

namespace nz {

/// A vector of that many elements, uninitialised.
template <class T>
host_vector<T> make_vector(cpu, std::size_t len) {
    return host_vector<T>(len);
}
template <class T>
device_array<T> make_vector(gpu on, std::size_t len) {
    return {on, len};
}

/// A vector of B's from one of the host's. Returns when the copy is there.
template <class T>
host_vector<T> from_host(cpu, std::span<const T> v) {
    return {v.begin(), v.end()};
}
template <class T>
device_array<T> from_host(gpu on, std::span<const T> v) {
    const device_guard guard(on);
    return to_device<T>(on, v);
}

template <class V>
struct one_scalar {
    V value;
};

/// A struct of scalars where B computes, for fused kernels to read and write.
template <class S, class B>
class scalars_on {
  public:
    scalars_on(B on, const S& s) : on_(on), at_(from_host(on, std::span<const S>(&s, 1))) {}
    [[nodiscard]] S* data() { return at_.data(); }
    /// Waits for what wrote them.
    [[nodiscard]] S read() const { return to_host<S>(on_, in<S, B>(at_))[0]; }
    void write(const S& s) {
        if constexpr (std::is_same_v<B, cpu>) {
            at_[0] = s;
        } else {
            copy_to_device(on_, &s, at_.data(), sizeof(S));
        }
    }

  private:
    B on_;
    vector<S, B> at_;
};

/// One pass of a step over the elements of space's vectors; `at` lies where B computes.
template <class V, class B, column_step Step>
void run_fused(vector_space<V, B>& space, const Step& step, typename Step::scalars* at) {
    run_fused(space.on(), space.dimension(), step, at);
}

}  // namespace nz
