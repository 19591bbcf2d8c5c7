// A matrix that one process has as a whole, as `prepared_system` asks for it.
#pragma once

#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/solve/attempts.hpp"
#include "nonzero/solve/direct/factor_plan.hpp"
#include "nonzero/solve/direct/factorization.hpp"
#include "nonzero/solve/own_preconditioner.hpp"
#include "nonzero/solve/prepared_matrix.hpp"
#include "nonzero/solve/system_product.hpp"

namespace nz {

/// A matrix in the CPU's memory that one process has as a whole, as `prepared_system` asks for it.
template <class V, class B>
class whole_matrix : public system_product<V, B> {
  public:
    static constexpr bool is_over_ranks = false;
    whole_matrix(B on, const ascending<V>& A)
        : on_(on), given_(A), A_(ascending<V>::known(A.view())) {
        find_diagonal();
    }
    [[nodiscard]] static const communicator* ranks() { return nullptr; }
    [[nodiscard]] index rows() const { return A_.view().shape.rows; }
    [[nodiscard]] bool has_rows() const { return rows() > 0; }
    /// Negates A where its diagonal is negative throughout; whether it is.
    bool negate_where_negative() {
        if (!is_negative_throughout<V>(nullptr, rows(), diagonal_)) return false;
        csr<V, host_view> other = given_.view();
        values_.assign(other.val.begin(), other.val.end());
        negate<V>(cpu{}, values_);
        other.val = values_;
        A_ = ascending<V>::known(other);
        negate<V>(cpu{}, diagonal_);
        return true;
    }
    [[nodiscard]] matrix_facts facts() const { return facts_of<V>(A_, diagonal_); }
    /// as_stored: where A is small and one solve follows. The choice is of no account here.
    void build_product(const choice*, bool as_stored = false) {
        if constexpr (std::is_same_v<B, cpu>)
            if (as_stored) return this->take_as_stored(on_, A_);
        this->plan(on_, A_, 1);
    }
    /// As system_product has it.
    bool plan_for_several() { return system_product<V, B>::plan_for_several(on_, A_); }
    std::unique_ptr<linear_operator<V, B>> multigrid(const system_options& o, bool, bool keep,
                                                     value_storage precision) const {
        return std::make_unique<amg<V, B>>(A_, on_, multigrid_options(o, keep, precision),
                                           near_of<V>(o), &this->product());
    }
    /// The values that the arrays it was given have now.
    void take_values() {
        A_ = ascending<V>::known(given_.view());
        find_diagonal();
        factors_.reset();
    }
    /// Gives them to the product, after that and the negation, and to M; whether M has taken them.
    /// Null for none.
    bool update(linear_operator<V, B>* M) {
        if constexpr (std::is_same_v<B, gpu>) {
            const device_guard guard(on_);
            const auto there = upload(on_, A_.view());
            return system_product<V, B>::update(view(there), view(there), M);
        } else {
            return system_product<V, B>::update(A_.view(), A_, M);
        }
    }
    void take_block(const choice&) {}
    /// f of the rows and columns that preconditioners are made of, and the number of the first.
    template <class F>
    auto with_block(F f) const {
        return f(A_, 0);
    }
    [[nodiscard]] std::unique_ptr<linear_operator<V, B>> jacobi(B here, const choice& c) const {
        return jacobi_of<V>(here, c, diagonal_, 0);
    }
    /// M of that block where it is one of other rows as well.
    std::unique_ptr<linear_operator<V, B>> joined(std::unique_ptr<linear_operator<V, B>> M,
                                                  const choice&) const {
        return M;
    }
    [[nodiscard]] double rounding(in<V, B> b, in<V, B> x) const {
        return rounding_scale<V>(A_.view(), read_here<V>(on_, b), read_here<V>(on_, x));
    }
    /// Of the direct solver. Throws as factor_plan.
    const factor_forecast& forecast(const system_options& o) {
        if (!factors_)
            factors_.emplace(A_.view(), o.most_factor_bytes.value_or(0), o.direct_solver);
        return factors_->forecast();
    }
    /// x = A^-1 b by A's factors, where forecast was called; on the CPU.
    std::unique_ptr<linear_operator<V, B>> inverse(system_report::attempt& told) {
        const auto plan = *std::exchange(factors_, {});  // which serves once
        const auto factors = std::make_shared<factorization<V>>(A_.view(), plan);
        told.forecast = factors->forecast();
        told.factors = report_of(factors->entries(), double(A_.view().val.size()),
                                 factors->perturbed_pivots(), factors->seconds());
        return on_host<V>(on_, A_.view().shape,
                          [factors](auto b, auto x) { factors->apply(b, x); });
    }
    [[nodiscard]] std::vector<std::string> obstacles() const {
        return obstacles_in<V>(A_.view(), diagonal_);
    }
    /// Sentences on what setups needed that was not where it is.
    [[nodiscard]] static std::vector<std::string> detours() { return {}; }

  private:
    void find_diagonal() {
        diagonal_ = diagonal_of(worth(cpu{}, std::ssize(A_.view().val)), A_.view());
    }

    B on_;
    ascending<V> given_, A_;                 ///< A_: its rows in order, negated perhaps
    host_vector<V> values_;                  ///< of A_, where it is negated
    host_vector<V> diagonal_;                ///< of A_
    std::optional<factor_plan<V>> factors_;  ///< of A_
};

}  // namespace nz
