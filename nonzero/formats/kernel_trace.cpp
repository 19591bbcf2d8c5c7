#include "nonzero/formats/kernel_trace.hpp"

#include <algorithm>
#include <array>

#include "nonzero/formats/kernel_operator.hpp"
#include "nonzero/formats/kernels.hpp"
#include "nonzero/formats/traces.hpp"

namespace nz {

std::int64_t kernel_trace::warps() const {
    std::int64_t all = 0;
    for (const warp_grid& g : grids()) all += g.warps;
    return all;
}

void kernel_trace::check(std::int64_t warp) const {
    if (warp < 0 || warp >= warps())
        throw argument_error(std::string(method()) + ": no warp " + std::to_string(warp) +
                             " among " + std::to_string(warps()));
}

namespace {

/// A kernel over L as functions, so that the classes below are of the layout alone.
template <class V, template <class, class> class L>
struct trace_functions {
    std::string_view name;
    /// The layout as the GPU's operator holds it.
    L<V, host> (*from)(const csr<V, host_view>&);
    traced_functions of;
};

template <class V, template <class, class> class L>
class trace_over final : public kernel_trace {
  public:
    trace_over(const csr<V, host_view>& A, const trace_functions<V, L>& kernel)
        : A_(kernel.from(A)), kernel_(kernel) {
        if (A.shape.rows == 0) return;  // nothing is launched
        const auto borrowed = view(A_);
        grids_ = kernel.of.launches(&borrowed);
    }
    [[nodiscard]] std::string_view method() const override { return kernel_.name; }
    [[nodiscard]] std::span<const warp_grid> grids() const override { return grids_; }
    [[nodiscard]] std::size_t bytes() const override { return nz::bytes(A_); }
    void trace(std::int64_t warp, access_sink& to) const override {
        check(warp);
        warp_trace in_order(to);
        const auto A = view(A_);
        kernel_.of.trace(&A, warp, in_order);
    }

  private:
    L<V, host> A_;
    const trace_functions<V, L>& kernel_;
    std::vector<warp_grid> grids_;
};

/// The functions of K, whose layout is L.
template <class K, class V, template <class, class> class L>
constexpr trace_functions<V, L> functions_of(kernel_of<L>) {
    using view = L<V, host_view>;
    trace_functions<V, L> k{};
    k.name = K::name;
    k.from = layout_from<K, V>();
    if constexpr (requires(const csr<V, host_view>& A) { traced_layout(K{}, A); })
        k.from = [](const csr<V, host_view>& A) { return traced_layout(K{}, A); };
    k.of.launches = [](const void* A) { return launches(K{}, *static_cast<const view*>(A)); };
    k.of.trace = [](const void* A, std::int64_t warp, warp_trace& to) {
        nz::trace(K{}, *static_cast<const view*>(A), warp, to);
    };
    return k;
}
template <class K, class V>
constexpr auto functions = functions_of<K, V>(typename K::over_layout{});

/// A method with a trace, by name.
template <class V>
struct traced_method {
    std::string_view name;
    std::unique_ptr<kernel_trace> (*of)(const csr<V, host_view>&);
    traced_functions functions;
};

template <class V, template <class, class> class L>
std::unique_ptr<kernel_trace> traced_by(const csr<V, host_view>& A,
                                        const trace_functions<V, L>& kernel) {
    return std::make_unique<trace_over<V, L>>(A, kernel);
}

/// Null where the kernel has no trace.
template <class K, class V>
constexpr traced_method<V> traced_method_of() {
    if constexpr (traced<K, V>) {
        return {K::name, [](const csr<V, host_view>& A) { return traced_by(A, functions<K, V>); },
                functions<K, V>.of};
    } else {
        return {};
    }
}

template <class V, class... K>
constexpr std::array<traced_method<V>, sizeof...(K)> table_of(kernel_list<K...>) {
    return {traced_method_of<K, V>()...};
}
template <class V>
constexpr auto table = table_of<V>(all_kernels{});

}  // namespace

template <class V>
std::unique_ptr<kernel_trace> trace_of(std::string_view method, const csr<V, host_view>& A) {
    (void)find_method<V>(method);
    for (const traced_method<V>& m : table<V>)
        if (m.of != nullptr && m.name == method) return m.of(A);
    return nullptr;
}

template <class V>
traced_functions trace_functions_of(std::string_view method) {
    for (const traced_method<V>& m : table<V>)
        if (m.of != nullptr && m.name == method) return m.functions;
    throw argument_error("no trace of '" + std::string(method) + "'");
}

template <class V>
std::vector<std::string_view> traced_methods() {
    std::vector<std::string_view> names;
    for (const traced_method<V>& m : table<V>)
        if (m.of != nullptr) names.push_back(m.name);
    std::sort(names.begin(), names.end());
    return names;
}

#define NZ_INSTANTIATE(V)                                                                        \
    template std::unique_ptr<kernel_trace> trace_of(std::string_view, const csr<V, host_view>&); \
    template traced_functions trace_functions_of<V>(std::string_view);                           \
    template std::vector<std::string_view> traced_methods<V>();
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
