#include "nonzero/solve/saddle/saddle.hpp"

#include <algorithm>
#include <mutex>

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/gen/noise.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/matrix/spgemm.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "nonzero/solve/saddle/block_inverse.hpp"
#include "nonzero/solve/saddle/split.hpp"

namespace nz {
namespace {

/// Rows of a CSR as they come.
template <class V>
struct rows_to_be {
    host_vector<offset> ptr{0};
    host_vector<index> col;
    host_vector<V> val;

    void add(index j, V v) { col.push_back(j), val.push_back(v); }
    void end_row() { ptr.push_back(offset(col.size())); }
    csr<V, host> finish(index cols) {
        const auto rows = index(ptr.size()) - 1;
        return {{rows, cols}, offset_vector(ptr), std::move(col), std::move(val)};
    }
};

/// sign K = (A, G; L, -C), rows and columns numbered anew: those of A first.
template <class V>
class numbered_anew {
  public:
    numbered_anew(const csr<V, host_view>& K, const saddle_split& split)
        : K_(K),
          split_(split),
          sign_(split.is_negated ? real<V>(-1) : real<V>(1)),
          number_(std::size_t(K.shape.rows)) {
        index next = 0;
        for (const auto* rows : {&split.first, &split.second})
            for (const index i : *rows) number_[std::size_t(i)] = next++;
    }
    [[nodiscard]] index first() const { return index(split_.first.size()); }
    [[nodiscard]] index second() const { return index(split_.second.size()); }
    [[nodiscard]] V sign() const { return sign_; }
    [[nodiscard]] csr<V, host> A() const {
        rows_to_be<V> rows;
        for (const index i : split_.first) add(rows, i, {0, first()}, 0), rows.end_row();
        return rows.finish(first());
    }
    [[nodiscard]] csr<V, host> G() const {
        rows_to_be<V> rows;
        for (const index i : split_.first) add(rows, i, behind(), first()), rows.end_row();
        return rows.finish(second());
    }
    /// (L, -C)
    [[nodiscard]] csr<V, host> L_and_C() const {
        rows_to_be<V> rows;
        for (const index i : split_.second)
            add(rows, i, {0, first()}, 0), add(rows, i, behind(), 0), rows.end_row();
        return rows.finish(first() + second());
    }
    /// y = P x, which takes the rows in their new order.
    [[nodiscard]] csr<V, host> order() const {
        rows_to_be<V> rows;
        for (const auto* part : {&split_.first, &split_.second})
            for (const index i : *part) rows.add(i, V(1)), rows.end_row();
        return rows.finish(first() + second());
    }
    /// Back, the first rows times one factor, the second times another.
    [[nodiscard]] csr<V, host> order_back(V of_first, V of_second) const {
        rows_to_be<V> rows;
        for (const index j : number_)
            rows.add(j, j < first() ? of_first : of_second), rows.end_row();
        return rows.finish(first() + second());
    }

  private:
    [[nodiscard]] range behind() const { return {first(), first() + second()}; }
    /// The entries of K's row i in these of the new columns.
    void add(rows_to_be<V>& rows, index i, range columns, index shift) const {
        for (auto k = std::size_t(K_.row_ptr[std::size_t(i)]);
             k < std::size_t(K_.row_ptr[std::size_t(i) + 1]); ++k) {
            const index j = number_[std::size_t(K_.col_ind[k])];
            if (j >= columns.first && j < columns.last) rows.add(j - shift, sign_ * K_.val[k]);
        }
    }

