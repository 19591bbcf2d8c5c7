#include "nonzero/matrix/with_transpose.hpp"
#include "nonzero/matrix/transpose.hpp"

#include <mutex>

#include "nonzero/vector/vectors.hpp"

namespace nz {
namespace {

template <class V>
void conjugate(cpu, std::span<const V> from, std::span<V> to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::conj(from[i]);
}

template <class V, class B>
class pair_of_operators final : public linear_operator<V, B> {
  public:
    using pointer = std::unique_ptr<linear_operator<V, B>>;
    pair_of_operators(B on, pointer of_A, pointer of_transpose)
        : on_(on),
          of_A_(std::move(of_A)),
          of_transpose_(std::move(of_transpose)),
          x_(make_vector<V>(
              on, is_complex<V> && std::is_same_v<B, gpu> ? std::size_t(of_A_->shape().rows) : 0)) {
    }

    [[nodiscard]] nz::shape shape() const override { return of_A_->shape(); }
    [[nodiscard]] std::size_t bytes() const override {
        return of_A_->bytes() + of_transpose_->bytes();
    }
    [[nodiscard]] std::string_view method_name() const override { return of_A_->method_name(); }
    [[nodiscard]] setup_times setup() const override {
        const setup_times a = of_A_->setup(), b = of_transpose_->setup();
        return {a.conversion_s + b.conversion_s, a.upload_s + b.upload_s,
                a.preprocessing_s + b.preprocessing_s};
    }
    [[nodiscard]] bool takes_values() const override {
        return of_A_->takes_values() && of_transpose_->takes_values();
    }
    [[nodiscard]] std::size_t product_parts() const override { return of_A_->product_parts(); }

  protected:
    void multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const override {
        of_A_->apply(alpha, x, beta, y);
    }
    void multiply_transposed(transposition op, V alpha, in<V, B> x, V beta,
                             out<V, B> y) const override {
        if constexpr (is_complex<V>)
            if (op == transposition::conjugate_transpose)
                return multiply_conjugated(alpha, x, beta, y);
        of_transpose_->apply(alpha, x, beta, y);
    }
    void multiply_many(V alpha, in_columns<V, B> X, V beta, out_columns<V, B> Y) const override {
        of_A_->apply_many(alpha, X, beta, Y);
    }
    void multiply_transposed_many(transposition op, V alpha, in_columns<V, B> X, V beta,
                                  out_columns<V, B> Y) const override {
        if (is_complex<V> && op == transposition::conjugate_transpose)
            return linear_operator<V, B>::multiply_transposed_many(op, alpha, X, beta, Y);
        of_transpose_->apply_many(alpha, X, beta, Y);
    }
    bool relax(const typename linear_operator<V, B>::relaxation& how, in_columns<V, B> X,
               out_columns<V, B> Y) const override {
        return of_A_->relax_many(how, X.count, X.values, Y.values);
    }
    bool multiply_fused(V alpha, in<V, B> x, V beta, out<V, B> y,
                        const typename linear_operator<V, B>::fused_update& with) const override {
        return of_A_->apply_fused(alpha, x, beta, y, with);
    }
    void scale(V beta, out<V, B> y) const override { scale_vector(on_, beta, y); }
    bool replace_values(const csr<V, typename B::view>& A) override {
        return of_A_->take_values(A) && of_transpose_->take_values(view(transpose(on_, A)));
    }

  private:
    /// alpha A^H x + beta y is the conjugate of conj(alpha) A^T conj(x) + conj(beta) conj(y).
    void multiply_conjugated(V alpha, in<V, B> x, V beta, out<V, B> y) const {
        const std::size_t len = std::is_same_v<B, cpu> ? x.size() : 0;
        const std::lock_guard lock(mutex_);  // x_ is one for all threads, in one stream
        vector<V, B> mine = make_vector<V>(on_, len);
        const out<V, B> conjugate_x = std::is_same_v<B, cpu> ? out<V, B>(mine) : out<V, B>(x_);
        conjugate(on_, x, conjugate_x);
        if (beta != V(0)) conjugate(on_, in<V, B>(y), y);
        of_transpose_->apply(std::conj(alpha), conjugate_x, std::conj(beta), y);
        conjugate(on_, in<V, B>(y), y);
    }

    B on_;
    pointer of_A_, of_transpose_;
    mutable vector<V, B> x_;  ///< on a GPU: the conjugate of x
    mutable std::mutex mutex_;
};

}  // namespace

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> with_transpose(
    B on, std::unique_ptr<linear_operator<V, B>> of_A,
    std::unique_ptr<linear_operator<V, B>> of_transpose) {
    const nz::shape a = of_A->shape(), t = of_transpose->shape();
    if (a.rows != t.cols || a.cols != t.rows)
        throw argument_error("with_transpose: the operators' shapes are not each other's");
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        return std::make_unique<pair_of_operators<V, B>>(on, std::move(of_A),
                                                         std::move(of_transpose));
    }
}

#define NZ_FOR_BACKEND(V, B)                                        \
    template std::unique_ptr<linear_operator<V, B>> with_transpose( \
        B, std::unique_ptr<linear_operator<V, B>>, std::unique_ptr<linear_operator<V, B>>);
#define NZ_INSTANTIATE(V)  \
    NZ_FOR_BACKEND(V, cpu) \
    NZ_FOR_BACKEND(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
