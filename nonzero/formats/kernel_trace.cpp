#include "nonzero/formats/kernel_trace.hpp"

#include "nonzero/formats/build_operator.hpp"
#include "nonzero/formats/kernels.hpp"
#include "nonzero/formats/traces.hpp"

namespace nz {

std::int64_t kernel_trace::warps() const {
    std::int64_t all = 0;
    for (const warp_grid& g : grids()) all += g.warps;
    return all;
}

namespace {

/// The layout as the GPU's operator holds it: what the CPU builds, but where it is built otherwise
/// for a GPU, as traced_layout tells.
template <class K, class V>
auto layout_on_gpu(const csr<V, host_view>& A) {
    if constexpr (requires { traced_layout(K{}, A); }) {
        return traced_layout(K{}, A);
    } else {
        return build_layout<K>(A);
    }
}

template <class K, class V>
class trace_over final : public kernel_trace {
  public:
    explicit trace_over(const csr<V, host_view>& A) : A_(layout_on_gpu<K>(A)) {
        if (A.shape.rows > 0) grids_ = launches(K{}, view(A_));  // else nothing is launched
    }
    [[nodiscard]] std::string_view method() const override { return K::name; }
    [[nodiscard]] std::span<const warp_grid> grids() const override { return grids_; }
    [[nodiscard]] std::size_t bytes() const override { return nz::bytes(A_); }
    void trace(std::int64_t warp, access_sink& to) const override {
        if (warp < 0 || warp >= warps())
            throw argument_error(std::string(K::name) + ": no warp " + std::to_string(warp) +
                                 " among " + std::to_string(warps()));
        warp_trace in_order(to);
        nz::trace(K{}, view(A_), warp, in_order);
    }

  private:
    typename K::template layout<V, host> A_;
    std::vector<warp_grid> grids_;
};

}  // namespace

template <class V>
std::unique_ptr<kernel_trace> trace_of(std::string_view method, const csr<V, host_view>& A) {
    (void)find_method<V>(method);
    std::unique_ptr<kernel_trace> found;
    all_kernels::for_each([&]<class K>() {
        if constexpr (traced<K, V>)
            if (K::name == method) found = std::make_unique<trace_over<K, V>>(A);
    });
    return found;
}

template <class V>
std::vector<std::string_view> traced_methods() {
    std::vector<std::string_view> names;
    all_kernels::for_each([&]<class K>() {
        if constexpr (traced<K, V>) names.push_back(K::name);
    });
    return names;
}

#define NZ_INSTANTIATE(V)                                                                        \
    template std::unique_ptr<kernel_trace> trace_of(std::string_view, const csr<V, host_view>&); \
    template std::vector<std::string_view> traced_methods<V>();
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
