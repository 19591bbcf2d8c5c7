// A kernel and its layout behind linear_operator, on either backend.
#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/formats/method.hpp"
#include "nonzero/formats/scatter.hpp"

namespace nz {

/// A kernel that reads CSR needs a copy of it.
template <class K, class V>
concept reads_csr = std::same_as<typename K::template layout<V, device>, csr<V, device>>;

/// Puts A's values into a copy of its arrays. False where there are not as many.
template <class V>
bool replace_in(cpu, const csr<V, host_view>& A, csr<V, host>& to) {
    if (A.val.size() != to.val.size()) return false;
    std::copy(A.val.begin(), A.val.end(), to.val.begin());
    return true;
}
template <class V>
bool replace_in(gpu on, const csr<V, device_view>& A, csr<V, device>& to) {
    if (A.val.size() != to.val.size()) return false;
    copy_on_device(on, A.val.data(), to.val.data(), A.val.size() * sizeof(V));
    synchronize(on);  // the next product may read the matrix before it waits for what is before it
    return true;
}

/// The function that makes K's layout of a CSR: the layout's own, or the hook's.
template <class K, class V>
constexpr auto layout_from() {
    auto from = K::template hooks_over<V>.from;
    if (from == nullptr) from = K::template layout<V, host>::from;
    return from;
}

/// A kernel over L on the CPU, as functions: operators are classes of the layout alone, and the
/// compiler makes one for each layout, not for each kernel.
template <class V, template <class, class> class L>
struct cpu_kernel {
    using own = L<V, host>;
    using view = L<V, host_view>;

    std::string_view name;
    own (*from)(const csr<V, host_view>&);
    std::size_t (*scratch_bytes)(cpu, const view&);  ///< null: it takes none
    void (*multiply)(cpu, V, const view&, std::span<const V>, V, std::span<V>);
    /// Null: by scatter.
    void (*multiply_transposed)(cpu, transposition, V, const view&, std::span<const V>, V,
                                std::span<V>);
    /// Null: vector by vector.
    void (*multiply_many)(cpu, V, const view&, in_columns<V, cpu>, V, out_columns<V, cpu>);
    /// Null: there is none. Else whether it could.
    bool (*relax)(cpu, const typename linear_operator<V, cpu>::relaxation&, const view&,
                  in_columns<V, cpu>, out_columns<V, cpu>);
    bool (*multiply_fused)(cpu, V, const view&, std::span<const V>, V, std::span<V>,
                           const typename linear_operator<V, cpu>::fused_update&);
    std::size_t (*product_parts)(const view&);  ///< null: it gives none
    /// Null: it must be built from the matrix.
    std::unique_ptr<linear_operator<float, cpu>> (*in_single_precision)(cpu, const view&);
};

/// A backend with scratch memory of its own: one a call, so that one operator serves several
/// threads at once.
struct with_scratch {
    with_scratch(cpu on, std::size_t bytes);
    ~with_scratch();
    with_scratch(const with_scratch&) = delete;
    with_scratch& operator=(const with_scratch&) = delete;
    host_vector<std::byte> memory;
    cpu on;
};

template <class V, template <class, class> class L>
class cpu_operator final : public linear_operator<V, cpu> {
  public:
    cpu_operator(cpu on, L<V, host>&& A, const cpu_kernel<V, L>& kernel)
        : on_(on), own_(std::move(A)), A_(view(own_)), kernel_(kernel) {}
    [[nodiscard]] nz::shape shape() const override { return A_.shape; }
    [[nodiscard]] std::size_t bytes() const override { return nz::bytes(own_); }
    [[nodiscard]] std::string_view method_name() const override { return kernel_.name; }
    [[nodiscard]] bool takes_values() const override { return is_csr; }
    [[nodiscard]] std::size_t product_parts() const override {
        return kernel_.product_parts == nullptr ? 0 : kernel_.product_parts(A_);
    }
    [[nodiscard]] std::unique_ptr<linear_operator<float, cpu>> in_single_precision()
        const override {
        if (kernel_.in_single_precision == nullptr) return nullptr;
        return kernel_.in_single_precision(on_, A_);
    }

