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

/// The scratch memory that K asks for.
template <class K, class B, class M>
std::size_t scratch_bytes(B on, const M& A) {
    if constexpr (requires { K::scratch_bytes(on, A); }) {
        return K::scratch_bytes(on, A);
    } else {
        return 0;
    }
}

/// `rounded(view)` gives the same layout with its values in single precision.
template <class M>
concept has_rounded = requires(const M& A) {
    rounded(view(A));
};

template <class K, class V, class M>
class cpu_operator final : public linear_operator<V, cpu> {
  public:
    cpu_operator(cpu on, M A) : on_(on), A_(std::move(A)) {}
    [[nodiscard]] nz::shape shape() const override { return A_.shape; }
    [[nodiscard]] std::size_t bytes() const override { return nz::bytes(A_); }
    [[nodiscard]] std::string_view method_name() const override { return K::name; }
    [[nodiscard]] bool takes_values() const override { return reads_csr<K, V>; }
    [[nodiscard]] std::unique_ptr<linear_operator<float, cpu>> in_single_precision()
        const override {
        if constexpr (has_rounded<M>) {
            if (auto A = rounded(view(A_)))
                return std::make_unique<cpu_operator<K, float, typename decltype(A)::value_type>>(
                    on_, std::move(*A));
        }
        return nullptr;
    }

  protected:
    bool replace_values(const csr<V, host_view>& A) override {
        if constexpr (reads_csr<K, V>) return replace_in(on_, A, A_);
        return false;
    }
    void multiply_many(V alpha, in_columns<V, cpu> X, V beta,
                       out_columns<V, cpu> Y) const override {
        if constexpr (runs_many_on<K, cpu, V>) {
            spmv_many(on_, K{}, alpha, view(A_), X, beta, Y);
        } else {
            linear_operator<V, cpu>::multiply_many(alpha, X, beta, Y);
        }
    }
    void multiply(V alpha, std::span<const V> x, V beta, std::span<V> y) const override {
        const auto A = view(A_);
        with_scratch(scratch_bytes<K>(on_, A),
                     [&](cpu on) { spmv(on, K{}, alpha, A, x, beta, y); });
    }
    void multiply_transposed(transposition op, V alpha, std::span<const V> x, V beta,
                             std::span<V> y) const override {
        const auto A = view(A_);
        if constexpr (runs_transposed_on<K, cpu, V>) {
            spmv_transposed(on_, K{}, op, alpha, A, x, beta, y);
        } else {
            with_scratch(scatter_scratch_bytes<V>(on_, y.size()),
                         [&](cpu on) { scatter(on, op, alpha, A, x, beta, y); });
        }
    }
    void scale(V beta, std::span<V> y) const override { scale_vector(on_, beta, y); }

  private:
    // Per call, so that one operator serves several threads at once.
    template <class F>
    void with_scratch(std::size_t bytes, F f) const {
        host_vector<std::byte> scratch(bytes);
        cpu on = on_;
        on.scratch = scratch;
        f(on);
    }
    cpu on_;
    M A_;
};

template <class K, class V, class M>
class gpu_operator final : public linear_operator<V, gpu> {
  public:
    gpu_operator(gpu on, M A, const setup_times& setup)
        : on_(on), A_(std::move(A)), scratch_(on, scratch_bytes<K>(on, view(A_))), setup_(setup) {
        on_.scratch = scratch_;
        zero_on_device(on_, on_.scratch);
    }
    [[nodiscard]] nz::shape shape() const override { return A_.shape; }
    [[nodiscard]] std::size_t bytes() const override { return nz::bytes(A_); }
    [[nodiscard]] setup_times setup() const override { return setup_; }
    [[nodiscard]] std::string_view method_name() const override { return K::name; }
    [[nodiscard]] bool takes_values() const override { return reads_csr<K, V> || K::hooks.refill; }

