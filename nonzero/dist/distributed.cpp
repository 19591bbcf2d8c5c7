#include "nonzero/dist/distributed.hpp"

#include <algorithm>
#include <optional>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/gpu_communicator.hpp"
#include "nonzero/dist/halo_steps.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/dist/same_speeds.hpp"
#include "nonzero/dist/split_rows.hpp"
#include "nonzero/plan/planning.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {
namespace {

/// Types of the messages by which a backend's vectors travel between ranks.
template <class B>
struct transport_of {
    using ranks = communicator;
    using send = communicator::message<const std::byte>;
    using receive = communicator::message<std::byte>;
};
template <>
struct transport_of<gpu> {
    using ranks = gpu_communicator;
    using send = gpu_send;
    using receive = gpu_receive;
};

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
    const auto matrix = ordered(cpu{}, A, in_order);
    if constexpr (std::is_same_v<B, cpu>) return plan_and_take(A, matrix, on, as_predicted(o)).op;
    return plan_and_build(matrix, on, o).op;
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
    o.accept = plan_options::acceptance::predicted;  // as of what is known to be in order
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

void start(cpu, const communicator& ranks,
           std::span<const communicator::message<const std::byte>> out,
           std::span<const communicator::message<std::byte>> in) {
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
struct distributed<V, B>::parts {
    using send = typename transport_of<B>::send;
    using receive = typename transport_of<B>::receive;

    B on;  ///< of this rank alone: its sums ask no other
    const typename transport_of<B>::ranks& ranks;
    shares rows, cols;
    nz::shape shape;
    nz::halo halo;
    host_vector<index> edge;  ///< own rows with entries in others' columns
    std::unique_ptr<linear_operator<V, B>> local, others;
    vector<index, B> sent_on_backend, edge_on_backend;  ///< copies of halo.sent and edge
    vector<V, B> outgoing, incoming, edge_y;
    std::vector<send> send_x, send_y;
    std::vector<receive> receive_x, receive_y;
    std::optional<vector_space<V, B>> travelling;
    std::optional<scalars_on<one_scalar<V>, B>> unused;

    template <class S>
    parts(B of_ranks, split_rows<V, S> A, const plan_options& options)
        : on(alone(of_ranks)),
          ranks(required_ranks(of_ranks)),
          rows(std::move(A.rows)),
          cols(std::move(A.cols)),
          shape{rows.count(ranks.rank()), cols.count(ranks.rank())},
          halo(std::move(A.halo)),
          edge(std::move(A.edge)) {
        const plan_options o = with_same_speeds(on, ranks, options);
        agree(&ranks, [&] {
            local = built<V>(on, std::move(A.local), A.in_order, o);
            if (!A.others.val.empty()) others = built<V>(on, std::move(A.others), A.in_order, o);
            make_messages();
        });
    }

    void make_messages() {
        sent_on_backend = from_host(on, std::span<const index>(halo.sent));
        edge_on_backend = from_host(on, std::span<const index>(edge));
        outgoing = make_vector<V>(on, halo.sent.size());
        incoming = make_vector<V>(on, halo.columns.size());
        edge_y = make_vector<V>(on, edge.size());
        const auto most = std::max({outgoing.size(), incoming.size(), edge_y.size()});
        travelling.emplace(on, std::int64_t(most));
        unused.emplace(on, one_scalar<V>{V(0)});
        for (const halo_segment& s : halo.sends) {
            const auto bytes = bytes_of(on, outgoing.data(), s);
            send_x.push_back({s.peer, bytes}), receive_y.push_back({s.peer, bytes});
        }
        for (const halo_segment& s : halo.receives) {
            const auto bytes = bytes_of(on, incoming.data(), s);
            receive_x.push_back({s.peer, bytes}), send_y.push_back({s.peer, bytes});
        }
    }

    /// step over the first n elements of what travels.
    template <class Step>
    void run(std::size_t n, const Step& step) {
        if (n > 0) run_fused(travelling->on(), std::int64_t(n), step, unused->data());
    }

    void start_messages(in<V, B> x) {
        run(halo.sent.size(), pack_step<V>{sent_on_backend.data(), x.data(), outgoing.data()});
        start(on, ranks, send_x, receive_x);
    }

    void multiply(V alpha, in<V, B> x, V beta, out<V, B> y) {
        start_messages(x);
        local->apply(alpha, x, beta, y);
        wait(on, ranks);
        if (others == nullptr) return;
        others->apply(alpha, incoming, V(0), edge_y);
        run(edge.size(), add_at_step<V>{edge_on_backend.data(), edge_y.data(), y.data()});
    }

    void multiply_transposed(transposition op, V alpha, in<V, B> x, V beta, out<V, B> y) {
        if (others != nullptr) {
            run(edge.size(), pack_step<V>{edge_on_backend.data(), x.data(), edge_y.data()});
            others->apply_transposed(op, alpha, edge_y, V(0), incoming);
        }
        start(on, ranks, send_y, receive_y);
        local->apply_transposed(op, alpha, x, beta, y);
        wait(on, ranks);
        // An element of y may be in the halo of several ranks: one after the other.
        for (const halo_segment& s : halo.sends)
            run(s.count, add_at_step<V>{sent_on_backend.data() + s.first, outgoing.data() + s.first,
                                        y.data()});
    }
};

template <class V, class B>
distributed<V, B>::distributed(B on, matrix_slice<V> A, const plan_options& options) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const communicator& ranks = required_ranks(on);
        if constexpr (std::is_same_v<B, gpu>) {
            if (fits_to_split(alone(on), ranks, A)) {
                auto rows = split(alone(on), ranks, A);
                A.own = {};
                parts_ = std::make_unique<parts>(on, std::move(rows), options);
                return;
            }
        }
        parts_ = std::make_unique<parts>(on, split(helpers(on), ranks, std::move(A)), options);
    }
}