    const csr<V, host_view>& K_;
    const saddle_split& split_;
    V sign_;
    host_vector<index> number_;
};

/// C + L D^-1 G, where D is A's diagonal; empty where it has more than `most` entries.
template <class V>
csr<V, host> schur_product(const csr<V, host>& L_and_C, std::span<const V> D, const csr<V, host>& G,
                           offset most) {
    const index n = L_and_C.shape.cols, second = G.shape.cols;
    host_vector<V> middle(std::size_t(n), V(-1));
    for (std::size_t i = 0; i < D.size(); ++i) middle[i] = V(1) / D[i];
    rows_to_be<V> G_and_1;
    for (index i = 0; i < G.shape.rows; ++i) {
        for (auto k = std::size_t(G.row_ptr[std::size_t(i)]);
             k < std::size_t(G.row_ptr[std::size_t(i) + 1]); ++k)
            G_and_1.add(G.col_ind[k], G.val[k]);
        G_and_1.end_row();
    }
    for (index i = 0; i < second; ++i) G_and_1.add(i, V(1)), G_and_1.end_row();
    const auto right = G_and_1.finish(second), factor = diagonal_matrix(std::move(middle));
    return galerkin_product(worth(cpu{}, std::ssize(G.val)), view(L_and_C), view(factor),
                            view(right), most);
}

/// The diagonal of that.
template <class V>
host_vector<V> schur_diagonal(const csr<V, host>& L_and_C, std::span<const V> D,
                              const csr<V, host>& G) {
    const auto T = transposed(worth(cpu{}, std::ssize(G.val)), view(G));
    host_vector<V> s(std::size_t(G.shape.cols), V(0));
    const auto first = index(D.size());
    for (std::size_t i = 0; i < s.size(); ++i) {
        auto t = std::size_t(T.row_ptr[i]);
        const auto t_end = std::size_t(T.row_ptr[i + 1]);
        for (auto k = std::size_t(L_and_C.row_ptr[i]); k < std::size_t(L_and_C.row_ptr[i + 1]);
             ++k) {
            const index j = L_and_C.col_ind[k];
            if (j == first + index(i)) s[i] -= L_and_C.val[k];
            while (t < t_end && T.col_ind[t] < j) ++t;
            if (j < first && t < t_end && T.col_ind[t] == j)
                s[i] += L_and_C.val[k] * T.val[t] / D[std::size_t(j)];
        }
    }
    return s;
}

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> planned_product(B on, csr<V, host> A) {
    return plan_and_build(ascending<V>::known(std::move(A)), on).op;
}

/// The inverses of both blocks, and what else a saddle point's preconditioner is made of.
template <class V, class B>
struct saddle_parts {
    index first = 0;
    std::unique_ptr<linear_operator<V, B>> order, order_back, G;  ///< G null: not asked for
    block_inverse<V, B> A, S;
    V sign_of_S = V(1);  ///< S times that is what S stands for
};

/// As `saddle` says.
template <class V, class B>
class saddle_operator final : public matrix_free_operator<V, B> {
  public:
    saddle_operator(B on, saddle_parts<V, B> parts)
        : matrix_free_operator<V, B>(on, parts.order->shape()),
          parts_(std::move(parts)),
          first_(std::size_t(parts_.first)),
          second_(std::size_t(parts_.order->shape().rows) - first_),
          x_(vector_space<V, B>(on, parts_.order->shape().rows).zero()),
          y_(vector_space<V, B>(on, parts_.order->shape().rows).zero()) {}
    [[nodiscard]] std::size_t bytes() const override {
        std::size_t sum = 0;
        for (const auto* part :
             {parts_.order.get(), parts_.order_back.get(), parts_.G.get(), parts_.A.product.get(),
              parts_.A.inverse.get(), parts_.S.product.get(), parts_.S.inverse.get()})
            sum += part == nullptr ? 0 : part->bytes();
        return sum;
    }

  protected:
    void map(in<V, B> x, out<V, B> y) const override {
        const std::lock_guard lock(mutex_);
        const out<V, B> x1{x_.data(), first_}, x2{x_.data() + first_, second_};
        const out<V, B> y1{y_.data(), first_}, y2{y_.data() + first_, second_};
        parts_.order->apply(V(1), x, V(0), x_);
        parts_.S.inverse->apply(V(1), x2, V(0), y2);
        // order_back has the sign that y2 lacks.
        if (parts_.G != nullptr) parts_.G->apply(parts_.sign_of_S, y2, V(1), x1);
        parts_.A.inverse->apply(V(1), x1, V(0), y1);
        parts_.order_back->apply(V(1), y_, V(0), y);
    }

  private:
    saddle_parts<V, B> parts_;
    std::size_t first_, second_;
    mutable std::mutex mutex_;  ///< guards what follows
    mutable vector<V, B> x_, y_;
};

/// Chooses what stands for S^-1.
template <class V, class B>
class schur_complement {
  public:
    schur_complement(B on, const csr<V, host>& A, const csr<V, host>& G, csr<V, host> L_and_C,
                     offset most)
        : on_(on), L_and_C_(std::move(L_and_C)) {
        const auto D = diagonal_of(cpu{}, view(A));
        diagonal_ = schur_diagonal<V>(L_and_C_, D, G);
        product_ = schur_product<V>(L_and_C_, D, G, most);
        const auto below = [](V d) { return std::real(d) < 0; };
        if (std::ranges::any_of(diagonal_, below) &&
            std::ranges::none_of(diagonal_, [](V d) { return std::real(d) > 0; })) {
            sign_ = V(-1);
            for (V& v : diagonal_) v = -v;
            for (V& v : product_.val) v = -v;
        }
        for (V& v : diagonal_)
            if (v == V(0)) v = V(1);
    }
    [[nodiscard]] V sign() const { return sign_; }

