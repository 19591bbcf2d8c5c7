// The trace of a method's GPU kernel over a matrix, whatever the layout.
#pragma once

#include <memory>

#include "nonzero/formats/registry.hpp"
#include "nonzero/formats/trace.hpp"

namespace nz {

/// Memory accesses of one product y = A x by a GPU kernel, warp by warp. Holds the layout.
class kernel_trace {
  public:
    kernel_trace() = default;
    kernel_trace(const kernel_trace&) = delete;
    kernel_trace& operator=(const kernel_trace&) = delete;
    virtual ~kernel_trace() = default;

    [[nodiscard]] virtual std::string_view method() const = 0;
    /// The launches, one after the other; empty where there is nothing to do.
    [[nodiscard]] virtual std::span<const warp_grid> grids() const = 0;
    /// The bytes of the layout's arrays.
    [[nodiscard]] virtual std::size_t bytes() const = 0;
    /// Accesses of that warp, in order. Warps are numbered through all launches. Any number of
    /// threads may call this at once. Throws argument_error where there is no such warp.
    virtual void trace(std::int64_t warp, access_sink& to) const = 0;

    /// The warps of all launches.
    [[nodiscard]] std::int64_t warps() const;

  protected:
    /// Throws argument_error unless there is such a warp.
    void check(std::int64_t warp) const;
};

/// The trace of the method's kernel over A, of which nothing is kept; null where the method has no
/// kernel on a GPU or the kernel has no trace. Throws argument_error where there is no such method,
/// where A is no CSR, and where the layout declines A.
template <class V>
std::unique_ptr<kernel_trace> trace_of(std::string_view method, const csr<V, host_view>& A);

/// A kernel's launches and the trace of a warp, over a layout that the caller holds: A points to a
/// host view of that kernel's layout.
struct traced_functions {
    std::vector<warp_grid> (*launches)(const void* A);
    void (*trace)(const void* A, std::int64_t warp, warp_trace& to);
};
/// Those of the method's kernel for values V: traces take long to compile, and are in one place.
/// Throws argument_error where it has none.
template <class V>
traced_functions trace_functions_of(std::string_view method);

/// The names of the methods whose kernels have a trace, sorted as methods() is.
template <class V>
std::vector<std::string_view> traced_methods();

}  // namespace nz
