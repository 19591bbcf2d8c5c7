// A matrix in a GPU's memory, as `prepared_system` asks for it.
#pragma once

#include <fmt/core.h>

#include <cmath>

#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/solve/facts_on_gpu.hpp"
#include "nonzero/solve/names.hpp"
#include "nonzero/solve/preconditioners/jacobi_on_gpu.hpp"
#include "nonzero/solve/whole_matrix.hpp"

namespace nz {

/// As facts_of a matrix on the CPU. diagonal: A's, of these signs.
template <class V>
matrix_facts facts_of(gpu on, const csr<V, device_view>& A, const device_array<V>& diagonal,
                      const diagonal_signs& signs) {
    matrix_facts f;
    f.entries = double(A.val.size());
    f.zero_on_diagonal = signs.first_zero;
    const auto asymmetry = first_asymmetry(on, A);  // or what is not finite
    if (const auto found = asymmetry ? first_not_finite(on, A) : std::nullopt) {
        f.why_not_definite = text_of_not_finite(*found);
    } else {
        const std::int64_t row = signs.first_not_positive;
        f.is_symmetric = !asymmetry;
        if (row >= 0 && (!asymmetry || row <= asymmetry->row))
            f.why_not_definite =
                text_of_diagonal(double(read_back(on, diagonal.data() + row)), row);
        else if (asymmetry)
            f.why_not_definite = text_of_asymmetry(*asymmetry);
    }
    f.is_saddle = !f.why_not_definite.empty() &&
                  constraints_of<V>(on, A, diagonal, signs, longest_row_of_saddle) >=
                      least_constraints(A.shape.rows);
    return f;
}

/// Everything is made from what lies there, but what is made on the CPU alone, as ILUT and the
/// direct solver are: for the first of these the matrix is copied, once, unless it came from there.
/// Real values.
template <class V>
class matrix_on_gpu : public system_product<V, gpu> {
  public:
    using op = linear_operator<V, gpu>;
    static constexpr bool is_over_ranks = false;
    /// original: the same matrix on the CPU, where it outlives this.
    matrix_on_gpu(gpu on, ascending<V, gpu> A, std::optional<ascending<V>> original = {})
        : on_(on),
          given_(std::move(A)),
          A_(ascending<V, gpu>::known(given_.view(), on)),
          original_(std::move(original)) {
        find_diagonal();
    }
    [[nodiscard]] static const communicator* ranks() { return nullptr; }
    [[nodiscard]] index rows() const { return A_.view().shape.rows; }
    [[nodiscard]] bool has_rows() const { return rows() > 0; }
    bool negate_where_negative() {
        if (signs_.below < rows() || !has_rows()) return false;
        csr<V, device_view> other = given_.view();
        values_ = copied(on_, other.val);
        negate<V>(on_, values_);
        other.val = values_;
        A_ = ascending<V, gpu>::known(other, on_);
        find_diagonal();
        return true;
    }
    [[nodiscard]] matrix_facts facts() const {
        return facts_of<V>(on_, A_.view(), diagonal_, signs_);
    }
    void build_product(const choice*, bool) { this->plan(on_, A_, 1); }
    bool plan_for_several() { return system_product<V, gpu>::plan_for_several(on_, A_); }
    std::unique_ptr<op> multigrid(const system_options& o, bool, bool keep,
                                  value_storage precision) const {
        return std::make_unique<amg<V, gpu>>(A_.view(), on_, multigrid_options(o, keep, precision),
                                             near_of<V>(o), &this->product());
    }
    void take_values() {
        A_ = ascending<V, gpu>::known(given_.view(), on_);
        find_diagonal();
        copy_.reset();
    }
    bool update(op* M) { return system_product<V, gpu>::update(A_.view(), A_.view(), M); }
    void take_block(const choice& c) {
        if (takes_block(c.preconditioner) || c.method == krylov_method::refine)
            (void)on_cpu(c.method == krylov_method::refine ? name_of(c.method)
                                                           : name_of(c.preconditioner));
    }
    /// Of the copy that take_block made.
    template <class F>
    auto with_block(F f) const {
        return copy_->with_block(f);
    }
    [[nodiscard]] std::unique_ptr<op> jacobi(gpu here, const choice& c) const {
        return jacobi_of<V>(here, diagonal_, c.method == krylov_method::minres);
    }
    std::unique_ptr<op> joined(std::unique_ptr<op> M, const choice&) const { return M; }
    [[nodiscard]] double rounding(device_span<V> b, device_span<V> x) {
        const double scale = rounding_scale<V>(on_, A_.view(), b, x);
        return std::isfinite(scale) ? scale : on_cpu("numbers of that size").rounding(b, x);
    }
    const factor_forecast& forecast(const system_options& o) {
        return on_cpu(name_of(krylov_method::direct)).forecast(o);
    }
    std::unique_ptr<op> inverse(system_report::attempt& told) { return copy_->inverse(told); }
    [[nodiscard]] std::vector<std::string> obstacles() const {
        return obstacles_in<V>(row_sizes<V>(on_, A_.view()), to_host<V>(on_, diagonal_));
    }
    [[nodiscard]] const std::vector<std::string>& detours() const { return detours_; }

  private:
    void find_diagonal() {
        diagonal_ = diagonal_of(on_, A_.view());
        signs_ = signs_of<V>(on_, diagonal_);
    }
    whole_matrix<V, gpu>& on_cpu(std::string_view what) {
        if (copy_) return *copy_;
        if (original_) {
            copy_.emplace(on_, *original_);
            copy_->negate_where_negative();
            return *copy_;
        }
        copy_.emplace(on_, ascending<V>::known(download(on_, A_.view())));
        detours_.push_back(fmt::format("A was copied to the CPU for {}", what));
        return *copy_;
    }

    gpu on_;
    ascending<V, gpu> given_, A_;               ///< A_: its rows in order, negated perhaps
    std::optional<ascending<V>> original_;      ///< given_ on the CPU, where it came from there
    device_array<V> values_;                    ///< of A_, where it is negated
    device_array<V> diagonal_;                  ///< of A_
    diagonal_signs signs_;                      ///< of that
    std::optional<whole_matrix<V, gpu>> copy_;  ///< of A_, on the CPU
    std::vector<std::string> detours_;
};

/// A copy of the CPU's matrix for the GPU, which looks at it, plans and sets up sooner; none where
/// it is small, longer than the GPU's setups take, or where the GPU lacks the memory.
template <class V>
std::optional<csr<V, device>> copy_where_worth(gpu on, const csr<V, host_view>& A) {
    // On an H100 break-even lies below that, for Poisson's problem in a cube.
    constexpr std::size_t worth_a_copy = 20000, most = offset_vector::max_narrow;
    const std::size_t entries = A.val.size();
    if (entries < worth_a_copy || entries > most) return {};
    require_gpu(on);
    try {
        return upload(on, A);
    } catch (const out_of_memory&) {
        return {};
    }
}

}  // namespace nz
