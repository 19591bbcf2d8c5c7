#include "nonzero/dist/distributed.hpp"

#include <algorithm>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/halo_steps.hpp"
#include "nonzero/dist/numbering.hpp"
#include "nonzero/dist/same_speeds.hpp"
#include "nonzero/formats/adopted_csr.hpp"

namespace nz {
namespace {

template <class B>
const communicator& required_ranks(B on) {
    if (on.ranks == nullptr) throw argument_error("distributed: on.ranks is null");
    return *on.ranks;
}

template <class B>
B alone(B on) {
    on.ranks = nullptr;
    return on;
}

template <class V>
void check_slice(const matrix_slice<V>& A, int rank, int size) {
    (void)order_of(view(A.own));
    if (A.rows.parts() != size || A.cols.parts() != size)
        throw argument_error(
            "distributed: rows or columns are shared out over another number of "
            "ranks than there are");
    const nz::shape expected{A.rows.count(rank), A.cols.total()};
    if (A.own.shape != expected)
        throw argument_error("distributed: own rows are " + std::to_string(A.own.shape.rows) +
                             " x " + std::to_string(A.own.shape.cols) + ", expected " +
                             std::to_string(expected.rows) + " x " + std::to_string(expected.cols));
}

/// A step over n elements that sums nothing.
template <class V, class Step>
void run_step(cpu on, std::size_t n, const Step& step) {
    one_scalar<V> unused{};
    run_fused(on, std::int64_t(n), step, &unused);
}

/// By its plan. Where that chose a kernel that reads CSR, no rank holds its rows twice.
template <class V>
std::unique_ptr<linear_operator<V, cpu>> built(cpu on, csr<V, host> A, const plan_options& o) {
    const auto p = make_plan(A, on, o);
    const bool as_it_is = p.of_transpose == nullptr && p.storage == value_storage::exact;
    auto op = as_it_is ? adopted_csr(on, p.chosen().method, A) : nullptr;
    return op != nullptr ? std::move(op) : build(p, A);
}

template <class Byte, class V>
void add_message(std::vector<message<Byte>>& list, const halo_segment& s, V* all) {
    if constexpr (std::is_const_v<Byte>) {
        list.push_back({s.peer, std::as_bytes(std::span(all + s.first, s.count))});
    } else {
        list.push_back({s.peer, std::as_writable_bytes(std::span(all + s.first, s.count))});
    }
}

}  // namespace

template <class V, class B>
distributed<V, B>::distributed(B on, matrix_slice<V> A, const plan_options& options)
    : on_(alone(on)), ranks_(required_ranks(on)) {
    agree(&ranks_, [&] { check_slice(A, ranks_.rank(), ranks_.size()); });
    csr<V, host> local = std::move(A.own), others;
    agree(&ranks_, [&] { split(A, local, others); });
    rows_ = std::move(A.rows), cols_ = std::move(A.cols);
    shape_ = {rows_.count(ranks_.rank()), cols_.count(ranks_.rank())};
    halo_ = make_halo(ranks_, cols_, std::move(halo_.columns));
    const plan_options o = with_same_speeds(on_, ranks_, options);
    agree(&ranks_, [&] {
        local_ = built<V>(on_, std::move(local), o);
        if (!others.val.empty()) others_ = built<V>(on_, std::move(others), o);
        make_messages();
    });
}

/// local: own rows; those of their entries that are in others' columns move to `others`. So no rank
/// holds its rows twice. The columns that stay are numbered from the first own one; columns and
/// rows of `others` among those that have entries.
template <class V, class B>
void distributed<V, B>::split(const matrix_slice<V>& A, csr<V, host>& local, csr<V, host>& others) {
    const range own = A.cols.of(ranks_.rank());
    const auto is_own = [&](index j) { return j >= own.first && j < own.last; };
    auto& columns = halo_.columns;
    columns = columns_outside(view(local), own);
    const auto leaving =
        local.col_ind.size() - std::size_t(std::ranges::count_if(local.col_ind, is_own));
    others.col_ind.reserve(leaving), others.val.reserve(leaving);
    host_vector<offset> stay{0}, leave{0};
    stay.reserve(std::size_t(local.shape.rows) + 1);
    std::size_t kept = 0;
    for (index i = 0; i < local.shape.rows; ++i) {
        const auto end = std::size_t(local.row_ptr[std::size_t(i) + 1]);
        for (auto k = std::size_t(local.row_ptr[std::size_t(i)]); k < end; ++k) {
            const index j = local.col_ind[k];
            const V v = local.val[k];
            if (is_own(j)) {
                local.col_ind[kept] = j - index(own.first), local.val[kept++] = v;
                continue;
            }
            const auto at = std::lower_bound(columns.begin(), columns.end(), j);
            others.col_ind.push_back(index(at - columns.begin())), others.val.push_back(v);
        }
        stay.push_back(offset(kept));
        if (offset(others.val.size()) == leave.back()) continue;
        leave.push_back(offset(others.val.size()));
        edge_.push_back(i);
    }
    others.shape = {index(edge_.size()), index(columns.size())};
    others.row_ptr = offset_vector(leave);
    local.shape.cols = index(own.last - own.first);
    local.row_ptr = offset_vector(stay);
    local.col_ind.resize(kept), local.val.resize(kept);
    if (leaving > kept / 8) local.col_ind.shrink_to_fit(), local.val.shrink_to_fit();
}

template <class V, class B>
void distributed<V, B>::make_messages() {
    sent_there_ = from_host(on_, std::span<const index>(halo_.sent));
    edge_there_ = from_host(on_, std::span<const index>(edge_));
    outgoing_ = make_vector<V>(on_, halo_.sent.size());
    incoming_ = make_vector<V>(on_, halo_.columns.size());
    edge_y_ = make_vector<V>(on_, edge_.size());
    for (const halo_segment& s : halo_.sends) {
        add_message(send_x_, s, outgoing_.data());
        add_message(receive_y_, s, outgoing_.data());
    }
    for (const halo_segment& s : halo_.receives) {
        add_message(receive_x_, s, incoming_.data());
        add_message(send_y_, s, incoming_.data());
    }
}

template <class V, class B>
std::size_t distributed<V, B>::bytes() const {
    const std::size_t values = outgoing_.size() + incoming_.size() + edge_y_.size();
    return local_->bytes() + (others_ == nullptr ? 0 : others_->bytes()) + values * sizeof(V) +
           (halo_.sent.size() + edge_.size()) * sizeof(index);
}

template <class V, class B>
void distributed<V, B>::multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const {
    run_step<V>(on_, halo_.sent.size(),
                gather_step<V>{sent_there_.data(), x.data(), outgoing_.data()});
    ranks_.start(send_x_, receive_x_);
    local_->apply(alpha, x, beta, y);
    ranks_.wait();
    if (others_ == nullptr) return;
    others_->apply(alpha, incoming_, V(0), edge_y_);
    run_step<V>(on_, edge_.size(),
                scatter_add_step<V>{edge_there_.data(), edge_y_.data(), y.data()});
}

template <class V, class B>
void distributed<V, B>::multiply_transposed(transposition op, V alpha, in<V, B> x, V beta,
                                            out<V, B> y) const {
    if (others_ != nullptr) {
        run_step<V>(on_, edge_.size(),
                    gather_step<V>{edge_there_.data(), x.data(), edge_y_.data()});
        others_->apply_transposed(op, alpha, edge_y_, V(0), incoming_);
    }
    ranks_.start(send_y_, receive_y_);
    local_->apply_transposed(op, alpha, x, beta, y);
    ranks_.wait();
    // An element of y may be in the halo of several ranks: one after the other.
    for (const halo_segment& s : halo_.sends)
        run_step<V>(on_, s.count,
                    scatter_add_step<V>{sent_there_.data() + s.first, outgoing_.data() + s.first,
                                        y.data()});
}

template <class V, class B>
void distributed<V, B>::scale(V beta, out<V, B> y) const {
    vector_space<V, B> space(on_, std::int64_t(y.size()));
    beta == V(0) ? space.fill(V(0), y) : space.scale(beta, y);
}

#define NZ_INSTANTIATE(V) template class distributed<V, cpu>;
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
