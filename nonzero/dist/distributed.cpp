#include "nonzero/dist/distributed.hpp"

#include <algorithm>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/halo_steps.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/dist/same_speeds.hpp"
#include "nonzero/formats/adopted_csr.hpp"

namespace nz {
namespace {

template <class B>
auto& required_ranks(B on) {
    if (on.ranks == nullptr) throw argument_error("distributed: on.ranks is null");
    return *on.ranks;
}

/// In order, which is looked at unless it is known.
template <class V, class B, class S>
ascending<V, B> ordered(B on, const csr<V, S>& A, bool in_order) {
    return in_order ? ascending<V, B>::known(view(A), on) : ascending<V, B>(view(A), on);
}

/// By its plan. Where that chose a CPU's kernel that reads CSR, no rank holds its rows twice.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> built(B on, csr<V, host> A, bool in_order,
                                             const plan_options& o) {
    if (std::is_same_v<B, gpu> || o.transposed || o.storage != value_storage::exact)
        return plan_and_build(ordered(cpu{}, A, in_order), on, o).op;
    const auto matrix = ordered(cpu{}, A, in_order);
    const auto p = make_plan(matrix, on, o);
    if constexpr (std::is_same_v<B, cpu>)
        if (auto op = adopted_csr(on, p.chosen().method, A)) return op;
    return build(p, matrix);
}

/// Of what lies in GPU memory, by the methods among those named that a GPU builds: for others it
/// would come to the CPU. What has no entries is planned on the CPU.
template <class V>
std::unique_ptr<linear_operator<V, gpu>> built(gpu on, csr<V, device> A, bool in_order,
                                               plan_options o) {
    if (A.val.size() == 0) {
        const host_vector<offset> ptr(std::size_t(A.shape.rows) + 1, 0);
        return built<V, gpu>(on, csr<V, host>{A.shape, offset_vector(ptr), {}, {}}, true, o);
    }
    std::erase_if(o.methods,
                  [](const auto& name) { return find_method<V>(name).from_device == nullptr; });
    return in_order ? plan_and_build(ascending<V, gpu>::known(view(A), on), on, o).op
                    : plan_and_build(view(A), on, o).op;
}

/// The elements of a segment, as messages hold them.
template <class V>
std::span<std::byte> bytes_of(cpu, V* all, const halo_segment& s) {
    return std::as_writable_bytes(std::span(all + s.first, s.count));
}
template <class V>
device_out<std::byte> bytes_of(gpu, V* all, const halo_segment& s) {
    return {reinterpret_cast<std::byte*>(all + s.first), s.count * sizeof(V)};
}

void start(cpu, const communicator& ranks, std::span<const message<const std::byte>> out,
           std::span<const message<std::byte>> in) {
    ranks.start(out, in);
}
void start(gpu on, const gpu_communicator& ranks, std::span<const gpu_send> out,
           std::span<const gpu_receive> in) {
    ranks.start_on_gpu(on, out, in);
}
void wait(cpu, const communicator& ranks) { ranks.wait(); }
void wait(gpu on, const gpu_communicator& ranks) { ranks.wait_on_gpu(on); }

}  // namespace

template <class V, class B>
distributed<V, B>::distributed(B on, matrix_slice<V> A, const plan_options& options)
    : distributed(on, split(helpers(on), required_ranks(on), std::move(A)), options) {}

template <class V, class B>
template <class S>
distributed<V, B>::distributed(B on, split_rows<V, S> A, const plan_options& options)
    : on_(alone(on)),
      ranks_(required_ranks(on)),
      rows_(std::move(A.rows)),
      cols_(std::move(A.cols)),
      shape_{rows_.count(ranks_.rank()), cols_.count(ranks_.rank())},
      halo_(std::move(A.halo)),
      edge_(std::move(A.edge)) {
    const plan_options o = with_same_speeds(on_, ranks_, options);
    agree(&ranks_, [&] {
        local_ = built<V>(on_, std::move(A.local), A.in_order, o);
        if (!A.others.val.empty()) others_ = built<V>(on_, std::move(A.others), A.in_order, o);
        make_messages();
    });
    connect();
}

/// On GPUs the first messages, for which NCCL connects two GPUs. The first solve took 0.37 s more
/// without it (docs/experiments/several-gpus.md).
template <class V, class B>
void distributed<V, B>::connect() const {
    if constexpr (std::is_same_v<B, gpu>) {
        zero_on_device(on_, bytes_of(on_, outgoing_.data(), {0, 0, outgoing_.size()}));
        start(on_, ranks_, send_x_, receive_x_);
        wait(on_, ranks_);
    }
}

