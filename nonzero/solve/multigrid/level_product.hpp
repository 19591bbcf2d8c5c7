// The products of multigrid's levels, and how they are planned.
#pragma once

#include <type_traits>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/csr/csr_many.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/storage/storage.hpp"
#include "nonzero/solve/multigrid/pseudo_inverse.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {

/// From this many nonzeros on a GPU packs a coarser level's matrix, or plans its product.
inline constexpr std::size_t worth_packing = 200000;

/// The options by which the finest level's product is planned, and on a GPU every large level's: no
/// method that waits. lies_on_gpu: nor one that would take the matrix to the CPU and back.
template <class V, class B>
plan_options product_options(B, bool lies_on_gpu = false) {
    plan_options o{.expected_products = 100};
    if constexpr (std::is_same_v<B, gpu>)
        for (const method<V>& m : methods<V>())
            if (!m.synchronises && m.on_gpu != nullptr &&
                (!lies_on_gpu || m.from_device != nullptr))
                o.methods.emplace_back(m.name);
    return o;
}

/// Methods of the products that are hardly planned: planning takes longer than it gains over those
/// of a solve. On a GPU the second takes rows that are too long for the first.
inline std::vector<std::string> plain_methods(cpu) { return {"csr.balanced"}; }
inline std::vector<std::string> plain_methods(gpu) { return {"csr.subwarp", "csr.adaptive"}; }

/// Options to plan the product of a rank's part of a coarser level by. entries: of the part.
template <class V, class B>
plan_options coarser_options(B on, std::size_t entries) {
    plan_options o{.methods = plain_methods(on)};
    if (std::is_same_v<B, gpu> && entries >= worth_packing) o = product_options<V>(on);
    return o;
}
template <class V, class B>
plan_options both_ways(B on, std::size_t entries) {
    plan_options o = coarser_options<V>(on, entries);
    o.transposed = true;
    return o;
}

/// A coarser level's matrix, as it was made; who shares it may give it other values.
template <class V, class B>
class level_product final : public linear_operator<V, B> {
  public:
    using matrix = csr<V, typename B::memory>;
    using kernel = std::conditional_t<std::is_same_v<B, cpu>, csr_balanced, csr_subwarp>;
    level_product(B on, std::shared_ptr<const matrix> M) : on_(on), M_(std::move(M)) {}
    [[nodiscard]] nz::shape shape() const override { return M_->shape; }
    [[nodiscard]] std::size_t bytes() const override { return nz::bytes(*M_); }
    [[nodiscard]] std::string_view method_name() const override { return kernel::name; }

  protected:
    void multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const override {
        if constexpr (std::is_same_v<B, cpu>) {
            spmv(on_, kernel{}, alpha, view(*M_), x, beta, y);
        } else if constexpr (has_cuda) {
            const device_guard guard(on_);
            if (y.size() > 0) spmv(on_, kernel{}, alpha, view(*M_), x, beta, y);
            check_launch(kernel::name.data());
        }
    }
    void multiply_many(V alpha, in_columns<V, B> X, V beta, out_columns<V, B> Y) const override {
        if constexpr (std::is_same_v<B, cpu>) {
            spmv_many(on_, kernel{}, alpha, view(*M_), X, beta, Y);
        } else if constexpr (has_cuda) {
            const device_guard guard(on_);
            multiply_by_csr<V>(on_, alpha, view(*M_), X, beta, Y);
        }
    }
    bool relax(const typename linear_operator<V, B>::relaxation& how, in_columns<V, B> X,
               out_columns<V, B> Y) const override {
        if constexpr (std::is_same_v<B, cpu>) {
            return nz::relax(on_, kernel{}, how, view(*M_), X, Y);
        } else if constexpr (has_cuda && relaxes_on<kernel, B, V>) {
            const device_guard guard(on_);
            const bool could = nz::relax(on_, kernel{}, how, view(*M_), X, Y);
            check_launch(kernel::name.data());
            return could;
        }
        return false;
    }
    void multiply_transposed(transposition, V, in<V, B>, V, out<V, B>) const override {
        throw unavailable("a level's product is not transposed");
    }
    void scale(V beta, out<V, B> y) const override {
        vector_space<V, B> space(on_, std::int64_t(y.size()));
        beta == V(0) ? space.fill(V(0), y) : space.scale(beta, y);
    }

  private:
    B on_;
    std::shared_ptr<const matrix> M_;
};

/// The operator that multiplies by M as it is, for the setup's few products.
template <class V>
std::unique_ptr<linear_operator<V, cpu>> unpacked_product_with(cpu on,
                                                               std::shared_ptr<csr<V, host>> M) {
    return std::make_unique<level_product<V, cpu>>(on, std::move(M));
}
template <class V>
std::unique_ptr<linear_operator<V, gpu>> unpacked_product_with(gpu on,
                                                               std::shared_ptr<csr<V, device>> M) {
    return std::make_unique<level_product<V, gpu>>(on, std::move(M));
}
template <class V>
std::unique_ptr<linear_operator<V, gpu>> unpacked_product_with(gpu on,
                                                               std::shared_ptr<csr<V, host>> M) {
    return unpacked_product_with(on, std::make_shared<csr<V, device>>(upload(on, view(*M))));
}

/// The operator that multiplies by M, which it shares or leaves. On a CPU, planning the coarser
/// levels and building what is planned would take longer than that gains over the few dozen
/// products of a solve (docs/decisions/multigrid.md).
template <class V>
std::unique_ptr<linear_operator<V, cpu>> product_with(cpu on, std::shared_ptr<csr<V, host>> M) {
    return unpacked_product_with(on, std::move(M));
}
template <class V>
std::unique_ptr<linear_operator<V, gpu>> product_with(gpu on, std::shared_ptr<csr<V, host>> M) {
    if (M->val.size() < worth_packing) return unpacked_product_with(on, std::move(M));
    return plan_and_build(ascending<V>::known(view(*M)), on, product_options<V>(on)).op;
}
template <class V>
std::unique_ptr<linear_operator<V, gpu>> product_with(gpu on, std::shared_ptr<csr<V, device>> M) {
    const method<V>& packed = find_method<V>("packed.warp");
    if (M->val.size() < worth_packing || packed.from_device == nullptr)
        return unpacked_product_with(on, std::move(M));
    return build(packed, on, ascending<V, gpu>::known(view(*M), on));
}

/// The coarsest level's inverse, where it was made.
template <class V>
std::shared_ptr<csr<V, host>> inverse_matrix(cpu here, const csr<V, host_view>& A) {
    return std::make_shared<csr<V, host>>(pseudo_inverse(here, A));
}
template <class V>
std::shared_ptr<csr<V, device>> inverse_matrix(gpu on, const csr<V, device_view>& A) {
    auto inverse = regular_inverse(on, A);
    if (inverse.shape.rows == 0) inverse = upload(on, pseudo_inverse(cpu{}, view(download(on, A))));
    return std::make_shared<csr<V, device>>(std::move(inverse));
}

}  // namespace nz