    /// `form`: diagonal wants a definite one. G: its product.
    block_inverse<V, B> choose(const linear_operator<V, B>& A_inverse,
                               const linear_operator<V, B>& G, saddle_form form) const {
        block_inverse<V, B> of_diagonal{nullptr, inverse_of_diagonal(form), "diagonal"};
        if (product_.shape.rows == 0) return of_diagonal;
        block_inverse<V, B> of_product;
        try {
            of_product = invert_block(on_, ascending<V>::known(view(product_)));
        } catch (const argument_error&) {
            return of_diagonal;
        }
        const auto S = approximate_product(A_inverse, G);
        const auto b = smooth_numbers(*of_product.inverse);
        const double left = residual_of_trial<V, B>(on_, S, *of_diagonal.inverse, b);
        return residual_of_trial<V, B>(on_, S, *of_product.inverse, b) < left
                   ? std::move(of_product)
                   : std::move(of_diagonal);
    }

  private:
    [[nodiscard]] std::unique_ptr<linear_operator<V, B>> inverse_of_diagonal(
        saddle_form form) const {
        return jacobi(on_,
                      ascending<V>::known(diagonal_matrix(
                          form == saddle_form::diagonal ? magnitudes<V>(diagonal_) : diagonal_)));
    }
    /// y = sign S x, with A_inverse for A^-1.
    auto approximate_product(const linear_operator<V, B>& A_inverse,
                             const linear_operator<V, B>& G) const {
        const index first = G.shape().rows, second = G.shape().cols;
        const std::shared_ptr<linear_operator<V, B>> L = planned_product(on_, L_and_C_);
        const auto space = std::make_shared<vector_space<V, B>>(on_, second);
        const auto Gx = std::make_shared<vector<V, B>>(vector_space<V, B>(on_, first).zero());
        const auto both =
            std::make_shared<vector<V, B>>(vector_space<V, B>(on_, first + second).zero());
        const V sign = sign_;
        return make_operator<V>(on_, {second, second},
                                [=, &A_inverse, &G](in<V, B> x, out<V, B> y) {
                                    const out<V, B> y1{both->data(), std::size_t(first)};
                                    const out<V, B> y2{both->data() + first, std::size_t(second)};
                                    G.apply(V(1), x, V(0), *Gx);
                                    A_inverse.apply(V(1), *Gx, V(0), y1);
                                    space->axpby(V(-1), x, V(0), y2);
                                    L->apply(sign, *both, V(0), y);
                                });
    }
    /// Random numbers times M, weighted by the diagonal: low frequencies prevail where S' is
    /// elliptic, which random numbers alone have little of.
    vector<V, B> smooth_numbers(const linear_operator<V, B>& M) const {
        const auto n = std::ssize(diagonal_);
        const auto white = from_host(on_, std::span<const V>(noise<V>({0, n}, 2)));
        const auto weights = from_host(on_, std::span<const V>(diagonal_));
        vector_space<V, B> space(on_, n);
        auto smooth = space.make();
        M.apply(V(1), white, V(0), smooth);
        space.multiply(weights, smooth, smooth);
        return smooth;
    }

    B on_;
    csr<V, host> L_and_C_, product_;  ///< product_: empty where it is too large
    host_vector<V> diagonal_;
    V sign_ = V(1);
};

}  // namespace

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> saddle(B on, const ascending<V>& in_order, saddle_form form,
                                              saddle_report* report) {
    const auto start = steady_clock::now();
    const csr<V, host_view>& K = in_order.view();
    if (K.shape.rows != K.shape.cols) throw argument_error("saddle: the matrix is not square");
    const auto split = find_saddle<V>(in_order, diagonal_of(cpu{}, K));
    if (!split.found())
        throw argument_error(
            "saddle: no block of zeros, or of the other sign, is found on the diagonal");
    const numbered_anew<V> blocks(K, split);
    const auto A = blocks.A(), G = blocks.G();
    saddle_parts<V, B> parts;
    parts.first = blocks.first();
    parts.order = planned_product(on, blocks.order());
    parts.A = invert_block(on, ascending<V>::known(view(A)));
    auto times_G = plan_and_build(ascending<V>::known(view(G)), on).op;
    const schur_complement<V, B> S(on, A, G, blocks.L_and_C(), 8 * std::ssize(K.val));
    parts.S = S.choose(*parts.A.inverse, *times_G, form);
    if (report != nullptr)
        *report = {parts.A.name, parts.S.name, blocks.second(), seconds_since(start)};
    const bool is_triangular = form == saddle_form::triangular;
    parts.sign_of_S = S.sign();
    parts.order_back = planned_product(
        on, is_triangular ? blocks.order_back(blocks.sign(), -blocks.sign() * S.sign())
                          : blocks.order_back(V(1), V(1)));
    if (is_triangular) parts.G = std::move(times_G);
    return std::make_unique<saddle_operator<V, B>>(on, std::move(parts));
}

#define NZ_INSTANTIATE(V, B)                                                                    \
    template std::unique_ptr<linear_operator<V, B>> saddle(B, const ascending<V>&, saddle_form, \
                                                           saddle_report*);
#define NZ_INSTANTIATE_FOR(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