template <class V, class B>
void distributed<V, B>::make_messages() {
    sent_there_ = from_host(on_, std::span<const index>(halo_.sent));
    edge_there_ = from_host(on_, std::span<const index>(edge_));
    outgoing_ = make_vector<V>(on_, halo_.sent.size());
    incoming_ = make_vector<V>(on_, halo_.columns.size());
    edge_y_ = make_vector<V>(on_, edge_.size());
    const auto most = std::max({outgoing_.size(), incoming_.size(), edge_y_.size()});
    travelling_.emplace(on_, std::int64_t(most));
    unused_.emplace(on_, one_scalar<V>{V(0)});
    for (const halo_segment& s : halo_.sends) {
        const auto bytes = bytes_of(on_, outgoing_.data(), s);
        send_x_.push_back({s.peer, bytes}), receive_y_.push_back({s.peer, bytes});
    }
    for (const halo_segment& s : halo_.receives) {
        const auto bytes = bytes_of(on_, incoming_.data(), s);
        receive_x_.push_back({s.peer, bytes}), send_y_.push_back({s.peer, bytes});
    }
}

template <class V, class B>
std::size_t distributed<V, B>::bytes() const {
    const std::size_t values = outgoing_.size() + incoming_.size() + edge_y_.size();
    return local_->bytes() + (others_ == nullptr ? 0 : others_->bytes()) + values * sizeof(V) +
           (halo_.sent.size() + edge_.size()) * sizeof(index);
}

template <class V, class B>
template <class Step>
void distributed<V, B>::run(std::size_t n, const Step& step) const {
    if (n > 0) run_fused(travelling_->on(), std::int64_t(n), step, unused_->data());
}

template <class V, class B>
void distributed<V, B>::start_messages(in<V, B> x) const {
    run(halo_.sent.size(), pack_step<V>{sent_there_.data(), x.data(), outgoing_.data()});
    start(on_, ranks_, send_x_, receive_x_);
}

template <class V, class B>
void distributed<V, B>::exchange(in<V, B> x) const {
    start_messages(x);
    wait(on_, ranks_);
}

template <class V, class B>
void distributed<V, B>::multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const {
    start_messages(x);
    local_->apply(alpha, x, beta, y);
    wait(on_, ranks_);
    if (others_ == nullptr) return;
    others_->apply(alpha, incoming_, V(0), edge_y_);
    run(edge_.size(), add_at_step<V>{edge_there_.data(), edge_y_.data(), y.data()});
}

template <class V, class B>
void distributed<V, B>::multiply_transposed(transposition op, V alpha, in<V, B> x, V beta,
                                            out<V, B> y) const {
    if (others_ != nullptr) {
        run(edge_.size(), pack_step<V>{edge_there_.data(), x.data(), edge_y_.data()});
        others_->apply_transposed(op, alpha, edge_y_, V(0), incoming_);
    }
    start(on_, ranks_, send_y_, receive_y_);
    local_->apply_transposed(op, alpha, x, beta, y);
    wait(on_, ranks_);
    // An element of y may be in the halo of several ranks: one after the other.
    for (const halo_segment& s : halo_.sends)
        run(s.count,
            add_at_step<V>{sent_there_.data() + s.first, outgoing_.data() + s.first, y.data()});
}

template <class V, class B>
void distributed<V, B>::scale(V beta, out<V, B> y) const {
    vector_space<V, B> space(on_, std::int64_t(y.size()));
    beta == V(0) ? space.fill(V(0), y) : space.scale(beta, y);
}

#define NZ_INSTANTIATE(V, B, S) \
    template distributed<V, B>::distributed(B, split_rows<V, S>, const plan_options&);
#define NZ_INSTANTIATE_ON_CPU(V)        \
    template class distributed<V, cpu>; \
    NZ_INSTANTIATE(V, cpu, host)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_ON_CPU)
#define NZ_INSTANTIATE_ON_GPU(V)        \
    template class distributed<V, gpu>; \
    NZ_INSTANTIATE(V, gpu, host)        \
    NZ_INSTANTIATE(V, gpu, device)
NZ_INSTANTIATE_ON_GPU(float)
NZ_INSTANTIATE_ON_GPU(double)

}  // namespace nz
