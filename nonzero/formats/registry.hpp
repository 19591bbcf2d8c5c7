// The one list of methods. Planner, command, benches, tests and the docs' table iterate it.
#pragma once

#include "nonzero/formats/estimate.hpp"
#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/formats/matrix_stats.hpp"

namespace nz {

template <class V>
class packed_analysis;

/// A method: a kernel over its layout, or over several.
template <class V>
struct method {
    /// Builds the layout and holds it. Throws argument_error where the layout declines. A is known
    /// to be a CSR, and its rows ascend unless the method takes any order: `build` sees to that,
    /// and is what to call.
    template <class B>
    using builder = std::unique_ptr<linear_operator<V, B>> (*)(B, const csr<V, host_view>&);
    /// The same from a CSR that lies on the GPU, of which it keeps nothing but a copy. Where
    /// packing has analysed it, a method that packs does not do so again; null where not.
    using device_builder = std::unique_ptr<linear_operator<V, gpu>> (*)(gpu,
                                                                        const csr<V, device_view>&,
                                                                        const packed_analysis<V>*);

    std::string_view name;  ///< layout.kernel
    bool deterministic;     ///< same bits in every run with the same number of threads
    bool any_order;         ///< takes rows as they stand; others are built from an ordered copy
    bool packs;  ///< on a GPU its builder starts from packing's analysis, which checks the matrix
    bool one_thread;    ///< on a CPU it takes one, whatever the backend has
    bool synchronises;  ///< on a GPU `apply` waits for it, so that no CUDA graph can hold it
    bool teaches;       ///< chosen only by plans that name methods, or time them
    std::string_view source;
    estimate (*cost)(const matrix_stats&);
    estimate (*cost_on_gpu)(const matrix_stats&);  ///< cost, or why it would be too slow on a GPU
    bool transposed_on_cpu, transposed_on_gpu;     ///< apply_transposed exists
    bool many_on_cpu, many_on_gpu;                 ///< the one to take for several vectors
    bool exists_on_cpu, exists_on_gpu;             ///< declared, whether or not this build has it
    builder<cpu> on_cpu;                           ///< null: no such kernel on the CPU
    builder<gpu> on_gpu;  ///< null: no such kernel on the GPU, or no CUDA in this build

    device_builder from_device;  ///< null where it is built on the CPU only

    [[nodiscard]] std::string_view layout() const { return name.substr(0, name.find('.')); }
    template <class B>
    [[nodiscard]] builder<B> on() const {
        if constexpr (std::is_same_v<B, cpu>) {
            return on_cpu;
        } else {
            return on_gpu;
        }
    }
};

/// Every method there is, whatever this build can run, by name.
template <class V>
std::span<const method<V>> methods();

/// The method of that name. Throws argument_error, naming near ones, where there is none.
template <class V>
const method<V>& find_method(std::string_view name);

}  // namespace nz
