// The product by a system's matrix that one process has as a whole.
#pragma once

#include "nonzero/matrix/build.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/vector/fused_columns.hpp"

namespace nz {

/// Planned for one vector or for several, and given the values of other matrices. V, M: the matrix
/// as it lies, which may be elsewhere than B computes.
template <class V, class B>
class system_product {
  public:
    [[nodiscard]] bool has_product() const { return product_.op != nullptr; }
    [[nodiscard]] const linear_operator<V, B>& product() const { return *product_.op; }
    [[nodiscard]] std::string product_name() const {
        return std::string(product_.op->method_name());
    }
    void drop_product() { product_.op.reset(); }

  protected:
    template <class M>
    void plan(B on, const ascending<V, M>& A, index vectors) {
        product_ = plan_and_build(A, on, {.vectors = vectors});
        is_for_several_ = vectors > 1;
    }
    /// By the arrays of A as they are: for one solve of a small A planning and packing take longer
    /// than they gain.
    void take_as_stored(cpu on, const ascending<V>& A) {
        product_ = {{}, build(find_method<V>("csr.balanced"), on, A)};
        is_for_several_ = false;
    }
    /// Plans it for several vectors at once, where that has not been done. Whether the one before
    /// is gone, and with it what multiplies by it.
    template <class M>
    bool plan_for_several(B on, const ascending<V, M>& A) {
        if (has_product() && is_for_several_) return false;
        plan(on, A, most_columns);
        return true;
    }
    /// Gives the values of `there`, the matrix where B computes, to the product, and to M; whether
    /// M has taken them. Null for none. A: the same matrix, or what amg::take_values takes of it.
    template <class A>
    bool update(const csr<V, typename B::view>& there, const A& of_levels,
                linear_operator<V, B>* M) {
        update_values(product_.op, product_.plan, there);
        auto* const levels = dynamic_cast<amg<V, B>*>(M);
        if (levels == nullptr) return false;
        levels->take_values(of_levels, amg_options::keeps::aggregates, product_.op.get());
        return true;
    }

  private:
    planned<V, B> product_;
    bool is_for_several_ = false;  ///< as it is planned
};

}  // namespace nz
