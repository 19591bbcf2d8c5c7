// The one list of methods. Planner, command, benches, tests and the docs' table iterate it.
#pragma once

#include <memory>

#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/device_analysis.hpp"

namespace nz {

/// What the parts of building an operator took; all zero where its builder does not tell.
struct setup_times {
    double conversion_s = 0;     ///< from CSR to the layout, on the CPU                  [s]
    double upload_s = 0;         ///< of the layout to the GPU                            [s]
    double preprocessing_s = 0;  ///< what the kernel prepares there                      [s]
};

/// A matrix on backend B whose format is known at run time only. The one virtual interface.
/// One operator may be applied from several CPU threads at once, also on a GPU, where all its
/// products run in the stream that it was built for: each is right, in the order of the launches.
template <class V, class B>
class linear_operator {
  public:
    virtual ~linear_operator() = default;

    /// y = alpha A x + beta y.  x: cols, y: rows, not overlapping. y is not read where beta is 0;
    /// x is not read where alpha is 0. Throws argument_error where a length is wrong or x and y
    /// overlap. Values are not checked: NaN and infinities in A, x, y, alpha and beta go through by
    /// IEEE 754, complex products by the textbook formula (nz::product); on a row without entries
    /// an alpha that is not finite gives beta y or NaN, as the method has it.
    void apply(V alpha, in<V, B> x, V beta, out<V, B> y) const;

    /// y = alpha op(A) x + beta y.  x: rows, y: cols where op transposes. Throws besides:
    /// unavailable where the method has no such kernel.
    void apply_transposed(transposition op, V alpha, in<V, B> x, V beta, out<V, B> y) const;

    /// Y = alpha A X + beta Y, vector by vector, each as by `apply` and within its bound; where the
    /// method can, every entry of A is read once for eight of them, which may round otherwise than
    /// `apply`. X and Y hold as many vectors, of strides no smaller than their lengths; X.values
    /// and Y.values do not overlap, gaps between the vectors included. Throws as `apply`.
    void apply_many(V alpha, in_columns<V, B> X, V beta, out_columns<V, B> Y) const;

    /// Takes the values of A, whose pattern is that of the matrix it was built from, in place; on a
    /// GPU it waits for its stream. False where it cannot: then it must be built anew, as
    /// nz::update_values does. Throws argument_error where the shape is another.
    [[nodiscard]] bool take_values(const csr<V, typename B::view>& A);
    /// Whether take_values may succeed.
    [[nodiscard]] virtual bool takes_values() const { return false; }

    /// The same matrix with its values rounded to single precision, from what is held of it; null
    /// where it must be built from the matrix.
    [[nodiscard]] virtual std::unique_ptr<linear_operator<float, B>> in_single() const {
        return nullptr;
    }

    [[nodiscard]] virtual nz::shape shape() const = 0;
    [[nodiscard]] virtual std::size_t bytes() const = 0;  ///< of the arrays held
    [[nodiscard]] virtual setup_times setup() const { return {}; }
    /// The method that it is of, as the registry names it; empty where it is of none.
    [[nodiscard]] virtual std::string_view method_name() const { return {}; }

  protected:
    virtual void multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const = 0;
    virtual void multiply_transposed(transposition op, V alpha, in<V, B> x, V beta,
                                     out<V, B> y) const = 0;
    virtual void scale(V beta, out<V, B> y) const = 0;
    virtual void multiply_many(V alpha, in_columns<V, B> X, V beta, out_columns<V, B> Y) const;
    virtual bool replace_values(const csr<V, typename B::view>&) { return false; }
};

/// The c-th of the vectors, of so many elements.
template <class V>
std::span<V> column(const columns<std::span<V>>& all, index c, std::size_t len) {
    return all.values.subspan(std::size_t(c) * all.stride, len);
}
template <class V>
device_span<V> column(const columns<device_span<V>>& all, index c, std::size_t len) {
    return {all.values.data() + std::size_t(c) * all.stride, len};
}
template <class V>
device_out<V> column(const columns<device_out<V>>& all, index c, std::size_t len) {
    return {all.values.data() + std::size_t(c) * all.stride, len};
}

/// Builds the layout and holds it. Throws argument_error where the layout declines or A is no CSR.
/// The columns of a row may stand in any order, and more than once: what needs them ascending is
/// built from a canonical copy.
template <class V, class B>
using builder = std::unique_ptr<linear_operator<V, B>> (*)(B, const csr<V, host_view>&);

/// The same from a CSR that lies on the GPU, of which it keeps nothing but a copy. What is known of
/// it is not looked for again.
template <class V>
using device_builder = std::unique_ptr<linear_operator<V, gpu>> (*)(gpu, const csr<V, device_view>&,
                                                                    const device_analysis<V>&);

/// A method: a kernel over its layout.
template <class V>
struct method {
    std::string_view name;  ///< layout.kernel
    bool deterministic;     ///< same bits in every run with the same number of threads
    bool any_order;         ///< takes rows as they stand; others are built from an ordered copy
    bool synchronises;      ///< on a GPU `apply` waits for it, so that no CUDA graph can hold it
    std::string_view source;
    estimate (*cost)(const matrix_stats&);
    estimate (*cost_on_gpu)(const matrix_stats&);  ///< cost, or why it would crawl on a GPU
    bool transposed_on_cpu, transposed_on_gpu;     ///< apply_transposed exists
    bool exists_on_cpu, exists_on_gpu;             ///< declared, whether or not this build has it
    builder<V, cpu> on_cpu;                        ///< null: no such kernel on the CPU
    builder<V, gpu> on_gpu;  ///< null: no such kernel on the GPU, or no CUDA in this build

    device_builder<V> from_device;  ///< null where it is built on the CPU only

    [[nodiscard]] std::string_view layout() const { return name.substr(0, name.find('.')); }
    template <class B>
    [[nodiscard]] builder<V, B> on() const {
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
