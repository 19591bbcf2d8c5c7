// The planner's choice, timed by `nz bench` as a method of its own.
#pragma once

#include <chrono>

#include "cli/commands/plan_ratios.hpp"
#include "nonzero/core/format.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/plan/plan.hpp"

namespace nz::cli {

/// Operator that a plan from a CSR on the GPU built, with the time that this took in all.
template <class V>
class planned_operator final : public linear_operator<V, gpu> {
  public:
    planned_operator(gpu on, std::unique_ptr<linear_operator<V, gpu>> op, const setup_times& setup)
        : on_(on), op_(std::move(op)), setup_(setup) {}
    [[nodiscard]] nz::shape shape() const override { return op_->shape(); }
    [[nodiscard]] std::size_t bytes() const override { return op_->bytes(); }
    [[nodiscard]] setup_times setup() const override { return setup_; }
    [[nodiscard]] std::string_view method_name() const override { return op_->method_name(); }

  protected:
    void multiply(V alpha, device_span<V> x, V beta, device_out<V> y) const override {
        op_->apply(alpha, x, beta, y);
    }
    void multiply_transposed(transposition op, V alpha, device_span<V> x, V beta,
                             device_out<V> y) const override {
        op_->apply_transposed(op, alpha, x, beta, y);
    }
    void multiply_many(V alpha, in_columns<V, gpu> X, V beta,
                       out_columns<V, gpu> Y) const override {
        op_->apply_many(alpha, X, beta, Y);
    }
    void scale(V beta, device_out<V> y) const override { scale_vector(on_, beta, y); }

  private:
    gpu on_;
    std::unique_ptr<linear_operator<V, gpu>> op_;
    setup_times setup_;
};

/// For several vectors the plan takes the same method, however many they are.
template <bool transposed, bool several>
plan_options planned_for() {
    return {.vectors = several ? 2 : 1, .transposed = transposed};
}

/// From a CSR in the GPU's memory: what is timed as preparing is all that planning and building
/// take.
template <class V, bool transposed, bool several>
std::unique_ptr<linear_operator<V, gpu>> build_planned(gpu on, const csr<V, host_view>& A) {
    const auto start = std::chrono::steady_clock::now();
    const auto passed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const auto on_device = upload(on, A);
    setup_times t{.upload_s = passed()};
    auto op = plan_and_build(view(on_device), on, planned_for<transposed, several>()).op;
    t.preprocessing_s = passed() - t.upload_s;
    return std::make_unique<planned_operator<V>>(on, std::move(op), t);
}

/// The planner's choice, as a method of its own. Its setup is all of it: the stats, the
/// choice, the building.
template <class V, bool transposed, bool several>
const method<V>& planned_method() {
    static const method<V> planned = [] {
        method<V> m{};
        m.name = planned_name, m.deterministic = m.any_order = true;
        m.cost = m.cost_on_gpu = csr<V, host>::cost;  // how much memory it takes, about
        m.transposed_on_cpu = m.transposed_on_gpu = transposed;
        m.on_cpu = [](cpu on, const csr<V, host_view>& A) {
            return plan_and_build(A, on, planned_for<transposed, several>()).op;
        };
        if (has_cuda) m.on_gpu = build_planned<V, transposed, several>;
        return m;
    }();
    return planned;
}

}  // namespace nz::cli
