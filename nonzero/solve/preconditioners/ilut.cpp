#include "nonzero/solve/preconditioners/ilut.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/solve/direct/forecast.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"
#include "nonzero/solve/preconditioners/incomplete.hpp"
#include "nonzero/solve/scaling/matching.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {
namespace {

/// Rows of a triangle, off the diagonal, to which others are added.
template <class V>
struct growing_rows {
    host_vector<offset> ptr{0};
    host_vector<index> col;
    host_vector<V> val;

    void add(const std::vector<std::pair<index, V>>& row) {
        for (const auto& [j, v] : row) col.push_back(j), val.push_back(v);
        ptr.push_back(offset(col.size()));
    }
    csr<V, host> finish() {
        const auto n = index(ptr.size()) - 1;
        return {{n, n}, offset_vector(ptr), std::move(col), std::move(val)};
    }
};

/// Eliminates one row after the other.
template <class V>
class threshold_elimination {
    using entry = std::pair<index, V>;

  public:
    threshold_elimination(const csr<V, host_view>& A, const ilut_options& o)
        : A_(A),
          drop_(o.drop),
          most_(std::size_t(
              std::ceil(o.fill * double(A.val.size()) / double(std::max(A.shape.rows, 1))))),
          row_(std::size_t(A.shape.rows), V(0)),
          is_in_row_(std::size_t(A.shape.rows), false) {}

    incomplete_lu<V> run() {
        for (std::size_t i = 0; i < row_.size(); ++i) eliminate(i);
        return {{triangle_side::lower, lower_rows_.finish(), {}},
                {triangle_side::upper, upper_rows_.finish(), std::move(inverse_)}};
    }

  private:
    void eliminate(std::size_t i) {
        double norm = 0;
        for (auto k = std::size_t(A_.row_ptr[i]); k < std::size_t(A_.row_ptr[i + 1]); ++k) {
            norm = std::hypot(norm, double(std::abs(A_.val[k])));
            add(i, A_.col_ind[k], A_.val[k]);
        }
        const double least = drop_ * norm;
        lower_.clear();
        while (!before_.empty()) {
            std::ranges::pop_heap(before_, std::greater());
            const index j = before_.back();
            before_.pop_back();
            const V factor = product(row_[std::size_t(j)], inverse_[std::size_t(j)]);
            if (!(std::abs(factor) >= least)) continue;
            lower_.emplace_back(j, factor);
            const auto& U = upper_rows_;
            for (auto k = std::size_t(U.ptr[std::size_t(j)]);
                 k < std::size_t(U.ptr[std::size_t(j) + 1]); ++k)
                add(i, U.col[k], -product(factor, U.val[k]));
        }
        upper_.clear();
        for (const index j : reached_)
            if (j > index(i) && std::abs(row_[std::size_t(j)]) >= least)
                upper_.emplace_back(j, row_[std::size_t(j)]);
        finish(i, least);
    }

    /// row_j += v
    void add(std::size_t i, index j, V v) {
        V& at = row_[std::size_t(j)];
        if (!is_in_row_[std::size_t(j)]) {
            is_in_row_[std::size_t(j)] = true;
            reached_.push_back(j);
            at = v;
            if (j >= index(i)) return;
            before_.push_back(j);
            std::ranges::push_heap(before_, std::greater());
        } else {
            at += v;
        }
    }

    void finish(std::size_t i, double least) {
        V pivot = is_in_row_[i] ? row_[i] : V(0);
        if (!(std::abs(pivot) > least * 1e-6)) pivot = V(real<V>(least > 0 ? least : 1));
        const V inverse = V(1) / pivot;
        if (!std::isfinite(std::abs(inverse)))
            throw argument_error("ilut: the pivot of row " + std::to_string(i) +
                                 ", as they are ordered, is not finite");
        inverse_.push_back(inverse);
        keep_largest(lower_, most_), keep_largest(upper_, most_);
        // Towards the diagonal, as a triangle has them.
        std::ranges::sort(lower_, std::less(), &entry::first);
        std::ranges::sort(upper_, std::greater(), &entry::first);
        lower_rows_.add(lower_), upper_rows_.add(upper_);
        for (const index j : reached_) is_in_row_[std::size_t(j)] = false;
        reached_.clear();
    }

    const csr<V, host_view>& A_;
    double drop_;
    std::size_t most_;
    std::vector<V> row_;  ///< of the row under way
    std::vector<bool> is_in_row_;
    std::vector<index> reached_, before_;  ///< its columns; a heap of those to eliminate
    std::vector<entry> lower_, upper_;
    growing_rows<V> lower_rows_, upper_rows_;
    host_vector<V> inverse_;  ///< 1 over the diagonal of U
};

template <class V, class B>
class ilut_operator final : public matrix_free_operator<V, B> {
  public:
    ilut_operator(B on, rearrangement arrangement, incomplete_lu<V> factors)
        : matrix_free_operator<V, B>(on, factors.lower.beside.shape),
          arrangement_(std::move(arrangement)),
          lower_(helpers(on), std::move(factors.lower)),
          upper_(helpers(on), std::move(factors.upper)) {}
    [[nodiscard]] std::size_t bytes() const override { return lower_.bytes() + upper_.bytes(); }

  protected:
    void map(in<V, B> x, out<V, B> y) const override {
        const auto b = to_host<V>(this->on(), x);
        host_vector<V> z(b.size()), solution(b.size());
        arrangement_.take_rhs<V, V>(b, z);
        lower_.solve(z, z), upper_.solve(z, z);
        arrangement_.give_solution<V, V>(z, solution);
        vector_space<V, B>(this->on(), std::int64_t(b.size()))
            .copy(from_host(this->on(), std::span<const V>(solution)), y);
    }

  private:
    rearrangement arrangement_;
    triangular_solver<V> lower_, upper_;
};

}  // namespace

template <class V, class B>
std::unique_ptr<linear_operator<V, B>> ilut(B on, const ascending<V>& A, const ilut_options& o,
                                            index first_row) {
    if (!(o.drop >= 0 && o.drop < 1 && o.fill >= 0))
        throw argument_error("ilut: drop is not from 0 to 1, or fill is negative");
    const matching m = match_where_needed(A.view(), first_row);
    const auto order = elimination_order(view(rearranged<V>(A.view(), onto_diagonal(m))));
    auto arrangement = onto_diagonal(m, order);
    const auto M = rearranged<V>(A.view(), arrangement);
    return std::make_unique<ilut_operator<V, B>>(on, std::move(arrangement),
                                                 threshold_elimination<V>(view(M), o).run());
}

#define NZ_INSTANTIATE(V, B)                                                     \
    template std::unique_ptr<linear_operator<V, B>> ilut(B, const ascending<V>&, \
                                                         const ilut_options&, index);
#define NZ_INSTANTIATE_FOR(V) NZ_INSTANTIATE(V, cpu) NZ_INSTANTIATE(V, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
