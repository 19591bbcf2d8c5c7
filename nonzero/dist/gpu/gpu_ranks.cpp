#include "nonzero/dist/gpu/gpu_ranks.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/dist/gpu/connect.hpp"

namespace nz {
namespace {

/// A name of every rank's; a longer one is cut.
using name = std::array<char, 256>;

name host_name() {
    name n{};
    gethostname(n.data(), n.size() - 1);
    return n;
}
name name_of(const std::string& text) {
    name n{};
    std::copy_n(text.begin(), std::min(text.size(), n.size() - 1), n.begin());
    return n;
}

/// Through the CPU's memory.
class ranks_by_cpu final : public gpu_communicator {
  public:
    using gpu_communicator::gpu_communicator;
    [[nodiscard]] std::string_view transport() const override { return "the CPUs' memory"; }

    void gather_on_gpu(gpu on, device_span<std::byte> mine,
                       device_out<std::byte> all) const override {
        sent_.resize(mine.size()), received_.resize(all.size());
        copy_to_host(on, mine.data(), sent_.data(), mine.size());
        all_gather(sent_, received_);
        copy_to_device(on, received_.data(), all.data(), all.size());
    }
    void start_on_gpu(gpu on, std::span<const gpu_send> out,
                      std::span<const gpu_receive> in) const override {
        in_.assign(in.begin(), in.end());
        out_here_.clear(), in_here_.clear();
        sent_.resize(bytes_of(out)), received_.resize(bytes_of(in));
        std::size_t at = 0;
        for (const gpu_send& m : out) {
            copy_to_host(on, m.bytes.data(), sent_.data() + at, m.bytes.size());
            out_here_.push_back({m.peer, std::span(sent_).subspan(at, m.bytes.size())});
            at += m.bytes.size();
        }
        at = 0;
        for (const gpu_receive& m : in) {
            in_here_.push_back({m.peer, std::span(received_).subspan(at, m.bytes.size())});
            at += m.bytes.size();
        }
        start(out_here_, in_here_);
    }
    void wait_on_gpu(gpu on) const override {
        wait();
        for (std::size_t k = 0; k < in_.size(); ++k)
            copy_to_device(on, in_here_[k].bytes.data(), in_[k].bytes.data(), in_[k].bytes.size());
    }

  private:
    template <class Messages>
    static std::size_t bytes_of(const Messages& all) {
        std::size_t sum = 0;
        for (const auto& m : all) sum += m.bytes.size();
        return sum;
    }

    // They keep their memory from product to product.
    mutable host_vector<std::byte> sent_, received_;
    mutable std::vector<gpu_receive> in_;
    mutable std::vector<communicator::message<const std::byte>> out_here_;
    mutable std::vector<communicator::message<std::byte>> in_here_;
};

std::unique_ptr<gpu_communicator> connected(const communicator& by_cpu, int device,
                                            bool is_shared) {
    if (is_shared) return connect_by_cpu(by_cpu);
    try {
        return connect_by_nccl(by_cpu, gpu{.device = device});
    } catch (const unavailable&) {  // on all ranks
        return connect_by_cpu(by_cpu);
    }
}

}  // namespace

gpu_rank::place gpu_rank::choose(const communicator& ranks, bool may_share) {
    const auto hosts = gathered(ranks, host_name());
    place mine;
    name bus{};
    agree(&ranks, [&] {
        require_gpu({});
        const auto at = hosts.begin() + ranks.rank();
        mine.device = int(std::count(hosts.begin(), at, *at) % gpu_count());
        bus = name_of(pci_bus_id({.device = mine.device}));
    });
    // Where a launcher shows every process a GPU of its own, all of them have number 0.
    const auto buses = gathered(ranks, bus);
    std::string sharing;
    for (std::size_t a = 0; a < buses.size(); ++a)
        for (std::size_t b = 0; b < a && sharing.empty(); ++b)
            if (hosts[a] == hosts[b] && buses[a] == buses[b])
                sharing = "ranks " + std::to_string(b) + " and " + std::to_string(a) +
                          " would share a GPU of " + hosts[a].data();
    mine.is_shared = !sharing.empty();
    agree(&ranks, [&] {
        if (mine.is_shared && !may_share) throw unavailable(sharing);
    });
    return mine;
}

gpu_rank::gpu_rank(const communicator& by_cpu, bool may_share)
    : place_(choose(by_cpu, may_share)),
      stream_(place_.device),
      ranks_(connected(by_cpu, place_.device, place_.is_shared)) {}

gpu_rank::~gpu_rank() = default;
std::string_view gpu_rank::transport() const { return ranks_->transport(); }
gpu_rank::operator gpu() const {
    gpu on = stream_;
    on.ranks = ranks_.get();
    return on;
}

std::unique_ptr<gpu_communicator> connect_by_cpu(const communicator& by_cpu) {
    return std::make_unique<ranks_by_cpu>(by_cpu);
}

}  // namespace nz
