#include "nonzero/solve/preconditioners/gauss_seidel.hpp"

#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/preconditioners/colouring.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"
#include "nonzero/solve/preconditioners/gauss_seidel_steps.hpp"

namespace nz {
namespace {

/// Where each row stands in the order.
host_vector<index> places_of(const host_vector<index>& order) {
    host_vector<index> place(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) place[std::size_t(order[k])] = index(k);
    return place;
}

/// The rows order[first, last) of A, in that order, each over its diagonal entry, with the columns
/// whose place is in [from, to), by their place less `from`.
template <class V>
csr<V, host> part(const csr<V, host_view>& A, const colouring& c, std::span<const index> place,
                  std::span<const V> inverse, range rows, range cols) {
    host_vector<index> row, col;
    host_vector<V> val;
    for (std::int64_t k = rows.first; k < rows.last; ++k) {
        const auto i = std::size_t(c.order[std::size_t(k)]);
        for (auto e = std::size_t(A.row_ptr[i]); e < std::size_t(A.row_ptr[i + 1]); ++e) {
            const std::int64_t at = place[std::size_t(A.col_ind[e])];
            if (at < cols.first || at >= cols.last) continue;
            row.push_back(index(k - rows.first)), col.push_back(index(at - cols.first));
            val.push_back(product(inverse[std::size_t(k)], A.val[e]));
        }
    }
    return assemble<V>({index(rows.last - rows.first), index(cols.last - cols.first)}, row, col,
                       val);
}

template <class V, class B>
class gauss_seidel_operator final : public matrix_free_operator<V, B> {
  public:
    gauss_seidel_operator(B on, const ascending<V>& in_order, const host_vector<V>& diagonal)
        : matrix_free_operator<V, B>(on, in_order.view().shape),
          space_(on, in_order.view().shape.rows),
          colours_(colour(in_order)),
          order_(from_host(on, std::span<const index>(colours_.order))),
          y_(space_.make()),
          unused_(on, {}) {
        const csr<V, host_view>& A = in_order.view();
        host_vector<V> inverse(diagonal.size());
        for (std::size_t k = 0; k < inverse.size(); ++k)
            inverse[k] = V(1) / diagonal[std::size_t(colours_.order[k])];
        inverse_ = from_host(on, std::span<const V>(inverse));
        const auto place = places_of(colours_.order);
        for (index c = 0; c < colours_.colours; ++c) {
            const range own = rows_of(c);
            const auto planned = [&](range cols) -> std::unique_ptr<linear_operator<V, B>> {
                const auto M = ascending<V>::known(part<V>(A, colours_, place, inverse, own, cols));
                if (M.view().val.empty()) return nullptr;
                return plan_and_build(M, on).op;
            };
            before_.push_back(planned({0, own.first}));
            behind_.push_back(planned({own.last, A.shape.rows}));
        }
    }
    [[nodiscard]] std::size_t bytes() const override {
        std::size_t sum = inverse_.size() * (sizeof(V) + sizeof(index));
        for (const auto* parts : {&before_, &behind_})
            for (const auto& p : *parts) sum += p == nullptr ? 0 : p->bytes();
        return sum;
    }

  protected:
    void map(in<V, B> x, out<V, B> y) const override {
        if constexpr (std::is_same_v<B, cpu>) {
            auto ordered = space_.make();  // of its own, as several threads may call
            solve(x, ordered, y);
        } else {
            solve(x, y_, y);
        }
    }

  private:
    using operators = std::vector<std::unique_ptr<linear_operator<V, B>>>;

    [[nodiscard]] range rows_of(index c) const {
        return {colours_.first[std::size_t(c)], colours_.first[std::size_t(c) + 1]};
    }
    void solve(in<V, B> x, vector<V, B>& ordered, out<V, B> y) const {
        const std::int64_t n = space_.dimension();
        run_fused(space_, gather_step<V>{order_.data(), inverse_.data(), x.data(), ordered.data()},
                  unused_.data());
        // (1 + D^-1 L) z = D^-1 x, colour after colour.
        for (index c = 1; c < colours_.colours; ++c)
            subtract(before_, c, {0, rows_of(c).first}, ordered);
        // (1 + D^-1 U) y = z, from the last colour to the first.
        for (index c = colours_.colours - 1; c-- > 0;)
            subtract(behind_, c, {rows_of(c).last, n}, ordered);
        run_fused(space_, scatter_step<V>{order_.data(), ordered.data(), y.data()}, unused_.data());
    }
    /// v of this colour, less the part's product with v of `cols`.
    void subtract(const operators& parts, index c, range cols, vector<V, B>& v) const {
        const auto& p = parts[std::size_t(c)];
        if (p == nullptr) return;
        const range own = rows_of(c);
        p->apply(V(-1), in<V, B>{v.data() + cols.first, std::size_t(cols.last - cols.first)}, V(1),
                 out<V, B>{v.data() + own.first, std::size_t(own.last - own.first)});
    }

    mutable vector_space<V, B> space_;
    colouring colours_;
    vector<index, B> order_;
    vector<V, B> inverse_;    ///< inverse of the diagonal, in the order of the colours
    mutable vector<V, B> y_;  ///< y in the same order
    mutable scalars_on<one_scalar<V>, B> unused_;
    operators before_, behind_;  ///< for each colour, D^-1 times the rows' part of other colours
};

}  // namespace

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> gauss_seidel(B on, const ascending<V>& in_order,
                                                    index first_row) {
    const csr<V, host_view>& A = in_order.view();
    if (A.shape.rows != A.shape.cols)
        throw argument_error("gauss_seidel: A is " + std::to_string(A.shape.rows) + " x " +
                             std::to_string(A.shape.cols) + ", expected a square matrix");
    const host_vector<V> diagonal = diagonal_of(worth(cpu{}, std::ssize(A.val)), A);
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
        const double size = norm2(V(1) / diagonal[i]);
        if (diagonal[i] == V(0) || !(size - size == 0) || !(size > 0))
            throw argument_error("gauss_seidel: the diagonal is zero or not finite in row " +
                                 std::to_string(first_row + std::int64_t(i)) + " (counted from 0)");
    }
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        return std::make_unique<gauss_seidel_operator<V, B>>(on, in_order, diagonal);
    }
}

#define NZ_INSTANTIATE_ON(V, B) \
    template std::unique_ptr<linear_operator<V, B>> gauss_seidel(B, const ascending<V>&, index);
#define NZ_INSTANTIATE(V) NZ_INSTANTIATE_ON(V, cpu) NZ_INSTANTIATE_ON(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