  protected:
    bool replace_values(const csr<V, host_view>& A) override {
        if constexpr (is_csr) return replace_in(on_, A, own_);
        return false;
    }
    void multiply_many(V alpha, in_columns<V, cpu> X, V beta,
                       out_columns<V, cpu> Y) const override {
        if (kernel_.multiply_many == nullptr)
            return linear_operator<V, cpu>::multiply_many(alpha, X, beta, Y);
        kernel_.multiply_many(on_, alpha, A_, X, beta, Y);
    }
    bool relax(const typename linear_operator<V, cpu>::relaxation& how, in_columns<V, cpu> X,
               out_columns<V, cpu> Y) const override {
        return kernel_.relax != nullptr && kernel_.relax(on_, how, A_, X, Y);
    }
    bool multiply_fused(V alpha, std::span<const V> x, V beta, std::span<V> y,
                        const typename linear_operator<V, cpu>::fused_update& with) const override {
        return kernel_.multiply_fused != nullptr &&
               kernel_.multiply_fused(on_, alpha, A_, x, beta, y, with);
    }
    void multiply(V alpha, std::span<const V> x, V beta, std::span<V> y) const override {
        if (kernel_.scratch_bytes == nullptr) return kernel_.multiply(on_, alpha, A_, x, beta, y);
        const with_scratch s(on_, kernel_.scratch_bytes(on_, A_));
        kernel_.multiply(s.on, alpha, A_, x, beta, y);
    }
    void multiply_transposed(transposition op, V alpha, std::span<const V> x, V beta,
                             std::span<V> y) const override {
        if (kernel_.multiply_transposed != nullptr)
            return kernel_.multiply_transposed(on_, op, alpha, A_, x, beta, y);
        const with_scratch s(on_, scatter_scratch_bytes<V>(on_, y.size()));
        scatter(s.on, op, alpha, A_, x, beta, y);
    }
    void scale(V beta, std::span<V> y) const override { scale_vector(on_, beta, y); }

  private:
    static constexpr bool is_csr = std::same_as<L<V, host>, csr<V, host>>;
    cpu on_;
    L<V, host> own_;
    L<V, host_view> A_;  ///< of own_, which stays where it is
    const cpu_kernel<V, L>& kernel_;
};

/// `rounded(view)` gives the same layout with its values in single precision.
template <class M>
concept has_rounded = requires(const M& A) {
    rounded(A);
};

template <class K, class V, template <class, class> class L>
std::unique_ptr<linear_operator<float, cpu>> rounded_operator(cpu on, const L<V, host_view>& A);

/// The functions of K, whose layout is L.
template <class K, class V, template <class, class> class L>
constexpr cpu_kernel<V, L> functions_on_cpu(kernel_of<L>) {
    using view = L<V, host_view>;
    cpu_kernel<V, L> k{};
    k.name = K::name;
    k.from = layout_from<K, V>();
    k.scratch_bytes = K::template hooks_over<V>.scratch_on_cpu;
    k.multiply = [](cpu on, V alpha, const view& A, std::span<const V> x, V beta, std::span<V> y) {
        spmv(on, K{}, alpha, A, x, beta, y);
    };
    if constexpr (runs_transposed_on<K, cpu>)
        k.multiply_transposed = [](cpu on, transposition op, V alpha, const view& A,
                                   std::span<const V> x, V beta, std::span<V> y) {
            spmv_transposed(on, K{}, op, alpha, A, x, beta, y);
        };
    if constexpr (runs_many_on<K, cpu>)
        k.multiply_many = [](cpu on, V alpha, const view& A, in_columns<V, cpu> X, V beta,
                             out_columns<V, cpu> Y) { spmv_many(on, K{}, alpha, A, X, beta, Y); };
    if constexpr (relaxes_on<K, cpu, V>)
        k.relax = [](cpu on, const typename linear_operator<V, cpu>::relaxation& how, const view& A,
                     in_columns<V, cpu> X,
                     out_columns<V, cpu> Y) { return relax(on, K{}, how, A, X, Y); };
    if constexpr (fuses_on<K, cpu, V>) {
        k.multiply_fused = [](cpu on, V alpha, const view& A, std::span<const V> x, V beta,
                              std::span<V> y,
                              const typename linear_operator<V, cpu>::fused_update& with) {
            return spmv_fused(on, K{}, alpha, A, x, beta, y, with);
        };
        k.product_parts = [](const view& A) { return product_parts(K{}, A); };
    }
    if constexpr (has_rounded<view>) k.in_single_precision = rounded_operator<K, V, L>;
    return k;
}
template <class K, class V>
inline constexpr auto kernel_on_cpu = functions_on_cpu<K, V>(typename K::over_layout{});

template <class K, class V, template <class, class> class L>
std::unique_ptr<linear_operator<float, cpu>> rounded_operator(cpu on, const L<V, host_view>& A) {
    auto R = rounded(A);
    if (!R) return nullptr;
    return std::unique_ptr<linear_operator<float, cpu>>(
        new cpu_operator<float, L>(on, std::move(*R), kernel_on_cpu<K, float>));
}

/// The same on a GPU.
template <class V, template <class, class> class L>
struct gpu_kernel {
    using own = L<V, device>;
    using view = L<V, device_view>;