  protected:
    bool replace_values(const csr<V, device_view>& A) override {
        const device_guard guard(on_);
        if constexpr (K::hooks.refill) return K::refill(on_, A, A_);
        if constexpr (reads_csr<K, V>) return replace_in(on_, A, A_);
        return false;
    }
    void multiply_many(V alpha, in_columns<V, gpu> X, V beta,
                       out_columns<V, gpu> Y) const override {
        if constexpr (runs_many_on<K, gpu, V>) {
            const device_guard guard(on_);
            const auto mine = lock_scratch();
            if (A_.shape.rows > 0)
                spmv_many(with_more_scratch(X), K{}, alpha, view(A_), X, beta, Y);
            check_launch(K::name.data());
        } else {
            const auto [rows, cols] = A_.shape;
            column_copy x(on_, X, cols), y(on_, Y, rows);
            if (X.by_row()) copy_vectors<V>(on_, X, x.all, std::size_t(cols));
            if (Y.by_row() && beta != V(0))
                copy_vectors<V>(on_, as_input(Y), y.all, std::size_t(rows));
            linear_operator<V, gpu>::multiply_many(alpha, X.by_row() ? as_input(x.all) : X, beta,
                                                   Y.by_row() ? y.all : Y);
            if (Y.by_row()) copy_vectors<V>(on_, as_input(y.all), Y, std::size_t(rows));
        }
    }
    void multiply(V alpha, device_span<V> x, V beta, device_out<V> y) const override {
        const device_guard guard(on_);
        const auto mine = lock_scratch();
        if (y.size() > 0) spmv(on_, K{}, alpha, view(A_), x, beta, y);
        check_launch(K::name.data());
    }
    void multiply_transposed(transposition op, V alpha, device_span<V> x, V beta,
                             device_out<V> y) const override {
        if constexpr (runs_transposed_on<K, gpu, V>) {
            const device_guard guard(on_);
            const auto mine = lock_scratch();
            if (y.size() > 0) spmv_transposed(on_, K{}, op, alpha, view(A_), x, beta, y);
            check_launch(K::name.data());
        } else {
            throw unavailable(std::string(K::name) + " has no transposed product on a GPU");
        }
    }
    void scale(V beta, device_out<V> y) const override { scale_vector(on_, beta, y); }

  private:
    /// Row-major vectors one after the other, for kernels that take one.
    struct column_copy {
        template <class Array>
        column_copy(gpu on, const columns<Array>& of, index len)
            : memory(on, of.by_row() ? std::size_t(len) * std::size_t(of.count) : 0),
              all{memory, std::size_t(len), of.count} {}
        device_array<V> memory;
        out_columns<V, gpu> all;
    };
    static in_columns<V, gpu> as_input(const out_columns<V, gpu>& Y) {
        return {Y.values, Y.stride, Y.count, Y.order};
    }

    /// The kernels of one product follow each other in the stream: those of another thread's, which
    /// use the same scratch memory, come before or after them.
    [[nodiscard]] std::unique_lock<std::mutex> lock_scratch() const {
        return scratch_.size() > 0 || K::hooks.scratch_for_many ? std::unique_lock(mutex_)
                                                                : std::unique_lock<std::mutex>();
    }

    /// on_ with memory for these vectors, where K is faster with it and it is to be had: taken by
    /// the first product that wants it, and kept. Call it with the lock.
    [[nodiscard]] gpu with_more_scratch(const in_columns<V, gpu>& X) const {
        gpu on = on_;
        if constexpr (K::hooks.scratch_for_many) {
            const std::size_t bytes = K::scratch_for_many(on, view(A_), X);
            try {
                if (bytes > 0 && (for_many_.empty() || for_many_.back().size() < bytes))
                    for_many_.emplace_back(on_, bytes);
                if (bytes > 0) on.more_scratch = for_many_.back();
            } catch (const device_error&) {  // memory is short, or the stream is being captured
            }
        }
        return on;
    }

    gpu on_;
    M A_;
    device_array<std::byte> scratch_;
    mutable std::vector<device_array<std::byte>> for_many_;  ///< ascending; graphs may use any
    setup_times setup_;
    mutable std::mutex mutex_;
};

}  // namespace nz
