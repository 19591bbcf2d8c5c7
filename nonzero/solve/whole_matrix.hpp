// A matrix that one process has as a whole, as `prepared_system` asks for it.
#pragma once

#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/solve/attempts.hpp"
#include "nonzero/solve/direct/factor_plan.hpp"
#include "nonzero/solve/direct/factorization.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/multigrid/level_product.hpp"
#include "nonzero/solve/prepared_matrix.hpp"
#include "nonzero/vector/fused_columns.hpp"

namespace nz {

/// A matrix that one process has as a whole, as `prepared_system` asks for it.
template <class V, class B>
class whole_matrix {
  public:
    whole_matrix(B on, const ascending<V>& A)
        : on_(on), given_(A), A_(ascending<V>::known(A.view())) {}
    [[nodiscard]] static const communicator* ranks() { return nullptr; }
    [[nodiscard]] index rows() const { return A_.view().shape.rows; }
    [[nodiscard]] static index first_row() { return 0; }
    void negate() {
        csr<V, host_view> other = given_.view();
        values_.assign(other.val.begin(), other.val.end());
        nz::negate<V>(values_);
        other.val = values_;
        A_ = ascending<V>::known(other);
    }
    [[nodiscard]] matrix_facts facts(std::span<const V> diagonal) const {
        return facts_of<V>(A_, diagonal);
    }
    void build_product(const choice*) { plan(1); }
    /// Plans the product for several vectors at once, where that has not been done. Whether the one
    /// before is gone, and with it what multiplies by it.
    bool plan_for_several() {
        if (has_product() && is_for_several_) return false;
        plan(most_columns);
        return true;
    }
    [[nodiscard]] std::string product_name() const {
        return std::string(product_.op->method_name());
    }
    [[nodiscard]] bool has_product() const { return product_.op != nullptr; }
    [[nodiscard]] const linear_operator<V, B>& product() const { return *product_.op; }
    std::unique_ptr<linear_operator<V, B>> multigrid(const system_options& o, bool,
                                                     bool keep) const {
        return std::make_unique<amg<V, B>>(A_, on_, multigrid_options(o, keep), near_of<V>(o),
                                           product_.op.get());
    }
    /// The values that the arrays it was given have now.
    void take_values() {
        A_ = ascending<V>::known(given_.view());
        factors_.reset();
    }
    /// Gives them to the product, after that and `negate`, and to M; whether M has taken them. Null
    /// for none.
    bool update(linear_operator<V, B>* M) {
        if constexpr (std::is_same_v<B, gpu>) {
            const device_guard guard(on_);
            return update_from(view(upload(on_, A_.view())), M);
        } else {
            return update_from(A_.view(), M);
        }
    }
    void drop_product() { product_.op.reset(); }
    void take_block(const choice&) {}
    /// f of the rows and columns that preconditioners are made of, and the number of the first.
    template <class F>
    auto with_block(F f) const {
        return f(A_, 0);
    }
    /// M of that block where it is one of other rows as well.
    std::unique_ptr<linear_operator<V, B>> joined(std::unique_ptr<linear_operator<V, B>> M,
                                                  const choice&) const {
        return M;
    }
    [[nodiscard]] double rounding(std::span<const V> b, std::span<const V> x) const {
        return rounding_scale<V>(A_.view(), b, x);
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
    [[nodiscard]] std::vector<std::string> obstacles(std::span<const V> diagonal) const {
        return obstacles_in<V>(A_.view(), diagonal);
    }

  private:
    void plan(index vectors) {
        product_ = plan_and_build(A_, on_, {.vectors = vectors});
        is_for_several_ = vectors > 1;
    }
    /// there: the matrix where B computes.
    bool update_from(const csr<V, typename B::view>& there, linear_operator<V, B>* M) {
        update_values(product_.op, product_.plan, there);
        auto* const levels = dynamic_cast<amg<V, B>*>(M);
        if (levels == nullptr) return false;
        const auto keeps = amg_options::keeps::aggregates;
        if constexpr (std::is_same_v<B, gpu>)
            levels->take_values(there, keeps, product_.op.get());
        else
            levels->take_values(A_, keeps, product_.op.get());
        return true;
    }

    B on_;
    ascending<V> given_, A_;  ///< A_: its rows in order, negated perhaps
    host_vector<V> values_;   ///< of A_, where it is negated
    planned<V, B> product_;
    bool is_for_several_ = false;            ///< as it is planned
    std::optional<factor_plan<V>> factors_;  ///< of A_
};

}  // namespace nz
