// A matrix whose rows are shared out over ranks, as an operator of any solver.
#pragma once

#include <optional>

#include "nonzero/core/gpu_communicator.hpp"
#include "nonzero/dist/split_rows.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {

/// How a backend's vectors travel between ranks.
template <class B>
struct transport_of {
    using ranks = communicator;
    using send = message<const std::byte>;
    using receive = message<std::byte>;
};
template <>
struct transport_of<gpu> {
    using ranks = gpu_communicator;
    using send = gpu_send;
    using receive = gpu_receive;
};

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

    [[nodiscard]] nz::shape shape() const override { return shape_; }  ///< own rows x own columns
    [[nodiscard]] nz::shape global_shape() const { return {rows_.total(), cols_.total()}; }
    [[nodiscard]] const shares& rows() const { return rows_; }
    [[nodiscard]] const shares& cols() const { return cols_; }
    [[nodiscard]] std::size_t bytes() const override;  ///< of this rank
    [[nodiscard]] std::string_view method_name() const override { return local_->method_name(); }
    /// The products of the own columns and of the others'; the latter null where there are none.
    [[nodiscard]] const linear_operator<V, B>& local() const { return *local_; }
    [[nodiscard]] const linear_operator<V, B>* others() const { return others_.get(); }
    [[nodiscard]] const nz::halo& exchanges() const { return halo_; }
    /// Only the messages of a product: packs, sends and receives, and waits. For measuring them.
    /// Called by all ranks.
    void exchange(in<V, B> x) const;

  protected:
    void multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const override;
    void multiply_transposed(transposition op, V alpha, in<V, B> x, V beta,
                             out<V, B> y) const override;
    void scale(V beta, out<V, B> y) const override;

  private:
    using send = typename transport_of<B>::send;
    using receive = typename transport_of<B>::receive;

    void make_messages();
    void connect() const;

    void start_messages(in<V, B> x) const;

    /// step over the first n elements of what travels.
    template <class Step>
    void run(std::size_t n, const Step& step) const;

    B on_;  ///< of this rank alone: its sums ask no other
    const typename transport_of<B>::ranks& ranks_;
    shares rows_, cols_;
    nz::shape shape_;
    nz::halo halo_;
    host_vector<index> edge_;  ///< own rows with entries in others' columns
    std::unique_ptr<linear_operator<V, B>> local_, others_;
    vector<index, B> sent_there_, edge_there_;
    mutable vector<V, B> outgoing_, incoming_, edge_y_;
    std::vector<send> send_x_, send_y_;
    std::vector<receive> receive_x_, receive_y_;
    mutable std::optional<vector_space<V, B>> travelling_;
    mutable std::optional<scalars_on<one_scalar<V>, B>> unused_;
};

}  // namespace nz