template <class V, class B>
template <class S>
distributed<V, B>::distributed(B on, split_rows<V, S> A, const plan_options& options) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        parts_ = std::make_unique<parts>(on, std::move(A), options);
    }
}

template <class V, class B>
distributed<V, B>::~distributed() = default;

template <class V, class B>
nz::shape distributed<V, B>::shape() const {
    return parts_->shape;
}
template <class V, class B>
const shares& distributed<V, B>::rows() const {
    return parts_->rows;
}
template <class V, class B>
const shares& distributed<V, B>::cols() const {
    return parts_->cols;
}
template <class V, class B>
const linear_operator<V, B>& distributed<V, B>::local() const {
    return *parts_->local;
}
template <class V, class B>
const linear_operator<V, B>* distributed<V, B>::others() const {
    return parts_->others.get();
}
template <class V, class B>
const halo& distributed<V, B>::exchanges() const {
    return parts_->halo;
}

template <class V, class B>
std::size_t distributed<V, B>::bytes() const {
    const parts& p = *parts_;
    const std::size_t values = p.outgoing.size() + p.incoming.size() + p.edge_y.size();
    return p.local->bytes() + (p.others == nullptr ? 0 : p.others->bytes()) + values * sizeof(V) +
           (p.halo.sent.size() + p.edge.size()) * sizeof(index);
}

template <class V, class B>
void distributed<V, B>::exchange(in<V, B> x) const {
    parts_->start_messages(x);
    wait(parts_->on, parts_->ranks);
}

template <class V, class B>
void distributed<V, B>::multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const {
    parts_->multiply(alpha, x, beta, y);
}

template <class V, class B>
void distributed<V, B>::multiply_transposed(transposition op, V alpha, in<V, B> x, V beta,
                                            out<V, B> y) const {
    parts_->multiply_transposed(op, alpha, x, beta, y);
}

template <class V, class B>
void distributed<V, B>::scale(V beta, out<V, B> y) const {
    vector_space<V, B> space(parts_->on, std::int64_t(y.size()));
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