    const char* name;
    std::size_t (*scratch_bytes)(gpu, const view&);                                ///< null: none
    std::size_t (*scratch_for_many)(gpu, const view&, const in_columns<V, gpu>&);  ///< null: none
    own (*build)(gpu, const csr<V, device_view>&, const packed_analysis<V>*);
    bool (*refill)(gpu, const csr<V, device_view>&, own&);
    L<V, host> (*from)(const csr<V, host_view>&);
    void (*multiply)(gpu, V, const view&, device_span<V>, V, device_out<V>);
    /// Null: there is none.
    void (*multiply_transposed)(gpu, transposition, V, const view&, device_span<V>, V,
                                device_out<V>);
    /// Null: vector by vector.
    void (*multiply_many)(gpu, V, const view&, in_columns<V, gpu>, V, out_columns<V, gpu>);
    /// Null: there is none. Else whether it could.
    bool (*relax)(gpu, const typename linear_operator<V, gpu>::relaxation&, const view&,
                  in_columns<V, gpu>, out_columns<V, gpu>);
    bool (*multiply_fused)(gpu, V, const view&, device_span<V>, V, device_out<V>,
                           const typename linear_operator<V, gpu>::fused_update&);
    std::size_t (*product_parts)(const view&);  ///< null: it gives none
};

/// The functions of K, whose layout is L.
template <class K, class V, template <class, class> class L>
constexpr gpu_kernel<V, L> functions_on_gpu(kernel_of<L>) {
    using view = L<V, device_view>;
    gpu_kernel<V, L> k{};
    k.name = K::name.data();
    constexpr layout_hooks<V, L> hooks = K::template hooks_over<V>;
    k.scratch_bytes = hooks.scratch_on_gpu;
    k.scratch_for_many = hooks.scratch_for_many;
    k.build = hooks.build;
    k.refill = hooks.refill;
    k.from = layout_from<K, V>();
    k.multiply = [](gpu on, V alpha, const view& A, device_span<V> x, V beta, device_out<V> y) {
        spmv(on, K{}, alpha, A, x, beta, y);
    };
    if constexpr (runs_transposed_on<K, gpu>)
        k.multiply_transposed = [](gpu on, transposition op, V alpha, const view& A,
                                   device_span<V> x, V beta, device_out<V> y) {
            spmv_transposed(on, K{}, op, alpha, A, x, beta, y);
        };
    if constexpr (runs_many_on<K, gpu>)
        k.multiply_many = [](gpu on, V alpha, const view& A, in_columns<V, gpu> X, V beta,
                             out_columns<V, gpu> Y) { spmv_many(on, K{}, alpha, A, X, beta, Y); };
    if constexpr (relaxes_on<K, gpu, V>)
        k.relax = [](gpu on, const typename linear_operator<V, gpu>::relaxation& how, const view& A,
                     in_columns<V, gpu> X,
                     out_columns<V, gpu> Y) { return relax(on, K{}, how, A, X, Y); };
    if constexpr (fuses_on<K, gpu, V>) {
        k.multiply_fused = [](gpu on, V alpha, const view& A, device_span<V> x, V beta,
                              device_out<V> y,
                              const typename linear_operator<V, gpu>::fused_update& with) {
            return spmv_fused(on, K{}, alpha, A, x, beta, y, with);
        };
        k.product_parts = [](const view& A) { return product_parts(K{}, A); };
    }
    return k;
}
template <class K, class V>
inline constexpr auto kernel_on_gpu = functions_on_gpu<K, V>(typename K::over_layout{});

/// The parts of an operator on a GPU that no layout changes: its stream and its scratch memory.
template <class V>
class operator_in_stream : public linear_operator<V, gpu> {
  public:
    [[nodiscard]] setup_times setup() const final { return setup_; }
    void set_setup(const setup_times& t) { setup_ = t; }

  protected:
    operator_in_stream(gpu on, std::size_t scratch_bytes, bool scratch_for_many,
                       const setup_times& setup);
    void scale(V beta, device_out<V> y) const final;
    /// Vector by vector, of copies where they are row-major.
    void multiply_each(V alpha, in_columns<V, gpu> X, V beta, out_columns<V, gpu> Y) const;

