// A matrix whose format is known at run time only: the one virtual interface.
#pragma once

#include <memory>
#include <string_view>

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// Times of the parts of building an operator; all zero where its builder does not tell.
struct setup_times {
    double conversion_s = 0;     ///< from CSR to the layout, on the CPU                  [s]
    double upload_s = 0;         ///< uploading the layout to the GPU                     [s]
    double preprocessing_s = 0;  ///< preparation by the kernel on the GPU                [s]
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

    /// y = alpha op(A) x + beta y.  x: rows, y: cols where op transposes. Also throws:
    /// unavailable where the method has no such kernel.
    void apply_transposed(transposition op, V alpha, in<V, B> x, V beta, out<V, B> y) const;

    /// Y = alpha A X + beta Y, vector by vector, each as by `apply` and within its bound; where the
    /// method can, every entry of A is read once for many of them, which may round otherwise than
    /// `apply`. X and Y hold as many vectors, each in its own order, at strides no smaller than a
    /// vector (column-major) or a row (row-major); X.values and Y.values do not overlap, gaps
    /// included. Throws as `apply`. A method that multiplies vector by vector copies vectors that
    /// are row-major; on a GPU that takes memory, which throws out_of_memory where there is none
    /// and device_error within a capture. Operators of no method may take no row-major vectors on
    /// a GPU: they throw unavailable.
    void apply_many(V alpha, in_columns<V, B> X, V beta, out_columns<V, B> Y) const;

    /// Y = alpha op(A) X + beta Y, vector by vector, each as by `apply_transposed` and within its
    /// bound. Operators that do not hold the transpose take column-major vectors alone. Throws as
    /// `apply_transposed` and `apply_many`.
    void apply_transposed_many(transposition op, V alpha, in_columns<V, B> X, V beta,
                               out_columns<V, B> Y) const;

    /// A step towards A x = b for one b or several: Y = keep X - momentum Y + step W (b - A X), W
    /// diagonal.
    struct relaxation {
        real<V> keep, momentum, step;
        in<real<V>, B> w;  ///< W's diagonal; empty: W is the identity
        in<V, B> b;
    };
    /// Takes that step for `count` vectors by rows without gaps, in one pass over A, b, X and Y; Y
    /// is not read where momentum is 0. False where the method has no kernel for as many: then
    /// nothing has happened. A is square. Rounds as apply_many, then the rest in the order above.
    /// Throws argument_error where a length is wrong or Y overlaps X or b.
    [[nodiscard]] bool relax_many(const relaxation&, index count, in<V, B> X, out<V, B> Y) const;

    /// An update that apply_fused makes in the pass that writes y.
    struct fused_update {
        in<V, B> b = {};
        out<V, B> z = {};           ///< z = y - b; empty: it is not wanted
        in<V, B> w = {};            ///< empty: y itself
        out<double, B> parts = {};  ///< their sum is the real part of (w, y); empty: not wanted
    };
    /// y = alpha A x + beta y as by `apply`, and the update `with` of the new y, in one pass over
    /// the vectors. False where the method has no kernel for it or alpha is 0: then nothing has
    /// happened. b, z and w have rows elements, `parts` as many as product_parts() says; z may be b
    /// and w may be x. The parts are the same in every run, on a CPU for any number of threads.
    /// Throws argument_error where a length is wrong, as `apply`, or where y or z overlaps another
    /// vector.
    [[nodiscard]] bool apply_fused(V alpha, in<V, B> x, V beta, out<V, B> y,
                                   const fused_update& with) const;
    /// The parts of (w, y) that apply_fused gives; 0 where it gives none.
    [[nodiscard]] virtual std::size_t product_parts() const { return 0; }

    /// Takes the values of A, whose pattern is that of the matrix it was built from, in place; on a
    /// GPU it waits for its stream. False where it cannot: then it must be built anew, as
    /// nz::update_values does. A's rows stand in the order that the method's builder wants, which
    /// update_values sees to. Throws argument_error where the shape is another.
    [[nodiscard]] bool take_values(const csr<V, typename B::view>& A);
    /// Whether take_values may succeed.
    [[nodiscard]] virtual bool takes_values() const { return false; }

    /// The same matrix with its values rounded to single precision, from what is held of it; null
    /// where it must be built from the matrix.
    [[nodiscard]] virtual std::unique_ptr<linear_operator<float, B>> in_single_precision() const {
        return nullptr;
    }

    [[nodiscard]] virtual nz::shape shape() const = 0;
    [[nodiscard]] virtual std::size_t bytes() const = 0;  ///< bytes of the arrays held
    [[nodiscard]] virtual setup_times setup() const { return {}; }
    /// The method that it is of, as the registry names it; empty where it is of none.
    [[nodiscard]] virtual std::string_view method_name() const { return {}; }

  protected:
    virtual void multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const = 0;
    virtual void multiply_transposed(transposition op, V alpha, in<V, B> x, V beta,
                                     out<V, B> y) const = 0;
    virtual void scale(V beta, out<V, B> y) const = 0;
    virtual void multiply_many(V alpha, in_columns<V, B> X, V beta, out_columns<V, B> Y) const;
    virtual void multiply_transposed_many(transposition op, V alpha, in_columns<V, B> X, V beta,
                                          out_columns<V, B> Y) const;
    virtual bool relax(const relaxation&, in_columns<V, B>, out_columns<V, B>) const {
        return false;
    }
    virtual bool multiply_fused(V, in<V, B>, V, out<V, B>, const fused_update&) const {
        return false;
    }
    virtual bool replace_values(const csr<V, typename B::view>&) { return false; }

  private:
    void scale_many(V beta, out_columns<V, B> Y, std::size_t len) const;
};

}  // namespace nz
