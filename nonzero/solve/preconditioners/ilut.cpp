#include "nonzero/solve/preconditioners/ilut.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/solve/direct/forecast.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"
#include "nonzero/solve/scaling/matching.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {
namespace {

/// A triangle's rows, off the diagonal, one after the other.
template <class V>
struct triangle {
    std::vector<offset> ptr{0};
    std::vector<index> col;
    std::vector<V> val;

    void add_row(const std::vector<std::pair<index, V>>& row) {
        for (const auto& [j, v] : row) col.push_back(j), val.push_back(v);
        ptr.push_back(offset(col.size()));
    }
    [[nodiscard]] V times(std::size_t i, std::span<const V> x) const {
        V sum(0);
        for (auto k = std::size_t(ptr[i]); k < std::size_t(ptr[i + 1]); ++k)
            sum += product(val[k], x[std::size_t(col[k])]);
        return sum;
    }
    [[nodiscard]] std::size_t bytes() const {
        return ptr.size() * sizeof(offset) + col.size() * (sizeof(index) + sizeof(V));
    }
};

/// L with ones on its diagonal, U with the inverse of its own beside it.
template <class V>
struct incomplete_factors {
    triangle<V> lower, upper;
    std::vector<V> inverse;

    void solve(std::span<V> x) const {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] -= lower.times(i, x);
        for (std::size_t i = x.size(); i-- > 0;)
            x[i] = product(inverse[i], x[i] - upper.times(i, x));
    }
};

/// Eliminates one row after the other.
template <class V>
class elimination {
    using entry = std::pair<index, V>;

  public:
    elimination(const csr<V, host_view>& A, const ilut_options& o)
        : A_(A),
          drop_(o.drop),
          most_(std::size_t(
              std::ceil(o.fill * double(A.val.size()) / double(std::max(A.shape.rows, 1))))),
          row_(std::size_t(A.shape.rows), V(0)),
          is_in_row_(std::size_t(A.shape.rows), false) {}

    incomplete_factors<V> run() {
        for (std::size_t i = 0; i < row_.size(); ++i) eliminate(i);
        return std::move(factors_);
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
            const V factor = product(row_[std::size_t(j)], factors_.inverse[std::size_t(j)]);
            if (!(std::abs(factor) >= least)) continue;
            lower_.emplace_back(j, factor);
            const auto& U = factors_.upper;
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
        factors_.inverse.push_back(inverse);
        keep_largest(lower_), keep_largest(upper_);
        factors_.lower.add_row(lower_), factors_.upper.add_row(upper_);
        for (const index j : reached_) is_in_row_[std::size_t(j)] = false;
        reached_.clear();
    }
    void keep_largest(std::vector<entry>& row) const {
        const auto is_before = [](const entry& a, const entry& b) {
            const auto of_a = std::abs(a.second), of_b = std::abs(b.second);
            return of_a != of_b ? of_a > of_b : a.first < b.first;
        };
        if (row.size() > most_) {
            std::nth_element(row.begin(), row.begin() + std::ptrdiff_t(most_), row.end(),
                             is_before);
            row.resize(most_);
        }
        std::ranges::sort(row, {}, &entry::first);
    }

    const csr<V, host_view>& A_;
    double drop_;
    std::size_t most_;
    std::vector<V> row_;  ///< of the row under way
    std::vector<bool> is_in_row_;
    std::vector<index> reached_, before_;  ///< its columns; a heap of those to eliminate
    std::vector<entry> lower_, upper_;
    incomplete_factors<V> factors_;
};

template <class V, class B>
class ilut_operator final : public matrix_free_operator<V, B> {
  public:
    ilut_operator(B on, rearrangement arrangement, incomplete_factors<V> factors)
        : matrix_free_operator<V, B>(
              on, {index(factors.inverse.size()), index(factors.inverse.size())}),
          arrangement_(std::move(arrangement)),
          factors_(std::move(factors)) {}
    [[nodiscard]] std::size_t bytes() const override {
        return factors_.lower.bytes() + factors_.upper.bytes() +
               factors_.inverse.size() * sizeof(V);
    }

  protected:
    void map(in<V, B> x, out<V, B> y) const override {
        const auto b = to_host<V>(this->on(), x);
        host_vector<V> z(b.size()), solution(b.size());
        arrangement_.take_rhs<V, V>(b, z);
        factors_.solve(z);
        arrangement_.give_solution<V, V>(z, solution);
        vector_space<V, B>(this->on(), std::int64_t(b.size()))
            .copy(from_host(this->on(), std::span<const V>(solution)), y);
    }

  private:
    rearrangement arrangement_;
    incomplete_factors<V> factors_;
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
                                                 elimination<V>(view(M), o).run());
}

#define NZ_INSTANTIATE(V, B)                                                     \
    template std::unique_ptr<linear_operator<V, B>> ilut(B, const ascending<V>&, \
                                                         const ilut_options&, index);
#define NZ_INSTANTIATE_ON_CPU(V) NZ_INSTANTIATE(V, cpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_ON_CPU)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
