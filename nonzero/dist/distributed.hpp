// A matrix whose rows are shared out over ranks, as an operator of any solver.
#pragma once

#include <memory>

#include "nonzero/dist/slice.hpp"
#include "nonzero/plan/plan.hpp"

namespace nz {

struct halo;  // dist/halo.hpp
template <class V, class S>
struct split_rows;  // dist/split_rows.hpp

/// One rank's part of a matrix that is shared out over on.ranks by rows: an operator between the
/// rank's own elements of x and those of y. Solvers run over it unchanged where they are given the
/// same `on`, which sums over the ranks.
///
///     own rows = | local | halo |     local: own columns; halo: the others' columns that own rows
///                                     have, and only the rows that have some
///
///     y = alpha A x + beta y:   pack the elements of x that others need; start to send them
///                               y = alpha local x + beta y
///                               wait for the halo's elements of x
///                               y += alpha halo x
///
/// The transposed product sends the halo's part of y back, and adds what comes in rank order. Both
/// parts have a plan and a layout of their own. All ranks call a product together, with the same
/// alpha and beta, of one such operator at a time. Same bits in every run with as many ranks, where
/// the machine's speeds, which rank 0 tells the others, are known from a file or given. On a GPU
/// all of it happens in on.stream, and the CPU waits where on.ranks' transport does. Values on a
/// GPU are float or double.
///
/// Holds    beside both layouts, the halo's elements twice and those that others need.
/// Sends    the elements of x that others need, once.
/// Source   Saad 2003, section 11.5.
template <class V, class B>
class distributed final : public linear_operator<V, B> {
  public:
    /// Called by all ranks of on.ranks. Throws argument_error where on.ranks is null; on all ranks
    /// what one of them throws: argument_error where A is no CSR or not the rank's share, what
    /// planning and building throw.
    distributed(B on, matrix_slice<V> A, const plan_options& = {});
    /// The same of rows that are split already, on a GPU also of such as lie there.
    template <class S>
    distributed(B on, split_rows<V, S> A, const plan_options& = {});
    distributed(const distributed&) = delete;
    distributed& operator=(const distributed&) = delete;
    ~distributed() override;

    [[nodiscard]] nz::shape shape() const override;  ///< own rows x own columns
    [[nodiscard]] nz::shape global_shape() const { return {rows().total(), cols().total()}; }
    [[nodiscard]] const shares& rows() const;
    [[nodiscard]] const shares& cols() const;
    [[nodiscard]] std::size_t bytes() const override;  ///< of this rank
    [[nodiscard]] std::string_view method_name() const override { return local().method_name(); }
    /// The products of the own columns and of the others'; the latter null where there are none.
    [[nodiscard]] const linear_operator<V, B>& local() const;
    [[nodiscard]] const linear_operator<V, B>* others() const;
    [[nodiscard]] const nz::halo& exchanges() const;
    /// Only the messages of a product: packs, sends and receives, and waits. For measuring them.
    /// Called by all ranks.
    void exchange(in<V, B> x) const;

  protected:
    void multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const override;
    void multiply_transposed(transposition op, V alpha, in<V, B> x, V beta,
                             out<V, B> y) const override;
    void scale(V beta, out<V, B> y) const override;

  private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace nz
