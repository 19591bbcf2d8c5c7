// A matrix over ranks, as `prepared_system` asks for it.
#pragma once

#include <algorithm>
#include <cmath>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/entries.hpp"
#include "nonzero/dist/local_rows.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/dist/own_block.hpp"
#include "nonzero/dist/split_rows.hpp"
#include "nonzero/solve/choices.hpp"
#include "nonzero/solve/direct/direct_over_ranks.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/multigrid/level_product.hpp"
#include "nonzero/solve/overlap.hpp"
#include "nonzero/solve/own_preconditioner.hpp"
#include "nonzero/solve/prepared_matrix.hpp"

namespace nz {

/// A row of the whole matrix, and what is on its diagonal.
struct diagonal_place {
    std::int64_t row = -1;  ///< -1: there is none
    double value = 0;       ///< the real part
};

/// The first row of the whole matrix whose diagonal is so; the same on all ranks.
template <class V, class F>
diagonal_place first_place(const communicator& ranks, const shares& rows,
                           std::span<const V> diagonal, F is_so) {
    const auto at = std::ranges::find_if(diagonal, is_so);
    diagonal_place mine;
    if (at != diagonal.end())
        mine = {rows.of(ranks.rank()).first + (at - diagonal.begin()), double(std::real(*at))};
    for (const diagonal_place& place : gathered(ranks, mine))
        if (place.row >= 0) return place;  // ranks have the rows in their order
    return {};
}

/// As facts_of a whole matrix.
template <class V>
matrix_facts facts_of(const communicator& ranks, const matrix_slice<V>& A,
                      std::span<const V> diagonal) {
    const auto below =
        first_place(ranks, A.rows, diagonal, [](V d) { return !(std::real(d) > 0); });
    matrix_facts f;
    f.why_not_definite = why_not_symmetric(ranks, A);
    f.is_symmetric = f.why_not_definite.empty();
    if (f.is_symmetric && below.row >= 0)
        f.why_not_definite = text_of_diagonal(below.value, below.row);
    f.zero_on_diagonal = first_place(ranks, A.rows, diagonal, [](V d) { return d == V(0); }).row;
    f.is_complex_valued = is_complex<V>;
    f.entries = summed(ranks, double(A.own.val.size()));
    return f;
}

/// The same of a matrix over ranks. All of them call everything together.
template <class V, class B>
class matrix_over_ranks {
  public:
    static constexpr bool is_over_ranks = true;
    /// diagonal: of the rank's rows.
    matrix_over_ranks(B on, matrix_slice<V> A, host_vector<V> diagonal, int overlap)
        : on_(on), A_(std::move(A)), diagonal_(std::move(diagonal)), overlap_(overlap) {}
    [[nodiscard]] const communicator* ranks() const { return &ranks_; }
    [[nodiscard]] index rows() const { return A_.rows.total(); }
    [[nodiscard]] bool has_rows() const { return !diagonal_.empty(); }  ///< this rank
    [[nodiscard]] index first_row() const { return index(A_.rows.of(ranks_.rank()).first); }
    /// Negates A where its diagonal is negative throughout; whether it is.
    bool negate_where_negative() {
        if (!is_negative_throughout<V>(&ranks_, rows(), diagonal_)) return false;
        agree(&ranks_, [&] { negate<V>(cpu{}, A_.own.val), negate<V>(cpu{}, diagonal_); });
        return true;
    }
    [[nodiscard]] matrix_facts facts() const { return facts_of<V>(ranks_, A_, diagonal_); }
    /// Takes the rows over where nothing but the product needs them: of a single attempt without
    /// multigrid. only: that attempt, or null.
    void build_product(const choice* only, bool) {
        matrix_slice<V> taken;
        if (only != nullptr) take_block(*only);
        const bool stay = only == nullptr || only->preconditioner == preconditioning::amg ||
                          only->method == krylov_method::direct;
        if constexpr (std::is_same_v<B, gpu>) {
            if (stay && fits_to_split(alone(on_), ranks_, A_)) {
                product_ = std::make_unique<distributed<V, B>>(on_, split(alone(on_), ranks_, A_));
                return;
            }
        }
        agree(&ranks_, [&] {
            taken = {A_.rows, A_.cols, {}};
            taken.own = stay ? rows_from(cpu{}, view(A_.own), 0) : std::move(A_.own);
        });
        product_ = std::make_unique<distributed<V, B>>(on_, std::move(taken));
    }
    [[nodiscard]] std::string product_name() const {
        return std::string(product_->local().method_name());
    }
    [[nodiscard]] bool has_product() const { return product_ != nullptr; }
    [[nodiscard]] const linear_operator<V, B>& product() const { return *product_; }
    /// The rows go once the levels are made, if no attempt follows.
    std::unique_ptr<linear_operator<V, B>> multigrid(const system_options& o, bool last, bool keep,
                                                     value_storage precision) {
        auto M = std::make_unique<amg<V, B>>(on_, A_, multigrid_options(o, keep, precision),
                                             near_of<V>(o), product_.get());
        if (last) A_.own = {};
        return M;
    }
    /// Takes the rows and columns that a preconditioner is made of, if it is made of such.
    void take_block(const choice& c) {
        if (!takes_block(c.preconditioner) || (block_ && block_for_ == c.preconditioner)) return;
        block_ = overlapping(ranks_, A_, may_overlap(c.preconditioner) ? overlap_ : 0);
        block_for_ = c.preconditioner;
    }
    /// f of those that were taken last, and the number of the first.
    template <class F>
    auto with_block(F f) const {
        return f(ascending(view(block_->A)), first_row() - block_->before);
    }
    [[nodiscard]] std::unique_ptr<linear_operator<V, B>> jacobi(B here, const choice& c) const {
        return jacobi_of<V>(here, c, diagonal_, first_row());
    }
    /// M of the block that was taken as a part of the preconditioner over all ranks.
    std::unique_ptr<linear_operator<V, B>> joined(std::unique_ptr<linear_operator<V, B>> M,
                                                  const choice& c) {
        using enum krylov_method;
        const auto how =
            c.method == cg || c.method == minres ? schwarz_sum::symmetric : schwarz_sum::restricted;
        if (overlap_ > 0 && block_ && may_overlap(c.preconditioner))
            M = schwarz(on_, A_.rows, *block_, how, std::move(M));
        block_.reset();
        return M;
    }
    [[nodiscard]] double rounding(in<V, B> rhs, in<V, B> solution) const {
        matrix_slice<double> sizes{A_.rows, A_.cols, {}};
        host_vector<double> x(solution.size()), y(rhs.size());
        const auto size_of = [](const V& v) { return double(std::abs(v)); };
        long double b2 = 0, sum2 = 0;
        agree(&ranks_, [&] {
            const auto& b = read_here<V>(on_, rhs);
            const auto& at = read_here<V>(on_, solution);
            sizes.own = {A_.own.shape, A_.own.row_ptr, A_.own.col_ind,
                         host_vector<double>(A_.own.val.size())};
            std::ranges::transform(A_.own.val, sizes.own.val.begin(), size_of);
            std::ranges::transform(at, x.begin(), size_of);
            std::ranges::transform(b, y.begin(), size_of);
            for (const long double v : y) b2 += v * v;
        });
        cpu here = helpers(on_);
        here.ranks = &ranks_;
        distributed<double, cpu>(here, std::move(sizes), {.methods = plain_methods(here)})
            .apply(1, x, 1, y);
        for (const long double v : y) sum2 += v * v;
        return double(std::sqrt(summed(ranks_, sum2) / summed(ranks_, b2)));
    }
    [[nodiscard]] static std::vector<std::string> obstacles() { return {}; }
    [[nodiscard]] static std::vector<std::string> detours() { return {}; }
    const factor_forecast& forecast(const system_options& o) {
        if (!direct_)
            direct_ = std::make_shared<direct_over_ranks<V>>(
                ranks_, A_, o.most_factor_bytes.value_or(0), o.direct_solver);
        return direct_->forecast();
    }
    std::unique_ptr<linear_operator<V, B>> inverse(system_report::attempt& told) {
        const auto direct = std::exchange(direct_, {});
        direct->factorize();
        told.forecast = direct->forecast();
        const auto& [entries, perturbed, seconds] = direct->factors();
        told.factors = report_of(entries, direct->entries_of_A(), perturbed, seconds);
        const auto own = index(A_.rows.count(ranks_.rank()));
        return on_host<V>(on_, {own, own}, [direct](auto b, auto x) { direct->apply(b, x); });
    }

  private:
    B on_;
    const communicator& ranks_ = *on_.ranks;
    matrix_slice<V> A_;  ///< its rows only as long as an attempt may need them
    host_vector<V> diagonal_;
    int overlap_;
    std::optional<overlapping_block<V>> block_;  ///< taken and not yet joined
    preconditioning block_for_ = preconditioning::none;
    std::unique_ptr<distributed<V, B>> product_;
    std::shared_ptr<direct_over_ranks<V>> direct_;  ///< until it is factorized
};

}  // namespace nz