    /// Makes the GPU current while it lives, and holds the scratch memory: the kernels of one
    /// product follow each other in the stream; those of another thread's, which use the same
    /// memory, come before or after them.
    class product_scope {
      public:
        explicit product_scope(const operator_in_stream&);

      private:
        device_guard guard_;
        std::unique_lock<std::mutex> mine_;
    };
    [[noreturn]] void refuse_transposed() const;
    /// on() with as much more scratch memory, where it is to be had: taken by the first product
    /// that wants it, and kept. Call it within a product_scope.
    [[nodiscard]] gpu with_more_scratch(std::size_t bytes) const;
    [[nodiscard]] const gpu& on() const { return on_; }

  private:
    gpu on_;
    device_array<std::byte> scratch_;
    mutable std::vector<device_array<std::byte>> for_many_;  ///< ascending; graphs may use any
    setup_times setup_;
    bool is_locked_;
    mutable std::mutex mutex_;
};

template <class V, template <class, class> class L>
class gpu_operator final : public operator_in_stream<V> {
  public:
    gpu_operator(gpu on, L<V, device>&& A, const gpu_kernel<V, L>& kernel, const setup_times& setup)
        : operator_in_stream<V>(
              on, kernel.scratch_bytes == nullptr ? 0 : kernel.scratch_bytes(on, view(A)),
              kernel.scratch_for_many != nullptr, setup),
          A_(std::move(A)),
          kernel_(kernel) {}
    [[nodiscard]] nz::shape shape() const override { return A_.shape; }
    [[nodiscard]] std::size_t bytes() const override { return nz::bytes(A_); }
    [[nodiscard]] std::string_view method_name() const override { return kernel_.name; }
    [[nodiscard]] bool takes_values() const override { return is_csr || kernel_.refill != nullptr; }
    [[nodiscard]] std::size_t product_parts() const override {
        return kernel_.product_parts == nullptr ? 0 : kernel_.product_parts(view(A_));
    }

  protected:
    bool replace_values(const csr<V, device_view>& A) override {
        const device_guard guard(this->on());
        if constexpr (is_csr) return replace_in(this->on(), A, A_);
        return kernel_.refill != nullptr && kernel_.refill(this->on(), A, A_);
    }
    void multiply_many(V alpha, in_columns<V, gpu> X, V beta,
                       out_columns<V, gpu> Y) const override {
        if (kernel_.multiply_many == nullptr) return this->multiply_each(alpha, X, beta, Y);
        const product_scope scope(*this);
        if (A_.shape.rows > 0) {
            gpu on = this->on();
            if (const auto more = kernel_.scratch_for_many; more != nullptr)
                on = this->with_more_scratch(more(on, view(A_), X));
            kernel_.multiply_many(on, alpha, view(A_), X, beta, Y);
        }
        check_launch(kernel_.name);
    }
    bool relax(const typename linear_operator<V, gpu>::relaxation& how, in_columns<V, gpu> X,
               out_columns<V, gpu> Y) const override {
        if (kernel_.relax == nullptr) return false;
        const product_scope scope(*this);
        const bool could = kernel_.relax(this->on(), how, view(A_), X, Y);
        check_launch(kernel_.name);
        return could;
    }
    bool multiply_fused(V alpha, device_span<V> x, V beta, device_out<V> y,
                        const typename linear_operator<V, gpu>::fused_update& with) const override {
        if (kernel_.multiply_fused == nullptr) return false;
        const product_scope scope(*this);
        const bool could =
            y.size() == 0 || kernel_.multiply_fused(this->on(), alpha, view(A_), x, beta, y, with);
        check_launch(kernel_.name);
        return could;
    }
    void multiply(V alpha, device_span<V> x, V beta, device_out<V> y) const override {
        const product_scope scope(*this);
        if (y.size() > 0) kernel_.multiply(this->on(), alpha, view(A_), x, beta, y);
        check_launch(kernel_.name);
    }
    void multiply_transposed(transposition op, V alpha, device_span<V> x, V beta,
                             device_out<V> y) const override {
        if (kernel_.multiply_transposed == nullptr) this->refuse_transposed();
        const product_scope scope(*this);
        if (y.size() > 0) kernel_.multiply_transposed(this->on(), op, alpha, view(A_), x, beta, y);
        check_launch(kernel_.name);
    }

  private:
    using product_scope = typename operator_in_stream<V>::product_scope;
    static constexpr bool is_csr = std::same_as<L<V, device>, csr<V, device>>;
    L<V, device> A_;
    const gpu_kernel<V, L>& kernel_;
};

}  // namespace nz
